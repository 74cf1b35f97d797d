"""The configs that were trained again, and what a search's best is worth on seeds that no search has seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thiessen.comparison.incumbents import Incumbent
from thiessen.comparison.searched import Run
from thiessen.contract import Confirm


@dataclass(frozen=True, kw_only=True)
class Again:
    """A config with its runs."""

    replicate: int
    trial: int
    searched: float
    runs: Sequence[Run]

    @property
    def loss(self) -> float:
        """The mean of the runs, infinite where one of them is."""
        return float(np.mean([run.loss for run in self.runs]))


def again(runs: Sequence[Run]) -> list[Again]:
    """Return the configs with their runs, in the order in which the searches prefer them.

    None is chosen for what its runs came to: that would flatter it once more.
    """
    found: dict[tuple[float, int, int], list[Run]] = {}
    for run in runs:
        found.setdefault((run.searched, run.replicate, run.trial), []).append(run)
    return [
        Again(replicate=replicate, trial=trial, searched=searched, runs=each)
        for (searched, replicate, trial), each in sorted(found.items(), key=lambda pair: pair[0])
    ]


def of_each_search(configs: Sequence[Again]) -> dict[int, Again]:
    """Return the best config of each search that has one, by replicate."""
    return {each.replicate: each for each in reversed(configs)}


def losses(configs: Sequence[Again], incumbents: dict[int, Incumbent]) -> dict[int, float]:
    """Return what the best of each search came to, by replicate: infinite where it has none."""
    best = of_each_search(configs)
    return {
        replicate: best[replicate].loss if replicate in best else math.inf
        for replicate, incumbent in incumbents.items()
        if replicate in best or incumbent.trial is None
    }


def missing(configs: Sequence[Again], incumbents: dict[int, Incumbent], confirm: Confirm | None) -> list[int]:
    """Return the replicates whose best config was not trained again as often as was wanted."""
    best = of_each_search(configs)
    return [
        replicate
        for replicate, incumbent in incumbents.items()
        if incumbent.trial is not None
        and (
            confirm is None
            or replicate not in best
            or best[replicate].searched != incumbent.final
            or len(best[replicate].runs) < confirm.seeds
        )
    ]
