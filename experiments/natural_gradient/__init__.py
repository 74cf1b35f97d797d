"""Experiments on natural gradients, and on what their metric is taken over."""

from typing import Final

from experiments.experiment import Experiment
from experiments.natural_gradient import autoencoder_paths, order_of_data, own_batch, restricted_mnist

ALL: Final[tuple[Experiment, ...]] = (
    autoencoder_paths.EXPERIMENT,
    restricted_mnist.EXPERIMENT,
    own_batch.EXPERIMENT,
    order_of_data.EXPERIMENT,
)
