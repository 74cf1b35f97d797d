import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.search.stopping import (
    Verdict,
    median_rule,
    percentile_rule,
    successive_halving,
    threshold_rule,
)


def halving(curve, others):
    return successive_halving(curve, others, min_step=1, eta=2)


def lower_quarter(curve, others):
    return percentile_rule(curve, others, percentile=25, min_curves=1)


def the_median(curve, others):
    return median_rule(curve, others, min_curves=1)


RULES = pytest.mark.parametrize("rule", [the_median, lower_quarter, halving])
losses = st.one_of(st.integers(-8, 8).map(float), st.sampled_from([math.nan, math.inf, -math.inf, 1e308]))
finite = st.integers(-8, 8).map(float)


def curves(of=losses, *, sizes=(1, 2, 4)):
    """Curves that start at step 1; their lengths are powers of two, so that small means are exact."""
    made = st.sampled_from(sizes).flatmap(lambda size: st.lists(of, min_size=size, max_size=size))
    return made.map(a_curve)


def a_curve(values):
    return [(step, value) for step, value in enumerate(values, start=1)]


def flat(*values, steps=3):
    return [a_curve([value] * steps) for value in values]


@RULES
@given(curve=curves(sizes=(0, 1, 4)))
def test_with_nobody_to_compare_with_a_trial_goes_on(rule, curve):
    assert not rule(curve, []).stop
    assert not rule(curve, [[], []]).stop
    assert not rule([], flat(1, 2, 3)).stop


@RULES
@given(curve=curves(), others=st.lists(curves(), max_size=8))
def test_the_best_trial_so_far_is_never_stopped(rule, curve, others):
    floor = min(
        (loss for other in others for _, loss in other if math.isfinite(loss)),
        default=0.0,
    )
    assert not rule([(step, min(floor, 0.0)) for step, _ in curve], others).stop


@RULES
@given(
    curve=curves(),
    others=st.lists(curves(), max_size=8),
    gains=st.lists(st.integers(0, 5), min_size=4, max_size=4),
)
def test_a_curve_that_is_better_everywhere_is_not_stopped_where_a_worse_one_goes_on(
    rule, curve, others, gains
):
    better = [
        (step, loss - gain if math.isfinite(loss) else loss)
        for (step, loss), gain in zip(curve, gains, strict=False)
    ]
    assert rule(better, others).stop <= rule(curve, others).stop


@RULES
@given(
    curve=curves(finite),
    others=st.lists(curves(finite), max_size=8),
    scale=st.integers(-20, 20),
    shift=st.integers(-1000, 1000),
)
def test_the_unit_and_the_origin_of_the_loss_change_nothing(rule, curve, others, scale, shift):
    def mapped(points):
        return [(step, math.ldexp(loss + shift, scale)) for step, loss in points]

    assert rule(mapped(curve), [mapped(other) for other in others]).stop == rule(curve, others).stop


@RULES
@given(curve=curves(), others=st.lists(curves(), max_size=8), seed=st.integers(0, 99))
def test_the_order_of_the_others_does_not_matter(rule, curve, others, seed):
    shuffled = random.Random(seed).sample(others, len(others))
    assert rule(curve, shuffled) == rule(curve, others)


