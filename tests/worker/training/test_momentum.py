"""The recursions are written out here for a quadratic ½ θᵀHθ, and torch's SGD is driven beside them."""

import math

import pytest
import torch
from torch.optim import SGD

from worker.training.momentum import change_nesterov_momentum, with_rate_in_velocity
from worker.training.schedules import rate_schedule, rising_momentum, set_scheduled

CURVATURES = torch.tensor([1.0, 4.0, 25.0], dtype=torch.float64)
START = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
CLOSE = {"rtol": 1e-9, "atol": 1e-13}


def ball_with_rate(rate, momentum, updates):
    """m ← μ m - lr g; θ ← θ + m."""
    point, velocity, path = START.clone(), torch.zeros(3, dtype=torch.float64), []
    for update in range(updates):
        velocity = momentum(update) * velocity - rate(update) * CURVATURES * point
        point = point + velocity
        path.append(point)
    return torch.stack(path)


def ball_without_rate(rate, momentum, updates):
    """δ ← μ δ - g; θ ← θ + lr δ, with the new δ."""
    point, velocity, path = START.clone(), torch.zeros(3, dtype=torch.float64), []
    for update in range(updates):
        velocity = momentum(update) * velocity - CURVATURES * point
        point = point + rate(update) * velocity
        path.append(point)
    return torch.stack(path)


def nesterov(rate, momentum, updates):
    """v ← μ v - lr ∇h(θ + μ v); θ ← θ + v."""
    point, velocity, path = START.clone(), torch.zeros(3, dtype=torch.float64), []
    for update in range(updates):
        ahead = point + momentum(update) * velocity
        velocity = momentum(update) * velocity - rate(update) * CURVATURES * ahead
        point = point + velocity
        path.append(point)
    return torch.stack(path)


def driven(rate, momentum, updates):
    """The path of torch's SGD under two schedules."""
    parameter = torch.nn.Parameter(START.clone())
    optimizer, path = SGD([parameter], lr=1.0, momentum=0.5), []
    for update in range(updates):
        set_scheduled(optimizer, update, {"lr": rate, "momentum": momentum})
        parameter.grad = CURVATURES * parameter.detach()
        optimizer.step()
        path.append(parameter.detach().clone())
    return torch.stack(path)


def driven_nesterov(rate, momentum, updates):
    """The iterates behind the look-ahead of torch's SGD."""
    parameter = torch.nn.Parameter(START.clone())
    optimizer, path = SGD([parameter], lr=rate(0), momentum=momentum(0), nesterov=True), []
    for update in range(updates):
        change_nesterov_momentum(optimizer, momentum(update))
        parameter.grad = CURVATURES * parameter.detach()
        optimizer.step()
        ahead = -rate(update) * momentum(update) * optimizer.state[parameter]["momentum_buffer"]
        path.append(parameter.detach() - ahead)
    return torch.stack(path)


def steady(value):
    return lambda _: value


FALLING = rate_schedule("search_then_converge", rate=0.03, turn=20)
STEADY = steady(0.03)
RISING = rising_momentum(limit=0.99, updates=10**6)


@pytest.mark.row(71)
def test_both_forms_of_the_heavy_ball_agree_while_the_learning_rate_stays():
    torch.testing.assert_close(
        ball_with_rate(STEADY, steady(0.9), 50), ball_without_rate(STEADY, steady(0.9), 50), **CLOSE
    )


@pytest.mark.row(71)
def test_the_forms_of_the_heavy_ball_part_when_the_learning_rate_falls():
    apart = ball_with_rate(FALLING, steady(0.9), 50) - ball_without_rate(FALLING, steady(0.9), 50)

    assert apart.abs().max() > 0.1


@pytest.mark.row(71)
def test_sgd_is_the_heavy_ball_whose_velocity_does_not_know_the_rate():
    ours = driven(FALLING, steady(0.9), 50)

    torch.testing.assert_close(ours, ball_without_rate(FALLING, steady(0.9), 50), **CLOSE)


@pytest.mark.row(71)
def test_scheduled_sgd_is_the_heavy_ball_whose_velocity_keeps_its_rates():
    ours = driven(FALLING, with_rate_in_velocity(steady(0.9), FALLING), 50)

    torch.testing.assert_close(ours, ball_with_rate(FALLING, steady(0.9), 50), **CLOSE)


@pytest.mark.row(71)
def test_the_best_momentum_converges_with_the_root_of_the_condition():
    low, high = CURVATURES.min().item(), CURVATURES.max().item()
    root = math.sqrt(high / low)
    rate = 4 / (math.sqrt(high) + math.sqrt(low)) ** 2
    momentum = ((root - 1) / (root + 1)) ** 2

    ball = driven(steady(rate), steady(momentum), 400).norm(dim=1)
    plain = driven(steady(2 / (low + high)), steady(0.0), 400).norm(dim=1)
    # A double root lets the ball shrink as t ρᵗ: over 100 updates the t still counts for (400/300)^(1/100).
    assert (ball[399] / ball[299]) ** 0.01 == pytest.approx((root - 1) / (root + 1), rel=5e-3)
    assert (plain[399] / plain[299]) ** 0.01 == pytest.approx((root**2 - 1) / (root**2 + 1), rel=1e-6)


@pytest.mark.row(72)
def test_nesterovs_look_ahead_is_that_of_sgd_at_one_momentum():
    ours = driven_nesterov(STEADY, steady(0.9), 50)

    torch.testing.assert_close(ours, nesterov(STEADY, steady(0.9), 50), **CLOSE)


@pytest.mark.row(72)
def test_nesterovs_momentum_may_rise_from_update_to_update():
    def rising(update):
        return 1 - 1 / (update + 2)

    ours = driven_nesterov(STEADY, rising, 50)
    torch.testing.assert_close(ours, nesterov(STEADY, rising, 50), **CLOSE)


@pytest.mark.row(72)
def test_nesterovs_recursion_holds_over_a_step_of_the_schedule():
    slow = steady(1e-3)  # so that there is a way to go after the step at update 250

    ours = driven_nesterov(slow, RISING, 600)
    torch.testing.assert_close(ours, nesterov(slow, RISING, 600), rtol=1e-7, atol=1e-13)
    assert nesterov(slow, RISING, 600)[-1].norm() > 1e-3
