"""What a page shows of a comparison is what its report says."""

import math

import pytest

from experiments.compared import (
    arms_table,
    bests,
    curve,
    headline,
    is_lower,
    is_shown,
    pair_of,
    pairs_table,
    training_drawn,
    unmet,
)
from tests.comparison.found import a_spec, an_arm, the_runs
from thiessen.comparison.report import report

CURVE = {"step": [0.0, 10.0], "train_error": [4.0, 2.0], "seconds": [0.0, 1.0]}
LOW = [[3.0, 1.0 + at / 10, 2.0] for at in range(8)]
HIGH = [[5.0, 4.0 + at / 10, math.inf] for at in range(8)]


@pytest.fixture
def found():
    arms = [
        an_arm(label, table, runs=the_runs(table, points=CURVE)) for label, table in (("a", LOW), ("b", HIGH))
    ]
    return report(a_spec(), arms, project="default", state="completed", is_complete=True)


def test_the_bests_of_an_arm_are_those_of_its_searches(found):
    assert bests(found, "a") == [1.0 + at / 10 for at in range(8)]


def test_an_arm_without_a_success_is_infinitely_bad():
    arms = [an_arm("a", [[1.0]]), an_arm("b", [[math.inf]])]
    found = report(
        a_spec(confirm=None, budget={"trials": 1}, replicates=1),
        arms,
        project="default",
        state="completed",
        is_complete=True,
    )

    assert bests(found, "b") == [math.inf]
    assert headline(found, "b") == math.inf


def test_a_claim_of_a_lower_mean_holds_one_way_alone(found):
    assert is_lower(found, "a", "b", says="").holds
    assert not is_lower(found, "b", "a", says="").holds
    assert "a 1.35, b 4.35" in is_lower(found, "a", "b", says="").told


@pytest.mark.parametrize(("factor", "holds"), [(0.32, True), (0.3, False)])
def test_a_claim_of_a_margin_holds_where_the_mean_is_below_that_part(found, factor, holds):
    assert is_lower(found, "a", "b", says="", factor=factor).holds is holds  # 1.35 / 4.35 = 0.3103


@pytest.mark.parametrize(("better", "worse", "p", "holds"), [
    ("a", "b", 0.01, True), ("b", "a", 0.01, False), ("a", "b", 0.001, False),
])  # fmt: skip
def test_a_claim_of_a_verdict_holds_in_its_direction_and_at_its_level(found, better, worse, p, holds):
    """All of eight pairs of one sign: p = 2 / 2**8."""
    assert pair_of(found, "b", "a").adjusted == pytest.approx(1 / 128)
    assert is_shown(found, better, worse, says="", p=p).holds is holds


def test_a_table_of_arms_has_their_searches_and_their_fresh_runs(found):
    [a, b] = arms_table(found).rows

    assert a[:2] == ["a", pytest.approx(1.35)]
    assert b[3] == pytest.approx(4.35)
    assert b[-1] == pytest.approx(1 / 3)  # of its trials diverged


def test_a_table_of_pairs_says_by_what_they_are_compared(found):
    table = pairs_table(found)

    assert table.rows[0][0] == "a before b"
    assert "fresh seeds" in table.note


def test_the_curve_of_an_arm_is_that_of_the_metric_that_is_named(found):
    assert curve(found, "a", "train_error").mean[-1] == 2.0
    with pytest.raises(LookupError, match="test_error"):
        curve(found, "a", "test_error")


def test_trainings_are_drawn_over_updates_and_over_seconds(found):
    updates, seconds = training_drawn(found, "train_error", y="", says="").panels

    assert (updates.x, seconds.x) == ("updates", "seconds")
    assert [line.name for line in updates.lines] == ["a", "b"]


def test_what_a_comparison_lacks_is_told(found):
    lacking = [each.name for each in found.checks if not each.is_met]

    assert len(unmet(found)) == len(lacking)
    assert all(name in sentence for name, sentence in zip(lacking, unmet(found), strict=True))
