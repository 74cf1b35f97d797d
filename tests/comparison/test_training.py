import math

import pytest

from thiessen.comparison.confirmations import again
from thiessen.comparison.searched import Run
from thiessen.comparison.training import best_by, reached, trainings, usual_metric, worst_end

NAN = math.nan


def a_run(points, *, loss=1.0, replicate=1, trial=0):
    return Run(replicate=replicate, trial=trial, config={}, searched=1.0, loss=loss, points=points)


def falling(*values, metric="train_loss", speed=1.0):
    steps = [10.0 * at for at in range(len(values))]
    return {"step": steps, "seconds": [speed * step for step in steps], metric: values}


def lines(runs):
    return {(each.metric, each.over): each.line for each in trainings(runs)}


@pytest.mark.row(16)
def test_a_line_is_the_mean_over_the_runs_against_updates():
    line = lines([a_run(falling(4.0, 2.0)), a_run(falling(2.0, 1.0))])["train_loss", "updates"]

    assert (line.at, line.mean) == ([0.0, 10.0], [3.0, 1.5])
    assert line.low == [None, None]


@pytest.mark.row(16)
def test_against_seconds_runs_are_compared_where_both_still_run():
    slow, fast = falling(4.0, 2.0, speed=0.2), falling(4.0, 2.0, speed=0.1)

    line = lines([a_run(slow), a_run(fast)])["train_loss", "seconds"]

    assert (line.at, line.mean) == ([0.0, 1.0], [4.0, 2.5])


@pytest.mark.row(16)
def test_train_and_validation_have_lines_of_their_own():
    points = falling(4.0, 2.0) | {"validation_error": [0.5, 0.25], "damping": [1.0, 1.0]}

    assert {metric for metric, _ in lines([a_run(points)])} == {"train_loss", "validation_error"}


def test_without_a_loss_every_metric_has_a_line():
    assert set(lines([a_run(falling(0.1, 0.9, metric="return"))])) == {
        ("return", "updates"),
        ("return", "seconds"),
    }


def test_from_where_a_run_diverged_the_mean_is_unknown():
    broken = a_run(falling(4.0, 8.0, NAN), loss=math.inf)

    line = lines([a_run(falling(4.0, 2.0, 1.0)), broken])["train_loss", "updates"]

    assert line.mean == [4.0, 5.0, None]


def test_a_clock_that_a_run_does_not_tell_has_no_line():
    told, untold = falling(4.0, 2.0), falling(4.0, 2.0)
    del untold["seconds"]

    assert set(lines([a_run(told), a_run(untold)])) == {("train_loss", "updates")}


def test_a_long_curve_is_told_at_two_hundred_points():
    line = lines([a_run(falling(*[1.0 / (1 + at) for at in range(1000)]))])["train_loss", "updates"]

    assert len(line.at) == 200
    assert (line.at[0], line.at[-1]) == (0.0, 9990.0)
    assert line.mean[0] == 1.0


def test_eight_runs_have_a_band():
    runs = [a_run(falling(4.0 + at, 2.0 + at)) for at in range(8)]

    line = lines(runs)["train_loss", "updates"]
    assert line.low[0] < line.mean[0] < line.high[0]


@pytest.mark.row(16)
def test_each_metric_says_which_config_ends_best_by_it():
    one = falling(4.0, 1.0) | {"validation_loss": [4.0, 3.0]}
    other = falling(4.0, 2.0) | {"validation_loss": [4.0, 2.5]}
    runs = [a_run(one, replicate=1), a_run(one, replicate=1), a_run(other, replicate=2, trial=7)]

    found = best_by(again(runs), "minimize")

    assert [(each.metric, each.replicate, each.trial, each.mean) for each in found] == [
        ("train_loss", 1, 0, 1.0),
        ("validation_loss", 2, 7, 2.5),
    ]
    assert [each.training[0].line.mean for each in found] == [[4.0, 1.0], [4.0, 2.5]]


def test_a_config_of_which_a_run_diverged_is_best_by_nothing():
    runs = [
        a_run(falling(4.0, 0.1), replicate=1),
        a_run(falling(4.0, NAN), replicate=1, loss=math.inf),
        a_run(falling(4.0, 3.0), replicate=2),
    ]

    assert [each.replicate for each in best_by(again(runs), "minimize")] == [2]


@pytest.mark.parametrize(
    ("runs", "updates", "count"),
    [
        ([falling(4.0, 2.0, 1.0), falling(4.0, 1.0), falling(4.0, 4.0)], 20.0, 2),
        ([falling(4.0, 1.0), falling(4.0, 4.0)], 10.0, 1),
        ([falling(4.0, 1.0), falling(4.0, 4.0), falling(4.0, 4.0)], None, 1),
    ],
)
def test_the_target_is_reached_when_the_median_run_reaches_it(runs, updates, count):
    found = reached([a_run(points) for points in runs], "train_loss", 1.0, "minimize")

    assert (found.updates, found.reached, found.runs) == (updates, count, len(runs))


def test_seconds_to_the_target_are_counted_too():
    found = reached([a_run(falling(4.0, 1.0, speed=0.5))], "train_loss", 1.0, "minimize")

    assert (found.updates, found.seconds) == (10.0, 5.0)


def test_of_what_is_maximized_the_target_is_reached_from_below():
    run = a_run(falling(0.1, 0.5, 0.9, metric="accuracy"))

    assert reached([run], "accuracy", 0.8, "maximize").updates == 20.0


def test_a_loss_falls_to_its_target_also_where_a_study_maximizes():
    assert reached([a_run(falling(4.0, 1.0))], "train_loss", 2.0, "maximize").updates == 10.0


def test_without_a_target_it_is_where_the_median_run_of_the_worst_arm_ends():
    good = [a_run(falling(4.0, 1.0))]
    bad = [a_run(falling(4.0, each)) for each in (2.0, 3.0, 9.0)]

    assert worst_end([good, bad, []], "train_loss", "minimize") == 3.0


def test_an_arm_that_diverges_sets_no_target():
    broken = [a_run(falling(4.0, 9.0), loss=math.inf)]

    assert worst_end([[a_run(falling(4.0, 1.0))], broken], "train_loss", "minimize") == 1.0


@pytest.mark.parametrize(
    ("metrics", "usual"),
    [
        (["train_loss", "validation_loss", "train_error"], "validation_loss"),
        (["train_error", "train_loss"], "train_loss"),
        (["return"], "return"),
        ([], None),
    ],
)
def test_the_usual_metric_is_that_of_validation_and_else_of_training(metrics, usual):
    run = a_run({"step": [0.0]} | {metric: [1.0] for metric in metrics})

    assert usual_metric([[run], [run]]) == usual


def test_the_usual_metric_is_one_that_every_arm_has():
    one, other = {"step": [0.0], "validation_loss": [1.0], "train_loss": [1.0]}, falling(1.0)

    assert usual_metric([[a_run(one)], [a_run(other)]]) == "train_loss"
