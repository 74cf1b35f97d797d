"""Experiments of George's thesis on factorized second-order methods."""

from typing import Final

from experiments.experiment import Experiment
from experiments.factorized import updated_backpropagation

ALL: Final[tuple[Experiment, ...]] = (updated_backpropagation.EXPERIMENT,)
