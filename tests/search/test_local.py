import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import RBFInterpolator
from scipy.stats import chisquare

from tests.search.conftest import a_landscape, mixed_landscapes
from thiessen.search import BiasedRandom, Landscape, Stream, local
from thiessen.space import Categorical, Float, Int, Space

ADAPTIVE, THESIS = (BiasedRandom.presets[name] for name in ("adaptive", "thesis"))
SQUARE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))


def searched(strategy, told, *, seed=0, trials=40, space=SQUARE):
    """Search a smooth valley, its losses told in some way; return the proposals."""
    landscape, proposals = Landscape(space), []
    for trial in range(trials):
        proposal = strategy.propose(space, landscape, trial, Stream(seed, trial))
        proposals.append(proposal)
        landscape.take(proposal.config)
        landscape.observe(trial, proposal.config, told(trial, valley(proposal.config)))
    return proposals


def valley(config):
    return (config["x"] - 0.3) ** 2 + 10 * (config["x"] + config["y"] - 0.9) ** 2


def test_usually_it_is_the_adaptive_preset():
    assert BiasedRandom() == ADAPTIVE


def test_parents_are_the_better_the_likelier(a_line):
    landscape = a_line(*((place / 100, float(place)) for place in range(100)))
    counts = Counter(local.parent_of(landscape, Stream(1, number)).trial for number in range(10_000))

    reaches = [1 - math.exp(-place / 2) for place in range(1, 9)]
    expected = np.diff([0.0, *reaches, 1.0]) * 10_000
    observed = [counts[place] for place in range(8)]
    assert chisquare([*observed, 10_000 - sum(observed)], expected).pvalue > 1e-4


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("seed", range(5))
def test_what_a_crash_is_told_as_changes_no_proposal_however_many_there_are(rate, seed):
    def told(crash):
        return lambda trial, loss: crash if Stream(9, trial).uniform() < rate else loss

    as_diverged, as_huge = (searched(ADAPTIVE, told(crash), seed=seed) for crash in (None, 1e30))
    assert [each.config for each in as_diverged] == [each.config for each in as_huge]


@given(known=mixed_landscapes(values=st.floats(-5, 5)), seed=st.integers(0, 2**32))
def test_a_changed_config_is_a_point_of_the_space(known, seed):
    landscape, history = known
    if history:
        parent = local.parent_of(landscape, Stream(seed, 0))
        landscape.space.validate(local.changed(parent, landscape.space, Stream(seed, 1)))


def test_each_dimension_is_changed_as_often_as_told_and_one_always():
    space = Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(4)})
    landscape = Landscape(space)
    landscape.observe(0, middle := dict.fromkeys(space.dimensions, 0.5), 1.0)
    parent = landscape.ranked(0)
    counts = Counter()
    for number in range(4_000):
        config = local.changed(parent, space, Stream(1, number))
        counts[sum(config[name] != middle[name] for name in space.dimensions)] += 1

    # One dimension for sure, each of the other three with probability 0.8.
    binomial = [math.comb(3, k) * 0.8**k * 0.2 ** (3 - k) for k in range(4)]
    assert counts[0] == 0
    assert chisquare([counts[k + 1] for k in range(4)], np.array(binomial) * 4_000).pvalue > 1e-4


def test_steps_are_symmetric_and_have_the_variance_of_their_scales():
    steps = np.array([local._step(Stream(1, number)) for number in range(20_000)])
    a, b = 0.01, 0.49
    variance = a * a + a * b / 2 + b * b / 7  # the mean of (a + b u^3)^2; the rest of a step has variance 1
    error = math.sqrt(variance / len(steps))
    assert abs(steps.mean()) < 4 * error
    assert steps.var() == pytest.approx(variance, rel=0.05)


@pytest.mark.parametrize(
    ("place", "inside"), [(0.3, 0.3), (-0.2, 0.2), (1.25, 0.75), (2.1, 0.1), (-1.4, 0.6)]
)
def test_steps_over_a_bound_come_back_as_from_a_mirror(place, inside):
    assert local._reflected(place) == pytest.approx(inside)


