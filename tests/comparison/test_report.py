import json
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.comparison.found import a_search, a_spec, an_arm, the_runs
from thiessen.comparison.report import report
from thiessen.contract import ComparisonReport

CURVE = {"step": [0.0, 10.0, 20.0], "seconds": [0.0, 1.0, 2.0], "validation_loss": [4.0, 2.0, 1.0]}


def reported(spec, arms, *, is_complete=True):
    state = "completed" if is_complete else "active"
    return report(spec, arms, project="default", state=state, is_complete=is_complete)


def losses(many=10, *, seed=1, trials=3):
    return np.random.default_rng(seed).uniform(1.0, 2.0, (many, trials)).tolist()


def two_arms(many=10, *, worse_by=1.0, **others):
    """Return two arms of so many searches of three trials; b is worse in every one of them."""
    a = losses(many)
    b = [[loss + worse_by for loss in each] for each in a]
    return [an_arm(label, table, runs=the_runs(table), **others) for label, table in (("a", a), ("b", b))]


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
    assert shown.says[0] == "No verdict: it takes 8 replicates that every arm has finished."
    assert shown.arms[0].expected.low == [None, None, None]
    assert None not in shown.arms[0].expected.mean


@pytest.mark.row(13)
def test_a_search_that_did_not_use_up_its_budget_is_told_and_no_verdict_is_more_than_a_hint():
    whole, short = [[1.0, 2.0, 3.0]] * 10, [[2.0, 3.0]] * 10
    arms = [an_arm("a", whole, runs=the_runs(whole)), an_arm("b", short, runs=the_runs(short))]
    shown = reported(a_spec("a", "b", replicates=10), arms)

    told = {check.name: check.told for check in shown.checks if not check.is_met}
    assert told["equal budget"].startswith("less than 3 trials spent: ")
    assert [pair.verdict for pair in shown.pairs] == ["with care"]
    assert shown.says[0] == "No arm is shown to be better than another at this budget."
    assert shown.says[1].startswith("Not fair in all: equal budget")


def test_verdicts_rest_on_the_fresh_runs_and_not_on_the_searches():
    table = losses()
    good, bad = [1.0 + at / 100 for at in range(10)], [2.0 + at / 50 for at in range(10)]
    lucky = [[loss - 1.0 for loss in each] for each in table]  # better in every search, worse when repeated
    arms = [
        an_arm("a", table, runs=the_runs(table, worth=good)),
        an_arm("b", lucky, runs=the_runs(lucky, worth=bad)),
    ]

    (pair,) = reported(a_spec("a", "b", replicates=10), arms).pairs

    assert (pair.better, pair.basis, pair.verdict) == ("a", "confirmed", "shown")


def test_where_one_search_is_not_confirmed_the_searches_are_compared_with_care():
    a, b = two_arms()

    (pair,) = reported(a_spec("a", "b", replicates=10), [a, replace(b, runs=b.runs[2:])]).pairs

    assert (pair.basis, pair.verdict) == ("searched", "with care")


def test_a_run_that_diverged_makes_its_search_infinitely_bad():
    table = losses()
    worth = [1.0] * 9 + [math.inf]
    arms = [
        an_arm("a", table, runs=the_runs(table, worth=[2.0] * 10)),
        an_arm("b", table, runs=the_runs(table, worth=worth)),
    ]

    shown = reported(a_spec("a", "b", replicates=10), arms)

    assert (shown.pairs[0].wins, shown.pairs[0].pairs) == (9, 10)
    assert (shown.arms[1].headline.mean, shown.arms[1].headline.diverged) == (None, 2)
    assert shown.arms[1].confirmed[-1].values != []


def test_a_search_that_has_nothing_to_confirm_is_not_dropped_from_the_headline():
    table = [[None, None, None], *losses(9)]
    searches = [a_search(at, each) for at, each in enumerate(table, start=1)]
    runs = [replace(run, replicate=run.replicate + 1) for run in the_runs(table[1:])]
    arms = [replace(an_arm(label, []), searches=searches, runs=runs) for label in "ab"]

    shown = reported(a_spec("a", "b", replicates=10), arms)

    assert shown.arms[0].headline.mean is None
    assert shown.pairs[0].ties == 10


