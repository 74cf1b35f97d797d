"""The figures of comparisons, from what a server reports of them."""

import json

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures import reports
from tests.figures.test_pictures import texts
from thiessen.figures import REPORTED, FigureError, ends, expected, of_profile, of_report, profile, sides
from thiessen.figures.theme import THEMES

EVIL = "<b>&x"  # no label is so, yet a metric may be
REPORTS = {
    "usual": reports.usual(),
    "two": reports.usual(2, replicates=3),
    "many": reports.usual(24),
    "nothing yet": reports.report(reports.arm("a", []), reports.arm("b", [])),
    "nothing succeeded": reports.report(reports.arm("a", [None, None]), reports.arm("b", [None, None])),
    "signed": reports.report(reports.arm("a", [-1.0, 2.0]), reports.arm("b", [0.0, 0.0])),
    "huge": reports.report(reports.arm("a", [1e300, 1.0]), reports.arm("b", [1e-300, 2.0])),
    "large is good": reports.report(
        reports.arm("a", [0.7, 0.9]), reports.arm("b", [0.2, None]), direction="maximize"
    ),
}
NEEDED = {"sgd": [10.0, 20.0, None, 8.0], "kfac": [5.0, 30.0, 7.0, 8.0]}


def drawn(kind, report, theme="light"):
    return of_report(kind, report, theme)


def caption(figure):
    return figure["layout"]["meta"]["caption"]


def rows(figure):
    table = figure["layout"]["meta"]["table"]
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def lines(figure):
    return {trace["name"]: trace for trace in figure["data"] if "its band" not in trace["name"]}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("kind", REPORTED)
def test_plotly_knows_every_part_of_a_figure_and_none_needs_webgl(kind, report, theme):
    figure = drawn(kind, REPORTS[report], theme)

    json.dumps(figure, allow_nan=False)
    assert {trace.type for trace in go.Figure(figure).data} <= {"scatter", "bar"}
    assert figure["layout"]["meta"]["figure"] == kind
    assert caption(figure).endswith(".")


def test_a_figure_that_there_is_not_and_a_theme_that_there_is_not_are_told():
    with pytest.raises(FigureError, match="'end' is no figure of a comparison; there are expected, ends"):
        of_report("end", REPORTS["usual"], "light")
    with pytest.raises(FigureError, match="theme: 'grey' is none of light, dark"):
        of_report("ends", REPORTS["usual"], "grey")


@pytest.mark.parametrize("kind", REPORTED)
def test_no_name_of_a_metric_is_read_as_markup(kind):
    evil = reports.training(1.0, metric=EVIL)
    report = reports.report(reports.arm("a", [1.0], training=evil), reports.arm("b", [2.0]))

    assert not any("<b>" in each for each in texts(drawn(kind, report)))


@pytest.mark.parametrize(("arms", "panels"), [(2, 1), (6, 1), (7, 7), (24, 24)])
def test_more_than_six_arms_get_a_panel_each(arms, panels):
    figure = drawn("expected", reports.usual(arms))

    assert sum(key.startswith("xaxis") for key in figure["layout"]) == panels
    assert sum(len(trace["x"]) for trace in figure["data"]) < 200_000


def test_the_lines_end_where_the_means_do_and_have_their_names_there():
    a, b = reports.arm("a", [1.0, 3.0]), reports.arm("b", [4.0, 4.0])
    figure = drawn("expected", reports.report(a, b))

    assert {name: line["y"][-1] for name, line in lines(figure).items()} == {"a": 2.0, "b": 4.0}
    assert {"a 2", "b 4"} <= {note["text"] for note in figure["layout"]["annotations"]}
    assert [(row["arm"], row["after 20 trials"]) for row in rows(figure)] == [("a", "2"), ("b", "4")]


def test_a_band_goes_by_steps_around_its_line_and_needs_eight_replicates():
    def bands(replicates):
        figure = drawn("expected", reports.report(*(reports.arm(name, [1.0] * replicates) for name in "ab")))
        return [trace for trace in figure["data"] if "its band" in trace["name"]], caption(figure)

    assert bands(7) == ([], "Mean of the best so far over 7 searches of each arm; bands need 8.")
    [first, _], told = bands(8)
    assert told == "Mean of the best so far over 8 searches of each arm, with 95 % bands."
    half = len(first["x"]) // 2
    assert first["x"][:4] == [1, 2, 2, 3]
    assert first["x"][half:] == first["x"][:half][::-1]
    tops, bottoms = first["y"][:half], first["y"][half:][::-1]
    assert all(
        top - bottom == pytest.approx(0.1, rel=1e-3) for top, bottom in zip(tops, bottoms, strict=True)
    )


def test_a_band_has_a_gap_where_it_is_not_known():
    side = sides.Side(label="a", x=[1, 2, 3, 4, 5], y=[1.0] * 5, low=[0, 0, None, 0, 0], high=[2, 2, 2, 2, 2])
    found = sides.bands(side, {"color": "#000000"})
    assert [band["x"] for band in found] == [[1, 2, 2, 1], [4, 5, 5, 4]]


def test_what_an_arm_spends_for_the_end_of_the_worst_is_marked_and_told():
    figure = drawn(
        "expected", reports.report(reports.arm("a", [3.0]), reports.arm("b", [1.0], spent_to_match=6.0))
    )

    assert lines(figure)["as good as that"]["x"] == [6.0]
    assert lines(figure)["as good as that"]["y"] == [3.0]
    assert "b needs 6 trials for what a comes to in 20." in caption(figure)


