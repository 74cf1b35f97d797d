"""Settings of an optimizer that change from update to update: learning rate, momentum, weight decay.

A schedule is a function of the number of updates made so far, from 0 on.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from torch.optim import Optimizer

from worker.training.settings import above_zero, chosen, share

Schedule: TypeAlias = Callable[[int], float]


def rate_schedule(name: str, **settings: object) -> Schedule:
    """Return the schedule of this name. Raises ValueError that names what is wrong and what there is."""
    return chosen("learning rate schedule", RATES, name, **settings)


def set_scheduled(optimizer: Optimizer, update: int, schedules: Mapping[str, Schedule]) -> None:
    """Set what is scheduled, by its name in the optimizer's groups. Raises ValueError for another name."""
    for group in optimizer.param_groups:
        for name, schedule in schedules.items():
            if name not in group:
                known = sorted(group.keys() - {"params"})
                raise ValueError(f"{type(optimizer).__name__} has no setting {name!r}; it has {known}.")
            group[name] = schedule(update)


def constant(*, rate: float) -> Schedule:
    """Return l₀, always."""
    above_zero("rate", rate)
    return lambda _: rate


def inverse_after(*, rate: float, after: int = 200, scale: float = 20.0) -> Schedule:
    """l₀ up to the update `after`, then l₀ / (1 + (t - after) / scale)."""
    above_zero("rate", rate)
    above_zero("scale", scale)
    return lambda update: rate / (1 + max(update - after, 0) / scale)


def inverse(*, rate: float = 1.0) -> Schedule:
    """l₀ / (t + 1): the mean of what is seen so far, if the updates go towards each example."""
    above_zero("rate", rate)
    return lambda update: rate / (update + 1)


def search_then_converge(*, rate: float, turn: float) -> Schedule:
    """l₀ / (1 + t / turn): nearly constant at first, like 1/t after the turn (Darken & Moody 1991)."""
    above_zero("rate", rate)
    above_zero("turn", turn)
    return lambda update: rate / (1 + update / turn)


def final_annealing(*, rate: float, updates: int, part: float = 0.5) -> Schedule:
    """l₀, and over the last part of all updates in a straight line down to 0, which comes after the last."""
    above_zero("rate", rate)
    above_zero("updates", updates)
    above_zero("part", part)
    return lambda update: rate * min(max(updates - update, 0) / (part * updates), 1.0)


RATES: Final[Mapping[str, Callable[..., Schedule]]] = {
    "constant": constant,
    "final_annealing": final_annealing,
    "inverse": inverse,
    "inverse_after": inverse_after,
    "search_then_converge": search_then_converge,
}


def rising_momentum(*, limit: float, updates: int) -> Schedule:
    """Nesterov momentum as Sutskever et al. (2013) raise it, for so many updates in all.

    1 - 2^(-1 - log2(⌊t/250⌋ + 1)) up to the limit, which is one of 0, 0.9, 0.99, 0.995, 0.999 there; for the
    last 1,000 updates at most 0.9.
    """
    share("limit", limit)

    def momentum(update: int) -> float:
        risen = 1 - 2 ** (-1 - math.log2(update // 250 + 1))
        return min(risen, limit, 0.9 if update >= updates - 1000 else limit)

    return momentum


def on_then_off(value: float, *, until: int) -> Schedule:
    """The value before the update `until`, and 0 from it on: weight decay helps early and biases the end."""
    return lambda update: value if update < until else 0.0


def switched(before: Schedule, after: Schedule, *, at: int) -> Schedule:
    """One schedule before an update and another from it on, which begins at its own 0."""
    return lambda update: before(update) if update < at else after(update - at)
