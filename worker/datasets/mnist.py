"""MNIST: 70,000 handwritten digits of 28 x 28 grey pixels, or scaled down."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from worker.datasets import classified
from worker.datasets.cache import kept
from worker.datasets.classified import KEYS, Raw
from worker.datasets.dataset import Array, Content
from worker.datasets.files import Wanted, checksum
from worker.datasets.formats import as_idx, idx, md5, npz

VERSION: Final = 1  # of what is made of the files: another one makes what is kept anew
SEED: Final = 28
SIDE: Final = 28
FILES: Final = (
    "train-images?idx3-ubyte*",
    "train-labels?idx1-ubyte*",
    "t10k-images?idx3-ubyte*",
    "t10k-labels?idx1-ubyte*",
)
WANTED: Final = Wanted(
    title="MNIST",
    forms=(("mnist.npz",), FILES),
    obtain=(
        "The four files are at https://ossci-datasets.s3.amazonaws.com/mnist/ (zipped or not is the same); "
        "an .npz file has x_train, y_train, x_test and y_test, as bytes."
    ),
)
PUBLISHED: Final = {  # the MD5 of each of the four files, unzipped
    "x_train": "6bbc9ace898e44ae57da46a324031adb",
    "y_train": "a25bea736e30d166cdddb491f175f624",
    "x_test": "2646ac647ad5339dbf082846283269ea",
    "y_test": "27ae3e4e09519cfbb04c329615203637",
}


def content(folder: Path, *, side: int = SIDE) -> Content:
    """Return MNIST with images of side x side pixels. Raises DataAbsent, DataDamaged."""
    files = WANTED.found(folder)
    key = f"mnist-{side}-v{VERSION}-{checksum(files)[:16]}"
    return kept(key, partial(_read, files, side))


def _read(files: tuple[Path, ...], side: int) -> Content:
    raw = npz(files[0], KEYS) if len(files) == 1 else dict(zip(KEYS, map(idx, files), strict=True))
    classified.check(raw, (SIDE, SIDE), files[0])
    images = {key: raw[key][:, None] for key in ("x_train", "x_test")}
    made = classified.content(raw | images, seed=SEED, share=6, origin=_origin(files, raw))
    if side == SIDE:
        return made
    scaled = {name: scaled_down(made.arrays[name], side) for name in ("train_inputs", "test_inputs")}
    return replace(made, arrays={**made.arrays, **scaled}, origin=f"{made.origin} Scaled to {side} x {side}.")


def _origin(files: tuple[Path, ...], raw: Raw) -> str:
    other = [key for key in KEYS if md5(as_idx(raw[key])) != PUBLISHED[key]]
    verdict = f"not the published ones: {', '.join(other)}" if other else "the published images and classes"
    return f"MNIST from {files[0].name} (SHA-256 {checksum(files)}): {verdict}."


def scaled_down(images: Array, side: int) -> Array:
    """Return images of side x side pixels, each the mean over the area it covers."""
    edges = np.arange(side + 1) * (images.shape[-1] / side)
    pixels = np.arange(images.shape[-1])
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    weights = (overlap.clip(0) / np.diff(edges)[:, None]).astype(np.float32)
    scaled: Array = weights @ images @ weights.T
    return scaled
