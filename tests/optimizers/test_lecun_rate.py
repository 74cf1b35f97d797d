import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, LeCunRate, squared_error
from optimizers.curvature.dense import gauss_newton, hessian, jacobian, output_hessian
from optimizers.curvature.network import Network


def dense(curvature, model, inputs, targets):
    network = Network(model, inputs)
    if curvature == "hessian":
        return hessian(network, CrossEntropy(), targets)
    outputs = network(network.params)
    return gauss_newton(jacobian(network), output_hessian(CrossEntropy(), outputs, targets))


@pytest.mark.row(75)
@pytest.mark.parametrize("curvature", ["gauss_newton", "hessian"])
def test_a_step_is_the_gradient_over_the_largest_eigenvalue(a_network, a_batch, moves_of, curvature):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    largest = torch.linalg.eigvalsh(dense(curvature, model, *batch)).abs().max()
    gradients = torch.autograd.grad(CrossEntropy().loss(model(batch[0]), batch[1]), list(model.parameters()))
    optimizer = LeCunRate(model, CrossEntropy(), lr=0.5, iterations=500, curvature=curvature)

    for move, gradient in zip(moves_of(model, lambda: optimizer.step(*batch)), gradients, strict=True):
        torch.testing.assert_close(move, -0.5 / largest * gradient, rtol=1e-6, atol=1e-9)


@pytest.mark.row(75)
def test_one_dimension_takes_one_step():
    model = nn.Linear(1, 1, bias=False).double()
    inputs, targets = torch.tensor([[3.0], [1.0]]).double(), torch.tensor([[6.0], [2.0]]).double()
    LeCunRate(model, squared_error(), iterations=1).step(inputs, targets)

    assert model.weight.item() == pytest.approx(2.0)


@pytest.mark.row(75)
@pytest.mark.parametrize("seed", range(5))
def test_no_quadratic_diverges(seed):
    stream = torch.Generator().manual_seed(seed)
    inputs = torch.randn(20, 4, generator=stream, dtype=torch.float64) * torch.tensor([30.0, 3.0, 1.0, 0.1])
    targets = torch.randn(20, 2, generator=stream, dtype=torch.float64)
    model = nn.Linear(4, 2).double()
    optimizer = LeCunRate(model, squared_error())
    losses = [optimizer.step(inputs, targets).loss for _ in range(30)]

    assert losses == sorted(losses, reverse=True)


def test_the_eigenvalue_is_averaged_over_batches_and_the_direction_goes_on():
    model = nn.Linear(2, 1, bias=False).double()
    optimizer = LeCunRate(model, squared_error(half=True), iterations=200, decay=0.95)
    for scale in (1.0, 3.0):
        inputs = scale * torch.tensor([[1.0, 0.0]], dtype=torch.float64)
        optimizer.step(inputs, torch.ones(1, 1, dtype=torch.float64))

    state = optimizer.state_dict()
    assert float(state["running"]["largest"][0]) == pytest.approx((1.0 + 9.0) / 2)
    torch.testing.assert_close(state["direction"]["weight"].abs(), torch.tensor([[1.0, 0.0]]).double())


def test_a_batch_without_curvature_changes_nothing():
    model = nn.Linear(2, 1, bias=False).double()
    before = model.weight.detach().clone()
    step = LeCunRate(model, squared_error()).step(
        torch.zeros(3, 2, dtype=torch.float64), torch.ones(3, 1, dtype=torch.float64)
    )

    assert step.update_norm == 0
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize("wrong", [{"iterations": 0}, {"decay": 1.0}, {"curvature": "fisher"}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        LeCunRate(a_network(4, 3), CrossEntropy(), **wrong)
