#!/usr/bin/env python3
"""Take trials with Optuna, and print the statements that SQLite ran for them; PostgreSQL has a log."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
import optuna
from sqlalchemy import Engine, event

from benchmarks.service import rhythm
from benchmarks.service.optuna_storage import STUDY, distributions, opened
from benchmarks.service.space import NINE, loss


def main() -> None:
    """Work as the command line says: address, trials before those that count, those, reports of each."""
    address, warming, trials, reports = sys.argv[1], *map(int, sys.argv[2:])
    traced: list[str] = []
    event.listen(Engine, "connect", lambda connection, _: trace(connection, traced))
    sampler, pruner = optuna.samplers.RandomSampler(), optuna.pruners.MedianPruner()
    storage = opened("rdb", address)
    study = optuna.create_study(study_name=STUDY, storage=storage, sampler=sampler, pruner=pruner)
    space = distributions(NINE)
    for _ in range(warming):
        take(study, space, reports)
    rhythm.wait_for_the_others()
    traced.clear()
    for _ in range(trials):
        take(study, space, reports)
    print(json.dumps(traced), flush=True)


def trace(connection: Any, traced: list[str]) -> None:
    """Collect what SQLite's driver runs."""
    if hasattr(connection, "set_trace_callback"):
        connection.set_trace_callback(traced.append)


def take(study: optuna.Study, space: dict[str, optuna.distributions.BaseDistribution], reports: int) -> None:
    """Ask, report and tell once."""
    trial = study.ask(space)
    for step in range(reports):
        trial.report(1 / (step + 1), step)
        if trial.should_prune():
            raise RuntimeError("the trial was to go on")
    study.tell(trial, loss(trial.params))


if __name__ == "__main__":
    main()
