"""What a data set is: parts to train on, to choose by and to test with, and where they come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


class DataAbsent(LookupError):  # noqa: N818 - says what happened
    """The files of a data set are not on this machine."""


class DataDamaged(ValueError):  # noqa: N818 - says what happened
    """A file of a data set is there and is not what its name says."""


@dataclass(frozen=True, eq=False)
class Part:
    """Cases: one row of inputs and one target for each."""

    inputs: Tensor
    targets: Tensor  # class numbers; where inputs are to be reconstructed, the inputs themselves

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """Inputs are rows of float32; `inputs.view(-1, *shape)` gives images, channels first."""

    name: str
    train: Part
    validation: Part
    test: Part  # for the last word alone: never to choose a config by
    unlabeled: Tensor | None  # inputs whose class nobody tells
    shape: tuple[int, ...]  # of one input
    classes: int | None  # None where inputs are to be reconstructed
    provenance: str  # for reports: which file or generator, checksum or seed, and what it stands in for


@dataclass(frozen=True, eq=False, kw_only=True)
class Content:
    """A data set before anything is held back: arrays by name, and where they come from.

    The names are `train_inputs`, `test_inputs`, and where there are such `train_targets`, `test_targets`,
    `unlabeled`.
    """

    arrays: Mapping[str, Array]
    held_back: int  # so many of the last cases of train are for validation
    origin: str


def ordered(count: int, seed: int) -> Array:
    """Return the numbers of so many cases in the order that belongs to the seed."""
    order: Array = torch.randperm(count, generator=torch.Generator().manual_seed(seed)).numpy()
    return order
