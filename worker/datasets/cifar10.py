"""CIFAR-10: 60,000 photographs of 32 x 32 pixels in three colours, of ten classes of things."""

from functools import partial
from math import prod
from pathlib import Path
from typing import Final

import numpy as np

from worker.datasets import classified
from worker.datasets.cache import kept
from worker.datasets.classified import KEYS, Raw
from worker.datasets.dataset import Array, Content
from worker.datasets.files import Wanted, checksum
from worker.datasets.formats import batch, damaged, md5, npz

VERSION: Final = 1  # of what is made of the files: another one makes what is kept anew
SEED: Final = 32
SHAPE: Final = (3, 32, 32)
PUBLISHED: Final = {  # the MD5 of each file
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}
WANTED: Final = Wanted(
    title="CIFAR-10",
    forms=(
        tuple(PUBLISHED),
        tuple(f"cifar-10-batches-py/{name}" for name in PUBLISHED),
        ("cifar10.npz",),
        ("cifar10-*.npz",),
    ),
    obtain=(
        "Unpack https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz; an .npz file has x_train, y_train, "
        "x_test and y_test, as bytes, colours last."
    ),
)


def content(folder: Path) -> Content:
    """Return CIFAR-10, or as much of it as an .npz file has. Raises DataAbsent, DataDamaged."""
    files = WANTED.found(folder)
    return kept(f"cifar10-v{VERSION}-{checksum(files)[:16]}", partial(_read, files))


def _read(files: tuple[Path, ...]) -> Content:
    raw = _colours_first(npz(files[0], KEYS), files[0]) if len(files) == 1 else _batches(files)
    classified.check(raw, SHAPE, files[0])
    return classified.content(raw, seed=SEED, share=5, origin=_origin(files, raw))


def _colours_first(raw: Raw, file: Path) -> Raw:
    classified.check(raw, (32, 32, 3), file)
    return {**raw, **{key: raw[key].transpose(0, 3, 1, 2) for key in ("x_train", "x_test")}}


def _batches(files: tuple[Path, ...]) -> Raw:
    *train, test = (_images(file) for file in files)
    inputs, classes = zip(*train, strict=True)
    arrays = (np.concatenate(inputs), np.concatenate(classes), *test)
    return dict(zip(KEYS, arrays, strict=True))


def _images(file: Path) -> tuple[Array, Array]:
    rows, classes = batch(file)
    if rows.shape != (*classes.shape, prod(SHAPE)):
        raise damaged(
            file, "as a batch of CIFAR-10", f"it has {rows.shape} pixels for {classes.shape} classes"
        )
    return rows.reshape(-1, *SHAPE), classes


def _origin(files: tuple[Path, ...], raw: Raw) -> str:
    if len(files) == 1:
        cases = f"{len(raw['x_train'])} training and {len(raw['x_test'])} test cases"
        verdict = f"{cases} that no published checksum verifies"
    else:
        other = [file.name for file in files if md5(file.read_bytes()) != PUBLISHED[file.name]]
        verdict = f"not the published ones: {', '.join(other)}" if other else "the published files"
    return f"CIFAR-10 from {files[0].name} (SHA-256 {checksum(files)}): {verdict}."
