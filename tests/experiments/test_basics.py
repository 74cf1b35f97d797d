"""What the experiments on the basics keep comes out again, and what is exact in them is exact."""

import math
from dataclasses import replace

import pytest
import torch

from experiments import page
from experiments.basics import (
    depth_and_scale,
    normalised_rates,
    overfitting,
    rectifiers,
    transformations,
    two_weights,
)
from experiments.experiment import as_json
from worker.datasets import load


def one_by_one(function, cases):
    return [function(case) for case in cases]


def assert_same_as_kept(experiment):
    kept, found = page.kept(experiment)["result"], as_json(experiment.run("small"))

    assert [each["holds"] for each in found["claims"]] == [each["holds"] for each in kept["claims"]]
    for now, then in zip(found["tables"], kept["tables"], strict=True):
        for row, before in zip(now["rows"], then["rows"], strict=True):
            assert row == [near(each) for each in before]


def near(cell):
    return pytest.approx(cell, rel=1e-6, abs=1e-12) if isinstance(cell, float) else cell


# Two weights


@pytest.mark.row(222)
@pytest.mark.row(223)
@pytest.mark.row(227)
def test_two_weights_come_out_as_kept():
    assert_same_as_kept(two_weights.EXPERIMENT)


@pytest.mark.row(222)
def test_the_gradient_and_the_curvature_of_two_weights_are_those_of_the_formula():
    first, second = 0.7, -0.4
    residual = 2 * (first * second - 1.5)
    mixed = residual + 2 * first * second

    assert two_weights.gradient((first, second)).tolist() == pytest.approx(
        [residual * second + 0.08 * first, residual * first + 0.08 * second]
    )
    assert two_weights.curvature((first, second)).flatten().tolist() == pytest.approx(
        [2 * second**2 + 0.08, mixed, mixed, 2 * first**2 + 0.08]
    )


@pytest.mark.row(222)
def test_the_rate_and_the_momentum_of_the_heavy_ball_are_those_that_suit_both_curvatures():
    assert two_weights.heavy_ball() == pytest.approx((0.504, 0.5127), abs=5e-4)


@pytest.mark.row(222)
@pytest.mark.parametrize(("rate", "settles"), [(0.34, True), (0.345, False)])
def test_two_over_the_largest_curvature_is_the_critical_rate(rate, settles):
    *_, last = two_weights.path(lambda model: two_weights.Momentum(model, rate), (1.25, 1.21), 2000)

    assert (two_weights.cost(last) - two_weights.LEAST < 1e-6) == settles


@pytest.mark.row(223)
@pytest.mark.parametrize("point", [(0.3, 0.9), (-1.7, 0.2)])
def test_doubling_one_weight_and_halving_the_other_scales_their_gradients_by_one_half_and_two(point):
    before = two_weights.gradient(point, decay=0.0)
    after = two_weights.gradient((2 * point[0], point[1] / 2), decay=0.0)

    assert (after / before).tolist() == pytest.approx([0.5, 2.0], rel=1e-12)


@pytest.mark.row(227)
def test_targets_that_scatter_never_lead_off_the_line_to_the_saddle():
    *_, (first, second) = two_weights.path(
        lambda model: two_weights.Momentum(model, 0.25), (0.1, -0.1), 100, scatter=0.3
    )

    assert first == -second


# Depth and scale


@pytest.mark.row(224)
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_each_layer_multiplies_signal_and_gradient_by_the_scale_of_its_weights(scale):
    layers = 6
    usual, scaled = (depth_and_scale.growth(each, layers) for each in (1.0, scale))

    for of in (depth_and_scale.forward, depth_and_scale.backward):
        assert of(scaled) / of(usual) == pytest.approx(scale ** (layers - 1), rel=1e-9)


@pytest.mark.row(224)
@pytest.mark.row(225)
def test_a_training_that_diverges_counts_as_infinitely_bad():
    config = {"updates": 20, "optimizer": "sgd", "lr": 1e6, "criterion": "final_train", "activation": "relu"}

    assert depth_and_scale.final_loss(config) == math.inf
    assert depth_and_scale.final_loss({**config, "lr": 0.1}) < 2.4


# Batch normalisation


@pytest.mark.row(225)
def test_the_largest_rate_is_the_largest_with_which_a_network_has_learned():
    worse = [2.0] * (len(normalised_rates.RATES) - 3)

    assert normalised_rates.largest([0.1, 0.6, 0.4, *worse]) == normalised_rates.RATES[2]
    assert normalised_rates.largest([math.inf, *worse, 1.0, 1.0]) == 0


