import json
from dataclasses import asdict, replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen.integrations import KNOWN
from thiessen.search import STRATEGIES, BiasedRandom, Exhausted, Landscape, Rank, Reasons, Refused, Stream
from thiessen.search.reasons import LAST_REFUSED, Draw
from thiessen.search.strategy import MAX_DRAWS
from thiessen.space import Categorical, Float, Int, Space

THESIS = BiasedRandom.presets["thesis"]

A_DRAW = Reasons(
    strategy="biased_random",
    watermark=18,
    draw="uniform",
    refused=2,
    nearest_trial=17,
    distance=0.0423,
    estimate=0.11312,
    acceptance=0.8312,
)


def told(**changed):
    return replace(A_DRAW, **changed).explain()


def test_a_draw_is_told_with_its_probability_the_nearest_trial_and_what_was_refused():
    assert told() == (
        "A uniform draw, kept with probability 0.83: the nearest finished trial, 17 (at distance 0.0423), "
        "had loss 0.113; 2 draws were refused before it."
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"refused": 0}, "had loss 0.113."),
        ({"refused": 1}, "had loss 0.113; 1 draw was refused before it."),
        ({"neighbourhood": 3}, "(at distance 0.0423), and 2 more nearby had a mean loss of 0.113;"),
        ({"nearest_trial": None}, "the nearest finished trial, one of another study (at distance"),
        ({"nearest_is_pending": True}, "the nearest pending trial, 17 (at distance 0.0423), was expected to"),
        ({"estimate": None, "acceptance": 0.0, "forced": True}, "17 (at distance 0.0423), diverged."),
        ({"estimate": None, "acceptance": 1.0, "refused": 0}, "diverged, but no trial had a loss yet."),
        ({"estimate": -123456.789, "distance": 0.0}, "17 (at distance 0), had loss -1.23e+05;"),
    ],
)
def test_what_is_known_of_the_nearest_trial_is_told(changed, said):
    assert said in told(**changed)


@pytest.mark.parametrize(
    ("parent", "said"),
    [(12, "A change of trial 12, kept"), (None, "A change of a trial of another study, kept")],
)
def test_a_local_draw_is_told_with_whose_config_was_changed_and_what_is_expected(parent, said):
    sentence = told(draw="local", parent=parent, expected_share=0.0312)
    assert said in sentence
    assert "had loss 0.113, and 3.1 % of all trials were expected to be better; 2 draws" in sentence


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (1.0, "almost every trial"),
        (0.994, "99 % of all trials"),
        (0.001, "0.1 % of all"),
        (3e-21, "hardly any"),
    ],
)
def test_an_expected_share_reads_well_at_its_ends(share, said):
    assert f", and {said}" in told(draw="local", parent=1, expected_share=share)


def test_a_tiny_chance_is_not_told_to_the_digit():
    assert "by its chance below 0.0001 among" in told(forced=True, refused=256, acceptance=2e-28)


def test_a_draw_by_a_rule_that_reasons_do_not_know_is_told_with_the_name_of_the_strategy():
    assert Reasons(strategy="optuna:tpe", watermark=3, draw="own", refused=1).explain() == (
        "A draw by the rule of optuna:tpe; 1 draw before it had a trial already."
    )


def test_a_draw_that_no_rule_kept_is_told_as_such():
    assert told(forced=True, refused=256, acceptance=0.0034).startswith(
        "A uniform draw, chosen by its chance of 0.0034 among 256 of which none was kept: the nearest"
    )
    assert told(forced=True, refused=256, acceptance=0.0).startswith(
        "A uniform draw, chosen at random among 256 of which none was kept: the nearest"
    )


@pytest.mark.parametrize(
    ("draw", "opening"),
    [
        ("initial", "One of the first draws"),
        ("exploration", "A uniform draw"),
        ("uniform", "A uniform draw"),
        ("grid", "The next point of the grid"),
        ("quasi_random", "The next point of a sequence that fills the space evenly"),
    ],
)
def test_a_draw_that_looked_at_no_loss_is_told_by_its_kind(draw, opening):
    def told(refused):
        return Reasons(strategy="s", watermark=0, draw=draw, refused=refused).explain()

    things = "points" if draw in {"grid", "quasi_random"} else "draws"
    assert told(0) == f"{opening}, kept without looking at any loss."
    assert (
        told(2) == f"{opening}, kept without looking at any loss; 2 {things} before it had a trial already."
    )


def test_a_remaining_config_is_told_with_its_nearest_trial_where_one_was_looked_for():
    opening = "One of the configs that had no trial yet, listed after 256 draws that all had one"
    assert Reasons(strategy="s", watermark=0, draw="remaining", refused=256).explain() == f"{opening}."
    nearest = "the nearest finished trial, 17 (at distance 0.0423), had loss 0.113"
    assert told(draw="remaining", refused=256) == f"{opening}: {nearest}."


# What strategies give


def proposal_or_none(strategy, landscape, trial):
    try:
        return strategy.propose(landscape.space, landscape, trial, Stream(1, trial))
    except Exhausted:
        return None


