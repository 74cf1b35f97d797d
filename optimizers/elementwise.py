import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from optimizers.admission import check_batch, check_model_and_objective, precision_explained
from optimizers.eager import eagerly, uncompiled
from optimizers.groups import Params, check_groups
from optimizers.objectives import Objective
from optimizers.passes import buffers_of, check_alike, check_same_gradients, norm, restore
from optimizers.processes import Group, Processes
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.uses import Gradients
from optimizers.usual_loop import Closure, Hearing, batch_or_closure, parts_of

Settings: TypeAlias = Mapping[str, Any]
Kept: TypeAlias = dict[str, Tensor]  # what a rule keeps of a parameter from one update to the next


class Elementwise(Hearing, ABC):
    """Changes each number among the parameters by the gradients of it alone, by the rule of a subclass.

    What is frozen stays, and so does what the loss does not depend on. A batch whose loss, gradient or update
    is not finite changes nothing; given as step(inputs, targets), not even buffers.

    `params` are parameters of the model, or groups of them with settings of their own, as torch takes them;
    None is all of them. What is not among them stays.

    Where torch.distributed has begun, all processes (or those of `group`) train together: gradients are those
    of the batches of all. In the usual loop they are what DistributedDataParallel makes.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        params: Params | None,
        settings: dict[str, Any],
        group: Group,
    ) -> None:
        check_model_and_objective(model, objective, type(self).__name__, needs=["loss"])
        self._model, self._objective, self._processes = uncompiled(model), objective, Processes(group)
        super().__init__(model.parameters() if params is None else params, settings)

    @staticmethod
    @abstractmethod
    def _check(settings: Settings) -> None:
        """Raise ValueError, with its name, for a setting out of range."""

    @staticmethod
    @abstractmethod
    def _rule(gradient: Tensor, kept: Kept, settings: Settings) -> tuple[Tensor, Kept]:
        """Return what to add to a parameter, and what to keep. At its first update nothing was kept."""

    def step(  # type: ignore[override]  # a batch too
        self,
        inputs: Tensor | Closure | None = None,
        targets: Tensor | None = None,
        *,
        closure: Closure | None = None,
    ) -> Step:
        """Take one update on a batch, or by the gradients that are there, or that a closure makes."""
        given = batch_or_closure(self, inputs, targets, closure)
        check_batch(type(self).__name__, self._model, self._trained(), parts_of(given), self._processes)
        return self._on_batch(*given) if isinstance(given, tuple) else self._in_usual_loop(given)

    def _on_batch(self, inputs: Tensor, targets: Tensor) -> Step:
        buffers, watch, trained = buffers_of(self._model), Stopwatch(), self._trained()
        with watch.phase("gradient"), torch.enable_grad(), eagerly():
            with precision_explained(self._model, inputs):
                outputs = self._model(inputs)
            loss = self._objective.loss(outputs, targets)
            found: tuple[Tensor | None, ...] = torch.autograd.grad(loss, trained, allow_unused=True)
        gradients = {p: part for p, part in zip(trained, found, strict=True) if part is not None}
        self._check_alike(gradients)
        height, *means = self._processes.means([loss.detach().double(), *gradients.values()], len(targets))
        return self._taken(height.item(), dict(zip(gradients, means, strict=True)), watch, otherwise=buffers)

    def _in_usual_loop(self, closure: Closure | None) -> Step:
        watch, loss = Stopwatch(), math.nan
        if closure is not None:
            with torch.enable_grad(), watch.phase("gradient"):
                loss = float(torch.as_tensor(closure()).detach())
        gradients = {p: p.grad for p in self._trained() if p.grad is not None}
        self._check_alike(gradients)
        check_same_gradients(norm(gradients), next(self._model.parameters()), self._processes)
        return self._taken(loss, gradients, watch)

    def _check_alike(self, gradients: Iterable[Tensor]) -> None:
        reached, weights = set(gradients), [*self._model.parameters()]
        check_alike([p in reached for p in weights], weights, self._processes)

    @torch.no_grad()
    def _taken(
        self,
        loss: float,
        gradients: Gradients,
        watch: Stopwatch,
        otherwise: Iterable[tuple[Tensor, Tensor]] = (),
    ) -> Step:
        """Take the update; if it is skipped, give buffers the values that they have in `otherwise`."""
        groups = {p: group for group in self.param_groups for p in group["params"]}
        length = norm(gradients)
        with watch.phase("update"):
            found = {p: self._rule(g, self._kept(p), groups[p]) for p, g in gradients.items()}
            moved = norm({p: move for p, (move, _) in found.items()})
        is_taken = math.isfinite(length) and math.isfinite(moved)
        for parameter, (move, kept) in found.items() if is_taken else ():
            parameter.add_(move)
            self.state[parameter] = kept
        if not is_taken:
            restore(otherwise)
        return Step(
            loss=loss,
            damping=0.0,
            gradient_norm=length,
            update_norm=moved if is_taken else 0.0,
            seconds=watch.seconds,
        )

    def _kept(self, parameter: Tensor) -> Kept:
        # the model may have moved or changed its precision since
        return {name: kept.to(parameter) for name, kept in self.state.get(parameter, {}).items()}

    def _trained(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"] if p.requires_grad]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more of the model's parameters. Raises ValueError for one that is none of them."""
        self._check({**self.defaults, **param_group})
        super().add_param_group(param_group)
        try:
            check_groups(self.param_groups, self._model, {})
        except ValueError:
            self.param_groups.pop()
            raise

    def _heard_layers(self) -> Mapping[str, nn.Module]:
        return {}  # gradients say it all

    def __getstate__(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("_model", "_objective", "_processes")}
        return {**super().__getstate__(), **own}
