import json
import math
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from thiessen.search.acceptance import (
    ACCEPTANCES,
    Linear,
    Log,
    Power,
    Rank,
    SharpeningRank,
    Winsor,
    merit,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
known = st.lists(finite, min_size=3, max_size=3).map(sorted)  # best, value, worst
moderate = st.floats(-1e6, 1e6, allow_subnormal=False)
histories = st.lists(st.one_of(st.none(), finite, st.integers(-3, 3).map(float)), max_size=12).filter(
    lambda losses: any(loss is not None for loss in losses)
)
every_rule = pytest.mark.parametrize("rule", [made() for made in ACCEPTANCES.values()], ids=ACCEPTANCES)


@pytest.fixture(name="of", scope="session")
def _of(a_line):
    """Says how likely a rule keeps each loss of a history, or each of others; None is diverged."""

    def of(rule, history, losses=None):
        landscape = a_line(*((place / len(history), loss) for place, loss in enumerate(history)))
        each = history if losses is None else losses
        return [rule(landscape)([math.nan if loss is None else loss]) for loss in each]

    return of


# Every rule


@every_rule
@settings(max_examples=200)
@given(history=histories)
@example(history=[1.7e308, -1.7e308, 0.0])
@example(history=[0.0, 5e-324, 1e-323])
@example(history=[1e300, 1.0000000000000002e300])
def test_an_acceptance_is_a_probability_and_no_better_loss_is_kept_less_often(rule, history, of):
    losses = sorted(loss for loss in history if loss is not None)
    kept = of(rule, history, losses)

    assert all(0 <= acceptance <= 1 for acceptance in kept)
    assert kept[0] == 1
    assert all(better >= worse - 1e-15 for better, worse in pairwise(kept))


@every_rule
@given(history=st.lists(moderate, min_size=2, max_size=12).filter(lambda losses: min(losses) < max(losses)))
def test_the_best_is_always_kept_and_the_worst_never(rule, history, of):
    assume(type(rule) is not Log or (max(history) - min(history)) > 1e-9 * max(map(abs, history)))
    best, worst = of(rule, history, [min(history), max(history)])
    assert (best, worst) == (1, 0)


@every_rule
@given(history=histories)
def test_a_diverged_trial_is_never_kept_and_equal_losses_always(rule, history, of):
    assert of(rule, [*history, None], [None]) == [0]
    assert of(rule, [0.3, None, 0.3, 0.3], [0.3]) == [1]


@every_rule
def test_where_several_trials_are_equally_near_the_mean_merit_counts(rule, a_line):
    landscape = a_line(*((place / 5, loss) for place, loss in enumerate([1.0, 2.0, 3.0, 4.0, None])))
    merits = {Log: [1, 1 - math.log(2) / math.log(4), 0], Winsor: [1, 1 / 3, 0], Rank: [1, 3 / 4, 0]}
    merits |= {SharpeningRank: merits[Rank]}
    sharper = {Power: 2, SharpeningRank: 1 + 5 / 3}.get(type(rule), 1)

    expected = (sum(merits.get(type(rule), [1, 2 / 3, 0])) / 3) ** sharper
    assert rule(landscape)([1.0, 2.0, math.nan]) == pytest.approx(expected, rel=1e-12)


@every_rule
def test_a_rule_has_a_name_and_its_settings_are_part_of_what_it_is(rule):
    made = ACCEPTANCES[rule.name]
    assert rule == made(**vars(rule))
    assert json.loads(json.dumps(vars(rule))) == vars(rule)


def test_the_register_has_every_rule_by_its_name():
    assert set(ACCEPTANCES) == {"linear", "rank", "log", "winsor", "power", "sharpening_rank"}
    assert {name: made.name for name, made in ACCEPTANCES.items()} == {name: name for name in ACCEPTANCES}


@pytest.mark.parametrize(
    ("made", "wrong", "said"),
    [
        (Winsor, -0.1, "between 0 and 1"),
        (Winsor, 1.1, "between 0 and 1"),
        (Winsor, math.nan, "between 0 and 1"),
        (Power, 0, "above 0"),
        (Power, math.inf, "finite"),
        (SharpeningRank, -3, "above 0"),
        (SharpeningRank, math.nan, "finite"),
    ],
)
def test_a_senseless_setting_is_refused_with_what_it_may_be(made, wrong, said):
    with pytest.raises(ValueError, match=said) as refusal:
        made(wrong)
    assert made.name.replace("_", " ") in str(refusal.value)
    assert repr(wrong) in str(refusal.value)


# Each against its formula


def straight(scaled, value):
    return 1.0 if max(scaled) == min(scaled) else (max(scaled) - value) / (max(scaled) - min(scaled))


many = st.lists(moderate, min_size=1, max_size=12)


@given(history=many, exponent=st.floats(0.1, 10))
def test_linear_and_power_are_those_of_the_definition(history, exponent, of):
    expected = [straight(history, loss) for loss in history]
    assert of(Linear(), history) == pytest.approx(expected, rel=1e-12)
    assert of(Power(exponent), history) == pytest.approx([p**exponent for p in expected], rel=1e-11, abs=0)


@given(history=st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=12))
def test_the_logarithm_of_positive_losses_is_taken_as_it_is(history, of):
    scaled = [math.log(loss) for loss in history]
    assert of(Log(), history) == pytest.approx([straight(scaled, z) for z in scaled], rel=1e-6, abs=1e-9)


