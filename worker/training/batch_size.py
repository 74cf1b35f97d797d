"""How many examples the next update looks at."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import grad

from optimizers.curvature.diagonals import empirical_fisher
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from worker.training.settings import above_zero, chosen

BatchSize: TypeAlias = Callable[[int], int]  # of the number of updates made so far


def batch_size_schedule(name: str, **settings: object) -> BatchSize:
    """Return the schedule of this name. Raises ValueError that names what is wrong and what there is."""
    return chosen("batch size schedule", BATCH_SIZES, name, **settings)


def fixed(*, size: int) -> BatchSize:
    """Return the same size always."""
    above_zero("size", size)
    return lambda _: size


def exponential(*, examples: int, first: int = 1000, full_at: int = 500) -> BatchSize:
    """From `first` up to all examples, each time larger by the same factor; the update `full_at` sees all.

    m_i = min(m_1 e^((i - 1)/b), N) with b = (full_at - 1) / ln(N / m_1), of the i-th update, counted from 1.
    """
    above_zero("first", first)
    above_zero("examples", examples)
    if full_at < 2:
        raise ValueError(f"full_at is {full_at!r}: the first update comes before it, so it is at least 2.")
    growth = math.log(examples / first) / (full_at - 1)
    return lambda update: min(round(first * math.exp(update * growth)), examples) if growth > 0 else examples


BATCH_SIZES: Final[Mapping[str, Callable[..., BatchSize]]] = {"exponential": exponential, "fixed": fixed}


@dataclass(frozen=True, kw_only=True)
class Gradients:
    """What the gradients of a batch's examples say together."""

    examples: int
    noise: float  # the sum of the variances of all coordinates
    signal: float  # the squared length of their mean

    @classmethod
    def of(cls, model: nn.Module, objective: Any, inputs: Tensor, targets: Tensor) -> Self:
        """Measure those of a model, few examples at a time."""
        size, network = len(inputs), Network(model, inputs)
        slope = flat(grad(lambda params: objective.loss(network(params), targets))(network.params))
        with torch.no_grad():
            squares = flat(empirical_fisher(network, objective, targets)).sum(dtype=torch.float64).item()
        signal = slope.double().square().sum().item()
        return cls(examples=size, noise=(squares - signal) * size / max(size - 1, 1), signal=signal)


def enough_examples(gradients: Gradients, *, tolerance: float, at_most: int) -> int:
    """Return the batch size that makes the mean gradient good enough (Byrd et al. 2012), never a smaller one.

    It is good enough while the variances of all coordinates add up to n · tolerance² · ‖mean‖² at most; else
    the answer is the n for which they do.
    """
    above_zero("tolerance", tolerance)
    size, signal = gradients.examples, tolerance**2 * gradients.signal
    if size < 2:
        raise ValueError("One example has no variance. Begin with a batch of two or more.")
    if gradients.noise <= size * signal:
        return min(size, at_most)
    return at_most if gradients.noise >= at_most * signal else math.ceil(gradients.noise / signal)
