"""K-FAC (Martens & Grosse 2015): its approximation, its damping, its momentum, and how far it trains."""

from typing import Final

from experiments.experiment import Experiment
from experiments.kfac import approximation, autoencoders, batches, cost, damping, identities

ALL: Final[tuple[Experiment, ...]] = (
    approximation.EXPERIMENT,
    damping.EXPERIMENT,
    batches.EXPERIMENT,
    autoencoders.EXPERIMENT,
    identities.EXPERIMENT,
    cost.EXPERIMENT,
)
