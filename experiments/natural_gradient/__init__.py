"""Experiments on natural gradients, and on what their metric is taken over."""

from typing import Final

from experiments.experiment import Experiment
from experiments.natural_gradient import autoencoder_paths, metric

ALL: Final[tuple[Experiment, ...]] = (metric.EXPERIMENT, autoencoder_paths.EXPERIMENT)
