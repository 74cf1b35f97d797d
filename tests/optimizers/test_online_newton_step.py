import math

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, FullAdaGrad, OnlineNewtonStep, squared_error
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import TooLargeError

ONE = torch.ones(1, 1, dtype=torch.float64)


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def gradient_of(model, objective, inputs, targets):
    parts = torch.autograd.grad(objective.loss(model(inputs), targets), list(model.parameters()))
    return torch.cat([part.flatten() for part in parts])


@pytest.mark.row(106)
def test_a_step_is_the_solve_with_the_sum_of_squared_gradients_written_out(a_network, a_batch):
    model, total = a_network(4, 5, 3), torch.zeros(43, 43, dtype=torch.float64)
    optimizer = OnlineNewtonStep(model, CrossEntropy(), lr=0.5, damping=0.3)
    for seed in range(40):
        batch, before = a_batch(6, 4, 3, seed=seed), theta(model)
        gradient = gradient_of(model, CrossEntropy(), *batch)
        total += torch.outer(gradient, gradient)
        optimizer.step(*batch)

        truth = before - 0.5 * torch.linalg.solve(tikhonov(total, 0.3), gradient)
        torch.testing.assert_close(theta(model), truth, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(optimizer.state_dict()["matrix"], torch.linalg.inv(tikhonov(total, 0.3)))


@pytest.mark.row(106)
def test_in_one_dimension_gradients_are_divided_by_the_sum_of_their_squares():
    model = nn.Linear(1, 1, bias=False).double()
    optimizer, weight, squares = OnlineNewtonStep(model, squared_error(), lr=2.0, damping=0.5), None, 0.5
    for target in (3.0, -1.0, 0.5, 2.0):
        weight = model.weight.item()
        gradient = 2 * (weight - target)
        squares += gradient**2
        optimizer.step(ONE, target * ONE)
        assert model.weight.item() == pytest.approx(weight - 2.0 * gradient / squares)


def regrets(make, counts):
    """What was lost on a stream of ½ ‖θ - z‖² beside the best θ for the first so many of it."""
    stream = 2 * torch.rand(max(counts), 8, generator=torch.Generator().manual_seed(0)).double() - 1
    model = nn.Linear(1, 8, bias=False).double()
    nn.init.ones_(model.weight)
    optimizer = make(model, squared_error(half=True))
    losses = torch.tensor([optimizer.step(ONE, z[None]).loss for z in stream])
    best = [(stream[:k] - stream[:k].mean(dim=0)).square().sum() / 2 for k in counts]
    return [float(losses[:k].sum() - least) for k, least in zip(counts, best, strict=True)]


@pytest.mark.row(106)
def test_regret_grows_as_the_logarithm_where_that_of_adagrad_grows_as_the_root():
    counts = [125, 500, 2000]
    newton = regrets(lambda *given: OnlineNewtonStep(*given, lr=4.0, damping=1.0), counts)
    adagrad = regrets(lambda *given: FullAdaGrad(*given, lr=1.0, damping=1.0), counts)

    by_logarithm = [regret / math.log(k) for regret, k in zip(newton, counts, strict=True)]
    assert max(by_logarithm) < 1.1 * min(by_logarithm) < 9
    assert adagrad[2] - adagrad[1] > 1.7 * (adagrad[1] - adagrad[0])  # of a root it is twice


def test_a_model_too_large_for_its_square_is_refused_with_what_to_do(a_network):
    with pytest.raises(TooLargeError, match=r"OnlineNewtonStep .* 43 x 43 .* limit is 42. Train a smaller"):
        OnlineNewtonStep(a_network(4, 5, 3), CrossEntropy(), limit=42)


@pytest.mark.parametrize("wrong", [{"damping": 0.0}, {"lr": math.inf}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OnlineNewtonStep(a_network(4, 3), CrossEntropy(), **wrong)
