"""Trains classifiers by natural gradients whose metric is taken over one choice of cases or another."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import torch
from torch import Tensor

from experiments.device import device_for
from experiments.experiment import Size
from optimizers import CovarianceNaturalGradient, CrossEntropy, TruncatedNaturalGradient
from optimizers.step import Step
from thiessen.trial import Diverged
from worker.datasets import Dataset, Part, load
from worker.models.named import Network
from worker.tasks.alone import Alone
from worker.tasks.classifier import wrong_class
from worker.training.batches import Batches
from worker.training.driven import Driven, Surroundings
from worker.training.optimizers import OPTIMIZERS
from worker.training.plan import Plan
from worker.training.streams import Streams
from worker.training.trainer import Job, Trainer

Kind = Literal["gradient", "same batch", "different batch", "unlabeled", "same and unlabeled", "covariance"]
EXTRA: Final = 2  # one unlabeled case is added for so many of the batch


@dataclass(frozen=True, kw_only=True)
class Method:
    """What the metric is taken over, and how long a step is in it."""

    kind: Kind
    lr: float
    damping: float = 0.0
    adapts: bool = False


@dataclass(frozen=True, kw_only=True)
class Training:
    """One training of one network."""

    dataset: str
    network: Network
    method: Method
    updates: int
    batch_size: int
    seed: int
    size: Size
    points: int = 20
    schedule: Mapping[str, Any] = field(default_factory=dict)  # of the rate, as a plan calls it


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The learning curve of a training, each number at each of its updates; infinite from a divergence on."""

    updates: Sequence[int]
    train_loss: Sequence[float]
    train_error: Sequence[float]
    test_error: Sequence[float]


class InMetricOf:
    """Drives a natural gradient whose metric is of other cases than its gradient."""

    def __init__(self, optimizer: TruncatedNaturalGradient, cases: Callable[[Tensor], Tensor]) -> None:
        self._optimizer, self._cases = optimizer, cases

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return self._optimizer.param_groups

    def step(self, inputs: Tensor, targets: Tensor) -> Step:
        return self._optimizer.step(inputs, targets, statistics=self._cases(inputs))

    def state_dict(self) -> dict[str, Any]:
        return self._optimizer.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._optimizer.load_state_dict(state)


def outcome(training: Training) -> Outcome:
    """Train, and return what came of it."""
    data, shape = load(training.dataset, validation=False), training.network.shape
    device = device_for(training.size)
    streams = Streams(training.seed)
    model = training.network.build(generator=streams("weights")).to(device)
    parts = {
        name: Part(part.inputs.reshape(-1, *shape).to(device), part.targets.to(device))
        for name, part in (("train", data.train), ("test", data.test))
    }
    job = Job(
        model=model,
        optimizer=_optimizer(training, model, data, parts["train"].inputs, streams),
        objective=CrossEntropy(),
        error=wrong_class,
        parts=parts,
    )
    plan = Plan(
        updates=training.updates,
        batch_size=training.batch_size,
        points=training.points,
        criterion="final_train",
        **training.schedule,
    )
    alone = Alone(seed=training.seed, device=device)
    try:
        is_finite = math.isfinite(Trainer(job, plan, alone).run())
    except Diverged:
        is_finite = False
    return _outcome(alone.curve, training.updates, is_finite=is_finite)


def _outcome(curve: Sequence[tuple[int, Mapping[str, float]]], updates: int, *, is_finite: bool) -> Outcome:
    last = [] if is_finite else [(updates, dict.fromkeys(curve[-1][1], math.inf))]
    points = [*curve, *last]
    return Outcome(
        updates=[update for update, _ in points],
        train_loss=[told["train_loss"] for _, told in points],
        train_error=[told["train_error"] for _, told in points],
        test_error=[told["test_error"] for _, told in points],
    )


def _optimizer(training: Training, model: Any, data: Dataset, train: Tensor, streams: Streams) -> Driven:
    method, objective = training.method, CrossEntropy()
    if method.kind == "gradient":
        row = OPTIMIZERS["sgd"]
        own = {name: setting.default for name, setting in row.settings.items()} | {"lr": method.lr}
        surroundings = Surroundings(streams=streams, updates=training.updates, device=train.device)
        return row.build(model, objective, own, surroundings)
    if method.kind == "covariance":
        return CovarianceNaturalGradient(model, objective, lr=method.lr, damping=method.damping)
    natural = TruncatedNaturalGradient(
        model, objective, lr=method.lr, damping=method.damping, adapts=method.adapts
    )
    if method.kind == "same batch":
        return natural
    if method.kind == "different batch":
        return InMetricOf(natural, _drawn(train, streams))
    if data.unlabeled is None:
        raise ValueError(f"{data.name} has no unlabeled inputs for a metric. Take one that has.")
    unlabeled = _drawn(data.unlabeled.reshape(-1, *train.shape[1:]).to(train.device), streams)
    if method.kind == "unlabeled":
        return InMetricOf(natural, unlabeled)
    return InMetricOf(natural, lambda inputs: torch.cat([inputs, unlabeled(inputs[: len(inputs) // EXTRA])]))


def _drawn(inputs: Tensor, streams: Streams) -> Callable[[Tensor], Tensor]:
    """Return what gives as many of these inputs as a batch has, in a random order, again and again."""
    batches = Batches(len(inputs), streams("metric"))
    return lambda batch: inputs[batches.take(len(batch)).to(inputs.device)]
