"""The one loop that runs every training.

It is the same for every optimizer: the same config and seed give the same losses on the same machine, bit by
bit, whether or not the training was interrupted in between.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn

from optimizers.errors import (
    NotConvergedError,
    NotFiniteError,
    NotPositiveDefiniteError,
    SingularFactorError,
)
from thiessen.trial import Diverged
from worker.config import wrong
from worker.datasets import Part
from worker.tasks.task import Context
from worker.training.averaging import Compared
from worker.training.batch_size import Gradients, enough_examples
from worker.training.batches import Batches
from worker.training.driven import Driven, Objective, Step
from worker.training.phases import ConvergenceDetector
from worker.training.plan import BY_VARIANCE, Plan
from worker.training.streams import Streams

AT_ONCE: Final = 4096  # examples
TOO_LARGE: Final = 1000.0  # times the loss at the start: it has led nowhere
NUMERICAL: Final = (NotConvergedError, NotFiniteError, NotPositiveDefiniteError, SingularFactorError)
TOLD: Final = ("damping", "momentum", "weight_decay")  # of an optimizer's settings, where it has them

Error = Callable[[Tensor, Tensor], Tensor]  # of outputs and targets, one number for each case


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained on what, and by what it is judged."""

    model: nn.Module
    optimizer: Driven
    objective: Objective
    error: Error
    parts: Mapping[str, Part]  # "train", and by choice "validation" and "test"


@dataclass(kw_only=True)
class Standing:
    """How far a training is."""

    updates: int = 0
    grown: int = 0  # the size of the next batch, where variance decides it
    seconds: float = 0.0  # of updates alone
    start: float = math.nan  # the training loss before the first update
    last: dict[str, float] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    at_time: float | None = None


