import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, TypeAlias, final

import torch
from torch import Tensor, nn
from torch.func import grad, jvp, vjp

from optimizers.admission import (
    check_batch,
    check_model_and_objective,
    precision_explained,
)
from optimizers.eager import eagerly, uncompiled
from optimizers.errors import UnsupportedModelError
from optimizers.hyperparameter import Hyperparameter
from optimizers.layers import ELSEWHERE, linear_layers
from optimizers.layerwise import LR, check_lr
from optimizers.objectives import Objective
from optimizers.passes import check_alike
from optimizers.processes import Group, Processes
from optimizers.step import Step
from optimizers.told import Told
from optimizers.usual_loop import needs_the_batch

Function: TypeAlias = Callable[[Tensor], Tensor]

# What acts on each number alone, and without chance: sums of one case then bend no other case.
ELEMENTWISE = (
    nn.Identity, nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish,
    nn.Sigmoid, nn.LogSigmoid, nn.Tanh, nn.Tanhshrink, nn.Hardtanh, nn.Softplus, nn.Softsign, nn.Flatten,
)  # fmt: skip


@final
class UpdatedBackpropagation(Told):
    """Gradient descent from the top layer down, each layer hearing the derivative after the updates above it.

    For a layer s = W h + b with Δs = ΔW h + Δb, and g the derivative at s after the updates above, what is
    sent down is the derivative at h after this layer's update too, to first order:

        ∂L/∂h ≈ Wᵀ g + ΔWᵀ g + Wᵀ B Δs

    B is the curvature of the loss in s. With `second_order_activation` it is the Hessian, φ'' included, and
    the error is of second order in the updates. Without, it is the Gauss-Newton matrix: where units bend, the
    error is then of first order, like that of no correction at all.

    `top_only` is how many layers, from the top, correct what they send down; None is all. Each of them costs
    some passes through the layers above it. The method is an experiment: no published figures exist.

    The model is an nn.Sequential of nn.Linear layers and element-wise activations; for another one,
    UnsupportedModelError is raised. What is frozen stays. A batch whose loss, gradient or update is not
    finite changes nothing.

    Where torch.distributed has begun, all processes (or those of `group`) train together: each update of a
    layer, on the way down too, is that of the batches of all.
    """

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        LR,
        Hyperparameter(name="second_order_activation", kind="boolean", default=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        second_order_activation: bool = True,
        top_only: int | None = None,
        group: Group = None,
    ) -> None:
        check_model_and_objective(model, objective, type(self).__name__, needs=["loss"])
        check_lr(lr)
        if top_only is not None and top_only < 0:
            raise ValueError(
                f"top_only counts layers and must be at least 0, or None for all; got {top_only!r}."
            )
        model = uncompiled(model)
        linear_layers(model)  # refuses shared and coarse parameters
        self._model, self._objective = model, objective
        self._chain, self._processes = _chain("", model), Processes(group)
        settings = {"lr": lr, "second_order_activation": second_order_activation, "top_only": top_only}
        super().__init__(model.parameters(), settings)

    @needs_the_batch
    def step(self, inputs: Tensor, targets: Tensor) -> Step:  # type: ignore[override]  # a batch, no closure
        """Take one update on a batch. The gradient norm it tells is that of the corrected gradient."""
        name, lr = type(self).__name__, float(self.param_groups[0]["lr"])
        trained = [parameter for parameter in self._model.parameters() if parameter.requires_grad]
        check_batch(name, self._model, trained, {"inputs": inputs, "targets": targets}, self._processes)

        def loss(outputs: Tensor) -> Tensor:
            return self._objective.loss(outputs, targets)

        with torch.no_grad(), eagerly(), precision_explained(self._model, inputs):
            value, gradients = self._corrected(inputs, loss)
            norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))
            finite = math.isfinite(value) and math.isfinite(lr * norm)
            for parameter, gradient in gradients.items() if finite else ():
                parameter.sub_(lr * gradient)
        return Step(loss=value, damping=0.0, gradient_norm=norm, update_norm=lr * norm if finite else 0.0)

    def _corrected(self, inputs: Tensor, loss: Function) -> tuple[float, dict[Tensor, Tensor]]:
        """Return the loss, and the gradients by parameter, of signals corrected on their way down.

        Signals are of the cases of this process; what layers make of them, of those of all.
        """
        trained = [parameter for group in self.param_groups for parameter in group["params"]]
        check_alike([parameter.requires_grad for parameter in trained], trained, self._processes)
        settings, gradients = self.param_groups[0], dict[Tensor, Tensor]()
        left = math.inf if settings["top_only"] is None else settings["top_only"]
        lowest = next(place for place, module in enumerate(self._chain) if isinstance(module, nn.Linear))
        activities = [inputs]
        for module in self._chain:
            activities.append(_run([module], activities[-1]))

        signal: Tensor = grad(loss)(activities[-1])  # ∂L/∂z
        for place in reversed(range(lowest, len(self._chain))):
            module, h = self._chain[place], activities[place]
            if not isinstance(module, nn.Linear):
                signal = _pulled(partial(_run, [module]), h, signal)  # D g'
                continue
            own = _of_layer(module, h, signal)
            found = dict(zip(own, self._processes.means(own.values(), len(inputs)), strict=True))
            gradients |= found
            if place == lowest:
                break
            correction = torch.zeros_like(h)
            if left > 0:
                weight = -settings["lr"] * found.get(module.weight, torch.zeros_like(module.weight))
                bias = -settings["lr"] * found.get(module.bias, signal.new_zeros(()))
                bent = self._bent(place + 1, loss, activities[place + 1], h @ weight.T + bias)
                correction = signal @ weight + bent @ module.weight  # ΔWᵀ g + Wᵀ B Δs
            signal, left = signal @ module.weight + correction, left - 1
        [mean] = self._processes.means([loss(activities[-1])], len(inputs))
        return mean.item(), gradients

    def _bent(self, place: int, loss: Function, sums: Tensor, change: Tensor) -> Tensor:
        """Return B Δs."""
        rest = partial(_run, self._chain[place:])
        if self.param_groups[0]["second_order_activation"]:
            return _pushed(grad(partial(_composed, loss, rest)), sums, change)
        pushed = _pushed(rest, sums, change)
        return _pulled(rest, sums, _pushed(grad(loss), rest(sums), pushed))  # Jᵀ H_L J Δs

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Raise ValueError: a parameter outside the model's layers would never be trained."""
        if self.param_groups:
            raise ValueError(
                "UpdatedBackpropagation trains the model it was given and knows no other parameters. "
                "Add the layer to the model and construct a new one."
            )
        super().add_param_group(param_group)

    def __getstate__(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("_model", "_objective", "_chain", "_processes")}
        return {**super().__getstate__(), **own}


