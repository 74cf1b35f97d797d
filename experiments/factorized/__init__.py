"""Experiments of George's thesis on factorized second-order methods."""

from typing import Final

from experiments.experiment import Experiment
from experiments.factorized import centring, rectifier, second_order, updated_backpropagation

ALL: Final[tuple[Experiment, ...]] = (
    centring.EXPERIMENT,
    second_order.EXPERIMENT,
    rectifier.EXPERIMENT,
    updated_backpropagation.EXPERIMENT,
)
