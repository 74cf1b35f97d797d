"""Sequence problems with long time lags (Hochreiter and Schmidhuber 1997; Martens and Sutskever 2011).

What matters comes early; what has to be said of it comes late. The steps of a sequence are numbered from 0;
positions "in [a, b) of T" are whole numbers p with a T <= p < b T.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot

TOLERANCE: Final = 0.04  # a number that is missed by more counts as wrong
SOLVED_BELOW: Final = 0.01  # the share of sequences that may be wrong

Loss = Literal["squared", "binary", "categorical"]


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of one length: (sequence, step, channel)."""

    inputs: Tensor
    targets: (
        Tensor  # (sequence, step, 1) numbers, or (sequence, step) class numbers; 0 at steps that do not count
    )
    mask: Tensor  # (step,): whether it counts in the loss
    judged: Tensor  # (step,): whether it counts in the verdict


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem with sequences of `steps` steps."""

    name: str
    steps: int
    channels: int
    outputs: int  # of the network: one number or logit, or a logit for each class
    loss: Loss
    draw: Callable[[int, Generator], Sequences]
    every: Callable[[], Sequences] | None = None  # all there are, where they are few

    def wrong(self, outputs: Tensor, sequences: Sequences) -> Tensor:
        """Return for each sequence whether the outputs (sequence, step, output) miss a step that is judged.

        Outputs are taken before the link: numbers, or logits.
        """
        said, truth = outputs[:, sequences.judged], sequences.targets[:, sequences.judged]
        if self.loss == "categorical":
            missed = said.argmax(dim=2) != truth
        elif self.loss == "binary":
            missed = (said > 0) != (truth > 0.5)
        else:
            missed = (said - truth).abs() > TOLERANCE
        return missed.flatten(1).any(dim=1) | said.isnan().flatten(1).any(dim=1)

    def solved(self, outputs: Tensor, sequences: Sequences) -> bool:
        """Return whether less than 1 % of the sequences are wrong."""
        return self.wrong(outputs, sequences).double().mean().item() < SOLVED_BELOW


def addition(steps: int) -> Problem:
    """Return: at the last step say the sum of the two numbers in [0, 1] that are marked."""
    return _marked("addition", steps, "squared", torch.sum)


def multiplication(steps: int) -> Problem:
    """Return: at the last step say the product of the two numbers in [0, 1] that are marked."""
    return _marked("multiplication", steps, "squared", torch.prod)


def exclusive_or(steps: int) -> Problem:
    """Return: at the last step say whether just one of the two bits that are marked is 1."""
    return _marked("exclusive_or", steps, "binary", lambda bits, dim: bits.sum(dim) % 2)


def temporal_order(steps: int) -> Problem:
    """Return: at the last step say which two special symbols there were, in order, among four others."""
    return _ordered("temporal_order", steps, ((10, 20), (50, 60)))


def temporal_order_3_bit(steps: int) -> Problem:
    """Return: at the last step say which three special symbols there were, in order."""
    return _ordered("temporal_order_3_bit", steps, ((10, 20), (33, 43), (66, 76)))


def random_permutation(steps: int) -> Problem:
    """Return: say at each step which symbol is next; only the last is certain, as it is the first again.

    The first is one of 2 symbols, those between of 98 others. The verdict is that of the last alone.
    """
    _at_least(3, steps, "random_permutation")

    def draw(count: int, generator: Generator) -> Sequences:
        symbols = torch.randint(2, 100, (count, steps), generator=generator)
        symbols[:, 0] = torch.randint(2, (count,), generator=generator)
        symbols[:, -1] = symbols[:, 0]
        following = torch.cat([symbols[:, 1:], torch.zeros_like(symbols[:, :1])], dim=1)
        number = torch.arange(steps)
        return Sequences(_coded(symbols, 100), following, number < steps - 1, number == steps - 2)

    return Problem(
        name="random_permutation", steps=steps, channels=100, outputs=100, loss="categorical", draw=draw
    )


def memorisation_5_bit(steps: int, *, trigger_early: bool = False) -> Problem:
    """Return: say five bits again after `steps` steps, of 32 sequences in all; see `memorisation`."""
    return memorisation("memorisation_5_bit", steps, 5, 2, trigger_early=trigger_early)


def memorisation_20_bit(steps: int, *, trigger_early: bool = False) -> Problem:
    """Return: say ten symbols of five again after `steps` steps; see `memorisation`."""
    return memorisation("memorisation_20_bit", steps, 10, 5, trigger_early=trigger_early)


def memorisation(name: str, lag: int, length: int, alphabet: int, *, trigger_early: bool) -> Problem:
    """Return: read a word, wait, say it again in the last steps; say "nothing" at all steps before.

    After the word a filler is read, but for one trigger: at the first of the last steps, or with
    `trigger_early` one step before. The steps are the lag and twice the length of the word.
    """
    _at_least(1, lag, name)
    steps = lag + 2 * length
    filler, trigger, nothing = alphabet, alphabet + 1, alphabet

    def of(words: Tensor) -> Sequences:
        inputs = torch.full((len(words), steps), filler)
        inputs[:, :length] = words
        inputs[:, steps - length - trigger_early] = trigger
        targets = torch.full((len(words), steps), nothing)
        targets[:, steps - length :] = words
        every_step = torch.ones(steps, dtype=torch.bool)
        return Sequences(_coded(inputs, alphabet + 2), targets, every_step, every_step)

    def every() -> Sequences:
        return of(torch.tensor(list(product(range(alphabet), repeat=length))))

    return Problem(
        name=name,
        steps=steps,
        channels=alphabet + 2,
        outputs=alphabet + 1,
        loss="categorical",
        draw=lambda count, generator: of(torch.randint(alphabet, (count, length), generator=generator)),
        every=every if alphabet**length <= 32 else None,
    )


PROBLEMS: Final[dict[str, Callable[[int], Problem]]] = {
    make.__name__: make
    for make in (
        addition,
        multiplication,
        exclusive_or,
        temporal_order,
        temporal_order_3_bit,
        random_permutation,
        memorisation_5_bit,
        memorisation_20_bit,
    )
}


def _marked(name: str, steps: int, loss: Loss, combined: Callable[[Tensor, int], Tensor]) -> Problem:
    """Return a problem about two values: one marked in [0, 1/10) of the steps, one in [1/10, 1/2)."""
    _at_least(3, steps, name)
    early, middle = -(-steps // 10), -(-steps // 2)

    def draw(count: int, generator: Generator) -> Sequences:
        values = torch.rand(count, steps, generator=generator)
        values = values.round() if loss == "binary" else values
        first = torch.randint(early, (count, 1), generator=generator)
        second = torch.randint(early, middle, (count, 1), generator=generator)
        places = torch.cat([first, second], dim=1)
        marks = torch.zeros_like(values).scatter_(1, places, 1.0)
        answers = combined(values.gather(1, places), 1)
        return _told_last(torch.stack([values, marks], dim=2), answers[:, None])

    return Problem(name=name, steps=steps, channels=2, outputs=1, loss=loss, draw=draw)


def _ordered(name: str, steps: int, percents: tuple[tuple[int, int], ...]) -> Problem:
    """Return a problem about special symbols, one at a random step between each two percentages of all."""
    _at_least(10, steps, name)  # then each range has a step
    ranges = [(-(-low * steps // 100), high * steps // 100) for low, high in percents]

    def draw(count: int, generator: Generator) -> Sequences:
        symbols = torch.randint(2, 6, (count, steps), generator=generator)
        answers = torch.zeros(count, dtype=torch.long)
        for first, last in ranges:
            special = torch.randint(2, (count,), generator=generator)
            symbols[torch.arange(count), torch.randint(first, last + 1, (count,), generator=generator)] = (
                special
            )
            answers = 2 * answers + special
        return _told_last(_coded(symbols, 6), answers)

    return Problem(
        name=name, steps=steps, channels=6, outputs=2 ** len(ranges), loss="categorical", draw=draw
    )


def _told_last(inputs: Tensor, answers: Tensor) -> Sequences:
    """Return sequences whose only target is at the last step."""
    count, steps = inputs.shape[:2]
    targets = answers.new_zeros(count, steps, *answers.shape[1:])
    targets[:, -1] = answers
    last = torch.arange(steps) == steps - 1
    return Sequences(inputs, targets, last, last)


def _coded(symbols: Tensor, count: int) -> Tensor:
    return one_hot(symbols, count).float()


def _at_least(least: int, steps: int, name: str) -> None:
    if steps < least:
        raise ValueError(f"{name} with {steps} steps has no room for what it asks; take {least} or more.")
