import math

import numpy as np
import pytest

from benchmarks.search import score


def runs_of_random_search(*, trials, searches, seed=0):
    """Incumbents of random search on a continuum: the share better than a random config is uniform."""
    chance, runs = np.random.default_rng(seed), []
    for _ in range(searches):
        best, incumbents = 1.0, []
        for known, share in enumerate(chance.random(trials), 1):
            if share < best:
                best = share
                incumbents.append((known, share, share + 1e-12))
        runs.append({"task": f"task {len(runs) % 4}", "incumbents": incumbents})
    return runs


@pytest.mark.parametrize("n", [5, 25, 100])
def test_random_search_scores_as_many_trials_as_it_had(n):
    curves = score.curves(runs_of_random_search(trials=100, searches=2000), budget=100)

    found, error = score.ret(curves, n), score.standard_error(curves, n)

    assert abs(found - n) < 4 * error
    assert error < 0.05 * n


def test_the_standard_error_is_the_spread_of_repeated_studies():
    studies = [
        score.curves(runs_of_random_search(trials=50, searches=80, seed=k), budget=50) for k in range(150)
    ]

    spread = np.std([score.ret(curves, 50) for curves in studies], ddof=1)
    told = np.mean([score.standard_error(curves, 50) for curves in studies])

    assert told == pytest.approx(spread, rel=0.25)  # 150 studies know a spread to 6 %


def test_harmonic_numbers_are_continued_and_inverted():
    for n in (1, 2, 3, 10, 100, 10_000):
        assert score.harmonic(n) == pytest.approx(math.fsum(1 / k for k in range(1, n + 1)), rel=1e-9)
    for trials in (0.0, 0.4, 1.0, 7.5, 123.4, 1e6):
        assert score.random_equivalent(score.harmonic(trials)) == pytest.approx(trials, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("better", "upto", "capped_at"), [(0.0, 0.02, 0), (0.1, 0.7, 0), (0.0, 0.02, 0.005)])
def test_a_tie_counts_as_the_mean_over_its_ranks(better, upto, capped_at):
    places = better + (upto - better) * (np.arange(1_000_000) + 0.5) / 1_000_000

    assert score.depth(better, upto, capped_at) == pytest.approx(
        np.mean(-np.log(np.maximum(places, capped_at))), rel=1e-4
    )


def test_capping_takes_the_best_of_the_space_as_solved():
    assert score.depth(0.0, 1e-6, 0.001) == pytest.approx(-math.log(0.001))
    assert score.depth(0.2, 0.21, 0.001) == score.depth(0.2, 0.21)


def test_before_the_first_result_a_search_has_found_nothing():
    curve = score.curve([(3, 0.5, 0.6)], budget=4)

    assert list(curve[:2]) == [0, 0]
    assert curve[2] == curve[3] > 0


def test_tasks_count_alike_however_often_they_were_repeated():
    curves = {"rare": np.full((1, 1), 3.0), "often": np.full((9, 1), 1.0)}

    assert score.pooled(curves) == pytest.approx([2.0])


def test_the_interval_over_tasks_is_wide_when_one_task_makes_the_whole_difference():
    flat = {f"task {k}": np.full((2, 1), 3.0) for k in range(10)}
    even = {task: curve + 0.5 for task, curve in flat.items()}
    lucky = flat | {"task 0": np.full((2, 1), 8.0)}

    mean, low, high = score.ratio(even, flat, 1)
    _, lowest, highest = score.ratio(lucky, flat, 1)

    assert low == pytest.approx(mean) == pytest.approx(high)
    assert lowest == pytest.approx(1.0)
    assert highest > high


def test_a_ratio_of_different_tasks_is_refused():
    with pytest.raises(ValueError, match="not the same tasks"):
        score.ratio({"a": np.ones((1, 1))}, {"b": np.ones((1, 1))}, 1)


def test_trials_to_reach_is_the_first_trial_that_is_as_deep():
    curves = {"task": np.array([[0.5, 1.0, 2.0]])}

    assert score.trials_to_reach(curves, 1.0) == 2
    assert score.trials_to_reach(curves, 1.1) == 3
    assert score.trials_to_reach(curves, 2.1) == math.inf


def test_runs_outside_the_best_share_are_counted_at_their_trial():
    found_late = {"incumbents": [(1, 0.5, 0.6), (60, 0.001, 0.002)]}
    found_nothing = {"incumbents": []}

    assert score.outside([found_late, found_nothing], 0.01, n=100) == 0.5
    assert score.outside([found_late, found_nothing], 0.01, n=50) == 1.0