@pytest.mark.parametrize("strategy", [*STRATEGIES.values(), replace(THESIS, acceptance=Rank(), neighbours=2)])
@given(data=st.data())
def test_every_proposal_explains_itself_and_survives_json(strategy, data, mixed_landscapes):
    landscape, told = data.draw(mixed_landscapes())
    proposal = proposal_or_none(strategy, landscape, len(told))
    if proposal is None:
        return

    stored = json.loads(json.dumps(asdict(proposal.reasons), allow_nan=False))
    sentence = proposal.reasons.explain()

    assert Reasons.from_json(stored) == proposal.reasons
    assert sentence[0].isupper()
    assert sentence.count(".") == sum(map(sentence.count, [f".{digit}" for digit in range(10)])) + 1
    assert len(sentence) < 250


def all_but_one():
    landscape = Landscape(Space(n=Int(0, 999)))
    for n in range(999):
        landscape.take({"n": n})
    landscape.observe(0, {"n": 0}, 1.0)
    return landscape


@pytest.mark.parametrize("name", ["biased_random", "quasi_random", "random"])
def test_what_remains_when_all_draws_had_trials_is_told_as_such(name):
    reasons = proposal_or_none(STRATEGIES[name], all_but_one(), 1).reasons
    assert (reasons.draw, reasons.refused, reasons.last_refused) == ("remaining", MAX_DRAWS, ())
    assert not reasons.forced


def test_what_remains_is_judged_like_any_other_candidate():
    reasons = proposal_or_none(THESIS, all_but_one(), 1).reasons
    assert (reasons.nearest_trial, reasons.estimate) == (0, 1.0)
    assert reasons.distance == pytest.approx(0.999)


def test_every_kind_of_draw_is_proposed_by_some_strategy(a_line):
    known, full = a_line((0.25, 0.0), (0.75, 1.0)), all_but_one()
    strategies = [*STRATEGIES.values(), KNOWN["optuna:random"]]
    asked = [(strategy, each) for strategy in strategies for each in (known, full, a_line())]

    drawn = {strategy.propose(each.space, each, 0, Stream(1, 0)).reasons.draw for strategy, each in asked}
    many = a_line(*((place / 50, place) for place in range(50)))
    drawn |= {proposal_or_none(BiasedRandom(), many, trial).reasons.draw for trial in range(100)}

    assert drawn == set(get_args(Draw))


def test_the_last_refused_are_those_drawn_just_before(a_line):
    landscape = a_line((0.1, 0.0), (0.3, 1.0), (0.9, 2.0))
    for trial in range(50):
        stream = Stream(1, trial)
        numbers = [stream.uniform() for _ in range(2 * MAX_DRAWS)]
        reasons = THESIS.propose(landscape.space, landscape, trial, Stream(1, trial)).reasons
        drawn = [landscape.space.decode([number]) for number in numbers[: 2 * reasons.refused : 2]]

        assert [each.config for each in reasons.last_refused] == drawn[-LAST_REFUSED:]
        for each in reasons.last_refused:
            nearest = landscape.nearest(each.config)
            expected = (nearest.trial, *nearest.losses, 1 - nearest.losses[0] / 2)
            assert (each.nearest_trial, each.estimate, each.acceptance) == expected


def test_a_config_that_has_a_trial_is_counted_as_refused_but_not_listed():
    landscape = Landscape(Space(kind=Categorical(("a", "b"))))
    landscape.take({"kind": "a"})
    landscape.observe(0, {"kind": "a"}, 1.0)
    reasons = [proposal_or_none(THESIS, landscape, trial).reasons for trial in range(20)]

    assert any(each.refused for each in reasons)
    assert not any(each.last_refused for each in reasons)


def test_a_needle_is_told_as_forced_and_a_common_draw_is_not(a_line):
    needle = a_line((0.0, 0.0), (1e-4, 1.0), *((position / 500, 1.0) for position in range(1, 500)))
    assert proposal_or_none(THESIS, needle, 0).reasons.forced
    assert not proposal_or_none(THESIS, a_line((0.25, 0.0), (0.75, 1.0)), 0).reasons.forced


def test_a_pending_and_a_recalled_trial_are_told_apart_from_finished_ones():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.recall({"x": 0.0}, 1.0)
    landscape.pend(5, {"x": 0.5})
    reasons = [
        proposal_or_none(replace(THESIS, pending="believer"), landscape, trial).reasons for trial in range(20)
    ]

    seen = {(each.nearest_trial, each.nearest_is_pending) for each in reasons}
    assert seen == {(None, False), (5, True)}


# What was stored


@pytest.mark.parametrize(
    ("strategy", "draw"),
    [("biased_random", "uniform"), ("random", "uniform"), ("grid", "grid"), ("quasi_random", "quasi_random")],
)
def test_reasons_of_an_earlier_version_are_read(strategy, draw):
    stored = {
        "strategy": strategy,
        "watermark": 3,
        "refused": 1,
        "nearest_trial": None,
        "distance": None,
        "estimate": None,
        "acceptance": 1.0,
    }
    assert Reasons.from_json(stored) == Reasons(strategy=strategy, watermark=3, draw=draw, refused=1)


def test_reasons_of_a_later_version_are_read_without_what_is_new():
    assert Reasons.from_json(asdict(A_DRAW) | {"surprise": 1}) == A_DRAW


def test_the_refused_are_read_as_they_were():
    refused = Refused(config={"x": 0.5}, nearest_trial=None, estimate=None, acceptance=0.0)
    reasons = replace(A_DRAW, last_refused=(refused,))
    assert Reasons.from_json(json.loads(json.dumps(asdict(reasons)))) == reasons