def test_the_headline_is_the_mean_over_searches_of_their_fresh_runs():
    table = losses()
    worth = [1.0 + at / 10 for at in range(10)]
    arms = [an_arm(label, table, runs=the_runs(table, worth=worth, seeds=3)) for label in "ab"]

    headline = reported(a_spec("a", "b", replicates=10, confirm={"seeds": 3}), arms).arms[0].headline

    assert headline.mean == pytest.approx(1.45)
    assert headline.low < 1.45 < headline.high
    assert headline.runs == 30
    assert headline.deviation == pytest.approx(np.repeat(worth, 3).std(ddof=1))


def test_where_only_the_best_searches_are_confirmed_the_headline_has_no_interval():
    table = losses()
    order = np.argsort([min(each) for each in table])[:8] + 1
    runs = [run for run in the_runs(table) if run.replicate in order]
    spec = a_spec("a", "b", replicates=10, confirm={"seeds": 2, "configs": 8})

    headline = reported(spec, [an_arm(label, table, runs=runs) for label in "ab"]).arms[0].headline

    assert headline.mean is not None
    assert (headline.low, headline.high) == (None, None)


def test_the_expected_best_is_the_mean_of_the_best_so_far():
    table = losses()

    expected = reported(a_spec("a", "b", replicates=10), two_arms()).arms[0].expected

    assert expected.at == [1.0, 2.0, 3.0]
    assert expected.mean == pytest.approx(np.minimum.accumulate(table, axis=1).mean(axis=0))
    assert all(
        low < mean < high for low, mean, high in zip(expected.low, expected.mean, expected.high, strict=True)
    )


def test_while_searches_run_the_line_ends_where_the_slowest_of_them_is():
    table = losses()
    table[4] = table[4][:2]

    shown = reported(
        a_spec("a", "b", replicates=10), [an_arm(label, table) for label in "ab"], is_complete=False
    )

    assert shown.arms[0].expected.at == [1.0, 2.0]
    assert shown.arms[0].final.runs == 9
    assert shown.says[0] == "The comparison is not complete: what is told here may change."


def test_before_anything_was_trained_there_is_a_report():
    shown = reported(a_spec("a", "b"), [an_arm(label, []) for label in "ab"], is_complete=False)

    assert shown.arms[0].expected.at == []
    assert (shown.pairs, shown.arms[0].headline, shown.spent.trials) == ([], None, 0)


def test_a_budget_in_updates_has_at_most_two_hundred_points():
    table = losses(8, trials=40)
    spec = a_spec("a", "b", replicates=8, budget={"updates": 400})

    expected = reported(spec, [an_arm(label, table) for label in "ab"]).arms[0].expected

    assert len(expected.at) == 200
    assert (expected.at[0], expected.at[-1]) == (1.0, 400.0)
    assert expected.mean[0] is None  # nothing has ended after one update
    assert expected.mean[-1] == pytest.approx(np.min(table, axis=1).mean())


def test_what_is_maximized_is_told_in_its_own_sign():
    table = [[-loss for loss in each] for each in losses()]
    arms = [an_arm(label, table, runs=the_runs(table)) for label in "ab"]

    arm = reported(a_spec("a", "b", replicates=10, direction="maximize"), arms).arms[0]

    assert arm.expected.mean[-1] == pytest.approx(-np.min(table, axis=1).mean())
    assert arm.expected.low[-1] < arm.expected.mean[-1] < arm.expected.high[-1]
    assert arm.expected.mean == sorted(arm.expected.mean)
    assert arm.searches[0].final == -min(table[0]) == arm.searches[0].best[-1]
    assert arm.confirmed[0].searched == -np.min(table)


