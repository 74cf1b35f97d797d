"""How to choose what to try next: pure rules over a space and a landscape, without clock, disk or network."""

from thiessen.numbers import Stream, trial_seed
from thiessen.search.biased import BiasedRandom
from thiessen.search.grid import Grid
from thiessen.search.landscape import Landscape
from thiessen.search.quasi_random import QuasiRandom
from thiessen.search.random import Random
from thiessen.search.strategy import Exhausted, Proposal, Strategy

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy for strategy in (BiasedRandom(), Grid(), QuasiRandom(), Random())
}
"""Every strategy of this version, by the name that studies use."""

__all__ = [
    "STRATEGIES",
    "BiasedRandom",
    "Exhausted",
    "Grid",
    "Landscape",
    "Proposal",
    "QuasiRandom",
    "Random",
    "Strategy",
    "Stream",
    "trial_seed",
]
