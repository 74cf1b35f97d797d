"""What the rule of biased random search leaves open, decided; some cases have their tests in the server."""

import math
from collections import Counter
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.neighbors import KNeighborsRegressor

from thiessen.search import BiasedRandom, Exhausted, Landscape, Random, Rank, Stream
from thiessen.search.strategy import MAX_DRAWS
from thiessen.space import Boolean, Categorical, Float, Int, Space

THESIS = BiasedRandom.presets["thesis"]

pytestmark = pytest.mark.row(7)

LINE = Space(x=Float(0.0, 1.0))
PLANE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))
UNLIKELY = 0.001  # a chi-squared test on a fixed stream fails below this


class Scripted(Stream):
    """A stream that says what it was told to say, again and again."""

    def __init__(self, *numbers):
        super().__init__(0, 0)
        self._words = np.resize((np.array(numbers) * 2**53).astype(np.uint64) << 11, 10_000)


def propose(landscape, *, seed=0, trial=0, strategy=None):
    return (strategy or THESIS).propose(landscape.space, landscape, trial, Stream(seed, trial))


def reasons_at(landscape, *units, strategy=None):
    """Return the reasons of a candidate at these units."""
    stream = Scripted(*units, 0.0)
    return (strategy or THESIS).propose(landscape.space, landscape, 9, stream).reasons


def without_a_rule(landscape, trial):
    return propose(landscape, trial=trial, strategy=Random()).config


# At the start


def test_when_nothing_has_finished_the_first_draw_is_kept():
    proposal = propose(Landscape(PLANE))
    assert proposal.config == without_a_rule(Landscape(PLANE), 0)
    assert (proposal.reasons.refused, proposal.reasons.acceptance) == (0, 1.0)


@pytest.mark.parametrize("loss", [-3.0, 0.0, 1e308])
def test_when_all_losses_are_equal_every_draw_is_kept(loss, a_line):
    landscape = a_line((0.2, loss), (0.9, loss))
    for trial in range(20):
        assert propose(landscape, trial=trial).config == without_a_rule(landscape, trial)


def test_the_initial_proposals_are_kept_without_the_rule_and_no_others(a_line):
    landscape, strategy = a_line((0.25, 0.0), (0.75, 1.0)), replace(THESIS, initial=50)
    for trial in range(100):
        proposal = propose(landscape, trial=trial, strategy=strategy)
        if trial < 50:
            assert proposal.config == without_a_rule(landscape, trial)
            assert proposal.reasons.draw == "initial"
        else:
            assert proposal.config["x"] < 0.5
            assert proposal.reasons.draw == "uniform"


def test_what_is_known_from_elsewhere_counts_as_a_start(a_line):
    landscape = a_line((0.25, 0.0), *((0.75 + place / 1000, 1.0) for place in range(49)))
    drawn = {
        propose(landscape, strategy=replace(THESIS, initial=initial)).reasons.draw for initial in (50, 51)
    }
    assert drawn == {"uniform", "initial"}


# Losses


@pytest.mark.row(6)
def test_to_maximise_is_to_minimise_the_negative_draw_by_draw():
    landscape, tried = Landscape(PLANE), []
    for trial in range(80):
        proposal = propose(landscape, trial=trial)
        config = proposal.config
        assert (config, proposal.reasons.acceptance) == maximising(tried, Stream(0, trial))
        value = -math.dist(config.values(), (0.3, 0.6))
        tried.append((config, value))
        landscape.take(config)
        landscape.observe(trial, config, -value)


def maximising(tried, stream):
    """Return the next config and its probability by the algorithm itself, for values to be maximised."""
    values = [value for _, value in tried]
    while True:
        config = PLANE.decode([stream.uniform(), stream.uniform()])
        kept, probability = stream.uniform(), 1.0
        if len(set(values)) > 1:
            _, nearest = min(tried, key=lambda each: math.dist(each[0].values(), config.values()))
            probability = (nearest - min(values)) / (max(values) - min(values))
        if kept < probability:
            return config, probability


