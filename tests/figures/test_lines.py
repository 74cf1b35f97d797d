"""Slices, parallel coordinates, curves, slots and distributions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.studies import LINE, SPACE, Ending, many, of_losses, told, with_more
from thiessen import Float, Space
from thiessen.figures import FigureError, Wanted, curves, distribution, figure, parallel, timeline
from thiessen.figures import slice as slices
from thiessen.figures.theme import THEMES
from thiessen.figures.trials import Attempt, Unfinished

START = 1_790_000_000.0


def test_a_slice_has_a_panel_for_each_dimension_with_the_trials_in_which_it_is_active():
    trials = many(50, SPACE)
    shown = slices.numbers(trials)

    assert [panel.axis.name for panel in shown.panels] == list(SPACE.dimensions)
    lr, damping = shown.panels[0], shown.panels[3]
    assert lr.number == list(range(50))
    assert lr.x == pytest.approx(trials.codes[0], rel=1e-5)
    assert damping.number == np.flatnonzero(~np.isnan(trials.codes[3])).tolist()
    assert lr.number[lr.best] == trials.best


def test_marks_of_one_choice_stay_in_its_band():
    kind = slices.numbers(many(500, SPACE)).panels[2]

    assert {round(x) for x in kind.x} == {0, 1}
    assert len(set(kind.x)) == 500


def test_a_space_of_many_dimensions_has_its_first_ones_in_panels():
    space = Space(**{f"d{at}": Float(0, 1) for at in range(30)})
    shown = slices.numbers(many(9000, space))

    assert len(shown.panels) == slices.MOST_PANELS
    assert "the first 12 of 30" in slices.picture(shown, "light")["layout"]["meta"]["caption"]
    assert len(parallel.numbers(many(100, space)).axes) == parallel.MOST_AXES


def test_of_many_trials_a_slice_shows_the_others_as_a_density_where_they_are():
    trials = many(9000, SPACE, failed=0)
    shown = slices.numbers(trials)

    for name, panel in zip(SPACE.dimensions, shown.panels, strict=True):
        active = ~np.isnan(trials.points[:, trials.place(name)])
        others = active & ~np.isin(trials.numbers, panel.number)
        assert np.sum(panel.density) == others.sum()
        assert np.shape(panel.density) == (len(panel.density_y) - 1, len(panel.density_x) - 1)
    rate, layers = shown.panels[0], shown.panels[1]
    others = ~np.isin(trials.numbers, layers.number)
    assert (
        np.sum(layers.density, axis=0).tolist()
        == np.bincount(trials.codes[1, others].astype(int))[1:].tolist()
    )
    values, rates = trials.values(trials.losses[others]), trials.codes[0, others]
    is_below = (rates < rate.density_x[20]) & (values < rate.density_y[10])
    assert np.sum(np.array(rate.density)[:10, :20]) == is_below.sum()
    assert slices.numbers(many(900, SPACE)).panels[0].density is None


def test_lines_go_through_the_coordinates_and_the_best_comes_last():
    trials = many(100, SPACE)
    shown = parallel.numbers(trials)

    assert shown.number[-1] == trials.best
    assert sorted(shown.number) == np.flatnonzero(trials.succeeded).tolist()
    assert shown.lines[-1][-1] == 1.0  # good values are on top
    for number, line in zip(shown.number, shown.lines, strict=True):
        point = trials.points[number]
        assert line[0] == pytest.approx(point[0], abs=1e-4)
        assert line[2] == pytest.approx((point[2] + 0.5) / 2)
        assert (line[3] == parallel.BELOW) == bool(np.isnan(point[3]))


def test_of_many_lines_the_best_half_is_drawn_and_others_evenly_spread():
    trials = many(2000, SPACE, pruned=0, failed=0)
    shown = parallel.numbers(trials)

    order = np.argsort(trials.losses)
    assert len(shown.lines) == parallel.MOST_LINES
    assert set(shown.number[-100:]) == set(order[:100].tolist())
    assert shown.number[0] == order[-1]


def a_curve(*values, name="loss"):
    return [(step, {name: value}) for step, value in enumerate(values)]


def test_curves_are_told_from_the_worst_to_the_best():
    trials = replace(
        of_losses(3.0, 1.0, 2.0, None),
        curves={
            0: a_curve(9, 3),
            1: a_curve(8, 1),
            2: a_curve(7, 2),
            3: a_curve(6, np.inf, 5),
            4: a_curve(4),
        },
        unfinished=[Unfinished(number=4, state="running", config={"x": 0.0})],
    )
    shown = curves.numbers(trials, Wanted())

    assert [(line.number, line.state) for line in shown.lines] == [
        (4, "running"), (3, "diverged"), (0, "succeeded"), (2, "succeeded"), (1, "succeeded"),
    ]  # fmt: skip
    assert (shown.leading, shown.metric) == (3, "loss")
    assert shown.lines[1].values == [6, None, 5]
    picture = curves.picture(shown, "light")
    assert [note["text"] for note in picture["layout"]["annotations"][1:]] == ["1 · 1", "2 · 2", "0 · 3"]


def test_curves_that_are_asked_for_stand_out_beside_the_best():
    trials = replace(
        of_losses(3.0, 1.0, 2.0, None),
        curves={0: a_curve(9, 3), 1: a_curve(8, 1), 2: a_curve(7, 2), 3: a_curve(6, 5), 4: a_curve(4)},
        unfinished=[Unfinished(number=4, state="running", config={"x": 0.0})],
    )
    shown = curves.numbers(trials, Wanted(trials=(4, 0)))

    assert [line.number for line in shown.lines] == [3, 2, 4, 0, 1]
    assert (shown.leading, shown.best) == (3, 1)
    picture = curves.picture(shown, "light")
    assert [note["text"] for note in picture["layout"]["annotations"][1:]] == ["1 · 1", "0 · 3", "4 · 4"]
    assert picture["layout"]["meta"]["caption"].endswith("Outlined: 0, 4. The best is 1.")
    star = THEMES["light"].star
    assert [each["name"] for each in picture["data"] if each["line"]["color"] == star] == ["trial 1"]


def test_without_a_best_the_curves_that_are_asked_for_have_no_star():
    trials = replace(of_losses(None, None), curves={0: a_curve(9, 3), 1: a_curve(8, 1)})
    shown = curves.numbers(trials, Wanted(trials=(1,)))
    picture = curves.picture(shown, "light")

    assert (shown.leading, shown.best, shown.lines[-1].number) == (1, None, 1)
    assert THEMES["light"].star not in {each["line"]["color"] for each in picture["data"]}


def test_a_curve_is_looked_at_when_it_is_asked_for_and_only_so_many_are():
    trials = many(3000)
    left_out = next(number for number in trials.numbers.tolist() if number not in curves.chosen(trials))

    assert left_out in curves.chosen(trials, [left_out])
    with pytest.raises(FigureError, match="trials: the curves of 20 may stand out; got 21"):
        figure("curves", trials, Wanted(trials=range(21)))


def test_the_metric_is_the_one_asked_for_or_that_trials_are_stopped_by():
    both = [(step, {"loss": 1.0, "accuracy": 2.0, "rare": 3.0}) for step in range(3)]
    trials = replace(of_losses(3.0, 1.0), curves={0: both, 1: a_curve(4.0, 5.0)})

    assert curves.numbers(trials, Wanted()).metric == "loss"
    assert curves.numbers(replace(trials, metric="accuracy"), Wanted()).metric == "accuracy"
    assert curves.numbers(replace(trials, metric="accuracy"), Wanted(metric="rare")).metric == "rare"
    with pytest.raises(FigureError, match="no trial reported 'los'; reported were accuracy, loss, rare"):
        curves.numbers(trials, Wanted(metric="los"))


def test_without_reports_there_is_no_curve():
    shown = curves.numbers(of_losses(1.0), Wanted(metric="loss"))

    assert (shown.metric, shown.lines) == (None, [])
    assert "nothing" not in curves.picture(shown, "light")["layout"]["meta"]["caption"]


def test_of_many_curves_few_are_looked_at_and_long_ones_are_thinned():
    trials = with_more(many(3000))
    looked_at = curves.chosen(trials)

    losses = np.where(trials.succeeded, trials.losses, np.inf)
    assert set(np.argsort(losses)[: curves.BEST_LINES].tolist()) <= set(looked_at)
    assert len(looked_at) == len(set(looked_at)) == curves.MOST_LINES
    shown = curves.numbers(trials, Wanted())
    assert sum(len(line.steps) for line in shown.lines) <= curves.MOST_POINTS
    assert {line.steps[-1] for line in shown.lines} == {1999}


def test_labels_at_the_ends_of_curves_stay_apart():
    trials = replace(
        of_losses(*[1 + each / 1000 for each in range(5)]),
        curves={number: a_curve(9, 1 + number / 1000) for number in range(5)},
    )
    picture = curves.picture(curves.numbers(trials, Wanted()), "light")

    heights = [note["y"] for note in picture["layout"]["annotations"][1:]]
    assert np.diff(heights).min() >= curves.APART - 1e-9


def attempt(trial, start, end, outcome="succeeded", loss=None, worker="w", device="cuda:0"):
    end = None if end is None else START + end
    return Attempt(
        trial=trial, worker=worker, device=device, start=START + start, end=end, outcome=outcome, loss=loss
    )


def test_a_slot_has_a_row_and_an_attempt_a_bar_in_the_colour_of_its_loss():
    trials = replace(
        of_losses(1.0, 2.0, None),
        attempts=[
            attempt(0, 0, 50, loss=1.0),
            attempt(1, 50, 60, "error", loss=2.0),  # its loss came with another attempt
            attempt(1, 0, 80, loss=2.0, device="cuda:1"),
            attempt(2, 60, None, None),
        ],
        now=START + 100,
    )
    shown = timeline.numbers(trials)

    assert shown.rows == ["w cuda:0", "w cuda:1"]
    assert [(bar.row, bar.trial, bar.outcome, bar.place) for bar in shown.bars] == [
        (0, 0, "succeeded", 0.0),
        (1, 1, "succeeded", 1.0),
        (0, 1, "error", None),
        (0, 2, "running", None),
    ]
    assert shown.bars[-1].end == START + 100
    assert shown.busy == pytest.approx((100 + 80) / 200)


@pytest.mark.parametrize(
    ("seconds", "told"), [(3, "%H:%M:%S.%1f"), (90, "%H:%M:%S"), (9000, "%H:%M"), (900_000, "%d %b")]
)
def test_times_are_told_as_finely_as_they_differ(seconds, told):
    trials = replace(of_losses(1.0), attempts=[attempt(0, 0, 1), attempt(0, 1, seconds)])
    axis = timeline.picture(timeline.numbers(trials), "light")["layout"]["xaxis"]

    assert axis["tickformat"] == told
    assert axis["title"]["text"] == (
        "2026-09-21 to 2026-10-02 (UTC)" if seconds > 9000 else "2026-09-21 (UTC)"
    )


def test_of_many_slots_those_are_shown_that_worked_last():
    attempts = [attempt(at, at, at + 5, worker=f"w{at:03}") for at in range(100)]
    shown = timeline.numbers(replace(of_losses(1.0), attempts=attempts))

    assert shown.rows == [f"w{at:03} cuda:0" for at in range(60, 100)]
    assert (shown.slots, len(shown.bars)) == (100, 40)
    assert "40 of 100 slots" in timeline.picture(shown, "light")["layout"]["meta"]["caption"]


def test_each_ending_of_an_attempt_has_a_mark_but_success():
    outcomes = ["succeeded", "pruned", "diverged", "out_of_memory", "lost", None]
    attempts = [attempt(at, at, at + 1, outcome) for at, outcome in enumerate(outcomes)]
    picture = timeline.picture(timeline.numbers(replace(of_losses(1.0), attempts=attempts)), "light")

    names = [trace["name"] for trace in picture["data"] if trace.get("name")]
    assert names == ["pruned", "diverged", "failed", "lost or given back", "running"]


@given(st.lists(st.floats(0.001, 1e6), min_size=1, max_size=60))
def test_every_value_is_in_a_bar_or_beyond_the_last(values):
    shown = distribution.numbers(of_losses(*values))

    assert sum(shown.counts) + shown.beyond == len(values)
    for low, high, count in zip(shown.edges, shown.edges[1:], shown.counts, strict=False):
        inside = sum(low * (1 + 1e-9) < value < high * (1 - 1e-9) for value in values)
        assert inside <= count <= sum(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value in values)
    assert shown.best == min(values)
    assert shown.median == pytest.approx(np.median(values))


def test_what_has_no_bar_is_counted_by_state():
    endings = [Ending(at, {"x": 0.0}, 1.0, state) for at, state in enumerate(["pruned", "failed", "failed"])]
    shown = distribution.numbers(told(LINE, Ending(9, {"x": 0.0}, 2.0), *endings))

    assert shown.others == {"pruned": 1, "failed": 2}
    assert "1 pruned, 2 failed" in distribution.picture(shown, "light")["layout"]["meta"]["caption"]
