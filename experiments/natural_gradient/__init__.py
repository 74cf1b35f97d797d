"""Experiments on natural gradients, and on what their metric is taken over."""

from typing import Final

from experiments.experiment import Experiment
from experiments.natural_gradient import (
    autoencoder_paths,
    convolutional,
    metric,
    order_of_data,
    own_batch,
    restricted_mnist,
    unlabeled_faces,
)

ALL: Final[tuple[Experiment, ...]] = (
    metric.EXPERIMENT,
    autoencoder_paths.EXPERIMENT,
    restricted_mnist.EXPERIMENT,
    own_batch.EXPERIMENT,
    convolutional.EXPERIMENT,
    unlabeled_faces.EXPERIMENT,
    order_of_data.EXPERIMENT,
)
