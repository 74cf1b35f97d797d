"""The value of each trial, and the best so far."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.studies import LINE, Ending, many, of_losses, told
from thiessen.figures import history, marks

LOSSES = st.lists(st.none() | st.floats(-1e6, 1e6), max_size=40)


@given(LOSSES, st.randoms())
def test_the_best_so_far_is_what_a_loop_over_the_numbers_finds(losses, random):
    endings = [
        Ending(number, {"x": 0.0}, loss, "diverged" if loss is None else "succeeded")
        for number, loss in enumerate(losses)
    ]
    random.shuffle(endings)  # they finish in any order
    shown = history.numbers(told(LINE, *endings))

    best, expected = float("inf"), []
    for number, loss in enumerate(losses):
        if loss is not None and loss < best:
            best = loss
            expected.append((number, loss))
    assert list(zip(shown.best_number, shown.best_value, strict=True)) == expected


def test_a_study_that_maximises_shows_its_own_numbers_and_bad_ones_below():
    shown = history.numbers(of_losses(-1.0, -3.0, None, -2.0, direction="maximize"))

    assert shown.value == [1.0, 3.0, None, 2.0]
    assert (shown.best_number, shown.best_value) == ([0, 1], [1.0, 3.0])
    assert shown.at[2] == float(f"{shown.axis.shelf:.6g}")
    assert shown.axis.shelf < 1.0
    assert shown.place[1] == 0.0


def test_pruned_trials_are_shown_and_never_the_best():
    endings = [Ending(0, {"x": 0.0}, 5.0), Ending(1, {"x": 1.0}, 1.0, "pruned")]
    shown = history.numbers(told(LINE, *endings))

    assert (shown.state, shown.value) == (["succeeded", "pruned"], [5.0, 1.0])
    assert (shown.best_number, shown.best_value) == ([0], [5.0])


def test_a_huge_value_stands_on_the_shelf_and_is_counted():
    shown = history.numbers(of_losses(*[1.0 + each / 100 for each in range(50)], 1e30))

    assert shown.beyond == 1
    assert shown.value[-1] == 1e30
    assert shown.at[-1] == float(f"{shown.axis.shelf:.6g}")
    assert 1.5 < shown.axis.shelf < 10
    assert "1 value beyond the axis" in history.picture(shown, "light")["layout"]["meta"]["caption"]


def test_losses_that_differ_much_in_size_have_a_log_axis():
    assert history.numbers(of_losses(1.0, 2.0, 4.0)).axis.is_log
    assert not history.numbers(of_losses(1.0, 2.0, 2.9)).axis.is_log
    assert not history.numbers(of_losses(-1.0, 2.0, 40.0)).axis.is_log


def test_of_many_trials_the_best_and_the_latest_are_marks_and_the_others_a_density():
    trials = many(20_000)
    shown = history.numbers(trials)

    losses = np.where(trials.states == "succeeded", trials.losses, np.inf)
    best = set(np.argsort(losses)[: marks.KEPT].tolist())
    assert set(shown.number) == best | set(range(20_000 - marks.KEPT, 20_000))
    assert np.sum(shown.density) == 20_000 - len(shown.number)
    assert np.shape(shown.density) == (len(shown.density_y) - 1, len(shown.density_x) - 1)
