"""The optimizers of torch: forward, backward, clip, update."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.optim import Optimizer as TorchOptimizer

from thiessen.space import Float, Int
from worker.config import Setting
from worker.training.clipping import CLIPPINGS, Clipping, clipping
from worker.training.driven import Build, Driven, Objective, Optimizer, Own, Surroundings
from worker.training.momentum import change_nesterov_momentum
from worker.training.schedules import Schedule, rising_momentum


@dataclass(frozen=True, kw_only=True)
class FirstOrderStep:
    """What an update by the gradient saw."""

    loss: float


class FirstOrder:
    """One of torch's optimizers: forward, backward, clip, update.

    A batch of more than `chunk` examples goes through the model in parts, whose gradients add up to the same.
    """

    def __init__(self, optimizer: TorchOptimizer, model: nn.Module, objective: Objective, own: Own) -> None:
        self.optimizer = optimizer
        self._model = model
        self._objective = objective
        self._chunk: int = own["chunk"]
        self._clip = _clip(own)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        return self.optimizer.param_groups

    def step(self, inputs: Tensor, targets: Tensor) -> FirstOrderStep:
        """Make one update."""
        self.optimizer.zero_grad()
        loss = sum(self._backward(inputs, targets))
        if self._clip is not None:
            self._clip(self._model.parameters())
        self.optimizer.step()
        return FirstOrderStep(loss=loss)

    def _backward(self, inputs: Tensor, targets: Tensor) -> Iterator[float]:
        size = self._chunk or len(inputs)
        for part, wanted in zip(inputs.split(size), targets.split(size), strict=True):
            loss = self._objective.loss(self._model(part), wanted) * (len(part) / len(inputs))
            loss.backward()
            yield loss.item()

    def state_dict(self) -> dict[str, Any]:
        return self.optimizer.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state_dict)


class ByClosure(FirstOrder):
    """One of torch's optimizers that asks for the loss and its gradient as often as it wants in an update."""

    def step(self, inputs: Tensor, targets: Tensor) -> FirstOrderStep:
        """Make one update."""
        losses: list[float] = []

        def closure() -> float:
            self.optimizer.zero_grad()
            losses.append(sum(self._backward(inputs, targets)))
            if self._clip is not None:
                self._clip(self._model.parameters())
            return losses[-1]

        self.optimizer.step(closure)
        return FirstOrderStep(loss=losses[0])


class RisingNesterov(FirstOrder):
    """Nesterov's method with a momentum that rises from update to update."""

    optimizer: torch.optim.SGD

    def __init__(
        self, optimizer: torch.optim.SGD, model: nn.Module, objective: Objective, own: Own, momentum: Schedule
    ) -> None:
        super().__init__(optimizer, model, objective, own)
        self._momentum = momentum
        self._updates = 0

    def step(self, inputs: Tensor, targets: Tensor) -> FirstOrderStep:
        """Make one update."""
        change_nesterov_momentum(self.optimizer, self._momentum(self._updates))
        self._updates += 1
        return super().step(inputs, targets)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "updates": self._updates}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._updates = state_dict["updates"]
        super().load_state_dict({name: state for name, state in state_dict.items() if name != "updates"})


def _clip(own: Own) -> Clipping | None:
    return clipping(own["clip_by"], limit=own["clip"]) if own["clip"] else None


def _by_torch(make: Callable[[Iterator[nn.Parameter], Own], TorchOptimizer]) -> Build:
    def build(model: nn.Module, objective: Objective, own: Own, surroundings: Surroundings) -> Driven:
        del surroundings
        return FirstOrder(make(model.parameters(), own), model, objective, own)

    return build


def _sgd(parameters: Iterator[nn.Parameter], own: Own) -> TorchOptimizer:
    return torch.optim.SGD(
        parameters, own["lr"], momentum=own.get("momentum", 0.0), weight_decay=own["weight_decay"]
    )


def _nesterov(model: nn.Module, objective: Objective, own: Own, surroundings: Surroundings) -> Driven:
    is_rising = own["momentum_schedule"] == "rising"
    if is_rising and surroundings.updates is None:
        raise ValueError(
            "setting 'momentum_schedule' is 'rising': it needs a budget in `updates` or `epochs`."
        )
    optimizer = torch.optim.SGD(
        model.parameters(),
        own["lr"],
        momentum=own["momentum"],
        weight_decay=own["weight_decay"],
        nesterov=own["momentum"] > 0,
    )
    if surroundings.updates is None or not is_rising or own["momentum"] == 0:
        return FirstOrder(optimizer, model, objective, own)
    momentum = rising_momentum(limit=own["momentum"], updates=surroundings.updates)
    return RisingNesterov(optimizer, model, objective, own, momentum)


def _rmsprop(parameters: Iterator[nn.Parameter], own: Own) -> TorchOptimizer:
    return torch.optim.RMSprop(
        parameters,
        own["lr"],
        alpha=own["smoothing"],
        eps=own["epsilon"],
        momentum=own["momentum"],
        weight_decay=own["weight_decay"],
    )


def _lbfgs(model: nn.Module, objective: Objective, own: Own, surroundings: Surroundings) -> Driven:
    del surroundings
    optimizer = torch.optim.LBFGS(
        model.parameters(),
        own["lr"],
        max_iter=own["searches"],
        history_size=own["pairs"],
        line_search_fn="strong_wolfe",
    )
    return ByClosure(optimizer, model, objective, own)


def _rprop(parameters: Iterator[nn.Parameter], own: Own) -> TorchOptimizer:
    return torch.optim.Rprop(parameters, own["lr"], etas=(own["decrease"], own["increase"]))


