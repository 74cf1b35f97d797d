"""The 1,797 handwritten digits that scikit-learn ships: 8 x 8 grey pixels, ten classes."""

from functools import cache
from typing import Final, NamedTuple

import torch
from sklearn.datasets import load_digits
from torch import Tensor

VALIDATION: Final = 359  # a fifth, chosen once and for all: every trial is judged on the same digits
SPLIT_SEED: Final = 20


class Split(NamedTuple):
    """Inputs and targets to train on and to judge by."""

    train_inputs: Tensor
    train_targets: Tensor
    validation_inputs: Tensor
    validation_targets: Tensor


@cache
def digits() -> Split:
    """Return the digits, pixels scaled to [0, 1]."""
    pixels, classes = load_digits(return_X_y=True)
    order = torch.randperm(len(classes), generator=torch.Generator().manual_seed(SPLIT_SEED))
    inputs = torch.tensor(pixels, dtype=torch.float32)[order] / 16
    targets = torch.tensor(classes, dtype=torch.long)[order]
    return Split(inputs[VALIDATION:], targets[VALIDATION:], inputs[:VALIDATION], targets[:VALIDATION])
