import pytest

from app.domain.trial import TrialState
from app.lifecycle.report import Order

MEDIAN = {"rule": "median", "metric": "loss", "percentile": 50.0, "warm_up": 0.0, "min_curves": 3}
HALVING = {"rule": "successive_halving", "metric": "loss", "min_step": 1.0, "eta": 2}
THRESHOLD = {"rule": "threshold", "metric": "loss", "threshold": 5.0, "warm_up": 0.0}


def at(step, loss, metric="loss"):
    return [{"step": step, "metrics": {metric: loss}}]


@pytest.mark.row(246)
def test_a_curve_worse_than_the_median_of_the_ended_ones_is_pruned_and_a_better_one_goes_on(desk):
    desk.submit(stopping=MEDIAN, max_trials=9)
    for loss in (1.0, 2.0, 3.0):
        leased = desk.lease()
        desk.beat(leased, at(1, loss))
        desk.complete(leased, loss)
    bad, good = desk.lease(), desk.lease()

    told = desk.beat(bad, at(1, 2.5))

    assert (told.order, desk.beat(good, at(1, 1.5)).order) == (Order.PRUNE, Order.CONTINUE)
    assert told.reason == (
        "Stop: its best loss up to step 1, 2.5, is worse than 2, the median of the mean losses of 3 other "
        "trials up to there."
    )


@pytest.mark.row(246)
def test_why_a_trial_was_pruned_is_kept_with_its_attempt(desk):
    desk.submit(stopping=THRESHOLD)
    leased = desk.lease()
    reason = desk.beat(leased, at(1, 9.0)).reason
    desk.prune(leased)
    desk.prune(leased)  # sent again: nothing differs

    [attempt] = desk.trial(0).attempts
    assert (attempt.outcome, attempt.message) == ("pruned", reason)
    assert reason.startswith("Stop: its loss at step 1, 9, is worse than 5")


def test_a_trial_that_goes_on_all_the_same_is_no_pruned_one(desk):
    desk.submit(stopping=THRESHOLD)
    leased = desk.lease()
    desk.beat(leased, at(1, 9.0))
    desk.complete(leased, 4.0)
    desk.complete(leased, 4.0)

    [attempt] = desk.trial(0).attempts
    assert (attempt.outcome, attempt.message) == ("succeeded", None)


def test_nothing_is_judged_by_a_heartbeat_without_points_or_of_other_metrics(desk):
    desk.submit(stopping=THRESHOLD)
    leased = desk.lease()

    assert desk.beat(leased).order is Order.CONTINUE
    assert desk.beat(leased, at(1, 9.0, metric="other")).order is Order.CONTINUE
    assert desk.beat(leased, at(2, 9.0)).order is Order.PRUNE


@pytest.mark.row(246)
def test_what_runs_beside_it_counts_for_successive_halving(desk):
    desk.submit(stopping=HALVING, max_trials=9)
    first, second = desk.lease(), desk.lease()

    assert desk.beat(first, at(1, 1.0)).order is Order.CONTINUE
    assert desk.beat(second, at(1, 2.0)).order is Order.PRUNE


@pytest.mark.parametrize(("value", "order"), [(4.0, Order.PRUNE), (6.0, Order.CONTINUE)])
def test_where_large_values_are_good_a_small_one_is_pruned(desk, value, order):
    desk.submit(stopping=THRESHOLD, direction="maximize")

    assert desk.beat(desk.lease(), at(1, value)).order is order


@pytest.mark.parametrize(("last", "loss"), [(2.5, 2.5), ("NaN", None)])
def test_a_pruned_trial_without_a_value_has_the_last_one_that_it_reported(desk, last, loss):
    desk.submit(stopping=THRESHOLD)
    leased = desk.lease()
    desk.beat(leased, at(1, 1.0))
    desk.beat(leased, at(2, last))

    desk.prune(leased)

    assert (desk.trial().state, desk.trial().loss) == (TrialState.PRUNED, loss)
    assert desk.best() == []


def test_of_a_long_curve_every_second_point_is_kept_and_it_is_said(desk):
    desk.submit()
    leased = desk.lease()
    for begin in range(0, 5000, 500):
        desk.beat(leased, [{"step": step, "metrics": {"loss": 0.5}} for step in range(begin, begin + 500)])

    attempt = desk.trial().attempts[0]

    steps = [point["step"] for point in attempt.reports]
    assert attempt.kept_every == 4
    assert len(steps) <= 2000
    assert steps == list(range(0, 5000, 4))
