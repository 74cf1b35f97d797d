"""Experiments on the ways of searching, of George's thesis."""

from typing import Final

from experiments.experiment import Experiment
from experiments.search import panels, table

ALL: Final[tuple[Experiment, ...]] = (table.EXPERIMENT, panels.EXPERIMENT)
