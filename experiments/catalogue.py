"""Every experiment by name."""

from collections.abc import Mapping
from typing import Final

from experiments import basics, natural_gradient
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (*basics.ALL, *natural_gradient.ALL)
EXPERIMENTS: Final[Mapping[str, Experiment]] = {each.name: each for each in ALL}
