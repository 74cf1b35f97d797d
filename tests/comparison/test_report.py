import math

import numpy as np
import pytest

from tests.comparison.found import a_spec, an_arm, the_runs
from thiessen.comparison.report import report


def reported(spec, arms, *, is_complete=True):
    state = "completed" if is_complete else "active"
    return report(spec, arms, project="default", state=state, is_complete=is_complete)


def two_arms(many=10, *, worse_by=1.0, seed=1):
    """Return two arms of so many searches of three trials; b is worse in every one of them."""
    a = np.random.default_rng(seed).uniform(1.0, 2.0, (many, 3)).tolist()
    b = [[loss + worse_by for loss in losses] for losses in a]
    return an_arm("a", a, runs=the_runs(a)), an_arm("b", b, runs=the_runs(b))


def test_an_arm_that_is_better_in_every_confirmed_pair_is_shown_to_beat_the_other():
    shown = reported(a_spec("a", "b", replicates=10), two_arms())

    assert [(pair.better, pair.worse, pair.verdict) for pair in shown.pairs] == [("a", "b", "shown")]
    assert shown.pairs[0].says == (
        "a beats b at this budget: 1 lower (95 % interval 1 to 1), in 10 of 10 pairs."
    )
    assert shown.says == ["a beats b at this budget."]


def test_fewer_than_eight_replicates_have_lines_without_bands_and_no_verdict():
    shown = reported(a_spec("a", "b", replicates=7), two_arms(7))

    assert shown.pairs == []
    assert shown.arms[0].expected.low == [None, None, None]
    assert None not in shown.arms[0].expected.mean


@pytest.mark.row(13)
def test_a_search_that_did_not_use_up_its_budget_is_told_and_no_verdict_is_more_than_a_hint():
    whole, short = [[1.0, 2.0, 3.0]] * 10, [[2.0, 3.0]] * 10
    arms = [an_arm("a", whole, runs=the_runs(whole)), an_arm("b", short, runs=the_runs(short))]
    shown = reported(a_spec("a", "b", replicates=10), arms)

    assert {check.name: check.is_met for check in shown.checks}["equal budget"] is False
    assert [pair.verdict for pair in shown.pairs] == ["with care"]


def test_the_mean_of_a_search_without_success_is_null():
    a = [[1.0, 2.0, 3.0]] * 7 + [[math.inf, math.inf, math.inf]]
    shown = reported(a_spec("a", "b", replicates=8), [an_arm("a", a), an_arm("b", a)])

    assert shown.arms[0].final.mean is None
    assert shown.arms[0].final.diverged == 1
