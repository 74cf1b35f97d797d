"""CURVES: images of smooth curves through three random points, for autoencoders with a code of six numbers.

The original images are not published. These follow what is known of them: six numbers say all about an image.
"""

from functools import partial
from typing import Final

import torch
from torch import Generator, Tensor

from worker.datasets.cache import kept
from worker.datasets.dataset import Content

VERSION: Final = 1  # of the generator: another one makes what is kept anew
TRAIN_SEED, TEST_SEED = 1, 2
SIDE: Final = 28
WIDTHS: Final = {28: 0.7, 14: 0.5}  # of the line, by the side of the image, in pixels
SAMPLES: Final = 60  # of a curve
AT_ONCE: Final = 200  # images, so that the distances of all pixels to all samples take 40 MB


def content(*, train: int, test: int, side: int) -> Content:
    """Return so many curves on images of side x side pixels; a tenth of the first is held back."""
    return kept(f"curves-{side}-v{VERSION}-{train}-{test}", partial(_made, train, test, side))


def _made(train: int, test: int, side: int) -> Content:
    seeds = {"train_inputs": (train, TRAIN_SEED), "test_inputs": (test, TEST_SEED)}
    arrays = {
        name: images(points(count, Generator().manual_seed(seed)), side)[:, None].numpy()
        for name, (count, seed) in seeds.items()
    }
    origin = (
        f"CURVES of {side} x {side} pixels, generated (version {VERSION}, seeds {TRAIN_SEED}, {TEST_SEED}) "
        "in place of the original images, which are not published."
    )
    return Content(arrays=arrays, held_back=train // 10, origin=origin)


def points(count: int, generator: Generator) -> Tensor:
    """Return the three points (x, y) of each curve, uniform in the square [4, 24] x [4, 24] of 28 x 28."""
    return 4 + 20 * torch.rand(count, 3, 2, generator=generator, dtype=torch.float64)


def images(three: Tensor, side: int = SIDE) -> Tensor:
    """Return images (rows, columns) in [0, 1] of the curves through three points each of the large square."""
    drawn = [_drawn(curves(some * (side / SIDE)).float(), side) for some in three.split(AT_ONCE)]
    return torch.cat(drawn)


def curves(three: Tensor) -> Tensor:
    """Return samples (x, y) of the parabola that is at the three points at the times 0, 1/2 and 1."""
    t = torch.linspace(0, 1, SAMPLES, dtype=three.dtype)
    weights = torch.stack([2 * (t - 0.5) * (t - 1), 4 * t * (1 - t), 2 * t * (t - 0.5)], dim=1)
    return weights @ three


def _drawn(samples: Tensor, side: int) -> Tensor:
    """Return exp(-d² / 2w²) at the centre of each pixel, d its distance to the nearest sample."""
    centres = torch.arange(side) + 0.5
    squares = (samples[..., None] - centres).square()  # curve, sample, axis, pixel
    distances = (squares[:, :, 1, :, None] + squares[:, :, 0, None, :]).amin(dim=1)
    return torch.exp(-distances / (2 * WIDTHS[side] ** 2))