@pytest.mark.parametrize("kind", [0, 1, 48])
def test_a_choice_without_an_order_is_drawn_again_half_of_the_times_it_changes(kind):
    space = Space(kind=Categorical(tuple(range(49))))  # as floats, 1/49 times 49 is less than 1
    landscape = Landscape(space)
    landscape.observe(0, {"kind": kind}, 1.0)
    parent = landscape.ranked(0)
    kept = sum(local.changed(parent, space, Stream(1, number)) == {"kind": kind} for number in range(4_000))
    assert kept / 4_000 == pytest.approx(0.5 + 0.5 / 49, abs=0.03)


def test_what_is_inactive_in_the_parent_is_drawn_uniformly():
    space = Space(kind=Categorical(("a", "b")), rate=Float(0.0, 1.0, when={"kind": ["b"]}))
    landscape = Landscape(space)
    landscape.observe(0, {"kind": "a"}, 1.0)
    configs = [local.changed(landscape.ranked(0), space, Stream(1, number)) for number in range(4_000)]
    tenths = Counter(int(config["rate"] * 10) for config in configs if "rate" in config)
    assert chisquare([tenths[tenth] for tenth in range(10)]).pvalue > 1e-4


def test_more_is_expected_on_the_way_down_than_beyond_the_walls(a_line):
    landscape = a_line(*((place / 10, abs(place - 6.2)) for place in range(11)))
    expected = local.expectation(landscape)

    at_best, aside, at_worst = expected([[0.62], [0.45], [0.02]])

    assert 0 <= at_best < aside < at_worst <= 1


def test_the_expected_share_is_that_of_a_surface_by_scipy_through_the_64_best():
    random = np.random.default_rng(1)
    landscape, points = Landscape(SQUARE), random.random((80, 2))
    for trial, (x, y) in enumerate(points):
        landscape.observe(trial, {"x": x, "y": y}, valley({"x": x, "y": y}) if trial < 79 else None)
    asked = random.random((200, 2))

    losses = [valley({"x": x, "y": y}) for x, y in points[:79]]
    heights = -np.log((np.arange(64) + 0.5) / 80)
    surface = RBFInterpolator(points[np.argsort(losses)[:64]], heights, kernel="cubic", smoothing=1e-6)
    expected = np.minimum(np.exp(-surface(asked)), 1)

    assert local.expectation(landscape)(asked.tolist()).tolist() == pytest.approx(expected.tolist(), abs=1e-4)
    assert 1 in expected, "somewhere the surface is below the worst"


@pytest.mark.parametrize(("dimensions", "trials"), [(1, 6), (4, 6), (5, 7), (9, 11)])
def test_a_surface_needs_six_trials_and_two_more_than_there_are_dimensions(dimensions, trials):
    space = Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})
    landscape, _ = a_landscape(space, [float(trial) for trial in range(trials - 1)])
    assert local.expectation(landscape) is None
    landscape.observe(trials, dict.fromkeys(space.dimensions, 0.5), 0.0)
    assert local.expectation(landscape) is not None


def test_in_more_dimensions_than_64_trials_tell_anything_of_nothing_is_expected():
    known = []
    for dimensions in (62, 63):
        space = Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})
        landscape, _ = a_landscape(space, [float(trial) for trial in range(70)])
        known.append(local.expectation(landscape) is not None)
    assert known == [True, False]


def test_kinds_of_draws_come_in_their_shares(a_line):
    landscape = a_line(*((place / 30, float(place)) for place in range(30)))
    strategy = BiasedRandom(explore=0.2, local=0.8)
    kinds = Counter(
        strategy.propose(landscape.space, landscape, trial, Stream(1, trial)).reasons.draw
        for trial in range(30, 1_030)
    )
    share = 0.8 * 30 / 40
    expected = [200, 800 * share, 800 * (1 - share)]
    observed = [kinds[kind] for kind in ("exploration", "local", "uniform")]
    assert chisquare(observed, expected).pvalue > 1e-4


