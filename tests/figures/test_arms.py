"""The best so far of several searches."""

import math
from itertools import pairwise

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thiessen import Float, Space, open_study
from thiessen.figures import COMPARED, FigureError, Wanted, arms, sides
from thiessen.figures.sources import of_results

GAP = sides.LINE / sides.HEIGHT
SPACE = Space(x=Float(0.0, 1.0))


def searched(name, values, direction="minimize"):
    """Return the trials of a search that found these values, in this order."""
    found = iter(values)
    study = open_study(None, SPACE, trials=len(values), strategy="random", direction=direction)
    study.optimize(lambda trial: next(found))  # noqa: ARG005
    return of_results(name, SPACE, direction, study.results())


def drawn(searches, theme="light"):
    return COMPARED["arms"](searches, Wanted(theme=theme))


def test_each_search_is_a_line_of_its_best_so_far():
    searches = {"a": searched("a", [3.0, 4.0, 1.0]), "b": searched("b", [2.0, math.nan, 2.5, 1.5])}
    figure = drawn(searches)

    assert len(go.Figure(figure).data) == 2
    a, b = figure["data"]
    assert (a["name"], a["x"], a["y"]) == ("a", [0, 2, 2], [3.0, 1.0, 1.0])
    assert (b["name"], b["x"], b["y"]) == ("b", [0, 3, 3], [2.0, 1.5, 1.5])
    caption = figure["layout"]["meta"]["caption"]
    assert caption == "a 1 after 3 trials; b 1.5 after 4 trials."


def test_two_or_three_lines_are_grey_dots_ochre_dashes_and_a_solid_blue():
    searches = {name: searched(name, [at + 1.0]) for at, name in enumerate("abc")}
    looks = [trace["line"]["dash"] for trace in drawn(searches)["data"]]
    assert looks == ["dot", "dash", "solid"]
    two = [trace["line"]["dash"] for trace in drawn(dict(list(searches.items())[:2]))["data"]]
    assert two == ["dot", "solid"]


def test_a_search_without_a_success_has_no_line_and_directions_do_not_mix():
    nothing = searched("a", [math.nan])
    figure = drawn({"a": nothing, "b": searched("b", [1.0])})
    assert [trace["name"] for trace in figure["data"]] == ["b"]
    assert "a has no success" in figure["layout"]["meta"]["caption"]
    assert drawn({"a": nothing, "c": nothing})["data"] == []
    with pytest.raises(FigureError, match="a is to minimize and b to maximize"):
        drawn({"a": nothing, "b": searched("b", [1.0], "maximize")})
    with pytest.raises(FigureError, match="1 to 6 studies; got 7"):
        drawn({str(at): nothing for at in range(7)})


@given(st.lists(st.floats(0, 1), min_size=1, max_size=arms.MOST_ARMS))
def test_no_name_stands_over_another_or_out_of_the_figure(heights):
    ends = sorted((height, at) for at, height in enumerate(heights))
    places = sides.apart(ends, GAP)

    assert [at for _, at in places] == [at for _, at in ends]
    gaps = [upper[0] - lower[0] for lower, upper in pairwise(places)]
    assert all(gap >= GAP - 1e-12 for gap in gaps)
    assert all(-1e-12 <= place <= 1 for place, _ in places)
