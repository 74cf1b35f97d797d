"""What drives an optimizer, and what it needs to be made: the same for every one that a config can choose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from worker.config import Setting
from worker.training.streams import Streams

Own = Mapping[str, Any]  # the values of a row's settings


class Objective(Protocol):
    """What is minimised, as a mean over the batch."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor: ...


class Step(Protocol):
    """What one update saw; methods tell more, each what it knows."""

    @property
    def loss(self) -> float:
        """The mean over the batch, before the update."""


class Driven(Protocol):
    """An optimizer that is given batches, and does all the rest."""

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Its settings, which may be changed between updates."""

    def step(self, inputs: Tensor, targets: Tensor) -> Step: ...
    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: dict[str, Any]) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What an optimizer may need beside the model: its random streams, and how many updates will come."""

    streams: Streams
    updates: int | None  # None where only the clock knows
    device: torch.device


Build = Callable[[nn.Module, Any, Own, Surroundings], Driven]


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """A row: what it is, what it can be told, and how it is made."""

    meaning: str
    settings: Mapping[str, Setting]
    build: Build
    is_first_order: bool = True  # takes any network, and leaves its gradients to be looked at