@pytest.mark.parametrize("told", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_diverged_and_never_kept_nor_the_best_or_the_worst(told, a_line):
    landscape = a_line((0.2, 1.0), (0.5, told), (0.8, 2.0))

    assert (landscape.best, landscape.worst) == (1.0, 2.0)
    assert reasons_at(landscape, 0.1).acceptance == 1
    assert all(propose(landscape, trial=trial).config["x"] < 0.35 for trial in range(300))


def test_a_diverged_trial_repels_even_where_all_finite_losses_are_equal(a_line):
    landscape = a_line((0.25, 1.0), (0.75, None))
    assert all(propose(landscape, trial=trial).config["x"] < 0.5 for trial in range(200))


def test_while_everything_has_diverged_every_draw_is_kept(a_line):
    landscape = a_line((0.25, None), (0.75, None))
    assert [propose(landscape, trial=trial).config for trial in range(20)] == [
        without_a_rule(landscape, trial) for trial in range(20)
    ]


def test_one_enormous_loss_makes_the_rule_random_search_but_not_a_rank(a_line):
    history = (0.125, 0.0), (0.375, 1.0), (0.625, 2.0), (0.875, 1e30)
    landscape = a_line(*history)
    kept = {
        rule: [
            reasons_at(landscape, x, strategy=replace(THESIS, **rule_of)).acceptance for x, _ in history[:3]
        ]
        for rule, rule_of in (("loss", {}), ("rank", {"acceptance": Rank()}))
    }
    assert kept["loss"] == pytest.approx([1, 1, 1])
    assert kept["rank"] == pytest.approx([1, 2 / 3, 1 / 3])


def test_nothing_is_smoothed_the_estimate_is_the_very_loss_of_the_nearest_trial(a_line):
    losses = [0.1 + 0.2, 1 / 3, 5e-324, -1e300]
    landscape = a_line(*((place / 4, loss) for place, loss in enumerate(losses)))
    assert [reasons_at(landscape, place / 4 + 0.01).estimate for place in (3, 1, 2)] == [
        losses[place] for place in (3, 1, 2)
    ]


def test_the_draw_that_decides_must_lie_strictly_below_the_acceptance(a_line):
    landscape = a_line((1 / 6, 0.0), (1 / 2, 0.5), (5 / 6, 1.0))
    at_half = Scripted(0.5, 0.5, 0.5, 0.5 - 2**-53)  # the same candidate twice: refused, then kept
    reasons = THESIS.propose(LINE, landscape, 3, at_half).reasons
    assert (reasons.refused, reasons.acceptance) == (1, 0.5)

    at_the_ends = Scripted(0.9, 0.0, 0.1, 1 - 2**-53)  # never kept, then always
    reasons = THESIS.propose(LINE, landscape, 3, at_the_ends).reasons
    assert (reasons.refused, reasons.acceptance) == (1, 1.0)


# Draws


def test_after_256_draws_one_of_them_is_taken_by_its_acceptance(a_line):
    landscape = a_line((0.0, 0.0), (1e-4, 1.0 - 2e-6), (0.5, 1.0 - 1e-6), (0.75, 1.0 - 3e-6), (1.0, 1.0))
    proposals = [propose(landscape, trial=trial) for trial in range(600)]
    forced = [each for each in proposals if each.reasons.forced]
    assert len(forced) > 500
    assert {each.reasons.refused for each in forced} == {MAX_DRAWS}

    nearest = Counter(each.reasons.nearest_trial for each in forced)
    shares = [2 * 0.25, 1 * (0.625 - 0.25), 3 * (0.875 - 0.625)]
    expected = [len(forced) * share / sum(shares) for share in shares]
    assert set(nearest) == {1, 2, 3}
    assert chisquare([nearest[trial] for trial in (1, 2, 3)], expected).pvalue > UNLIKELY


def test_after_256_hopeless_draws_all_of_them_are_equally_likely(a_line):
    landscape = a_line((0.0, 0.0), (1e-4, 1.0), (1.0, 1.0))
    halves = Counter(propose(landscape, trial=trial).config["x"] < 0.5 for trial in range(300))
    assert chisquare(list(halves.values())).pvalue > UNLIKELY


def test_a_finite_space_is_tried_without_repeats_until_it_is_exhausted():
    landscape = Landscape(Space(n=Int(0, 4), flag=Boolean()))
    for trial in range(10):
        config = propose(landscape, trial=trial).config
        assert not landscape.is_taken(config)
        landscape.take(config)
        landscape.observe(trial, config, float(trial % 3))
    with pytest.raises(Exhausted):
        propose(landscape, trial=10)


def test_where_nothing_is_marked_as_taken_configs_repeat_and_count_as_their_mean():
    landscape = Landscape(Space(flag=Boolean()))
    for trial, (flag, loss) in enumerate([(True, 1.0), (True, 4.0), (False, 3.0), (True, 2.5)]):
        landscape.observe(trial, {"flag": flag}, loss)

    reasons = reasons_at(landscape, 0.9)

    assert (reasons.estimate, reasons.neighbourhood, reasons.nearest_trial) == (2.5, 3, 0)
    assert reasons.acceptance == pytest.approx((4 - 2.5) / 3)


# Neighbours


@pytest.mark.row(5)
def test_of_trials_equally_near_the_mean_counts_and_a_diverged_one_as_the_worst():
    landscape = Landscape(Space(kind=Categorical(("a", "b", "c", "d", "e"))))
    for trial, (kind, loss) in enumerate([("a", 1.0), ("b", None), ("c", 5.0), ("d", 9.0)]):
        landscape.observe(trial, {"kind": kind}, loss)

    reasons = reasons_at(landscape, 0.9)

    assert (reasons.estimate, reasons.distance) == (fmean([1, 9, 5, 9]), 1.0)
    assert reasons.acceptance == pytest.approx((9 - 6) / 8)


@pytest.mark.row(5)
@settings(max_examples=40)
@given(
    neighbours=st.integers(1, 5),
    dimensions=st.integers(1, 20),
    trials=st.integers(5, 60),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_estimate_of_several_neighbours_is_that_of_scikit_learn(neighbours, dimensions, trials, seed):
    space = Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(dimensions)})
    random, landscape = np.random.default_rng(seed), Landscape(space)
    points, losses = random.random((trials, dimensions)), random.normal(size=trials)
    for trial, (point, loss) in enumerate(zip(points.tolist(), losses.tolist(), strict=True)):
        landscape.observe(trial, dict(zip(space.dimensions, point, strict=True)), loss)
    oracle = KNeighborsRegressor(n_neighbors=neighbours, algorithm="brute").fit(points, losses)

    proposals = [
        propose(landscape, seed=seed, trial=trial, strategy=replace(THESIS, neighbours=neighbours))
        for trial in range(trials, trials + 10)
    ]

    expected = oracle.predict([list(proposal.config.values()) for proposal in proposals])
    assert [proposal.reasons.estimate for proposal in proposals] == pytest.approx(expected, rel=1e-9)
    spread = losses.max() - losses.min()
    for proposal, mean in zip(proposals, expected, strict=True):
        assert proposal.reasons.acceptance == pytest.approx((losses.max() - mean) / spread, abs=1e-9)


