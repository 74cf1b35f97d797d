"""Another implementation, curvlinops, agrees: matrices, products, factors, and their scale.

Its losses are torch's, whose mean goes over the outputs too, where ours is a sum over them: MSELoss of m
outputs is our squared error over m.
"""

import curvlinops
import pytest
import torch
from torch import nn

from optimizers import Bernoulli, CrossEntropy, squared_error
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, empirical_fisher, fisher, gauss_newton, hessian
from optimizers.curvature.statistics import exact_slopes, measure
from optimizers.curvature.vectors import flat

CASES, OUTPUTS = 6, 3
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def a_dense_network(a_network):
    return a_network(4, 5, OUTPUTS)


def a_convolution(a_network):
    del a_network
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 2), nn.Sigmoid(), nn.Flatten(), nn.Linear(6, OUTPUTS)
    ).double()


def targets_of(objective, outputs):
    return objective.sample(outputs.detach(), torch.Generator().manual_seed(0))


PAIRS = {
    "categorical": (CrossEntropy(), nn.CrossEntropyLoss(), 1),
    "Bernoulli": (Bernoulli(), nn.BCEWithLogitsLoss(), OUTPUTS),
    "squared error": (squared_error(), nn.MSELoss(), OUTPUTS),
}


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


@pytest.fixture(params=[a_dense_network, a_convolution])
def setting(request, pair, a_network, a_batch):
    model, (inputs, _) = request.param(a_network), a_batch(CASES, 4, OUTPUTS)
    targets = targets_of(pair[0], model(inputs))
    params = [parameter for parameter in model.parameters() if parameter.requires_grad]
    vector = torch.randn(
        sum(p.numel() for p in params), generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )
    return Network(model, inputs), targets, vector, (model, pair[1], params, [(inputs, targets)])


def test_gauss_newton_and_fisher_products_agree_with_it(setting, pair):
    network, targets, vector, theirs = setting
    objective, _, scale = pair
    jacobian = Jacobian(network)
    truth = scale * (curvlinops.GGNLinearOperator(*theirs) @ vector)

    torch.testing.assert_close(
        gauss_newton(jacobian, lambda z: objective.loss(z, targets), vector), truth, **CLOSE
    )
    torch.testing.assert_close(fisher(jacobian, objective, vector), truth, **CLOSE)


def test_hessian_products_agree_with_it(setting, pair):
    network, targets, vector, theirs = setting
    objective, _, scale = pair
    truth = scale * (curvlinops.HessianLinearOperator(*theirs) @ vector)

    torch.testing.assert_close(hessian(network, lambda z: objective.loss(z, targets))(vector), truth, **CLOSE)


def test_empirical_fisher_products_agree_with_it(setting, pair):
    network, targets, vector, theirs = setting
    objective, _, scale = pair
    jacobian = Jacobian(network)
    truth = curvlinops.EFLinearOperator(*theirs) @ vector

    ours = empirical_fisher(jacobian, objective, targets, vector)
    torch.testing.assert_close(ours, scale * truth, **CLOSE)


def test_jacobian_products_agree_with_it(setting):
    network, _, vector, (model, _, params, data) = setting
    jacobian = Jacobian(network)
    rows = jacobian.outputs.sin()

    forward = curvlinops.JacobianLinearOperator(model, params, data) @ vector
    backward = curvlinops.TransposedJacobianLinearOperator(model, params, data) @ rows.flatten()
    torch.testing.assert_close(jacobian.push(vector).flatten(), forward, **CLOSE)
    torch.testing.assert_close(CASES * flat(jacobian.pull(rows)), backward, **CLOSE)


def test_kronecker_factors_agree_with_it(a_network, a_batch):
    model, (inputs, targets) = a_dense_network(a_network), a_batch(CASES, 4, OUTPUTS)
    with recording(model, find_blocks(model)) as uses:
        outputs = model(inputs)
    slopes = exact_slopes(CrossEntropy(), outputs.detach(), torch.Generator())
    ours = measure(uses, outputs, slopes).factors.values()
    theirs = curvlinops.KFACLinearOperator(
        model,
        nn.CrossEntropyLoss(),
        list(model.parameters()),
        [(inputs, targets)],
        fisher_type=curvlinops.FisherType.TYPE2,
        separate_weight_and_bias=False,
    )
    vectors = torch.eye(len(flat(dict(model.named_parameters()))), dtype=torch.float64)
    dense = theirs @ vectors

    place = 0
    for pair in ours:
        of_inputs, of_outputs = pair.inputs.values, pair.outputs.values
        size, width = len(of_outputs), len(of_inputs) - 1
        weights = slice(place, place + size * width)  # torch stores W row by row, and the bias after it
        torch.testing.assert_close(
            torch.kron(of_outputs, of_inputs[:width, :width]), dense[weights, weights], **CLOSE
        )
        biases = slice(weights.stop, weights.stop + size)
        torch.testing.assert_close(of_outputs * of_inputs[width, width], dense[biases, biases], **CLOSE)
        place = biases.stop
