"""Pictures of points that are coloured by a number."""

import re

import pytest
from matplotlib.figure import Figure

from experiments.experiment import Line, Panel, Picture
from experiments.pictures import OFF_SCALE, draw


def colours_of(file):
    """Return the colour of every mark that is filled by its number, in the order they are drawn."""
    drawn = re.findall(r"<use [^>]*style=\"fill: (#[0-9a-f]{6})[^>]*/>", file.read_text())
    return [each for each in drawn if each != OFF_SCALE]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "drawn.svg"


def a_panel(*colours):
    places = list(range(len(colours)))
    return Panel(lines=[Line(name="", x=places, y=places, points=True, colours=colours)])


def test_a_number_has_the_same_colour_in_every_panel(file):
    draw(Picture(name="", says="", panels=[a_panel(1.0, 3.0), a_panel(3.0, 2.0)], scale=(1.0, 4.0)), file)

    first, shared, again, other = colours_of(file)[-4:]
    assert shared == again
    assert len({first, shared, other}) == 3


def test_what_lies_beyond_the_scale_has_the_colour_of_its_end(file):
    draw(Picture(name="", says="", panels=[a_panel(4.0, 400.0, 2.0)], scale=(1.0, 4.0)), file)

    end, beyond, inside = colours_of(file)[-3:]
    assert end == beyond != inside


def test_what_has_no_number_is_a_grey_cross(file):
    draw(Picture(name="", says="", panels=[a_panel(1.0, None, 2.0)], scale=(1.0, 2.0)), file)

    assert len(colours_of(file)) == 2
    assert f"stroke: {OFF_SCALE}" in file.read_text()


def test_panels_of_one_scale_have_the_same_axes(file, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    near, far = (
        Panel(lines=[Line(name="", x=[0, end], y=[0, end], points=True, colours=[1.0, 2.0])])
        for end in (1, 100)
    )

    draw(Picture(name="", says="", panels=[near, far], scale=(1.0, 2.0)), file)

    first, second, _ = drawn[0].axes
    assert first.get_xlim() == second.get_xlim()
    assert first.get_ylim() == second.get_ylim()