@given(history=st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=12))
@example(history=[0.0, 0.0, 1.0, 2.0])
def test_unless_all_are_positive_the_logarithm_is_of_the_distance_to_below_the_best(history, of):
    history = [*history, 0.0]
    margin = 0.01 * (median(history) - min(history)) or 1.0
    scaled = [math.log(loss - min(history) + margin) for loss in history]
    assert of(Log(), history) == pytest.approx([straight(scaled, z) for z in scaled], rel=1e-9, abs=1e-12)


@given(history=many)
def test_beyond_the_quantile_nothing_is_kept_and_below_it_is_a_straight_line(history, of):
    cut, best = median(history), min(history)
    expected = [
        0.0 if loss > cut else 1.0 if cut == best else (cut - loss) / (cut - best) for loss in history
    ]
    assert of(Winsor(), history) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert of(Winsor(1.0), history) == of(Linear(), history)


@given(history=st.lists(st.one_of(st.none(), st.integers(-3, 3).map(float)), min_size=1, max_size=12))
def test_the_rank_of_equal_losses_is_their_mean_rank_and_the_diverged_come_last(history, of):
    history = [*history, 0.0]
    sizes = [math.inf if loss is None else loss for loss in history]
    ranks = [sum(a < b for a in sizes) + (sizes.count(b) - 1) / 2 for b in sizes]
    merits = [0.0 if loss is None else straight(ranks, z) for loss, z in zip(history, ranks, strict=True)]

    assert of(Rank(), history) == pytest.approx(merits, rel=1e-12)
    sharper = [p ** (1 + len(history) / 2.5) for p in merits]
    assert of(SharpeningRank(2.5), history) == pytest.approx(sharper, rel=1e-12)


def test_the_median_of_a_search_that_sharpens_is_kept_less_and_less_often(of):
    ranks = [of(SharpeningRank(), [float(n) for n in range(size)], [size // 2])[0] for size in (3, 9, 31)]
    assert ranks == pytest.approx([1 / 4, 1 / 16, 2 ** -(34 / 3)])


# What each does not see


@pytest.mark.row(6)
@given(
    history=st.lists(st.integers(-(2**40), 2**40).map(float), min_size=1, max_size=12),
    shift=st.integers(-(2**40), 2**40),
    scale=st.integers(-900, 900),
)
@pytest.mark.parametrize("rule", [Linear(), Power()], ids=["linear", "power"])
def test_the_unit_and_the_origin_of_the_loss_change_no_bit(rule, history, shift, scale, of):
    moved = [math.ldexp(loss + shift, scale) for loss in history]  # exact: nothing is rounded
    assert of(rule, moved) == of(rule, history)


@pytest.mark.row(6)
@given(history=histories, bend=st.sampled_from(["cube", "arctangent", "huge"]))
@pytest.mark.parametrize("rule", [Rank(), SharpeningRank()], ids=["rank", "sharpening_rank"])
def test_no_increasing_change_of_the_loss_changes_a_bit_of_a_rank(rule, history, bend, of):
    places = sorted({loss for loss in history if loss is not None})
    bent = {
        "cube": lambda place: float((place - 5) ** 3),
        "arctangent": lambda place: math.atan(place - 3),
        "huge": lambda place: math.ldexp(1.0, 100 * place - 600),
    }[bend]
    changed = [None if loss is None else bent(places.index(loss)) for loss in history]
    assert of(rule, changed) == of(rule, history)


@pytest.mark.row(6)
@given(history=histories.filter(lambda losses: None in losses))
@pytest.mark.parametrize("rule", [Rank(), SharpeningRank()], ids=["rank", "sharpening_rank"])
def test_to_a_rank_a_crash_is_the_same_whether_it_is_told_as_diverged_or_as_a_huge_loss(rule, history, of):
    assume(max(loss for loss in history if loss is not None) < 1e308)
    crashed = [1e308 if loss is None else loss for loss in history]
    assert of(rule, crashed) == of(rule, history)


# The straight line itself


@given(known=known)
def test_a_merit_lies_between_0_and_1_whatever_the_losses(known):
    best, value, worst = known
    assert 0 <= merit(value, best=best, worst=worst) <= 1


@given(part=st.integers(0, 64), scale=st.integers(-1000, 900), shift=st.integers(-100, 100))
def test_between_best_and_worst_the_merit_is_a_straight_line(part, scale, shift):
    best, value, worst = (math.ldexp(shift + step, scale) for step in (0, part, 64))
    assert merit(value, best=best, worst=worst) == (64 - part) / 64


@pytest.mark.parametrize(("value", "expected"), [(-1e308, 1.0), (0.0, 0.5), (1e308, 0.0), (5e307, 0.25)])
def test_a_range_beyond_the_largest_float_is_still_a_straight_line(value, expected):
    assert merit(value, best=-1e308, worst=1e308) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("value", "expected"), [(0.0, 1.0), (5e-324, 0.5), (1e-323, 0.0)])
def test_a_range_of_the_smallest_floats_is_still_a_straight_line(value, expected):
    assert merit(value, best=0.0, worst=1e-323) == expected


@pytest.mark.parametrize(("value", "expected"), [(-0.1, 1.0), (1.1, 0.0)])
def test_a_value_beyond_what_is_known_is_held_to_a_probability(value, expected):
    assert merit(value, best=0.0, worst=1.0) == expected
