"""A second implementation, nngeometry, agrees: Fisher matrices and Kronecker factors, scale included.

It makes its matrices in torch's default type, which is float64 here.
"""

import pytest
import torch
from nngeometry.metrics import FIM
from nngeometry.object import PMatBlockDiag, PMatDense, PMatKFAC
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from optimizers import CrossEntropy, Gaussian
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.dense import block_diagonal, gauss_newton, jacobian, output_curvature
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher
from optimizers.curvature.statistics import exact_slopes, measure

CASES, OUTPUTS = 6, 3
CLOSE = {"rtol": 1e-10, "atol": 1e-12}
VARIANTS = {"classif_logits": CrossEntropy(), "regression": Gaussian()}


@pytest.fixture(autouse=True)
def _in_float64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def a_dense_network():
    return nn.Sequential(nn.Linear(4, 5), nn.Sigmoid(), nn.Linear(5, OUTPUTS))


def a_convolution():
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 2)),
        nn.Conv2d(1, 2, 2, padding=1),
        nn.Sigmoid(),
        nn.Flatten(),
        nn.Linear(18, OUTPUTS),
    )


@pytest.fixture(params=[a_dense_network, a_convolution])
def model(request):
    torch.manual_seed(0)
    return request.param()


@pytest.fixture
def inputs():
    return torch.randn(CASES, 4, generator=torch.Generator().manual_seed(1))


@pytest.fixture(params=VARIANTS)
def variant(request):
    return request.param


def theirs(model, inputs, kind, variant):
    data = TensorDataset(inputs, torch.zeros(CASES))
    return FIM(model, DataLoader(data, batch_size=CASES), kind, variant=variant).to_torch()


def dense(model, inputs, variant):
    network = Network(model, inputs)
    outputs = network(network.params)
    return gauss_newton(jacobian(network), output_curvature(VARIANTS[variant], outputs))


def test_the_dense_fisher_matrix_agrees_with_it(model, inputs, variant):
    truth = theirs(model, inputs, PMatDense, variant)

    torch.testing.assert_close(dense(model, inputs, variant), truth, **CLOSE)


def test_fisher_products_agree_with_it(model, inputs, variant):
    matrix = theirs(model, inputs, PMatDense, variant)
    vector = torch.randn(len(matrix))

    product = fisher(Jacobian(Network(model, inputs)), VARIANTS[variant], vector)

    torch.testing.assert_close(product, matrix @ vector, **CLOSE)


def test_the_blocks_of_layers_agree_with_it(model, inputs, variant):
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in model if [*layer.parameters()]]
    ours = block_diagonal(dense(model, inputs, variant), sizes)

    torch.testing.assert_close(ours, theirs(model, inputs, PMatBlockDiag, variant), **CLOSE)


def test_kronecker_factors_agree_with_it(model, inputs, variant):
    with recording(model, find_blocks(model)) as uses:
        outputs = model(inputs)
    slopes = exact_slopes(VARIANTS[variant], outputs.detach(), torch.Generator())
    blocks = [_weights_first(pair) for pair in measure(uses, outputs, slopes).factors.values()]

    torch.testing.assert_close(torch.block_diag(*blocks), theirs(model, inputs, PMatKFAC, variant), **CLOSE)


def _weights_first(pair):
    """Return the block of a layer as torch lists its parameters: W row by row, then the bias."""
    rows, columns = len(pair.outputs.values), len(pair.inputs.values)
    places = torch.arange(rows * columns).reshape(rows, columns)
    order = torch.cat([places[:, :-1].flatten(), places[:, -1]])
    return torch.kron(pair.outputs.values, pair.inputs.values)[order][:, order]
