"""The 1,797 handwritten digits that scikit-learn ships: 8 x 8 grey pixels, ten classes."""

from functools import cache
from importlib.metadata import version
from typing import Final

import numpy as np

from worker.datasets.dataset import Array, Content, ordered

SPLIT_SEED: Final = 20
ORIGIN: Final = (
    f"Handwritten digits of scikit-learn {version('scikit-learn')}, in the order of seed {SPLIT_SEED}."
)


def images() -> tuple[Array, Array]:
    """Return the digits as images (1, 8, 8) in [0, 1] with their classes, in a fixed order."""
    pixels, classes = _shipped()
    order = ordered(len(classes), SPLIT_SEED)
    return (pixels[order] / 16).astype(np.float32).reshape(-1, 1, 8, 8), classes[order].astype(np.int64)


@cache  # a worker trains many trials, and unpacking the file takes as long as ten updates of a small network
def _shipped() -> tuple[Array, Array]:
    from sklearn.datasets import load_digits  # which takes a second, and most data sets are not of it

    pixels, classes = load_digits(return_X_y=True)
    return pixels, classes


def content(*, train: int) -> Content:
    """Return the digits, the first so many to train on and the rest to test with."""
    inputs, classes = images()
    arrays = {
        "train_inputs": inputs[:train],
        "train_targets": classes[:train],
        "test_inputs": inputs[train:],
        "test_targets": classes[train:],
    }
    return Content(arrays=arrays, held_back=train // 5, origin=ORIGIN)
