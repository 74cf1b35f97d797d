"""Whole small experiments: their claims come out as they were kept, and so do their numbers."""

import math
from itertools import islice

import pytest
import torch

from experiments import page
from experiments.catalogue import EXPERIMENTS
from experiments.experiment import as_json
from experiments.small_cases import heavy_ball, meta_descent, noisy_quadratic
from experiments.small_cases.coupled_parameters import coupled
from experiments.small_cases.quadratic import cases_of, linear_model

TOYS = pytest.mark.row(203)
CONJUGATE = pytest.mark.row(204)
THEORY = pytest.mark.row(205)
WHOLE = [
    pytest.param("coupled-parameters", marks=TOYS),
    pytest.param("fading-gradients", marks=TOYS),
    pytest.param("empirical-fisher", marks=CONJUGATE),
    pytest.param("eigendirections", marks=CONJUGATE),
    pytest.param("noisy-quadratic", marks=THEORY),
    pytest.param("reparametrisation", marks=THEORY),
    pytest.param("straight-steps", marks=THEORY),
]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def numbers(rows):
    return [[each for each in row if isinstance(each, int | float)] for row in rows]


@pytest.mark.parametrize("name", WHOLE)
def test_run_again_it_says_what_was_kept(name):
    kept = page.kept(EXPERIMENTS[name])["result"]
    found = as_json(EXPERIMENTS[name].run("small"))

    assert [claim["holds"] for claim in found["claims"]] == [claim["holds"] for claim in kept["claims"]]
    for table, before in zip(found["tables"], kept["tables"], strict=True):
        assert table["head"] == before["head"]
        for row, wanted in zip(numbers(table["rows"]), numbers(before["rows"]), strict=True):
            assert row == pytest.approx(wanted, rel=1e-6, abs=1e-12)


@TOYS
def test_the_network_of_a_quadratic_has_its_height_and_slope():
    matrix = coupled(15.0)
    point = torch.tensor([0.3, -0.7], dtype=torch.float64)
    model, (inputs, targets) = linear_model(point), cases_of(matrix)

    loss = (model(inputs) - targets).square().mean() / 2
    loss.backward()

    assert loss.item() == pytest.approx(float(point @ matrix @ point) / 2)
    torch.testing.assert_close(model.weight.grad[0], matrix @ point)


@TOYS
def test_without_momentum_each_direction_falls_by_its_own_factor():
    values = heavy_ball.curvatures(10.0)
    found = list(islice(heavy_ball.distances(values, lr=0.05, momentum=0.0), 4))

    wanted = [float(((1 - 0.05 * values) ** number).norm()) for number in range(4)]
    assert found == pytest.approx(wanted)


@TOYS
def test_at_a_small_condition_the_rates_of_descent_and_momentum_are_those_of_the_formulas():
    for name, chosen in heavy_ball.settings(100.0).items():
        _, slowness = heavy_ball.course(100.0, name)

        assert slowness == pytest.approx(1 - chosen["rate"], rel=0.05)


@TOYS
def test_a_turned_valley_has_the_curvatures_of_the_straight_one():
    straight, turned = (
        meta_descent.curvature(meta_descent.Case(is_rotated=is_rotated, condition=30.0, updates=1, lr=1.0))
        for is_rotated in (False, True)
    )

    torch.testing.assert_close(torch.linalg.eigvalsh(turned), straight.diagonal())
    assert (turned - turned.diagonal().diag()).abs().max() > 1


@TOYS
def test_without_a_meta_rate_meta_descent_is_descent():
    settings = {"is_rotated": True, "condition": 30.0, "updates": 10, "lr": 0.4}
    plain = meta_descent.excesses(meta_descent.Case(**settings))
    adaptive = meta_descent.excesses(meta_descent.Case(**settings, meta_lr=0.0, memory=0.9))

    assert adaptive == pytest.approx(plain, rel=1e-9)
    assert math.isinf(meta_descent.steps_needed(plain))


@THEORY
def test_a_chain_without_noise_is_the_mean_of_the_theory():
    problem = noisy_quadratic.drawn(5)
    silent = noisy_quadratic.Problem(
        curvature=problem.curvature,
        preconditioner=problem.preconditioner,
        noise=1e-24 * problem.noise,
        start=problem.start,
    )

    mean, error = noisy_quadratic.simulated(silent, [0.5] * 6, 2)

    assert mean == pytest.approx(silent.theory.after([0.5] * 6).excess)
    assert error < 1e-9


@THEORY
def test_the_published_lower_bound_is_above_the_excess_of_one_step_with_the_hessian():
    problem = noisy_quadratic.realizable(newton=True)
    h0 = float(problem.start @ problem.curvature @ problem.start) / 2
    lr, half_trace = noisy_quadratic.LR, 4 / 2  # ½ tr(H⁻¹Σ)

    excess = (1 - lr) ** 2 * h0 + lr**2 * half_trace
    low, high = noisy_quadratic.printed_bounds(problem, 1)

    wanted = lr**2 * half_trace + (1 - 2 * lr + (1 - lr) ** 2) * h0
    assert (low, high) == (pytest.approx(wanted), pytest.approx(wanted))
    assert low > excess
    assert noisy_quadratic.is_outside(problem, noisy_quadratic.printed_bounds)
    assert not noisy_quadratic.is_outside(problem, noisy_quadratic.corrected_bounds)
