"""Every data set by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from worker.datasets import cifar10, curves, deformed, digits, faces, mnist, tables
from worker.datasets.dataset import Array, Content, DataAbsent, Dataset, Part
from worker.datasets.files import usual_folder
from worker.datasets.restricted import few_labelled


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What a name stands for."""

    summary: str
    classes: int | None
    content: Callable[[Path], Content]  # of the files in a folder, if it takes any
    substitute: Callable[[], Content] | None = None  # where it does, and there are none


def load(
    name: str, *, folder: Path | str | None = None, substitute: bool = False, validation: bool = True
) -> Dataset:
    """Return a data set. Raises ValueError naming those there are, DataAbsent and DataDamaged naming files.

    Files are looked for in `folder`, else where THIESSEN_DATA_DIR says. With `substitute` another data set
    stands in for files that are absent. Without `validation` nothing is held back: train has those cases too.
    """
    if name not in ENTRIES:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(ENTRIES)}.")
    entry = ENTRIES[name]
    folder = usual_folder() if folder is None else Path(folder)
    try:
        content = entry.content(folder)
    except DataAbsent:
        if not substitute or entry.substitute is None:
            raise
        content = entry.substitute()
        content = replace(content, origin=f"{content.origin} In place of {name}, which is not in {folder}.")
    return _dataset(name, entry.classes, content, content.held_back if validation else 0)


def names() -> Mapping[str, str]:
    """Return the name of each data set with what it is, in a line."""
    return {name: entry.summary for name, entry in ENTRIES.items()}


def _dataset(name: str, classes: int | None, content: Content, held_back: int) -> Dataset:
    whole, test = _part(content.arrays, "train"), _part(content.arrays, "test")
    rows = len(whole) - held_back
    unlabeled = content.arrays.get("unlabeled")
    return Dataset(
        name=name,
        train=Part(whole.inputs[:rows], whole.targets[:rows]),
        validation=Part(whole.inputs[rows:], whole.targets[rows:]),
        test=test,
        unlabeled=None if unlabeled is None else _rows(unlabeled),
        shape=content.arrays["train_inputs"].shape[1:],
        classes=classes,
        provenance=content.origin,
    )


def _part(arrays: Mapping[str, Array], part: str) -> Part:
    inputs = _rows(arrays[f"{part}_inputs"])
    targets = arrays.get(f"{part}_targets")
    return Part(inputs, inputs if targets is None else torch.from_numpy(targets))


def _rows(inputs: Array) -> Tensor:
    return torch.from_numpy(inputs).flatten(1)


def _digits() -> Content:
    return digits.content(train=1500)


def _few_digits() -> Content:
    return few_labelled(digits.content(train=1000), 200)


def _few_of_mnist(folder: Path) -> Content:
    whole = mnist.content(folder)
    return few_labelled(whole, len(whole.arrays["train_inputs"]) // 10)


ENTRIES: Final[Mapping[str, Entry]] = {
    "digits": Entry(
        summary="1,797 handwritten digits of 8 x 8 pixels, with scikit-learn",
        classes=10,
        content=lambda _: _digits(),
    ),
    "restricted_digits": Entry(
        summary="the digits, 200 labelled and 800 unlabeled, 797 to test with",
        classes=10,
        content=lambda _: _few_digits(),
    ),
    "tfd_like": Entry(
        summary="the digits with 4,800 unlabeled poor ones, in place of the Toronto Face Database",
        classes=10,
        content=lambda _: deformed.tfd_like(),
    ),
    "nistp_like": Entry(
        summary="20,000 cases of a stream of deformed digits, in place of NISTP; `DigitStream` has no end",
        classes=10,
        content=lambda _: deformed.nistp_like(train=20_000, test=5_000),
    ),
    "breast_cancer": Entry(
        summary="569 tumours by 30 measures, two classes, with scikit-learn",
        classes=2,
        content=lambda _: tables.breast_cancer(),
    ),
    "wine": Entry(
        summary="178 wines by 13 measures, three classes, with scikit-learn",
        classes=3,
        content=lambda _: tables.wine(),
    ),
    "curves": Entry(
        summary="30,000 generated images of curves, 28 x 28 pixels, to be reconstructed",
        classes=None,
        content=lambda _: curves.content(train=20_000, test=10_000, side=28),
    ),
    "curves_14": Entry(
        summary="3,000 generated images of curves, 14 x 14 pixels, to be reconstructed",
        classes=None,
        content=lambda _: curves.content(train=2_000, test=1_000, side=14),
    ),
    "mnist": Entry(
        summary="70,000 handwritten digits of 28 x 28 pixels, from files",
        classes=10,
        content=mnist.content,
        substitute=_digits,
    ),
    "mnist_16": Entry(
        summary="MNIST scaled down to 16 x 16 pixels",
        classes=10,
        content=lambda folder: mnist.content(folder, side=16),
        substitute=_digits,
    ),
    "mnist_8": Entry(
        summary="MNIST scaled down to 8 x 8 pixels",
        classes=10,
        content=lambda folder: mnist.content(folder, side=8),
        substitute=_digits,
    ),
    "restricted_mnist": Entry(
        summary="MNIST with 6,000 labelled cases, 54,000 unlabeled",
        classes=10,
        content=_few_of_mnist,
        substitute=_few_digits,
    ),
    "cifar10": Entry(
        summary="60,000 photographs of 32 x 32 pixels in three colours, ten classes, from files",
        classes=10,
        content=cifar10.content,
        substitute=_digits,
    ),
    "olivetti": Entry(
        summary="400 pictures of 40 people, 64 x 64 pixels, from a file",
        classes=40,
        content=faces.olivetti,
        substitute=faces.synthetic_olivetti,
    ),
    "faces": Entry(
        summary="165,600 variants of the Olivetti pictures, 25 x 25 pixels, to be reconstructed",
        classes=None,
        content=lambda folder: faces.faces(folder, variants=414),
        substitute=lambda: faces.synthetic_faces(variants=414),
    ),
    "faces_small": Entry(
        summary="8,000 variants of the Olivetti pictures, 25 x 25 pixels, to be reconstructed",
        classes=None,
        content=lambda folder: faces.faces(folder, variants=20),
        substitute=lambda: faces.synthetic_faces(variants=20),
    ),
}
