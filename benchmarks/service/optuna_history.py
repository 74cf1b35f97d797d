#!/usr/bin/env python3
"""Make a study of Optuna with a history: rows written straight into its tables; it would take hours."""

import datetime as dt
import sys
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
import optuna
from optuna.storages._rdb import (
    models,
)  # its public ways of adding trials take a commit for each part of each
from sqlalchemy import create_engine, insert

from benchmarks.service.optuna_storage import STUDY, distributions, opened
from benchmarks.service.space import drawn, loss

BATCH = 2_000


def main() -> None:
    """Create the study at an address of a kind, with so many finished trials."""
    kind, address, trials = sys.argv[1:]
    study = optuna.create_study(study_name=STUDY, storage=opened(kind, address))
    space, random = distributions(), Random(1)
    engine = create_engine(address)
    with engine.begin() as connection:
        for first in range(0, int(trials), BATCH):
            configs = [drawn(random) for _ in range(first, min(first + BATCH, int(trials)))]
            for table, rows in _rows(study._study_id, first, configs, space).items():  # noqa: SLF001
                connection.execute(insert(table), rows)
    engine.dispose()


def _rows(
    study: int, first: int, configs: list[dict[str, Any]], space: dict[str, Any]
) -> dict[Any, list[dict[str, Any]]]:
    """Return what finished trials leave in each table; ids count from 1 in an empty database."""
    texts = {name: optuna.distributions.distribution_to_json(space[name]) for name in space}
    now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    trials = [
        {"number": number, "study_id": study, "state": "COMPLETE"}
        | {"datetime_start": now, "datetime_complete": now}
        for number in range(first, first + len(configs))
    ]
    values = [
        {"trial_id": number, "objective": 0, "value": loss(config), "value_type": "FINITE"}
        for number, config in enumerate(configs, start=first + 1)
    ]
    parts = [
        {
            "trial_id": number,
            "param_name": name,
            "param_value": space[name].to_internal_repr(value),
            "distribution_json": texts[name],
        }
        for number, config in enumerate(configs, start=first + 1)
        for name, value in config.items()
    ]
    tables = (models.TrialModel, models.TrialValueModel, models.TrialParamModel)
    return dict(zip((model.__table__ for model in tables), (trials, values, parts), strict=True))


if __name__ == "__main__":
    main()
