"""The scale of losses to every eye: deficiencies as Machado, Oliveira and Fernandes (2009) simulate them."""

import numpy as np
import pytest

from thiessen.figures.theme import THEMES

EYES = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    "greyscale": [[0.2126, 0.7152, 0.0722]] * 3,
}
# Björn Ottosson's OKLab, in which equal distances look equal.
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def seen(colours, eye):
    """Return colours as an eye sees them, in OKLab."""
    values = np.array([[int(each[at : at + 2], 16) / 255 for at in (1, 3, 5)] for each in colours])
    light = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    cones = np.clip(light @ np.array(EYES[eye]).T, 0, 1) @ np.array(CONES).T
    return np.cbrt(cones) @ np.array(LAB).T


def test_white_and_black_are_where_the_space_has_them():
    assert seen(["#ffffff", "#000000"], "usual") == pytest.approx(np.array([[1, 0, 0], [0, 0, 0]]), abs=1e-3)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eye", EYES)
def test_better_is_never_mistaken_for_worse(theme, eye):
    scale = seen(THEMES[theme].losses, eye)
    steps = np.diff(scale[:, 0])
    assert (steps > 0).all() or (steps < 0).all()
    distances = np.linalg.norm(
        np.diff(scale[::4], axis=0), axis=1
    )  # over fewer steps it is rounding that counts
    assert distances.min() / distances.max() > {"usual": 0.95, "greyscale": 0.0}.get(eye, 0.6)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eye", EYES)
def test_the_star_differs_from_the_best_losses_that_it_stands_on(theme, eye):
    star, *best = seen([THEMES[theme].star, *THEMES[theme].losses[:5]], eye)
    assert np.linalg.norm(best - star, axis=1).min() > 0.1
