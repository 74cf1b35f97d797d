import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor, nn

from optimizers.admission import (
    check_batch,
    check_model_and_objective,
    precision_explained,
)
from optimizers.eager import eagerly, uncompiled
from optimizers.errors import (
    NotHeardError,
    NotPositiveDefiniteError,
    SingularFactorError,
    UnsupportedModelError,
)
from optimizers.groups import Params, check_groups
from optimizers.hyperparameter import Hyperparameter
from optimizers.listening import Listening
from optimizers.objectives import Objective
from optimizers.passes import (
    Passes,
    buffers_of,
    check_alike,
    check_same_gradients,
    joined,
    norm,
    restore,
)
from optimizers.processes import Group, Processes
from optimizers.solvers.cholesky import inverse
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.uses import (
    AffineLayer,
    Gradients,
    Seen,
    Use,
    affine_layers,
    backward,
    recording_uses,
    rows,
    seen,
)
from optimizers.usual_loop import Closure, Hearing, batch_or_closure, loss_scale, parts_of, unscaled

Settings: TypeAlias = Mapping[str, Any]
Kept: TypeAlias = dict[str, Tensor]  # what a layer's rule keeps from one update to the next

LR = Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True)
RIDGE = Hyperparameter(name="ridge", kind="float", default=0.1, low=1e-3, high=10.0, log=True)
REFRESH_EVERY = Hyperparameter(name="refresh_every", kind="int", default=100, low=1, high=200, log=True)


