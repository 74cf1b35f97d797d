"""Work that processes divide among them: each piece is done by one, and what came of it is known to all."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

import torch

from optimizers.errors import OptimizerError
from optimizers.processes import Processes

Result = TypeVar("Result")


def divided(
    work: Mapping[str, Callable[[], Result]],
    costs: Mapping[str, float],
    processes: Processes,
    device: torch.device,
) -> dict[str, Callable[[], Result]]:
    """Have each piece done by one of the processes, and return what gives its result on all, bit by bit.

    Where a piece raised an OptimizerError, all of them raise it. One process does nothing beforehand.
    """
    if processes.size == 1:
        return dict(work)
    own = {name: _outcome(work[name]) for name in shares(costs, processes.size)[processes.rank]}
    outcomes = {name: each for part in processes.gathered(own, device) for name, each in part.items()}
    return {name: partial(_told, outcomes[name]) for name in work}


def shares(costs: Mapping[str, float], number: int) -> list[list[str]]:
    """Return names in so many parts of about the same cost: the dearest first, to where there is least."""
    parts: list[list[str]] = [[] for _ in range(number)]
    loads = [0.0] * number
    for name in sorted(costs, key=lambda name: (-costs[name], name)):
        part = loads.index(min(loads))
        parts[part].append(name)
        loads[part] += costs[name]
    return parts


def _outcome(work: Callable[[], Result]) -> Result | OptimizerError:
    try:
        return work()
    except OptimizerError as error:
        return error


def _told(outcome: Result | OptimizerError) -> Result:
    if isinstance(outcome, OptimizerError):
        raise outcome
    return outcome
