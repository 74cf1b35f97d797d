"""How a training goes, whatever it trains: its budget, its batches, its rates, and what it is judged by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from thiessen.space import Int
from worker.config import setting, wrong
from worker.training.averaging import AVERAGINGS, Averaging, averaging
from worker.training.batch_size import BATCH_SIZES, BatchSize, batch_size_schedule
from worker.training.schedules import RATES, Schedule, on_then_off, rate_schedule

CRITERIA: Final = ("final_validation", "best_validation", "final_train", "best_train", "train_at_time")
MEASURES: Final = ("loss", "error")
BY_VARIANCE: Final = "by_variance"
SWITCHES: Final = ("never", "at_update", "detected")
PRECISIONS: Final = {"float32": torch.float32, "float64": torch.float64}
MOST: Final = 10**9  # updates, examples, seconds: beyond any training


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The settings that all trainings share. An optimizer's own come on top."""

    epochs: int = setting(
        15, "How often each example is seen, where neither updates nor seconds are told.", low=1, high=10_000
    )
    updates: int = setting(0, "Budget in updates; 0: none.", low=0, high=MOST)
    seconds: float = setting(
        0.0,
        "Budget in seconds of training, without evaluation and loading of data; 0: none.",
        low=0,
        high=MOST,
    )
    criterion: str = setting(
        "final_validation", "What the trial is judged by. The test cases are not among it.", choices=CRITERIA
    )
    measure: str = setting(
        "loss",
        "Whether the criterion means the loss that is trained on, or the task's error.",
        choices=MEASURES,
    )
    at_seconds: float = setting(
        0.0, "Of the criterion `train_at_time`: when; 0: at the end of `seconds`.", low=0, high=MOST
    )
    points: int = setting(20, "How many points of the learning curve come after the first.", low=1, high=1000)
    batch_size: int = setting(
        64, "Examples of an update; all, where there are fewer.",
        low=1, high=MOST, suggested=Int(16, 512, log=True),
    )  # fmt: skip
    batch_schedule: str = setting(
        "fixed",
        "Whether batches keep their size, grow to all examples, or grow when their gradients vary too much.",
        choices=(*BATCH_SIZES, BY_VARIANCE),
    )
    batch_full_at: int = setting(
        500, "Of growing batches: the update, counted from 1, that sees all.", low=2, high=MOST
    )
    batch_tolerance: float = setting(
        0.5,
        "Of batches by variance: the error that the mean gradient may have, as a part of its length.",
        above=0,
        high=1000,
    )
    lr_schedule: str = setting("constant", "How the learning rate changes.", choices=tuple(RATES))
    lr_part: float = setting(
        0.5,
        "Of `final_annealing`: the last part of all updates, in which the rate falls to 0.",
        above=0,
        high=1,
    )
    lr_after: int = setting(
        200, "Of `inverse_after`: the update from which the rate falls.", low=0, high=MOST
    )
    lr_scale: float = setting(
        20.0, "Of `inverse_after`: after so many more updates the rate is half.", above=0, high=MOST
    )
    lr_turn: float = setting(
        1000.0, "Of `search_then_converge`: the update at which the rate is half.", above=0, high=MOST
    )
    weight_decay_until: float = setting(
        1.0, "The part of all updates after which weight decay is off.", low=0, high=1
    )
    averaging: str = setting(
        "none", "The running mean of the weights that is judged too, the better of both counting.",
        choices=("none", *AVERAGINGS),
    )  # fmt: skip
    averaging_memory: float = setting(
        0.99,
        "Of averaging `exponential` and `forgetting`: how much of the mean each update keeps.",
        low=0,
        below=1,
    )
    switch: str = setting(
        "never",
        "When a second phase begins: the learning rate is another, and averaging starts there. `detected`: "
        "when the gradients no longer agree, which only optimizers of first order let one see.",
        choices=SWITCHES,
    )
    switch_at: int = setting(1000, "Of the switch `at_update`: the update.", low=1, high=MOST)
    switch_threshold: float = setting(
        0.1, "Of the switch `detected`: how little the gradients agree, from 0 to 1.", above=0, below=1
    )
    switch_lr: float = setting(
        0.1, "The factor of the learning rate in the second phase.", above=0, high=1000
    )
    precision: str = setting("float32", "The numbers that are computed with.", choices=tuple(PRECISIONS))

    def updates_for(self, examples: int) -> int | None:
        """Return how many updates there are at most; None when seconds alone end the training."""
        if self.updates or self.seconds:
            return self.updates or None
        if self.batch_schedule != "fixed":
            raise wrong("batch_schedule", self.batch_schedule, "it needs a budget in `updates` or `seconds`")
        return max(self.epochs * examples // min(self.batch_size, examples), 1)

    def batch_sizes(self, examples: int) -> BatchSize:
        """Return the size of the next batch, by the number of updates made so far.

        By variance it is that of the first batch, from which on the trainer has it grow.
        """
        size = min(self.batch_size, examples)
        if self.batch_schedule == BY_VARIANCE and size < 2:
            raise wrong("batch_size", size, "one example has no variance; begin with two or more")
        if self.batch_schedule in {"fixed", BY_VARIANCE}:
            return batch_size_schedule("fixed", size=size)
        return batch_size_schedule("exponential", examples=examples, first=size, full_at=self.batch_full_at)

    def schedules(self, start: Mapping[str, Any], updates: int | None) -> dict[str, Schedule]:
        """Return what changes from update to update, by its name among an optimizer's settings.

        Raises ValueError for a schedule that needs to know how many updates there will be, and does not.
        """
        schedules = {"lr": self._rate(start["lr"], updates)}
        if self.weight_decay_until < 1:
            until = round(self.weight_decay_until * self._total("weight_decay_until", updates))
            name = "l2" if "l2" in start else "weight_decay"  # as the optimizer calls it
            schedules[name] = on_then_off(start.get(name, 0.0), until=until)
        return schedules

    def average(self) -> Averaging | None:
        """Return what makes the running mean of a model."""
        if self.averaging == "none":
            return None
        memory = {"exponential": "memory", "forgetting": "limit"}.get(self.averaging)
        return averaging(self.averaging, **({memory: self.averaging_memory} if memory else {}))

    def _rate(self, lr: float, updates: int | None) -> Schedule:
        own: dict[str, float] = {}
        if self.lr_schedule == "final_annealing":
            own = {"updates": self._total("lr_schedule", updates), "part": self.lr_part}
        if self.lr_schedule == "inverse_after":
            own = {"after": self.lr_after, "scale": self.lr_scale}
        if self.lr_schedule == "search_then_converge":
            own = {"turn": self.lr_turn}
        return rate_schedule(self.lr_schedule, rate=lr, **own)

    def _total(self, name: str, updates: int | None) -> int:
        if updates is None:
            raise wrong(name, getattr(self, name), "it needs a budget in `updates` or `epochs`")
        return updates