@pytest.mark.row(225)
def test_a_factor_of_rates_counts_when_every_depth_allows_it():
    rates = len(normalised_rates.RATES)
    found = {
        (kind, depth): [0.4 if at <= last else math.inf for at in range(rates)]
        for depth, kind, last in [(1, "none", 2), (1, "batch", 5), (4, "none", 0), (4, "batch", 4)]
    }
    five, thirty, better = normalised_rates.claims(found)

    assert [five.holds, thirty.holds, better.holds] == [True, False, False]  # 8 and 16 times


@pytest.mark.row(225)
def test_rates_of_small_trainings_are_tried_with_and_without_normalisation(monkeypatch):
    small = {"dataset": "digits", "hidden": 8, "updates": 20, "batch_size": 50}
    monkeypatch.setattr(normalised_rates, "spread", one_by_one)
    monkeypatch.setattr(normalised_rates, "SIZES", {"small": small})
    monkeypatch.setattr(normalised_rates, "RATES", (0.1, 1e4))
    found = normalised_rates.losses("small")

    assert set(found) == {("none", 1), ("batch", 1), ("none", 4), ("batch", 4)}
    assert found["none", 4][1] == math.inf
    assert all(of[0] < 2.6 for of in found.values())


# Transformations


@pytest.mark.row(226)
def test_the_angle_is_that_between_the_gradient_and_the_damped_newton_step():
    gradient = torch.tensor([1.0, 1.0], dtype=torch.float64)
    matrix = torch.diag(torch.tensor([0.0, 3.0], dtype=torch.float64))

    step = torch.tensor([1.0, 0.25], dtype=torch.float64)  # with μ = 1
    expected = math.degrees(math.acos(1.25 / (math.sqrt(2) * step.norm().item())))
    assert transformations.angle(gradient, matrix, 1.0) == pytest.approx(expected)
    assert math.isnan(transformations.angle(gradient, matrix - torch.eye(2), 0.5))


@pytest.mark.row(226)
def test_with_transformations_the_gradient_is_nearer_to_the_step_of_second_order():
    setup = transformations.Setup(dataset="digits", side=4, hidden=4, cases=100, moments=(0, 20), seeds=1)
    plain, transformed = (transformations.watched((setup, kind, 0)) for kind in ("plain", "transformed"))

    assert len(plain[0].eigenvalues) == 16 * 14 + 4 + 40 + 10
    assert plain[0].loss == pytest.approx(transformed[0].loss)  # the same function
    assert all(b.angles[-1] < a.angles[-1] for a, b in zip(plain, transformed, strict=True))


# The rectifier network


@pytest.mark.row(221)
def test_a_rectifier_network_comes_out_as_kept():
    assert_same_as_kept(rectifiers.EXPERIMENT)


@pytest.mark.row(221)
def test_weights_are_shown_after_the_first_epochs_and_the_last():
    setup = replace(rectifiers.SETUPS["small"], hidden=(16, 8), epochs=7)
    found = rectifiers.trained(setup, load("digits", validation=False), "small")

    assert list(found.images) == list(found.errors) == [1, 2, 3, 4, 5, 7]
    assert all(images.shape == (16, 8, 8) for images in found.images.values())
    assert found.errors[7][0] < found.errors[1][0]


# Overfitting and annealing


@pytest.mark.row(228)
def test_a_network_learns_few_digits_by_heart_and_errs_more_on_others_then():
    config = {**overfitting.SHARED, **overfitting.FEW["small"], "cases": 30, "updates": 400, "lr": 0.3}
    [claim] = overfitting.overfitting_claims([overfitting.curve((config, 0))])

    assert claim.holds


@pytest.mark.row(228)
def test_annealing_is_judged_by_pairs_of_the_same_seed():
    def ends(*losses):
        return [[(0, {"train_loss": 2.0}), (1, {"train_loss": loss})] for loss in losses]

    constant, annealed = ends(0.5, 0.9, 0.7), ends(0.4, 0.8, 0.59)
    found = {("constant", rate): constant for rate in overfitting.RATES}
    [lower] = overfitting.annealing_claims(
        {**found, **{("final_annealing", rate): annealed for _, rate in found}}
    )
    [same] = overfitting.annealing_claims(
        {**found, **{("final_annealing", rate): [*reversed(annealed)] for _, rate in found}}
    )

    assert lower.holds
    assert not same.holds
