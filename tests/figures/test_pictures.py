"""What holds for every figure."""

import json
import math
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from tests.figures.studies import SPACE, Ending, many, of_losses, told, with_more
from thiessen import Categorical, Float, Int, Ordinal, Space
from thiessen.figures import FIGURES, Wanted, figure, marks
from thiessen.figures.theme import THEMES

STUDIES = {
    "empty": told(SPACE),
    "one": told(SPACE, Ending(0, SPACE.decode([0.5] * 5), 1.0)),
    "nothing succeeded": told(
        SPACE, *(Ending(at, SPACE.decode([at / 9] * 5), None, "failed") for at in range(5))
    ),
    "equal": told(SPACE, *(Ending(at, SPACE.decode([at / 9] * 5), 2.0) for at in range(9))),
    "huge": told(SPACE, *(Ending(at, SPACE.decode([at / 9] * 5), 10.0 ** (at * 35)) for at in range(9))),
    "signed": told(SPACE, *(Ending(at, SPACE.decode([at / 9] * 5), at - 4.0) for at in range(9))),
    "usual": with_more(many(300)),
}


@pytest.fixture(scope="module")
def large():
    return with_more(many(6_000)), with_more(many(100_000))


def drawn(kind, trials, **wanted):
    return figure(kind, trials, Wanted(**wanted))


def texts(found):
    """Yield every string of a figure."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for each in found.values():
            yield from texts(each)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from texts(each)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("kind", FIGURES)
def test_plotly_knows_every_part_of_a_figure_and_none_needs_webgl(kind, study, theme):
    picture = drawn(kind, STUDIES[study], theme=theme)

    json.dumps(picture, allow_nan=False)
    for trace in go.Figure(picture).data:
        assert "gl" not in trace.type
        assert trace.type in {"scatter", "bar", "heatmap"}
    assert picture["layout"]["meta"]["caption"].endswith(".")
    assert picture["layout"]["paper_bgcolor"] == THEMES[theme].surface


@pytest.mark.parametrize("kind", FIGURES)
def test_a_theme_changes_colours_and_nothing_else(kind):
    def without_colours(found):
        if isinstance(found, dict):
            return {name: without_colours(each) for name, each in found.items() if name != "name"}
        if isinstance(found, list):
            return [without_colours(each) for each in found]
        return "colour" if isinstance(found, str) and found.startswith("#") else found

    light, dark = (drawn(kind, STUDIES["usual"], theme=theme) for theme in ("light", "dark"))

    assert without_colours(light) == without_colours(dark)
    assert not {each for each in texts(light) if each in THEMES["dark"]} - set(THEMES["light"])


@pytest.mark.parametrize("kind", FIGURES)
def test_beyond_5000_trials_a_figure_does_not_grow(kind, large):
    def size(trials):
        return len(json.dumps(drawn(kind, trials)))

    some, all_of_them = large

    assert size(all_of_them) < 1.1 * size(some) + 20_000  # longer numbers, a few bars
    assert size(all_of_them) < 1_000_000
    marked = [
        len(trace["x"])
        for trace in drawn(kind, all_of_them)["data"]
        if trace["type"] == "scatter" and trace["mode"] == "markers"
    ]
    assert sum(marked) <= marks.MOST_MARKS + 1500  # and what has not finished, halos and stars


def test_names_are_no_markup_and_are_cut():
    evil = "<b>&" + "long" * 20
    space = Space(
        **{evil: Float(0, 1), "c": Categorical([evil, "b"]), "o": Ordinal(["<i>", "b"]), "i": Int(1, 3)}
    )
    trials = told(space, *(Ending(at, space.decode([at / 9] * 4), at + 1.0) for at in range(9)))

    for kind in FIGURES:
        for each in texts(drawn(kind, trials)):
            assert not re.search("<[bi][^r]", each)
            assert "longlonglonglonglonglonglong" not in each


@pytest.mark.parametrize("kind", ["history", "landscape", "slice", "interaction"])
def test_each_state_has_a_shape_of_its_own(kind):
    states = ["succeeded", "pruned", "diverged", "failed", "cancelled"]
    endings = [
        Ending(at, SPACE.decode([at / 9] * 5), 1.0 + at if at < 2 else None, states[at]) for at in range(5)
    ]
    shapes = {
        trace["name"]: trace["marker"]["symbol"]
        for trace in drawn(kind, told(SPACE, *endings))["data"]
        if trace["name"] in states
    }

    assert set(shapes) == set(states)
    assert len(set(shapes.values())) == 5


def test_the_same_loss_has_the_same_colour_in_every_figure():
    trials = of_losses(1.0, 2.0, 3.0, 5.0, None, 9.0)
    alike = {
        kind: next(
            trace["marker"]["color"] for trace in drawn(kind, trials)["data"] if trace["name"] == "succeeded"
        )
        for kind in ("history", "slice")
    }
    width = 7.4 - 1.0  # from the best to the 90th percentile
    assert alike["history"] == [round(math.sqrt(min((loss - 1) / width, 1)), 3) for loss in (1, 2, 3, 5, 9)]
    assert alike["slice"] == alike["history"]


def test_scales_grow_evenly_lighter_or_darker():
    for theme, tokens in THEMES.items():
        shades = [
            sum(int(colour[at : at + 2], 16) * w for at, w in ((1, 2), (3, 7), (5, 1)))
            for colour in tokens.losses
        ]
        assert (np.sign(np.diff(shades)) == (1 if theme == "light" else -1)).all()