def test_more_neighbours_than_trials_are_all_of_them(a_line):
    reasons = reasons_at(a_line((0.1, 1.0), (0.9, 4.0)), 0.2, strategy=replace(THESIS, neighbours=7))
    assert (reasons.estimate, reasons.acceptance) == (2.5, 0.5)


def test_log_scales_are_drawn_and_compared_in_the_logarithm():
    landscape = Landscape(Space(lr=Float(1e-4, 1.0, log=True)))
    landscape.observe(0, {"lr": 1e-4}, 1.0)
    landscape.observe(1, {"lr": 1.0}, 0.0)

    reasons = reasons_at(landscape, 0.55)  # 10**-1.8 = 0.016: far nearer to 0.0001 in the number itself

    assert (reasons.nearest_trial, reasons.distance) == (1, pytest.approx(0.45, abs=1e-9))


@given(low=st.sampled_from([-1e6, 0.0, 3.0]), width=st.sampled_from([1e-3, 1.0, 1e9]))
def test_distances_are_those_of_the_unit_cube_whatever_the_ranges(low, width):
    landscape = Landscape(Space(x=Float(low, low + width), n=Int(1, 10)))
    landscape.observe(0, landscape.space.decode([0.2, 0.0]), 0.0)
    reasons = reasons_at(landscape, 0.6, 0.35)  # the fourth of ten bins, whose centre is 0.35
    assert reasons.distance == pytest.approx(math.hypot(0.4, 0.3), rel=1e-6)