class Layerwise(Hearing):
    """Trains each nn.Linear and nn.Conv2d by the rule of a subclass, every other parameter by plain gradient.

    Plain are also: layers that share a weight, subclasses of the two, groups of channels, padding other than
    zeros given as numbers, and what is used without a call of its module. A layer called twice has the rows
    of both calls. What is frozen stays, and may be unfrozen between two steps; so does what the loss does not
    depend on. A batch whose loss, gradient or update is not finite changes nothing, not even buffers.

    `params` are parameters of the model, or groups of them with settings of their own, as torch takes them;
    None is all of them. What is not among them stays. A layer belongs whole into one group.

    Where torch.distributed has begun, all processes (or those of `group`) train together: what a rule takes
    from a batch is that of the batches of all, and so are the gradients of step(inputs, targets). In the
    usual loop the gradients are those that DistributedDataParallel makes.
    """

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (LR,)
    _step_supports_amp_scaling = True  # torch's GradScaler then tells its scale, which is in the slopes too

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        params: Params | None,
        settings: dict[str, Any],
        group: Group,
    ) -> None:
        check_model_and_objective(model, objective, type(self).__name__, needs=["loss"])
        self._model = uncompiled(model)
        self._objective = objective
        self._layers = affine_layers(self._model)
        self._processes = Processes(group)
        self._listening: Listening | None = None
        self._kept: dict[str, Kept] = {}  # by name: a model may be copied, its layers are others then
        self._updates = 0
        self._refreshed: dict[str, int] = {}  # by name: the number of the update
        super().__init__(model.parameters() if params is None else params, settings)
        self.listen()

    @staticmethod
    @abstractmethod
    def _check(settings: Settings) -> None:
        """Raise ValueError, with its name, for a setting out of range."""

    @abstractmethod
    def _rule(
        self, seen: Seen, kept: Kept, statistics: Tensor | None, settings: Settings
    ) -> tuple[Tensor, Tensor, Kept]:
        """Return ΔW, Δb and what to keep. Rows to estimate from come when an estimate is due."""

    def _is_due(self, kept: Kept, *, biased: bool, settings: Settings) -> bool:
        del kept, biased, settings
        return False

    def _moves(self, changes: Gradients) -> Gradients:
        return changes

    def _remember(self, moves: Gradients) -> None:
        """Keep what was moved. It is called for updates that were taken, and only then."""

    def _step(
        self,
        inputs: Tensor | Closure | None,
        targets: Tensor | None,
        closure: Closure | None,
        statistics: Tensor | None = None,
    ) -> Step:
        given = batch_or_closure(self, inputs, targets, closure)
        batch = parts_of(given, statistics=statistics)
        check_batch(type(self).__name__, self._model, self._trained(), batch, self._processes)
        if isinstance(given, tuple):
            self.close()  # who gives batches has no use for hooks
            return self._on_batch(*given, statistics)
        return self._in_usual_loop(given, statistics)

    def _on_batch(self, inputs: Tensor, targets: Tensor, statistics: Tensor | None) -> Step:
        buffers, watch, trained = buffers_of(self._model), Stopwatch(), self._trained()
        layers = self._layers_of(trained)
        with watch.phase("gradient"):
            explained = precision_explained(self._model, inputs)
            with torch.enable_grad(), eagerly(), explained, recording_uses(layers) as uses:
                outputs = self._model(inputs)
            with torch.enable_grad():
                loss = self._objective.loss(outputs, targets)
            passes = Passes(loss.item(), *backward(loss, trained, layers, uses))
        with watch.phase("processes"):
            self._check_alike(passes)
            passes = joined(passes, self._layers, self._processes, cases=len(targets))
        return self._taken(passes, statistics, watch, otherwise=buffers)

    def _in_usual_loop(self, closure: Closure | None, statistics: Tensor | None) -> Step:
        if self._listening is None:
            raise NotHeardError(
                type(self).__name__,
                "was closed, by close() or by a step(inputs, targets)",
                "Call listen() before the forward pass, or go on giving it batches.",
            )
        watch, loss = Stopwatch(), None
        with torch.enable_grad(), watch.phase("gradient"):
            loss = None if closure is None else float(torch.as_tensor(closure()).detach())
        passes = self._heard(self._listening, loss)
        with watch.phase("processes"):
            self._check_alike(passes)
            length, like = norm(passes.gradients), next(self._model.parameters())
            check_same_gradients(length, like, self._processes)
        try:
            return self._taken(passes, statistics, watch)
        finally:
            self._listening.forget()

    def _check_alike(self, passes: Passes) -> None:
        weights = [*self._model.parameters()]
        reached = [p in passes.gradients for p in weights]
        check_alike((reached, sorted(passes.seen)), weights, self._processes)

    def _heard(self, listening: Listening, loss: float | None) -> Passes:
        scale = loss_scale(self)
        gradients = {p: unscaled(p.grad, scale) for p in self._trained() if p.grad is not None}
        if not listening.has_heard and any(layer.weight in gradients for layer in self._layers.values()):
            raise NotHeardError(
                type(self).__name__,
                "has heard no forward pass since the last step, but there are gradients",
                "Construct it before the first pass, and call the model as a module. If one like it was "
                "compiled before without hooks, call torch.compiler.reset() first.",
            )
        seen_by_layer = {}
        for name, slopes in listening.uses().items():
            if (layer := self._layers[name]).weight in gradients:
                calls = [(Use(inputs=use.inputs, edge=None), slope) for use, slope in slopes.items()]
                seen_by_layer[name] = seen(name, layer, calls, gradients, scale)
        return Passes(loss, gradients, seen_by_layer)

    def _taken(
        self,
        passes: Passes,
        statistics: Tensor | None,
        watch: Stopwatch,
        otherwise: Iterable[tuple[Tensor, Tensor]] = (),
    ) -> Step:
        """Take the update; if it is skipped, give buffers the values that they have in `otherwise`."""
        gradient_norm, update_norm = norm(passes.gradients), None
        if math.isfinite(passes.loss or 0.0) and math.isfinite(gradient_norm):
            with torch.no_grad(), watch.phase("update"):
                update_norm = self._update(passes.gradients, passes.seen, statistics)
        if update_norm is None:
            restore(otherwise)
        return Step(
            loss=math.nan if passes.loss is None else passes.loss,
            damping=float(self.param_groups[0].get("ridge", 0.0)),
            gradient_norm=gradient_norm,
            update_norm=update_norm or 0.0,
            ages={name: self._updates - 1 - number for name, number in self._refreshed.items()},
            seconds=watch.seconds,
        )

    def _update(
        self, gradients: Gradients, seen: Mapping[str, Seen], statistics: Tensor | None
    ) -> float | None:
        """Take the update and return its norm; None, with nothing changed, when it would not be finite."""
        groups = {p: group for group in self.param_groups for p in group["params"]}
        changes = {p: -groups[p]["lr"] * gradient for p, gradient in gradients.items()}
        seen = {name: seen[name] for name in self._layers if name in seen}  # all processes in one order
        estimates = self._estimates(seen, groups, statistics)
        if not _are_finite(estimates, self._processes):
            return None
        kept: dict[str, Kept] = {}
        for name, layer in seen.items():
            settings = groups[self._layers[name].weight]
            weight, bias, kept[name] = self._rule(layer, self._kept_of(name), estimates.get(name), settings)
            _put(changes, self._layers[name], weight, bias)

        moves = self._moves(changes)
        length = norm(moves)
        if not math.isfinite(length):
            return None
        for parameter, move in moves.items():
            parameter.add_(move)
        self._remember(moves)
        self._kept.update(kept)
        self._refreshed.update(dict.fromkeys(estimates, self._updates))
        self._updates += 1
        return length

    def _trained(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"] if p.requires_grad]

    def _layers_of(self, parameters: Iterable[Tensor]) -> dict[str, AffineLayer]:
        trained = set(parameters)
        return {name: layer for name, layer in self._layers.items() if layer.weight in trained}

    def _estimates(
        self, seen: Mapping[str, Seen], groups: Mapping[Tensor, Settings], statistics: Tensor | None
    ) -> dict[str, Tensor]:
        """Return the rows to estimate from, of each layer that is due; its own where others have none."""
        due = {
            name: layer.rows
            for name, layer in seen.items()
            if self._is_due(
                self._kept_of(name), biased=layer.biased, settings=groups[self._layers[name].weight]
            )
        }
        if statistics is None or not due:
            return due
        layers = {name: self._layers[name] for name in due}
        buffers = buffers_of(self._model)
        with recording_uses(layers) as uses:
            self._model(statistics)
        restore(buffers)
        return due | {name: rows(layers[name], calls).to(due[name].dtype) for name, calls in uses.items()}

    def _kept_of(self, name: str) -> Kept:
        weight = self._layers[name].weight  # the model may have moved or changed its precision since
        dtype = torch.promote_types(weight.dtype, torch.float32)
        return {key: kept.to(weight.device, dtype) for key, kept in self._kept.get(name, {}).items()}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more of the model's parameters. Raises ValueError for what the rule cannot train."""
        self._check({**self.defaults, **param_group})
        super().add_param_group(param_group)
        try:
            wholes = {
                f"Weight and bias of layer {name!r}": layer.parameters()
                for name, layer in self._layers.items()
            }
            check_groups(self.param_groups, self._model, wholes)
        except ValueError:
            self.param_groups.pop()
            raise

    def _heard_layers(self) -> Mapping[str, nn.Module]:
        return self._layers

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {
            **super().state_dict(),
            "updates": self._updates,
            "refreshed": dict(self._refreshed),
            "layers": {name: dict(kept) for name, kept in self._kept.items()},
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over statistics, settings and update count. Raises UnsupportedModelError for other layers."""
        updates, refreshed, layers = (state_dict[key] for key in ("updates", "refreshed", "layers"))
        for name in layers:
            if name not in self._layers:
                raise UnsupportedModelError(
                    name,
                    "is in the saved state but not among the layers of the model",
                    "Load the state beside the model it was saved with.",
                )
        super().load_state_dict(state_dict)
        self._updates, self._refreshed = updates, dict(refreshed)
        self._kept = {name: dict(kept) for name, kept in layers.items()}

    def __getstate__(self) -> dict[str, Any]:
        own = ("_model", "_objective", "_layers", "_processes", "_kept", "_updates", "_refreshed")
        listens = self._listening is not None
        return {
            **super().__getstate__(),
            **{name: getattr(self, name) for name in own},
            "listens": listens,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        listens = state.pop("listens", None)
        super().__setstate__(state)
        if listens is not None:  # torch calls this for a state that is loaded too
            self._listening = None
        if listens:
            self.listen()


def _put(changes: Gradients, layer: AffineLayer, weight: Tensor, bias: Tensor) -> None:
    changes[layer.weight] = weight.reshape(layer.weight.shape).to(layer.weight.dtype)
    if layer.bias is not None and layer.bias in changes:
        changes[layer.bias] = bias.to(layer.bias.dtype)


def _are_finite(tensors: Mapping[str, Tensor], processes: Processes) -> bool:
    """Return whether all are, on all processes."""
    wrong = [(~tensor.isfinite()).any().float() for tensor in tensors.values()]
    return not wrong or processes.largest(torch.stack(wrong).amax()).item() == 0


def inverted(matrix: Tensor, seen: Seen, damping: float) -> Tensor:
    """Return the inverse, as precise as the layer's gradient. Raises SingularFactorError with its name."""
    try:
        found = inverse(matrix).to(seen.weight_gradient.dtype)
    except NotPositiveDefiniteError:
        raise SingularFactorError(seen.name, damping) from None
    if not found.isfinite().all():  # a pivot may be as small as the damping, and its inverse too large
        raise SingularFactorError(seen.name, damping)
    return found


def check_lr(lr: float) -> None:
    """Raise ValueError unless it is finite and at least 0."""
    if not 0 <= lr < math.inf:
        raise ValueError(f"lr must be finite and at least 0, got {lr!r}. A good first try is 0.1.")


def check_ridge(ridge: float) -> None:
    """Raise ValueError unless it is finite and at least 0."""
    if not 0 <= ridge < math.inf:
        raise ValueError(f"ridge must be finite and at least 0, got {ridge!r}. A good first try is 0.1.")


def check_refresh(refresh_every: int) -> None:
    """Raise ValueError unless it is at least 1."""
    if refresh_every < 1:
        raise ValueError(f"refresh_every counts updates and must be at least 1, got {refresh_every!r}.")
