"""Images with ten classes as they are published: bytes, to be checked, scaled and put in order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from worker.datasets.dataset import Array, Content, ordered
from worker.datasets.formats import damaged

KEYS: Final = ("x_train", "y_train", "x_test", "y_test")
CLASSES: Final = 10

Raw = Mapping[str, Array]  # bytes under KEYS


def check(raw: Raw, shape: tuple[int, ...], file: Path) -> None:
    """Raise DataDamaged naming the file unless there are images of this shape, each with a class."""
    for part in ("train", "test"):
        inputs, classes = raw[f"x_{part}"], raw[f"y_{part}"]
        if inputs.dtype != np.uint8 or inputs.shape[1:] != shape:
            wrong = (
                f"x_{part} is {inputs.dtype} of shape {inputs.shape}, not bytes of shape (cases, *{shape})"
            )
            raise damaged(file, "as a data set", wrong)
        if classes.shape != inputs.shape[:1] or len(classes) < CLASSES:
            raise damaged(
                file, "as a data set", f"y_{part} has {classes.shape} classes for {len(inputs)} images"
            )
        if classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= CLASSES:
            raise damaged(file, "as a data set", f"y_{part} has other classes than 0 to {CLASSES - 1}")


def content(raw: Raw, *, seed: int, share: int, origin: str) -> Content:
    """Return images of the shape (channels, rows, columns) in [0, 1], the training cases in a fixed order.

    One in `share` of them is held back.
    """
    order = ordered(len(raw["x_train"]), seed)
    arrays = {
        "train_inputs": _scaled(raw["x_train"])[order],
        "train_targets": raw["y_train"].astype(np.int64)[order],
        "test_inputs": _scaled(raw["x_test"]),
        "test_targets": raw["y_test"].astype(np.int64),
    }
    return Content(arrays=arrays, held_back=len(order) // share, origin=origin)


def _scaled(pixels: Array) -> Array:
    return pixels.astype(np.float32) / np.float32(255)
