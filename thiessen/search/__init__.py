"""How to choose what to try next: pure rules over a space and a landscape, without clock, disk or network."""

from thiessen.numbers import Stream, trial_seed
from thiessen.search.acceptance import (
    ACCEPTANCES,
    Acceptance,
    Linear,
    Log,
    Power,
    Rank,
    SharpeningRank,
    Winsor,
)
from thiessen.search.biased import BiasedRandom
from thiessen.search.grid import Grid
from thiessen.search.history import History, HistoryError, Observed, Past, Revised, Snapshot
from thiessen.search.landscape import Landscape
from thiessen.search.quasi_random import QuasiRandom
from thiessen.search.random import Random
from thiessen.search.reasons import Reasons, Refused
from thiessen.search.replay import Given, Mismatch, NotReplayable, Proposed, Tally, replay
from thiessen.search.strategy import Exhausted, Proposal, Strategy

STRATEGIES: dict[str, Strategy] = {strategy.name: strategy() for strategy in Strategy.__subclasses__()}
"""Every strategy that is imported above, with its usual settings, by the name that studies use."""

__all__ = [
    "ACCEPTANCES",
    "STRATEGIES",
    "Acceptance",
    "BiasedRandom",
    "Exhausted",
    "Given",
    "Grid",
    "History",
    "HistoryError",
    "Landscape",
    "Linear",
    "Log",
    "Mismatch",
    "NotReplayable",
    "Observed",
    "Past",
    "Power",
    "Proposal",
    "Proposed",
    "QuasiRandom",
    "Random",
    "Rank",
    "Reasons",
    "Refused",
    "Revised",
    "SharpeningRank",
    "Snapshot",
    "Strategy",
    "Stream",
    "Tally",
    "Winsor",
    "replay",
    "trial_seed",
]
