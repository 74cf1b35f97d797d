import math
from collections.abc import Mapping
from typing import Any, ClassVar, final

import torch
from torch import Generator, Tensor, autograd, nn
from torch.optim import Optimizer

from optimizers.curvature.kronecker import input_factor, output_factor, precondition
from optimizers.damping.factored import damped
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.hyperparameter import Hyperparameter
from optimizers.layers import Recorded, check_all_ran, linear_layers, recording
from optimizers.objectives import Objective
from optimizers.solvers.cholesky import inverse
from optimizers.step import Step
from optimizers.streams import stream_beside


@final
class KFAC(Optimizer):
    """Kronecker-factored natural gradient (Martens & Grosse 2015) for models made of nn.Linear layers.

    Equations and sections in comments are those of Martens' thesis (2016).

    Block-diagonal, with the true Fisher matrix by targets sampled from the model. Every `refresh_every`
    updates the factors are estimated from the batch at hand, damped and inverted; a new damping in
    `param_groups` is heard then. A batch whose loss or gradient is not finite changes nothing.

    Without a generator, one is seeded from torch's global stream, so torch.manual_seed repeats a run.
    Raises UnsupportedModelError for a model it would train wrongly, here or in the first step.
    """

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        Hyperparameter(name="lr", kind="float", default=0.3, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True),
        Hyperparameter(name="refresh_every", kind="int", default=10, low=1, high=100, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.3,
        damping: float = 0.1,  # λ in the paper
        refresh_every: int = 10,  # updates, T₃ in the paper
        generator: Generator | None = None,
    ) -> None:
        _check_settings(lr, damping, refresh_every)
        self._model = model
        self._layers = linear_layers(model)
        self._objective = objective
        self._updates = 0
        super().__init__(model.parameters(), {"lr": lr, "damping": damping, "refresh_every": refresh_every})
        self._generator = stream_beside(next(model.parameters())) if generator is None else generator

    def step(self, inputs: Tensor, targets: Tensor) -> Step:  # type: ignore[override]  # a batch, no closure
        """Take one update on a batch. Raises SingularFactorError when a factor cannot be inverted."""
        settings = self.param_groups[0]
        lr, damping = float(settings["lr"]), float(settings["damping"])

        with torch.enable_grad(), recording(self._layers) as records:
            outputs = self._model(inputs)
        check_all_ran(self._layers, records, examples=len(outputs))
        with torch.enable_grad():
            loss = self._objective.loss(outputs, targets)

        # ∇h of each layer's [W b]; the graph is kept when the same forward pass also gives the factors.
        due = self._updates % settings["refresh_every"] == 0
        gradients = _gradients(loss, self._layers, retain_graph=due)
        gradient_norm = _norm(gradients)
        if not (math.isfinite(loss.item()) and math.isfinite(gradient_norm)):
            return Step(loss=loss.item(), damping=damping, gradient_norm=gradient_norm, update_norm=0.0)
        if due:
            self._refresh(records, outputs, damping)

        # δ = -lr (G + c/π I)⁻¹ ∇h (A + π c I)⁻¹, a block-diagonal inverse (sec. 6.4.2, eq. 6.7)
        updates = {
            name: -lr * precondition(gradients[name], **self.state[layer.weight])
            for name, layer in self._layers.items()
        }
        _add(updates, self._layers)
        self._updates += 1
        return Step(
            loss=loss.item(), damping=damping, gradient_norm=gradient_norm, update_norm=_norm(updates)
        )

    def _refresh(self, records: Mapping[str, Recorded], outputs: Tensor, damping: float) -> None:
        # y ~ p(y | x), drawn from the model: the data's targets would give the empirical Fisher (sec. 6.5).
        sampled = self._objective.sample(outputs.detach(), self._generator)
        with torch.enable_grad():
            loss = self._objective.loss(outputs, sampled)
        rows = autograd.grad(loss, [records[name].edge for name in self._layers])

        inverses = {
            layer.weight: _inverses(name, layer, records[name].activations, gradients, damping)
            for (name, layer), gradients in zip(self._layers.items(), rows, strict=True)
        }
        self.state.update(inverses)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Raise ValueError: a parameter outside the model's layers has no curvature here."""
        if self.param_groups:
            raise ValueError(
                "KFAC trains the model it was given and knows no other parameters. "
                "Add the layer to the model and construct a new KFAC."
            )
        super().add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {
            **super().state_dict(),
            "updates": self._updates,
            "generator": self._generator.get_state(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the inverses, settings, update count and random stream of a saved optimizer."""
        updates, stream = state_dict["updates"], state_dict["generator"]
        super().load_state_dict(state_dict)
        self._updates = updates
        self._generator.set_state(stream.cpu())


def _check_settings(lr: float, damping: float, refresh_every: int) -> None:
    if not 0 <= lr < math.inf:
        raise ValueError(f"lr must be finite and at least 0, got {lr!r}. A good first try is 0.3.")
    if not 0 < damping < math.inf:
        raise ValueError(f"damping must be finite and above 0, got {damping!r}. A good first try is 0.1.")
    if refresh_every < 1:
        raise ValueError(f"refresh_every counts updates and must be at least 1, got {refresh_every!r}.")


def _gradients(loss: Tensor, layers: Mapping[str, nn.Linear], *, retain_graph: bool) -> dict[str, Tensor]:
    parameters = [parameter for layer in layers.values() for parameter in layer.parameters()]
    gradients = dict(zip(parameters, autograd.grad(loss, parameters, retain_graph=retain_graph), strict=True))
    return {
        name: torch.cat([gradients[p].reshape(layer.out_features, -1) for p in layer.parameters()], dim=1)
        for name, layer in layers.items()
    }


def _inverses(
    name: str, layer: nn.Linear, activations: Tensor, gradients: Tensor, damping: float
) -> dict[str, Tensor]:
    # Rounding may cost the factors themselves their positive definiteness, so float64 starts from the rows.
    for dtype in (activations.dtype, torch.float64):
        factors = damped(
            input_factor(activations.to(dtype), bias=layer.bias is not None),  # A
            output_factor(gradients.to(dtype)),  # G
            gamma=math.sqrt(damping),  # c = √λ, held constant
        )
        try:
            input_inverse, output_inverse = (inverse(factor).to(activations.dtype) for factor in factors)
        except NotPositiveDefiniteError:
            continue
        return {"input_inverse": input_inverse, "output_inverse": output_inverse}
    raise SingularFactorError(name, damping)


def _norm(matrices: Mapping[str, Tensor]) -> float:
    return math.sqrt(sum(float(matrix.square().sum()) for matrix in matrices.values()))


def _add(updates: Mapping[str, Tensor], layers: Mapping[str, nn.Linear]) -> None:
    with torch.no_grad():
        for name, layer in layers.items():
            weight, bias = updates[name][:, : layer.in_features], updates[name][:, layer.in_features :]
            layer.weight.add_(weight)
            if layer.bias is not None:
                layer.bias.add_(bias[:, 0])