@RULES
@pytest.mark.parametrize("worst", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_is_the_worst(rule, worst):
    assert rule(*flat(worst), flat(1, 2, 3)).stop
    assert not rule(*flat(3), flat(worst, worst, worst)).stop
    assert not rule(*flat(worst), flat(math.inf, math.nan, -math.inf)).stop


def test_the_median_rule_compares_the_best_so_far_with_the_means_of_the_others_up_to_there():
    others = [a_curve([4, 2, 99]), a_curve([6, 6]), a_curve([2, 2, 2, 2])]  # means at step 2: 3, 6, 2
    assert not the_median(a_curve([3, 9]), others).stop
    assert the_median(a_curve([3.25, 9]), others) == Verdict(
        stop=True,
        reason="Stop: its best loss up to step 2, 3.25, is worse than 3, "
        "the median of the mean losses of 3 other trials up to there.",
    )


def test_a_trial_that_is_level_with_the_median_goes_on_whatever_the_rounding():
    for steps in range(1, 60):
        assert not the_median(*flat(0.1, steps=steps), flat(0.1, 0.1, steps=steps)).stop


@pytest.mark.parametrize(("percentile", "limit"), [(0, 1), (25, 2), (50, 3), (60, 3.4), (100, 5)])
def test_the_percentile_lies_on_the_line_between_its_neighbours(percentile, limit):
    others = flat(5, 3, 1, 2, 4)
    assert not percentile_rule(*flat(limit - 0.01), others, percentile=percentile).stop
    assert percentile_rule(*flat(limit + 0.01), others, percentile=percentile).stop


def test_nothing_is_stopped_before_the_warm_up_or_among_too_few():
    bad, others = flat(9, steps=4)[0], flat(1, 1, 1)
    assert median_rule(bad, others, warm_up=4, min_curves=3).stop
    assert not median_rule(bad, others, warm_up=5, min_curves=3).stop
    assert not median_rule(bad, others, warm_up=4, min_curves=4).stop


def test_others_that_have_reported_nothing_yet_up_to_this_step_do_not_count():
    late = [[(10, 0.0)]] * 5
    assert not median_rule(a_curve([9]), late).stop


def test_a_trial_is_judged_at_the_last_rung_that_it_has_reached():
    others = [[(1, 5.0), (4, 1.0)], [(1, 1.0), (3, 7.0)], [(1, 2.0)]]
    assert not successive_halving([(1, 2.0)], others, eta=2).stop  # among the best 2 of 4
    assert successive_halving([(1, 3.0)], others, eta=2).stop
    assert not successive_halving([(1, 9.0), (3, 1.0)], others, eta=2).stop  # at rung 2, the best of 3
    assert successive_halving([(1, 0.0), (3, 1.5)], others, eta=2).stop
    assert successive_halving([(1, 0.0), (5, 1.5)], others, eta=2) == Verdict(
        stop=True,
        reason="Stop: its loss at the rung of step 4, 1.5, is worse than 1, "
        "place 1 of the 2 trials that reached it.",
    )


def test_before_the_first_rung_a_trial_goes_on():
    assert not successive_halving([(4, math.nan)], flat(1, 1, 1, steps=9), min_step=5).stop


@pytest.mark.parametrize("eta", [2, 3, 4])
def test_of_many_trials_one_in_eta_is_kept_at_a_rung(eta):
    drawn = random.Random(eta)
    arrived, kept = [], 0
    for _ in range(1_000):
        curve = [(1, drawn.random())]
        kept += not successive_halving(curve, arrived, eta=eta).stop
        arrived.append(curve)

    expected = sum(max(number // eta, 1) / number for number in range(1, 1_001))
    assert abs(kept - expected) < 4 * math.sqrt(1_000 / eta * (1 - 1 / eta))
    at_the_end = [
        not successive_halving(c, [o for o in arrived if o is not c], eta=eta).stop for c in arrived
    ]
    assert sum(at_the_end) == 1_000 // eta


@pytest.mark.parametrize(("loss", "stops"), [(0.5, False), (1.0, False), (1.1, True), (math.nan, True)])
def test_a_threshold_judges_the_last_loss(loss, stops):
    assert threshold_rule([(1, 9.0), (2, loss)], threshold=1.0).stop is stops
    assert not threshold_rule([(1, 9.0), (2, loss)], threshold=1.0, warm_up=3).stop
    assert not threshold_rule([], threshold=1.0).stop


@pytest.mark.parametrize("wrong", [{"min_step": 0}, {"eta": 1}])
def test_rungs_that_do_not_rise_are_refused(wrong):
    with pytest.raises(ValueError, match="rungs need min_step above 0 and eta of 2 or more"):
        successive_halving([(1, 0.0)], [], **wrong)


@pytest.mark.parametrize("percentile", [-1, 101, math.nan])
def test_a_percentile_beyond_its_range_is_refused(percentile):
    with pytest.raises(ValueError, match="between 0 and 100"):
        percentile_rule([(1, 0.0)], [], percentile=percentile)


def test_a_smaller_percentile_stops_no_fewer_trials():
    for low, high in pairwise(range(0, 101, 10)):
        for loss in range(7):
            curve, others = flat(loss)[0], flat(1, 2, 3, 4, 5)
            assert (
                percentile_rule(curve, others, percentile=low).stop
                >= percentile_rule(curve, others, percentile=high).stop
            )
