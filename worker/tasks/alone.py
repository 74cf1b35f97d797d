"""What a task needs when no worker is there: to train by hand, in a notebook or a test."""

import logging
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class NoCheckpoint:
    """Keeps nothing: each training begins at 0."""

    is_due: bool = False

    def restore(self, **parts: Any) -> int:
        del parts
        return 0

    def save(self, step: int, **parts: Any) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Alone:
    """A context without a worker: `train(config, Alone(seed=1))`. Points of the curve are kept in `curve`."""

    seed: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    checkpoint: Any = field(default_factory=NoCheckpoint)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("thiessen.worker"))

    def expect(self, steps: int) -> None:
        """Do nothing: nobody watches."""

    def report(self, step: int, **metrics: float) -> None:
        self.curve.append((step, metrics))