def test_the_worst_arm_is_by_the_direction_and_unknown_where_one_has_no_value():
    def worst(direction, *finals):
        arms = [reports.arm(name, [final]) for name, final in zip("abc", finals, strict=False)]
        return expected.numbers(reports.report(*arms, direction=direction)).worst

    assert worst("minimize", 1.0, 3.0, 2.0) == "b"
    assert worst("maximize", 1.0, 3.0, 2.0) == "a"
    assert worst("minimize", 1.0, None) is None


def test_random_draws_by_order_statistics_are_a_thin_line():
    told = [
        trace["line"]["width"]
        for trace in drawn("expected", REPORTS["usual"])["data"]
        if "by order statistics" in trace.get("hovertemplate", "")
    ]
    assert told == [1]


def test_each_search_is_a_dot_and_the_bar_is_at_the_median_of_all():
    report = reports.report(reports.arm("a", [1.0, 2.0, 2.5, None]), reports.arm("b", [1.5, 1.5, None, None]))
    numbers = ends.numbers(report)
    figure = drawn("ends", report)

    assert [row.median for row in numbers.rows] == [2.25, None]
    assert lines(figure)["a: search"]["x"] == [1.0, 2.0, 2.5]
    assert lines(figure)["a: median"]["x"] == [2.25, 2.25]
    assert "b: median" not in lines(figure)
    assert len(lines(figure)["b: no value"]["x"]) == 2
    told = [note["text"] for note in figure["layout"]["annotations"]]
    assert "median 2.25, 1 without a value" in told


def test_a_value_off_the_axis_is_named():
    report = reports.report(reports.arm("a", [1.0] * 19 + [1e9]), reports.arm("b", [1.5] * 20))
    told = [note["text"] for note in drawn("ends", report)["layout"]["annotations"]]
    assert any("worst 1e9" in each for each in told)


def test_what_was_confirmed_has_a_mark_and_an_interval_of_its_own():
    known = reports.headline(1.3, 6, 1.1, 1.5)
    figure = drawn(
        "ends", reports.report(reports.arm("a", [1.0, 2.0], headline=known), reports.arm("b", [1.5, 1.6]))
    )

    assert lines(figure)["a: confirmed"]["x"] == [1.3]
    assert lines(figure)["a: interval"]["x"] == [1.1, 1.5]
    assert "b: confirmed" not in lines(figure)
    assert rows(figure)[0]["confirmed"] == "1.3"


@given(st.lists(st.sampled_from([1.0, 1.001, 1.2, 2.0]), min_size=1, max_size=11))
def test_no_dot_hides_another_while_there_is_room(finals):
    report = reports.report(reports.arm("a", finals), reports.arm("b", [1.0, 2.0]))
    dots = lines(drawn("ends", report))["a: search"]

    assert len(set(zip(dots["x"], dots["y"], strict=True))) == len(finals)


def test_each_metric_is_a_row_over_updates_and_over_seconds():
    learned = [reports.training(end) + reports.training(end, metric="validation_loss") for end in (1.0, 2.0)]
    arms = [reports.arm(name, [1.0], training=each) for name, each in zip("ab", learned, strict=True)]
    figure = drawn("training", reports.report(*arms))

    titles = [figure["layout"][f"xaxis{at}"]["title"] for at in ("", "2", "3", "4")]
    assert [title and title["text"] for title in titles] == [None, None, "updates", "seconds"]
    assert figure["layout"]["xaxis"]["range"] == [0, 300.0]
    assert figure["layout"]["xaxis2"]["range"] == [0, pytest.approx(11.1)]
    assert [(row["arm"], row["metric"], row["at the end"]) for row in rows(figure)][:2] == [
        ("a", "loss", "1.1"),
        ("b", "loss", "2.1"),
    ]
    assert caption(drawn("training", REPORTS["nothing yet"])).startswith("No config has been confirmed yet")


def test_shares_are_bars_from_zero_and_a_search_that_is_drawn_to_the_good_has_a_star():
    drawn_there = reports.sensitivity(0.5, 0.001, is_unbiased=False)
    figure = drawn(
        "sensitivity",
        reports.report(reports.arm("a", [1.0], sensitivity=drawn_there), reports.arm("b", [1.0])),
    )
    good, diverged = figure["data"]

    assert (good["x"], good["text"]) == ([0.5, 0.25], ["50 %", "25 %"])
    assert diverged["text"] == ["< 1 %", "5 %"]
    assert figure["layout"]["xaxis"]["range"][0] == 0
    assert {"a *", "b"} <= {note["text"] for note in figure["layout"]["annotations"]}
    assert "With a star" in caption(figure)


def test_a_profile_begins_at_its_share_of_firsts_and_ends_at_what_was_reached():
    shown = profile.numbers(reports.profile(**NEEDED))
    sgd, kfac = shown.sides

    assert (sgd.after(1.0), kfac.after(1.0)) == (0.5, 0.75)
    assert (sgd.after(1.99), sgd.after(2.0)) == (0.5, 0.75)
    assert (sgd.last, kfac.last) == (0.75, 1.0)
    assert shown.reached == {"sgd": 3, "kfac": 4}


@pytest.mark.parametrize("theme", THEMES)
def test_a_profile_is_drawn_by_plotly_and_says_which_has_the_most_area(theme):
    figure = of_profile(reports.profile(**NEEDED), theme)

    json.dumps(figure, allow_nan=False)
    go.Figure(figure)
    assert caption(figure).startswith("Over 4 comparisons: how often an arm reaches the target")
    assert "The most area is below kfac" in caption(figure)


def test_an_arm_that_is_never_first_begins_at_zero():
    [_, slow] = profile.numbers(reports.profile(fast=[1.0, 1.0], slow=[2.0, 3.0])).sides
    assert (slow.x[0], slow.y[0]) == (1.0, 0.0)
