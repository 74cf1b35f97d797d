"""How many examples the next update looks at."""

import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from torch import Tensor

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


def enough_examples(gradients: Tensor, *, tolerance: float, at_most: int) -> int:
    """Return the batch size that makes the mean gradient good enough (Byrd et al. 2012), never a smaller one.

    The gradients of the batch at hand have one row per example. Their mean is good enough while the variances
    of all coordinates add up to n · tolerance² · ‖mean‖² at most; else the answer is the n for which they do.
    """
    above_zero("tolerance", tolerance)
    size = len(gradients)
    if size < 2:
        raise ValueError("One example has no variance. Begin with a batch of two or more.")
    noise = gradients.var(dim=0).sum().item()
    signal = tolerance**2 * gradients.mean(dim=0).square().sum().item()
    if noise <= size * signal:
        return min(size, at_most)
    return at_most if noise >= at_most * signal else math.ceil(noise / signal)
