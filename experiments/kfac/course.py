"""How an autoencoder is trained here: by the worker's own trainer, any optimizer of its table."""

import itertools
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

import torch
from torch import nn

from experiments.experiment import Line
from thiessen.trial import Diverged
from worker.config import checked
from worker.datasets import Part, load
from worker.models.autoencoder import autoencoder
from worker.tasks.alone import Alone
from worker.tasks.autoencoder import LOSSES, squared_distance
from worker.training.driven import Surroundings
from worker.training.initialisation import initialisation
from worker.training.optimizers import OPTIMIZERS
from worker.training.plan import Plan
from worker.training.streams import Streams
from worker.training.trainer import Job, Trainer

L2: Final = 1e-5  # η of all trainings, as published


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A data set to be reconstructed, and the network that does it."""

    name: str
    dataset: str
    encoder: tuple[int, ...]
    activation: str = "logistic"
    initialisation: str = "sparse"
    loss: str = "cross_entropy"


DIGITS: Final = Problem(
    name="digits",
    dataset="digits",
    encoder=(64, 50, 25, 10),
    activation="tanh",
    initialisation="sparse_tanh",
)


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training: what is trained, by which optimizer of the worker's table, and how far."""

    name: str
    problem: Problem
    optimizer: str
    settings: Mapping[str, Any]
    plan: Plan
    seed: int = 0  # of weights, batches and sampled targets


@dataclass(frozen=True, kw_only=True)
class Course:
    """The reconstruction error of the training cases on the way, and what was spent for it."""

    training: Training
    updates: Sequence[int] = field(default_factory=list)
    errors: Sequence[float] = field(default_factory=list)
    cases: Sequence[int] = field(default_factory=list)
    seconds: Sequence[float] = field(default_factory=list)
    diverged: bool = False

    @property
    def final(self) -> float:
        """The error at the end; of what diverged it is infinite."""
        return math.inf if self.diverged else self.errors[-1]

    def spent(self, what: str, error: float) -> float | None:
        """Return how many updates, cases or seconds it took to come down to an error, None if it never did.

        Between two points of the course the logarithm of the error is taken for a straight line.
        """
        amounts = getattr(self, what)
        for (before, after), (low, high) in zip(
            itertools.pairwise(self.errors), itertools.pairwise(amounts), strict=True
        ):
            if after <= error:
                fallen = math.log(before / error) / math.log(before / after) if after < before else 0.0
                return float(low + max(fallen, 0.0) * (high - low))
        return None

    def line(self, against: str) -> Line:
        """Return the course as a line of a picture."""
        return Line(name=self.training.name, x=list(getattr(self, against)), y=list(self.errors))


def kfac(**settings: Any) -> Mapping[str, Any]:
    """Return settings of K-FAC with the weight decay of all trainings."""
    return {"weight_decay": L2, **settings}


def nesterov(lr: float, momentum: float) -> Mapping[str, Any]:
    """Return settings of Nesterov's method whose momentum rises up to a limit."""
    return {"lr": lr, "momentum": momentum, "momentum_schedule": "rising", "weight_decay": L2}


def plan(updates: int, size: int, *, full_at: int | None = None, averaged: bool = True) -> Plan:
    """Return the plan of so many updates: batches of one size, or growing until all cases are in one."""
    return Plan(
        updates=updates,
        batch_size=size,
        batch_schedule="fixed" if full_at is None else "exponential",
        batch_full_at=full_at or 2,
        averaging="exponential" if averaged else "none",
        averaging_memory=0.99,
        criterion="final_train",
        measure="error",
        points=min(updates, 100),
    )


def followed(training: Training) -> Course:
    """Train, and return the course. Raises DataAbsent where the files of its data set are not there."""
    problem, device = training.problem, _device()
    judged, streams, part = LOSSES[problem.loss], Streams(training.seed), _part(problem.dataset, device)
    model = network(problem, training.seed).to(device)
    objective, row = judged.objective(), OPTIMIZERS[training.optimizer]
    surroundings = Surroundings(streams=streams, updates=training.plan.updates, device=device)
    job = Job(
        model=model,
        optimizer=row.build(model, objective, checked(row.settings, dict(training.settings)), surroundings),
        objective=objective,
        error=partial(squared_distance, judged.predicted),
        parts={"train": part},
    )
    clock = time.process_time if device.type == "cpu" else time.perf_counter  # others may use this machine
    context = Alone(seed=training.seed, device=device)
    try:
        diverged = not math.isfinite(Trainer(job, training.plan, context, clock=clock).run())
    except Diverged:
        diverged = True
    points = [
        (updates, measured) for updates, measured in context.curve if math.isfinite(measured["train_error"])
    ]
    sizes = training.plan.batch_sizes(len(part))
    seen = [0, *itertools.accumulate(sizes(update) for update in range(training.plan.updates))]
    return Course(
        training=training,
        updates=[updates for updates, _ in points],
        errors=[measured["train_error"] for _, measured in points],
        cases=[seen[updates] for updates, _ in points],
        seconds=[measured["seconds"] for _, measured in points],
        diverged=diverged,
    )


def network(problem: Problem, seed: int) -> nn.Sequential:
    """Return the network of a problem with its first weights."""
    return autoencoder(
        problem.encoder,
        Streams(seed)("weights"),
        hidden=problem.activation,
        output=LOSSES[problem.loss].output,
        initialise=initialisation(problem.initialisation),
    )


@cache
def _part(dataset: str, device: torch.device) -> Part:
    inputs = load(dataset, validation=False).train.inputs.to(device)
    return Part(inputs, inputs)


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
