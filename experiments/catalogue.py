"""Every experiment by name."""

from collections.abc import Mapping
from typing import Final

from experiments import factorized, search
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (*search.ALL, *factorized.ALL)
EXPERIMENTS: Final[Mapping[str, Experiment]] = {each.name: each for each in ALL}