def test_another_choice_is_as_far_as_a_whole_range_and_so_is_what_only_one_of_two_configs_has():
    space = Space(kind=Categorical(("a", "b")), x=Float(0.0, 1.0, when={"kind": ["a"]}), y=Float(0.0, 1.0))

    def distance(known, *units):
        landscape = Landscape(space)
        landscape.observe(0, known, 0.0)
        return reasons_at(landscape, *units).distance

    assert distance({"kind": "a", "x": 0.5, "y": 0.0}, 0.0, 0.75, 0.0) == pytest.approx(0.25)
    assert distance({"kind": "b", "y": 0.0}, 0.9, 0.75, 0.5) == pytest.approx(0.5)
    assert distance({"kind": "b", "y": 0.0}, 0.0, 0.75, 0.0) == pytest.approx(math.sqrt(2))


# Pending trials, and trials of elsewhere


def with_pending():
    landscape = Landscape(LINE)
    for trial, (x, loss) in enumerate([(0.1, 0.0), (0.4, 1.0), (0.9, 5.0)]):
        landscape.observe(trial, {"x": x}, loss)
    landscape.pend(3, {"x": 0.3})
    return landscape


@pytest.mark.parametrize(
    ("pending", "expected"),
    [("ignore", (0, 0.0, 1.0)), ("believer", (3, 1.0, 0.8)), ("liar_mean", (3, 2.0, 0.6))],
)
def test_a_pending_trial_counts_as_nothing_as_its_estimate_or_as_the_mean(pending, expected):
    reasons = reasons_at(with_pending(), 0.22, strategy=replace(THESIS, pending=pending))
    assert (reasons.nearest_trial, reasons.estimate, reasons.acceptance) == expected
    assert reasons.nearest_is_pending == (pending != "ignore")


@pytest.mark.parametrize("pending", ["ignore", "believer", "liar_mean"])
def test_a_pending_trial_moves_neither_the_best_nor_the_worst_and_none_counts_while_nothing_is_finite(
    pending,
):
    landscape = with_pending()
    reasons_at(landscape, 0.22, strategy=replace(THESIS, pending=pending))
    assert (landscape.best, landscape.worst, len(landscape)) == (0.0, 5.0, 3)

    landscape = Landscape(LINE)
    landscape.observe(0, {"x": 0.9}, None)
    landscape.pend(1, {"x": 0.1})
    reasons = reasons_at(landscape, 0.1, strategy=replace(THESIS, pending=pending))
    assert (reasons.nearest_trial, reasons.acceptance) == (0, 1.0)


def test_a_pending_trial_is_believed_to_have_the_mean_loss_of_as_many_neighbours_as_a_candidate():
    strategy = replace(THESIS, pending="believer", neighbours=2)
    reasons = reasons_at(with_pending(), 0.3, strategy=strategy)
    assert (reasons.nearest_trial, reasons.estimate) == (3, fmean([1.0, fmean([0.0, 1.0])]))


def test_a_pending_trial_that_is_believed_to_diverge_repels(a_line):
    landscape = a_line((0.1, 1.0), (0.6, None))
    landscape.pend(2, {"x": 0.4})
    assert all(
        propose(landscape, trial=trial, strategy=replace(THESIS, pending="believer")).config["x"] < 0.25
        for trial in range(200)
    )


def test_an_earlier_search_is_recalled_in_the_coordinates_of_this_space_and_what_lies_outside_is_dropped():
    earlier = [({"x": 2.0}, 1.0), ({"x": 4.0}, 0.0), ({"x": 7.0}, -5.0), ({"y": 2.0}, -5.0)]
    landscape = Landscape(Space(x=Float(0.0, 5.0)))

    assert [landscape.recall(config, loss) for config, loss in earlier] == [True, True, False, False]

    reasons = reasons_at(landscape, 0.7)
    assert (landscape.best, landscape.worst) == (0.0, 1.0)
    assert (reasons.estimate, reasons.nearest_trial) == (0.0, None)
    assert reasons.distance == pytest.approx(0.1)
    assert not landscape.is_taken({"x": 4.0})


def test_a_space_that_was_edited_is_another_space_with_distances_of_its_own():
    narrow, wide = (Landscape(Space(x=Float(0.0, high))) for high in (1.0, 10.0))
    for landscape in (narrow, wide):
        landscape.recall({"x": 0.5}, 0.0)
    distances = [reasons_at(landscape, 0.9).distance for landscape in (narrow, wide)]
    assert narrow.space != wide.space
    assert distances == pytest.approx([0.4, 0.85])