@pytest.mark.parametrize(("is_random", "budget"), [(False, {"trials": 3}), (True, {"updates": 30})])
def test_only_random_search_by_trials_has_the_order_statistic(is_random, budget):
    shown = reported(a_spec("a", "b", budget=budget, replicates=10), two_arms(is_random=is_random))

    assert shown.arms[0].order_statistic is None


def test_the_order_statistic_of_one_trial_is_the_mean_of_all_trials():
    shown = reported(a_spec("a", "b", replicates=10), two_arms(is_random=True))

    assert shown.arms[0].order_statistic.at == [1.0, 2.0, 3.0]
    assert shown.arms[0].order_statistic.mean[0] == pytest.approx(np.mean(losses()))


def test_what_matches_the_worst_arm_is_told_in_the_unit_of_the_budget():
    shown = reported(a_spec("a", "b", replicates=10), two_arms())

    assert [arm.spent_to_match for arm in shown.arms] == [1.0, 3.0]


def test_the_target_is_where_the_worst_arm_ends_unless_it_is_told():
    table = losses()
    better = CURVE | {"validation_loss": [4.0, 0.5, 0.25]}
    arms = [
        an_arm("a", table, runs=the_runs(table, points=better)),
        an_arm("b", table, runs=the_runs(table, points=CURVE)),
    ]

    usual = reported(a_spec("a", "b", replicates=10), arms).arms
    told = reported(a_spec("a", "b", replicates=10, target=2.0), arms).arms

    assert [(arm.reached.target, arm.reached.updates) for arm in usual] == [(1.0, 10.0), (1.0, 20.0)]
    assert [(arm.reached.target, arm.reached.updates) for arm in told] == [(2.0, 10.0), (2.0, 10.0)]


@pytest.mark.row(16)
def test_the_curves_are_those_of_the_config_that_the_searches_prefer():
    table = losses()
    best = int(np.argmin(np.min(table, axis=1))) + 1
    runs = [
        replace(
            run, points=CURVE if run.replicate == best else {}, loss=1.0 if run.replicate == best else 0.5
        )
        for run in the_runs(table)
    ]

    arm = reported(a_spec("a", "b", replicates=10), [an_arm(each, table, runs=runs) for each in "ab"]).arms[0]

    assert arm.confirmed[0].replicate == best
    assert [(each.metric, each.over, each.line.mean) for each in arm.training] == [
        ("validation_loss", "updates", [4.0, 2.0, 1.0]),
        ("validation_loss", "seconds", [4.0, 2.0, 1.0]),
    ]


def test_repeated_at_another_speed_a_report_differs_in_seconds_alone():
    table = losses()

    def at(speed):
        points = CURVE | {"seconds": [speed * each for each in CURVE["seconds"]]}
        searches = [a_search(i, each, seconds=speed) for i, each in enumerate(table, start=1)]
        runs = the_runs(table, points=points)
        arms = [replace(an_arm(label, [], runs=runs), searches=searches) for label in "ab"]
        return reported(a_spec("a", "b", replicates=10), arms).model_dump()

    slow, fast = at(1.0), at(0.3)

    assert slow != fast
    assert without_seconds(slow) == without_seconds(fast)


def without_seconds(part):
    if isinstance(part, dict):
        return {name: without_seconds(each) for name, each in part.items() if name != "seconds"}
    if isinstance(part, list):
        return [
            without_seconds(each)
            for each in part
            if not isinstance(each, dict) or each.get("over") != "seconds"
        ]
    return part


def test_a_report_of_infinite_and_of_huge_losses_is_json_and_comes_back():
    table = [[1e308, None, math.inf], [1e308, -1e308, 1e300], *losses(8)]
    arms = [an_arm(label, table, is_random=True) for label in "ab"]

    shown = reported(a_spec("a", "b", replicates=10), arms)

    sent = json.loads(shown.model_dump_json())
    assert ComparisonReport.model_validate(sent) == shown
