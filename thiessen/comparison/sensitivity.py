"""How much depends on the config: which share of the trials is nearly as good as the best."""

import math
from collections.abc import Sequence

import numpy as np

from thiessen.comparison.searched import ArmFound, Ended
from thiessen.contract import Sensitivity
from thiessen.elementwise import Array


def sensitivities(arms: Sequence[ArmFound], within: float) -> list[Sensitivity]:
    """Return for each arm the share of trials within so many per cent of the best, and of diverged ones.

    The best is that of all arms, and 100 per cent is the way from it to the median success of all arms. So
    the share is the same for accuracies and for errors, for losses below 0 and for those shifted or in
    another unit: per cent of the best value itself would not be.
    """
    losses = [np.array([trial.loss for trial in trials_of(arm)], dtype=float) for arm in arms]
    pooled = np.concatenate(losses)
    succeeded = pooled[np.isfinite(pooled)]
    worst = math.nan
    if len(succeeded):
        best = float(succeeded.min())
        worst = best + within / 100 * (float(np.median(succeeded)) - best)
    return [_sensitivity(arm, each, within, worst) for arm, each in zip(arms, losses, strict=True)]


def trials_of(arm: ArmFound) -> list[Ended]:
    """Return the trials of all searches of an arm."""
    return [trial for search in arm.searches for trial in search.trials]


def _sensitivity(arm: ArmFound, losses: Array, within: float, worst: float) -> Sensitivity:
    many = len(losses)
    diverged = sum(trial.state == "diverged" for trial in trials_of(arm))
    return Sensitivity(
        trials=many,
        within=within,
        share=float((losses <= worst).mean()) if many and not math.isnan(worst) else None,
        diverged=diverged / many if many else None,
        is_unbiased=arm.is_random,
    )
