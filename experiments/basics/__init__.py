"""Experiments on how feed-forward networks are trained at all: rates, scales, normalisation, annealing."""

from typing import Final

from experiments.basics import two_weights
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (two_weights.EXPERIMENT,)