def _adam(kind: type[torch.optim.Adam]) -> Build:
    return _by_torch(
        lambda parameters, own: kind(
            parameters,
            own["lr"],
            betas=(own["beta1"], own["beta2"]),
            eps=own["epsilon"],
            weight_decay=own["weight_decay"],
        )
    )


LR: Final = Setting(default=0.1, meaning="Learning rate.", above=0)
MOMENTUM: Final = Setting(default=0.9, meaning="The part of the last move that is kept.", low=0, below=1)
INCREASE: Final = Setting(
    default=1.2, meaning="By what a rate is multiplied while its gradient keeps its sign.", low=1, high=10
)
DECREASE: Final = Setting(
    default=0.5, meaning="By what a rate is multiplied where its gradient changes its sign.", above=0, high=1
)
SEARCHES: Final = Setting(default=30, meaning="Steps of BFGS in an update, at most.", low=1, high=10**4)
PAIRS: Final = Setting(
    default=10, meaning="Moves that are kept, with what they did to the gradient.", low=1, high=1000
)
EPSILON: Final = Setting(default=1e-8, meaning="Added to the divisor.", above=0, high=1)
BETA: Final = Setting(default=0.9, meaning="Memory of the mean gradient.", low=0, below=1)
MEMORY: Final = Setting(default=0.999, meaning="Memory of the mean squared gradient.", low=0, below=1)
DECAY: Final = Setting(
    default=0.0,
    meaning="Weight decay: half of it times the squared length of all parameters is added to the loss; with "
    "`adamw` the parameters shrink by it instead.",
    low=0,
    high=1e6,
)
WITHOUT_DECAY: Final = {
    "clip": Setting(default=0.0, meaning="Gradients are cut at this limit; 0: never.", low=0, high=1e9),
    "clip_by": Setting(
        default="norm",
        meaning="Whether the limit is that of the length of all gradients together, or of each element.",
        choices=tuple(CLIPPINGS),
    ),
    "chunk": Setting(
        default=0,
        meaning="Examples that go through the network at once, to save memory; 0: the whole batch.",
        low=0,
        high=10**9,
    ),
}
SHARED: Final = {"weight_decay": DECAY, **WITHOUT_DECAY}
A_RATE: Final = replace(LR, suggested=Float(1e-3, 3.0, log=True))
A_SMALL_RATE: Final = replace(LR, default=0.001, suggested=Float(1e-5, 0.1, log=True))
A_MOMENTUM: Final = replace(MOMENTUM, suggested=Float(0.0, 0.99))

FIRST_ORDER: Final[Mapping[str, Optimizer]] = {
    "nesterov": Optimizer(
        meaning="Stochastic gradient descent with Nesterov momentum.",
        settings={
            "lr": A_RATE,
            "momentum": A_MOMENTUM,
            "momentum_schedule": Setting(
                default="constant",
                meaning="Whether the momentum stays, or rises up to it.",
                choices=("constant", "rising"),
            ),
            **SHARED,
        },
        build=_nesterov,
    ),
    "momentum": Optimizer(
        meaning="Stochastic gradient descent with momentum, a heavy ball.",
        settings={"lr": A_RATE, "momentum": A_MOMENTUM, **SHARED},
        build=_by_torch(_sgd),
    ),
    "sgd": Optimizer(
        meaning="Stochastic gradient descent.",
        settings={"lr": A_RATE, **SHARED},
        build=_by_torch(_sgd),
    ),
    "rmsprop": Optimizer(
        meaning="Gradients divided by the root of their mean square.",
        settings={
            "lr": A_SMALL_RATE,
            "momentum": replace(MOMENTUM, default=0.0),
            "smoothing": replace(MEMORY, default=0.99, suggested=Float(0.9, 0.999)),
            "epsilon": EPSILON,
            **SHARED,
        },
        build=_by_torch(_rmsprop),
    ),
    "rprop": Optimizer(
        meaning="R-prop: steps by the signs of gradients alone; for batches of all examples.",
        settings={
            "lr": replace(LR, default=0.01, suggested=Float(1e-4, 1.0, log=True)),
            "increase": replace(INCREASE, suggested=Float(1.05, 1.5)),
            "decrease": replace(DECREASE, suggested=Float(0.3, 0.9)),
            **WITHOUT_DECAY,
        },
        build=_by_torch(_rprop),
    ),
    "lbfgs": Optimizer(
        meaning="L-BFGS with a line search; for batches of all examples.",
        settings={
            "lr": replace(LR, default=1.0, suggested=Float(0.1, 1.0, log=True)),
            "searches": replace(SEARCHES, default=5, suggested=Int(1, 20, log=True)),
            "pairs": replace(PAIRS, suggested=Int(2, 50, log=True)),
            **WITHOUT_DECAY,
        },
        build=_lbfgs,
    ),
    "adam": Optimizer(
        meaning="Adam.",
        settings={
            "lr": A_SMALL_RATE,
            "beta1": replace(BETA, suggested=Float(0.0, 0.99)),
            "beta2": MEMORY,
            "epsilon": EPSILON,
            **SHARED,
        },
        build=_adam(torch.optim.Adam),
    ),
    "adamw": Optimizer(
        meaning="Adam whose weight decay does not go through the divisor.",
        settings={
            "lr": A_SMALL_RATE,
            "beta1": replace(BETA, suggested=Float(0.0, 0.99)),
            "beta2": MEMORY,
            "epsilon": EPSILON,
            **SHARED,
            "weight_decay": replace(DECAY, default=0.01, suggested=Float(1e-5, 1.0, log=True)),
        },
        build=_adam(torch.optim.AdamW),
    ),
}