class Trainer:
    """Trains a job by a plan; `run` returns the number it is judged by."""

    def __init__(
        self, job: Job, plan: Plan, context: Context, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        _check(plan, job)
        self._job, self._plan, self._context, self._clock = job, plan, context, clock
        examples = len(job.parts["train"])
        self._most_updates = plan.updates_for(examples)
        self._sizes = plan.batch_sizes(examples)
        self._schedules = plan.schedules(job.optimizer.param_groups[0], self._most_updates)
        self._batches = Batches(examples, Streams(context.seed)("batches"))
        average = plan.average()
        self._average = None if average is None else average(job.model)
        self._detector = ConvergenceDetector(threshold=plan.switch_threshold)
        self._standing = Standing()
        self._step: Step | None = None

    def run(self, prepare: Callable[[], None] = lambda: None) -> float:
        """Train until the budget is used up; return the criterion, or a number that is not finite.

        What is to be done once, before the first update, is not done again after a checkpoint. Raises
        Diverged, and what the context's `report` raises.
        """
        if self._most_updates is not None:
            self._context.expect(self._most_updates)
        if not self._restore():
            prepare()
            self._evaluate()
        while self._progress < 1:
            before = self._progress
            loss = self._update()
            if not math.isfinite(loss):
                return loss
            if loss > TOO_LARGE * self._standing.start:
                raise Diverged(f"The loss is {loss:g} after {self._standing.updates} updates.")
            if self._is_point(before):
                self._evaluate()
                if not self._is_finite():
                    return math.nan
            self._save()
        return self._criterion()

    @property
    def _progress(self) -> float:
        """How much of the budget is used up, of updates or of seconds, whichever ends first."""
        standing, plan = self._standing, self._plan
        used = standing.updates / self._most_updates if self._most_updates else 0.0
        return max(used, standing.seconds / plan.seconds if plan.seconds else 0.0)

    @property
    def _size(self) -> int:
        """How many examples the next update looks at."""
        return self._standing.grown or self._sizes(self._standing.updates)

    @property
    def _converges(self) -> bool:
        """Whether the second phase has begun."""
        if self._plan.switch == "detected":
            return self._detector.converging
        return self._plan.switch == "at_update" and self._standing.updates >= self._plan.switch_at

    def _update(self) -> float:
        """Make one update and return the loss before it."""
        job, standing = self._job, self._standing
        self._set_schedules()
        train = job.parts["train"]
        rows = self._batches.take(self._size).to(train.inputs.device)
        inputs, targets = train.inputs[rows], train.targets[rows]
        _wait_for(inputs.device)
        began = self._clock()
        if self._plan.batch_schedule == BY_VARIANCE:
            gradients = Gradients.of(job.model, job.objective, inputs, targets)
            tolerance = self._plan.batch_tolerance
            standing.grown = enough_examples(gradients, tolerance=tolerance, at_most=len(train))
        try:
            self._step = job.optimizer.step(inputs, targets)
        except NUMERICAL as error:
            raise Diverged(f"Update {standing.updates + 1} could not be computed: {error}") from error
        _wait_for(inputs.device)
        standing.seconds += self._clock() - began
        standing.updates += 1
        if self._plan.switch == "detected":
            self._detector.observe(_gradient(job.model))
        if self._average is not None and (self._plan.switch == "never" or self._converges):
            self._average.update_parameters(job.model)
        return self._step.loss

    def _set_schedules(self) -> None:
        factor = self._plan.switch_lr if self._converges else 1.0
        for group in self._job.optimizer.param_groups:
            for name, schedule in self._schedules.items():
                group[name] = schedule(self._standing.updates) * (factor if name == "lr" else 1.0)

    def _is_point(self, before: float) -> bool:
        """Whether a point of the curve is due: at equal parts of the budget, and when the criterion says."""
        points = self._plan.points
        return self._is_time or math.floor(self._progress * points) > math.floor(before * points)

    @property
    def _is_time(self) -> bool:
        """Whether the time has just come at which `train_at_time` judges."""
        plan, standing = self._plan, self._standing
        if plan.criterion != "train_at_time" or standing.at_time is not None:
            return False
        return standing.seconds >= (plan.at_seconds or plan.seconds)

    def _evaluate(self) -> None:
        """Add a point to the curve."""
        standing, is_time = self._standing, self._is_time
        measured = self._measured()
        if not standing.best:
            standing.start = measured["train_loss"]
        if is_time:
            standing.at_time = measured[f"train_{self._plan.measure}"]
        standing.last = measured
        standing.best = {name: min(value, standing.best.get(name, value)) for name, value in measured.items()}
        self._context.report(standing.updates, **measured, **self._told())

    def _measured(self) -> dict[str, float]:
        """Return loss and error of each part; of the iterate and its average the smaller ones."""
        iterate = measures(self._job, self._job.model)
        if self._average is None or not int(self._average.n_averaged):
            return iterate
        average = measures(self._job, self._average.module)
        return {name: Compared(value, average[name]).better for name, value in iterate.items()}

    def _told(self) -> dict[str, float]:
        """Return what else a point of the curve says."""
        group = self._job.optimizer.param_groups[0]
        told = {name: float(group[name]) for name in TOLD if group.get(name)}
        told |= {"lr": float(group["lr"]), "batch_size": self._size}
        told["seconds"] = self._standing.seconds
        seen = {} if self._step is None else vars(self._step)
        numbers = {name: value for name, value in seen.items() if isinstance(value, int | float)}
        return told | {name: float(value) for name, value in numbers.items() if name != "loss"}

    def _is_finite(self) -> bool:
        parameters = self._job.model.parameters()
        measured = self._standing.last.values()
        return all(map(math.isfinite, measured)) and all(bool(each.isfinite().all()) for each in parameters)

    def _criterion(self) -> float:
        plan, standing = self._plan, self._standing
        if plan.criterion == "train_at_time" and standing.at_time is not None:
            return standing.at_time
        which, part, *_ = plan.criterion.split("_")
        return (standing.best if which == "best" else standing.last)[f"{part}_{plan.measure}"]

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed training needs beside model, optimizer and batches."""
        average = {} if self._average is None else self._average.state_dict()
        return {"standing": vars(self._standing), "average": average, "detector": self._detector.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Stand where another training stood."""
        self._standing = Standing(**state["standing"])
        if self._average is not None:
            self._average.load_state_dict(state["average"])
        device = next(self._job.model.parameters()).device
        detector = state["detector"].items()
        self._detector.load_state_dict(
            {name: each.to(device) if isinstance(each, Tensor) else each for name, each in detector}
        )

    def _restore(self) -> int:
        return self._context.checkpoint.restore(**self._kept())

    def _save(self) -> None:
        if self._context.checkpoint.is_due:
            self._context.checkpoint.save(self._standing.updates, **self._kept())

    def _kept(self) -> dict[str, Any]:
        job = self._job
        return {"model": job.model, "optimizer": job.optimizer, "batches": self._batches, "training": self}


@torch.no_grad()
def measures(job: Job, model: nn.Module) -> dict[str, float]:
    """Return the mean loss and error of a model over each part of the data."""
    was_training = model.training
    model.eval()
    found: dict[str, float] = {}
    for name, part in job.parts.items():
        loss = error = 0.0
        for inputs, targets in zip(
            *(each.split(AT_ONCE) for each in (part.inputs, part.targets)), strict=True
        ):
            outputs = model(inputs)
            loss += job.objective.loss(outputs, targets).item() * len(inputs)
            error += job.error(outputs, targets).double().sum().item()
        found |= {f"{name}_loss": loss / len(part), f"{name}_error": error / len(part)}
    model.train(was_training)
    return found


def _wait_for(device: torch.device) -> None:
    """Let the device end what it was given, so that the clock tells how long that took."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def _gradient(model: nn.Module) -> Tensor:
    return torch.cat([each.grad.flatten() for each in model.parameters() if each.grad is not None])


def _check(plan: Plan, job: Job) -> None:
    """Raise ValueError when the plan asks for what this job cannot give."""
    part = plan.criterion.split("_")[1] if plan.criterion != "train_at_time" else "train"
    if part not in job.parts:
        raise wrong("criterion", plan.criterion, "no validation cases are held back; judge by those of train")
    if plan.criterion == "train_at_time" and not (plan.at_seconds or plan.seconds):
        raise wrong("criterion", plan.criterion, "say when: `at_seconds`, or a budget in `seconds`")
