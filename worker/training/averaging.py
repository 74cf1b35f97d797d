"""The mean of the weights on the way, which is often better than where they are.

average = averaging("exponential", memory=0.99)(model)
...                                          # after each update:
average.update_parameters(model)
both = compared(error, model, average.module)
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn

from worker.training.settings import chosen, share

Averaging: TypeAlias = Callable[[nn.Module], AveragedModel]


def averaging(name: str, **settings: object) -> Averaging:
    """Return what makes a running average of a model. Raises ValueError that names what is wrong."""
    return chosen("averaging", AVERAGINGS, name, **settings)


def uniform() -> Averaging:
    """The mean of all iterates so far (Polyak)."""
    return AveragedModel


def forgetting(*, limit: float = 0.99) -> Averaging:
    """The mean of all, until it would weigh what is old by more than the limit: it then forgets at that rate.

    θ̄_k = β_k θ̄_{k-1} + (1 - β_k) θ_k with β_k = min(1 - 1/k, limit), k from 1.
    """
    share("limit", limit)

    def blend(average: Tensor, iterate: Tensor, averaged: Tensor | int) -> Tensor:
        memory = min(1 - 1 / (int(averaged) + 1), limit)
        return memory * average + (1 - memory) * iterate

    return partial(AveragedModel, avg_fn=blend)


def exponential(*, memory: float = 0.99) -> Averaging:
    """θ̄ ← memory · θ̄ + (1 - memory) · θ, from the first iterate on."""
    share("memory", memory)
    return partial(AveragedModel, avg_fn=get_ema_avg_fn(memory))


AVERAGINGS: Final[Mapping[str, Callable[..., Averaging]]] = {
    "exponential": exponential,
    "forgetting": forgetting,
    "uniform": uniform,
}


@dataclass(frozen=True)
class Compared:
    """The errors of an iterate and of the average on its way."""

    iterate: float
    average: float

    @property
    def better(self) -> float:
        """The smaller error; NaN only if both are."""
        return min(self.iterate, self.average, key=lambda error: (math.isnan(error), error))


def compared(error: Callable[[nn.Module], float], model: nn.Module, average: nn.Module) -> Compared:
    """Return the errors of both."""
    return Compared(error(model), error(average))
