import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from optimizers.curvature.products import gauss_newton_product, hessian_product
from tests import dense

LOSSES = {
    "softmax": lambda outputs: cross_entropy(outputs, torch.tensor([0, 1, 2, 2, 1])),
    "logistic": lambda outputs: binary_cross_entropy_with_logits(outputs, torch.full_like(outputs, 0.3)),
    "squared": lambda outputs: mse_loss(outputs, torch.ones_like(outputs)),
}
CLOSE = {"rtol": 1e-10, "atol": 1e-13}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_hessian_products_are_those_of_the_dense_hessian(a_network, a_batch, loss):
    model, (inputs, _) = a_network(4, 3, 3), a_batch(5, 4, 3)

    truth = dense.hessian_of(model, loss, inputs)
    ours = dense.matrix_of(hessian_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, **CLOSE)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_gauss_newton_products_are_those_of_the_dense_matrix(a_network, a_batch, loss):
    model, (inputs, _) = a_network(4, 3, 3), a_batch(5, 4, 3)

    truth = dense.gauss_newton_of(model, loss, inputs)
    ours = dense.matrix_of(gauss_newton_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, **CLOSE)


def test_of_a_linear_model_both_products_are_the_same(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    vector = torch.randn(15, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    of_hessian = hessian_product(model, LOSSES["softmax"], inputs)(vector)
    torch.testing.assert_close(
        gauss_newton_product(model, LOSSES["softmax"], inputs)(vector), of_hessian, **CLOSE
    )


def test_a_product_works_where_gradients_are_switched_off(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    vector = torch.ones(15, dtype=torch.float64)

    with torch.no_grad():
        without = gauss_newton_product(model, LOSSES["squared"], inputs)(vector)
    assert without.equal(gauss_newton_product(model, LOSSES["squared"], inputs)(vector))


def test_a_parameter_that_does_nothing_has_no_curvature(a_batch):
    model = nn.Linear(4, 3).double()
    model.idle = nn.Parameter(torch.ones(2, dtype=torch.float64))
    inputs, _ = a_batch(5, 4, 3)
    idle = torch.cat([torch.full((p.numel(),), float(p is model.idle)) for p in model.parameters()]).double()

    assert not hessian_product(model, LOSSES["squared"], inputs)(idle).any()
    assert not gauss_newton_product(model, LOSSES["squared"], inputs)(idle).any()
