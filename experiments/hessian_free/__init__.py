"""Hessian-free optimization: its inside, deep autoencoders, and recurrent networks with long lags."""

from typing import Final

from experiments.experiment import Experiment
from experiments.hessian_free import deep_autoencoders, eigendirections, inside_updates, long_lags

ALL: Final[tuple[Experiment, ...]] = (
    inside_updates.EXPERIMENT,
    eigendirections.EXPERIMENT,
    deep_autoencoders.EXPERIMENT,
    long_lags.EXPERIMENT,
)
