"""Every experiment by name."""

from collections.abc import Mapping
from typing import Final

from experiments import hessian_free, small_cases
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (
    *small_cases.ALL,
    *hessian_free.ALL,
)
EXPERIMENTS: Final[Mapping[str, Experiment]] = {each.name: each for each in ALL}
