"""Every experiment by name."""

from collections.abc import Mapping
from typing import Final

from experiments import basics, factorized, hessian_free, kfac, natural_gradient, search, small_cases
from experiments.experiment import Experiment

ALL: Final[tuple[Experiment, ...]] = (
    *search.ALL,
    *factorized.ALL,
    *natural_gradient.ALL,
    *hessian_free.ALL,
    *kfac.ALL,
    *small_cases.ALL,
    *basics.ALL,
)
EXPERIMENTS: Final[Mapping[str, Experiment]] = {each.name: each for each in ALL}