def test_each_kind_of_draw_is_kept_with_the_probability_that_the_documentation_gives():
    landscape, drawn = Landscape(SQUARE), Counter()
    for trial, (x, y) in enumerate(np.random.default_rng(2).random((20, 2))):
        landscape.observe(trial, {"x": x, "y": y}, valley({"x": x, "y": y}))
    ranks = {landscape.ranked(place).trial: 1 - place / 19 for place in range(20)}
    for trial in range(20, 220):
        reasons = ADAPTIVE.propose(SQUARE, landscape, trial, Stream(1, trial)).reasons
        drawn[reasons.draw] += 1
        if reasons.draw == "exploration":
            assert (reasons.nearest_trial, reasons.expected_share, reasons.acceptance) == (None, None, 1.0)
            continue
        rank, share = ranks[reasons.nearest_trial], reasons.expected_share
        local_too = reasons.draw == "local"
        assert (share is not None, reasons.parent is not None) == (local_too, local_too)
        expected = (rank * (1 - share)) ** (1 + 20 / 0.3) if local_too else rank ** (1 + 20 / 10)
        assert reasons.acceptance == pytest.approx(expected)
    assert set(drawn) == {"exploration", "local", "uniform"}


@pytest.mark.parametrize(("turn", "known", "draw"), [(7, 0, "initial"), (8, 0, "uniform"), (0, 7, "initial")])
def test_a_start_is_eight_proposals_whether_or_not_they_have_finished(a_line, turn, known, draw):
    landscape = a_line(*((place / 10, float(place)) for place in range(known)))
    strategy = BiasedRandom(explore=0.0)
    assert strategy.propose(landscape.space, landscape, turn, Stream(1, turn)).reasons.draw == draw


def test_while_no_trial_had_a_loss_nothing_is_changed(a_line):
    landscape = a_line(*((place / 20, None) for place in range(20)))
    for trial in range(20, 60):
        reasons = ADAPTIVE.propose(landscape.space, landscape, trial, Stream(1, trial)).reasons
        assert reasons.draw in {"uniform", "exploration"}
        assert reasons.acceptance == 1


def test_a_local_proposal_says_what_was_changed_and_what_is_expected():
    proposals = searched(ADAPTIVE, lambda _, loss: loss, trials=60)
    told = [proposal.reasons for proposal in proposals if proposal.reasons.draw == "local"][-1]
    sentence = told.explain()
    assert f"A change of trial {told.parent}, " in sentence
    assert "expected to be better" in sentence


crash = st.sampled_from([None, math.nan, math.inf, 1e30])


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), crashed=crash, also=crash)
def test_no_increasing_change_of_the_loss_and_no_value_for_crashes_changes_a_proposal(seed, crashed, also):
    def told(crash_value, change):
        return lambda trial, loss: crash_value if trial % 7 == 5 else change(loss)

    plain = searched(ADAPTIVE, told(crashed, lambda loss: loss), seed=seed)
    changed = searched(ADAPTIVE, told(also, lambda loss: 8 * loss**3 - 5), seed=seed)

    assert [each.config for each in plain] == [each.config for each in changed]


def test_in_a_smooth_valley_the_adaptive_preset_gets_far_below_the_thesis_rule():
    best = {
        name: [min(valley(p.config) for p in searched(strategy, lambda _, loss: loss, seed=seed, trials=80))
               for seed in range(12)]
        for name, strategy in (("adaptive", ADAPTIVE), ("thesis", THESIS))
    }  # fmt: skip
    assert np.median(best["adaptive"]) < np.median(best["thesis"]) / 10


def test_a_finite_space_is_tried_to_its_end():
    space = Space(n=Int(0, 19), kind=Categorical(("a", "b")))
    landscape, seen = Landscape(space), set()
    for trial in range(40):
        config = ADAPTIVE.propose(space, landscape, trial, Stream(3, trial)).config
        seen.add((config["n"], config["kind"]))
        landscape.take(config)
        landscape.observe(trial, config, float(config["n"]))
    assert len(seen) == 40
