"""Optuna's storages under the names of the benchmark; runs in Optuna's own environment."""

from typing import Any

import optuna
from sqlalchemy import event
from sqlalchemy.engine import Engine

from benchmarks.service.space import SPACE

STUDY = "bench"


def opened(kind: str, address: str) -> optuna.storages.BaseStorage:
    """Return a storage: `rdb` as shipped, `tuned` with WAL and NORMAL, `proxy` of a server's port."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if kind == "proxy":
        return optuna.storages.GrpcStorageProxy(host="127.0.0.1", port=int(address))
    if kind == "tuned":
        event.listen(Engine, "connect", _tune)
    return optuna.storages.get_storage(address)


def distributions(
    space: dict[str, dict[str, Any]] = SPACE,
) -> dict[str, optuna.distributions.BaseDistribution]:
    """Return a space as Optuna says it."""
    return {name: _distribution(dimension) for name, dimension in space.items()}


def _distribution(dimension: dict[str, Any]) -> optuna.distributions.BaseDistribution:
    if dimension["type"] == "categorical":
        return optuna.distributions.CategoricalDistribution(dimension["choices"])
    kinds = {"float": optuna.distributions.FloatDistribution, "int": optuna.distributions.IntDistribution}
    return kinds[dimension["type"]](dimension["low"], dimension["high"], log=dimension.get("log", False))


def _tune(connection: Any, record: Any) -> None:
    del record
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")
