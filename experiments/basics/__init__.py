"""Experiments on how feed-forward networks are trained at all: rates, scales, normalisation, annealing."""

from typing import Final

from experiments.basics import (
    depth_and_scale,
    normalised_rates,
    overfitting,
    rectifiers,
    transformations,
    two_weights,
)
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (
    rectifiers.EXPERIMENT,
    two_weights.EXPERIMENT,
    depth_and_scale.EXPERIMENT,
    normalised_rates.EXPERIMENT,
    transformations.EXPERIMENT,
    overfitting.EXPERIMENT,
)
