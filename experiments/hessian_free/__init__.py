"""Hessian-free optimization: its inside, deep autoencoders, and recurrent networks with long lags."""

from typing import Final

from experiments.experiment import Experiment
from experiments.hessian_free import eigendirections, inside_updates, long_lags

ALL: Final[tuple[Experiment, ...]] = (
    inside_updates.EXPERIMENT,
    eigendirections.EXPERIMENT,
    long_lags.EXPERIMENT,
)
