"""Comparisons as the statistics get them, made up."""

import math

import numpy as np

from thiessen.comparison.searched import ArmFound, Ended, Run, Search
from thiessen.contract import ComparisonSpec


def a_spec(*labels, budget=None, confirm="usual", **others):
    """Return the spec of a comparison of arms that differ in a setting."""
    return ComparisonSpec.model_validate(
        {
            "name": "which",
            "task": "classifier",
            "arms": [{"label": label, "settings": {"optimizer": label}} for label in labels or ("a", "b")],
            "space": {"lr": {"type": "float", "low": 0.001, "high": 1.0, "log": True}},
            "budget": budget or {"trials": 3},
            "confirm": {"seeds": 2} if confirm == "usual" else confirm,
        }
        | others
    )


def a_search(replicate, losses, *, updates=10, seconds=1.0):
    """Return a search whose trials came to these losses; None is a trial that failed."""
    return Search(
        replicate=replicate,
        study=f"which.a.{replicate}",
        trials=[
            Ended(
                number=number,
                state="failed" if loss is None else "succeeded" if math.isfinite(loss) else "diverged",
                loss=math.inf if loss is None else loss,
                updates=updates,
                seconds=seconds,
                config={"lr": 0.1},
            )
            for number, loss in enumerate(losses)
        ],
    )


def an_arm(label, table, *, runs=(), is_random=False, **others):
    """Return an arm: of each search, from replicate 1 on, the losses of its trials."""
    return ArmFound(
        **{
            "label": label,
            "task": "classifier",
            "strategy": "random" if is_random else "biased_random",
            "is_random": is_random,
            "settings": {"optimizer": label},
            "dimensions": {"lr": "float 0.001 to 1, log"},
            "versions": ["1"],
            "searches": [a_search(at, losses) for at, losses in enumerate(table, start=1)],
            "runs": runs,
        }
        | others
    )


def the_runs(table, *, worth=None, seeds=2, points=None):
    """Return fresh runs of the best config of each search: as good as there, or worth as much as told."""
    return [
        Run(
            replicate=replicate,
            trial=int(np.argmin(losses)),
            config={"lr": 0.1},
            searched=min(losses),
            loss=min(losses) if worth is None else worth[replicate - 1],
            points=points or {},
        )
        for replicate, losses in enumerate(table, start=1)
        for _ in range(seeds)
        if math.isfinite(min(losses))
    ]
