"""Digits that are shifted and noisy, in place of two data sets that are not public: TFD and NISTP."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

import numpy as np
import torch
from numpy.lib.stride_tricks import sliding_window_view

from worker.datasets import digits
from worker.datasets.dataset import Array, Content, Part

POOR_SEED, COPIES, POOR_NOISE = 48, 4, 0.3  # of the unlabeled set
POOL: Final = 1300  # digits that the stream deforms
NOISE, BRIGHTEST = 0.2, 1.2  # of the stream
BLOCK: Final = 512  # cases of the stream that are drawn together
STREAM_SEED, HELD_OUT_SEED = 1, 2


def tfd_like() -> Content:
    """Return the digits, with many unlabeled inputs that are poorer: those trained on, deformed."""
    good = digits.content(train=1500)
    learned = good.arrays["train_inputs"][: -good.held_back]
    poor = deformed(np.repeat(learned, COPIES, axis=0), np.random.default_rng(POOR_SEED), POOR_NOISE, 1.0)
    origin = (
        f"{good.origin} The unlabeled: {COPIES} deformed copies of each trained on (seed {POOR_SEED}). "
        "In place of the Toronto Face Database, which is not public."
    )
    return replace(good, arrays={**good.arrays, "unlabeled": poor}, origin=origin)


def nistp_like(*, train: int, test: int) -> Content:
    """Return the first cases of the stream, and of one with another seed to test with."""
    learned, held_out = DigitStream(STREAM_SEED).cases(0, train), DigitStream(HELD_OUT_SEED).cases(0, test)
    arrays = {
        "train_inputs": learned.inputs.view(-1, 1, 8, 8).numpy(),
        "train_targets": learned.targets.numpy(),
        "test_inputs": held_out.inputs.view(-1, 1, 8, 8).numpy(),
        "test_targets": held_out.targets.numpy(),
    }
    origin = (
        f"The first cases of the streams {STREAM_SEED} and {HELD_OUT_SEED} of deformed digits, in "
        f"place of NISTP, which is not public. {digits.ORIGIN}"
    )
    return Content(arrays=arrays, held_back=train // 10, origin=origin)


@dataclass(frozen=True)
class DigitStream:
    """Endless deformed digits; the seed decides each case, however they are read."""

    seed: int

    def cases(self, start: int, count: int) -> Part:
        """Return the cases with the numbers start, start + 1, ..."""
        numbers = range(start // BLOCK, -(-(start + count) // BLOCK))
        blocks = [_block(self.seed, number) for number in numbers] or [_block(self.seed, 0)]
        rows = slice(start % BLOCK, start % BLOCK + count)
        inputs, classes = (np.concatenate(arrays)[rows] for arrays in zip(*blocks, strict=True))
        return Part(torch.from_numpy(inputs), torch.from_numpy(classes))

    def batches(self, size: int, start: int = 0) -> Iterator[Part]:
        """Yield batches of so many cases for ever, from the case with the number `start` on."""
        while True:
            yield self.cases(start, size)
            start += size


@lru_cache(maxsize=2)  # small batches come out of one block
def _block(seed: int, number: int) -> tuple[Array, Array]:
    chance = np.random.Generator(np.random.Philox(key=seed << 64 | number))
    inputs, classes = _pool()
    drawn = chance.integers(POOL, size=BLOCK)
    return deformed(inputs[drawn], chance, NOISE, BRIGHTEST).reshape(BLOCK, -1), classes[drawn]


@cache
def _pool() -> tuple[Array, Array]:
    inputs, classes = digits.images()
    return inputs[:POOL], classes[:POOL]


def deformed(images: Array, chance: np.random.Generator, noise: float, brightest: float) -> Array:
    """Return images (1, rows, columns), each moved by -1, 0 or 1 pixel on each axis, with Gaussian noise."""
    count, _, rows, columns = images.shape
    framed = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(framed, (rows, columns), axis=(2, 3))
    down, right = chance.integers(3, size=(2, count))
    moved = windows[np.arange(count), :, down, right]
    noisy = moved + chance.normal(scale=noise, size=moved.shape)
    return noisy.clip(0, brightest).astype(np.float32)
