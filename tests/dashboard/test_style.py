"""The colours of the pages."""

import re
from itertools import product

import pytest

from app.dashboard import static_files
from thiessen.figures.theme import THEMES

TEXT = ("ink", "ink2", "ink3", "best", "running", "pruned", "diverged", "failed", "good")
MARKS = ("edge", "focus")
GROUNDS = ("paper", "surface", "sunken")


@pytest.fixture(params=["light", "dark"])
def colours(request):
    """The tokens of a theme, as the style sheet has them."""
    sheet = static_files.file("style.css").content.decode()
    light, dark = sheet.split("@media (prefers-color-scheme: dark)")[:2]
    found = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light if request.param == "light" else dark))
    return request.param, found


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_known():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_text_and_every_mark_can_be_seen_on_every_ground(colours):
    _, found = colours
    for names, least in ((TEXT, 4.5), (MARKS, 3.0)):
        for name, ground in product(names, GROUNDS):
            assert contrast(found[name], found[ground]) >= least, (name, ground)


def test_pages_and_figures_have_the_same_colours(colours):
    theme, found = colours
    of_figures = THEMES[theme]._asdict()

    assert {name: colour for name, colour in of_figures.items() if name != "losses"} == {
        name: found[name] for name in of_figures if name != "losses"
    }
