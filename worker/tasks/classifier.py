"""Train a perceptron on handwritten digits; the loss is the validation cross-entropy."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import isfinite
from typing import Final

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from optimizers import KFAC, CrossEntropy
from thiessen.space import Config
from worker.datasets.digits import digits
from worker.models.perceptron import perceptron
from worker.tasks.task import Context, Task, wrong

OPTIMIZERS: Final = ("sgd", "adam", "kfac")
MAX_EPOCHS: Final = 10_000

Update = Callable[[Tensor, Tensor], object]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a config may set, and what holds where it does not."""

    optimizer: str = "sgd"
    lr: float = 0.1
    momentum: float = 0.9  # of sgd
    damping: float = 0.01  # of kfac: λ, the Tikhonov strength
    hidden: int = 32
    batch_size: int = 64
    epochs: int = 15


def settings(config: Config) -> Settings:
    """Return the settings of a config. Raises ValueError naming the setting and the cure."""
    known = {field.name: type(field.default) for field in fields(Settings)}
    for name, value in config.items():
        if name not in known:
            raise wrong(name, value, f"the classifier knows {sorted(known)}")
        expected = (int, float) if known[name] is float else known[name]
        if isinstance(value, bool) or not isinstance(value, expected):
            raise wrong(name, value, f"it is a {known[name].__name__}")
    chosen = Settings(**config)  # type: ignore[arg-type] # each one checked above
    _check(chosen)
    return chosen


def _check(chosen: Settings) -> None:
    if chosen.optimizer not in OPTIMIZERS:
        raise wrong("optimizer", chosen.optimizer, f"choose one of {list(OPTIMIZERS)}")
    for name, low, high in (("hidden", 1, 10_000), ("batch_size", 1, 1_438), ("epochs", 1, MAX_EPOCHS)):
        if not low <= getattr(chosen, name) <= high:
            raise wrong(name, getattr(chosen, name), f"it is from {low} to {high}")
    for name in ("lr", "damping"):
        if not 0 < getattr(chosen, name) < float("inf"):
            raise wrong(name, getattr(chosen, name), "it is above 0")
    if not 0 <= chosen.momentum < 1:
        raise wrong("momentum", chosen.momentum, "it is from 0 to below 1")


def train(config: Config, context: Context) -> float:
    """Train a network with one hidden layer and return its validation loss after the last epoch."""
    chosen = settings(config)
    generator = Generator().manual_seed(context.seed)  # the initial weights, then the order of the batches
    model = perceptron([64, chosen.hidden, 10], generator).to(context.device)
    data = type(digits())(*(part.to(context.device) for part in digits()))
    update = _update(model, chosen, context)
    loss = float("nan")
    for epoch in range(1, chosen.epochs + 1):
        for batch in torch.randperm(len(data.train_inputs), generator=generator).split(chosen.batch_size):
            update(data.train_inputs[batch], data.train_targets[batch])
        loss = _loss(model, data.validation_inputs, data.validation_targets)
        train_loss = _loss(model, data.train_inputs, data.train_targets)
        context.report(epoch, validation_loss=loss, train_loss=train_loss)
        if not isfinite(loss):
            break
    return loss


def _update(model: nn.Module, chosen: Settings, context: Context) -> Update:
    """Return what changes the weights by one batch."""
    if chosen.optimizer == "kfac":
        sampling = Generator(context.device).manual_seed(context.seed)
        return KFAC(model, CrossEntropy(), lr=chosen.lr, damping=chosen.damping, generator=sampling).step
    optimizer: torch.optim.Optimizer
    if chosen.optimizer == "sgd":
        optimizer = torch.optim.SGD(
            model.parameters(), lr=chosen.lr, momentum=chosen.momentum, nesterov=chosen.momentum > 0
        )
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=chosen.lr)

    def update(inputs: Tensor, targets: Tensor) -> None:
        optimizer.zero_grad()
        cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return update


@torch.no_grad()
def _loss(model: nn.Module, inputs: Tensor, targets: Tensor) -> float:
    return cross_entropy(model(inputs), targets).item()


TASK: Final = Task("classifier", train)