def _chain(name: str, module: nn.Module) -> list[nn.Module]:
    """Return the modules of nested nn.Sequential in their order. Raises UnsupportedModelError for others."""
    if type(module) is nn.Sequential:
        return [
            part
            for number, child in enumerate(module)  # one that stands there twice is there twice
            for part in _chain(f"{name}.{number}" if name else str(number), child)
        ]
    if type(module) is nn.Linear or isinstance(module, ELEMENTWISE):
        return [module]
    raise UnsupportedModelError(
        name,
        f"is a {type(module).__name__}, through which no derivative after an update is known here",
        f"Build the model as nn.Sequential of nn.Linear and element-wise activations, {ELSEWHERE}",
    )


def _run(modules: Sequence[nn.Module], tensor: Tensor) -> Tensor:
    for module in modules:
        tensor = module(tensor.clone())  # an in-place activation would overwrite what was kept
    return tensor


def _composed(outer: Function, inner: Function, tensor: Tensor) -> Tensor:
    return outer(inner(tensor))


def _pushed(function: Function, at: Tensor, along: Tensor) -> Tensor:
    pushed: Tensor = jvp(function, (at,), (along,))[1]
    return pushed


def _pulled(function: Function, at: Tensor, slopes: Tensor) -> Tensor:
    pull: Callable[[Tensor], tuple[Tensor]] = vjp(function, at)[1]
    return pull(slopes)[0]


def _of_layer(layer: nn.Linear, rows: Tensor, slopes: Tensor) -> dict[Tensor, Tensor]:
    """Return Σ g hᵀ and Σ g, of the parameters that are trained. A mean loss has 1/n in each g."""
    rows, slopes = rows.flatten(end_dim=-2), slopes.flatten(end_dim=-2)
    both: list[tuple[Tensor, Tensor]] = [(layer.weight, slopes.T @ rows)]
    if layer.bias is not None:
        both.append((layer.bias, slopes.sum(dim=0)))
    return {parameter: gradient for parameter, gradient in both if parameter.requires_grad}
