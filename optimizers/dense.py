"""Newton's method, Gauss-Newton and the natural gradient with the matrix written out.

For networks of up to some thousand parameters, any layers, and as the truth that cheaper methods approximate.
One step is δ = -lr (B + (λ + η) I)⁻¹ (∇h + η θ) with B on the batch of the gradient, Tikhonov damping λ and
an L2 term ½ η ‖θ‖². All of one batch: dropout masks are shared by gradient and curvature.
"""

import math
from dataclasses import replace
from typing import Any, ClassVar, Literal, final

import torch
from torch import Generator, Tensor, autograd, nn
from torch.optim import Optimizer

from optimizers.curvature.dense import (
    block_diagonal,
    gauss_newton,
    gradients_by_case,
    hessian,
    jacobian,
    output_curvature,
    output_hessian,
    second_moment,
    sizes_by_layer,
)
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat, shaped
from optimizers.damping.tikhonov import tikhonov
from optimizers.eager import eagerly, uncompiled
from optimizers.errors import NotPositiveDefiniteError, TooLargeError, UnsupportedModelError
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.solvers.eigen import eigen
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.streams import retold, stream_beside, stream_on, told
from optimizers.usual_loop import needs_the_batch

LIMIT = 5000  # parameters; the matrix takes 200 MB in float64, its inverse some seconds

OWN = {"_model", "_objective", "_by_layer", "_negative", "_kind", "_samples"}  # what torch would not copy

LR = Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=1.0, log=True)
DAMPING = Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True)
L2 = Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2)
BY_LAYER = Hyperparameter(name="by_layer", kind="boolean", default=False)


class _Dense(Optimizer):
    """What the three have in common: everything but the matrix."""

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (LR, DAMPING, L2, BY_LAYER)

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        damping: float = 0.1,  # λ
        l2: float = 0.0,  # η
        by_layer: bool = False,  # the matrix of each layer alone: block-diagonal
        limit: int = LIMIT,
        generator: Generator | None = None,
    ) -> None:
        _check(lr=lr, damping=damping, l2=l2)
        self._model, self._objective, self._by_layer = uncompiled(model), objective, by_layer
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        if trained > limit:
            raise TooLargeError(type(self).__name__, trained, limit)
        super().__init__(model.parameters(), {"lr": lr, "damping": damping, "l2": l2})
        self._generator = stream_beside(next(model.parameters())) if generator is None else generator

    @needs_the_batch
    def step(self, inputs: Tensor, targets: Tensor) -> Step:  # type: ignore[override]  # a batch, no closure
        """Take one update on a batch. If loss, gradient or matrix are not finite, nothing is changed.

        Raises NotPositiveDefiniteError when the damped matrix is singular.
        """
        _check_precise(self._model)
        with eagerly(), torch.autocast(inputs.device.type, enabled=False):  # matrices need all digits
            return self._taken(inputs, targets)

    def _taken(self, inputs: Tensor, targets: Tensor) -> Step:
        settings, watch = self.param_groups[0], Stopwatch()
        lr, damping, l2 = (float(settings[name]) for name in ("lr", "damping", "l2"))
        network = Network(self._model, inputs)
        with watch.phase("gradient"):
            loss, gradient = self._gradient(network, targets, l2)
        skipped = Step(loss=loss, damping=damping, gradient_norm=float(gradient.norm()), update_norm=0.0)
        if not (math.isfinite(loss) and gradient.isfinite().all()):
            return skipped
        with watch.phase("curvature"):
            matrix = self._blocks(tikhonov(self._matrix(network, targets), l2), network)
        if not matrix.isfinite().all():
            return skipped

        with watch.phase("solve"):
            damped, damping = self._damped(matrix, damping)
            update = -lr * _solved(damped, gradient)
        _add(update, network)
        return replace(
            skipped,
            damping=damping,
            update_norm=float(update.norm()),
            model_change=float(gradient @ update + update @ matrix @ update / 2),
            seconds=watch.seconds,
        )

    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        raise NotImplementedError

    def _damped(self, matrix: Tensor, damping: float) -> tuple[Tensor, float]:
        return tikhonov(matrix, damping), damping

    def _blocks(self, matrix: Tensor, network: Network) -> Tensor:
        return block_diagonal(matrix, sizes_by_layer(network.params)) if self._by_layer else matrix

    def _gradient(self, network: Network, targets: Tensor, l2: float) -> tuple[float, Tensor]:
        params = {name: tensor.clone().requires_grad_() for name, tensor in network.params.items()}
        with torch.enable_grad():
            loss = self._objective.loss(network.trained(params), targets)
        parts = autograd.grad(loss, list(params.values()), materialize_grads=True)
        return loss.item(), torch.cat([part.reshape(-1) for part in parts]) + l2 * flat(network.params)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Raise ValueError: the matrix is that of the model."""
        if self.param_groups:
            raise ValueError(
                f"{type(self).__name__} trains the model it was given and knows no other parameters. "
                f"Add the layer to the model and construct a new optimizer."
            )
        super().add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "generator": self._generator.get_state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings and random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._generator.set_state(state_dict["generator"].cpu())

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name in OWN}
        return {**super().__getstate__(), **own, "generator": told(self._generator)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stream = state.pop("generator", None)
        super().__setstate__(state)
        if stream is not None:  # torch calls this for a state that is loaded too
            self._generator = retold(stream)


@final
class Newton(_Dense):
    """δ = -lr (H + λ I)⁻¹ ∇h with the exact Hessian.

    Where H + λ I is not positive definite, the step could climb. Then λ is raised until it is ("raise"; the
    `Step` reports it), or the eigenvalues of H are replaced by their absolute values ("absolute").
    """

    hyperparameters = (
        *_Dense.hyperparameters,
        Hyperparameter(name="negative", kind="categorical", default="raise", choices=("raise", "absolute")),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        negative: Literal["raise", "absolute"] = "raise",
        **settings: Any,
    ) -> None:
        if negative not in {"raise", "absolute"}:
            raise ValueError(f"negative is 'raise' or 'absolute', got {negative!r}.")
        self._negative = negative
        super().__init__(model, objective, **settings)

    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        return hessian(network, self._objective, targets)

    def _damped(self, matrix: Tensor, damping: float) -> tuple[Tensor, float]:
        values, vectors = eigen(matrix, "Hessian")
        if self._negative == "absolute":
            return tikhonov((vectors * values.abs()) @ vectors.mT, damping), damping
        scale = float(values.abs().max())
        while values[0] + damping <= 1e-10 * scale:  # by more than rounding
            damping = max(1.5 * damping, 1e-6 * scale)
        return tikhonov(matrix, damping), damping


@final
class GaussNewton(_Dense):
    """δ = -lr (G + λ I)⁻¹ ∇h with G = (1/n) Σ Jᵀ H_L J, H_L the Hessian of the loss in the outputs."""

    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        outputs = network(network.params)
        return gauss_newton(jacobian(network), output_hessian(self._objective, outputs, targets))


@final
class NaturalGradient(_Dense):
    """δ = -lr (F + λ I)⁻¹ ∇h with the Fisher matrix of the model's predictions.

    `kind` is how the expectation over targets is taken: "exact", "sampled" (`samples` draws for each case, of
    the model's prediction), or "empirical", which takes the data's targets instead and is no Fisher matrix:
    its steps need not get smaller near a minimum.
    """

    hyperparameters = (
        *_Dense.hyperparameters,
        Hyperparameter(
            name="kind", kind="categorical", default="exact", choices=("exact", "sampled", "empirical")
        ),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        kind: Literal["exact", "sampled", "empirical"] = "exact",
        samples: int = 1,
        **settings: Any,
    ) -> None:
        if kind not in {"exact", "sampled", "empirical"}:
            raise ValueError(f"kind is 'exact', 'sampled' or 'empirical', got {kind!r}.")
        if samples < 1:
            raise ValueError(f"samples counts draws for each case and must be at least 1, got {samples!r}.")
        self._kind, self._samples = kind, samples
        super().__init__(model, objective, **settings)

    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        outputs = network(network.params)
        if self._kind == "exact":
            return gauss_newton(jacobian(network), output_curvature(self._objective, outputs))
        if self._kind == "empirical":
            return second_moment(gradients_by_case(network, self._objective, targets))
        self._generator = stream_on(outputs.device, self._generator)
        draws = [self._objective.sample(outputs, self._generator) for _ in range(self._samples)]
        return second_moment(torch.cat([gradients_by_case(network, self._objective, y) for y in draws]))


def _solved(matrix: Tensor, vector: Tensor) -> Tensor:
    solution: Tensor
    solution, failures = torch.linalg.solve_ex(matrix, vector)
    if failures.item() or not solution.isfinite().all():
        raise NotPositiveDefiniteError(matrix)
    return solution


def _add(update: Tensor, network: Network) -> None:
    with torch.no_grad():
        for name, change in shaped(update, network.params).items():
            network.params[name].add_(change)  # the model's own storage
        network.keep_buffers()


def _check_precise(model: nn.Module) -> None:
    for name, parameter in model.named_parameters():
        if parameter.dtype not in {torch.float32, torch.float64}:
            raise UnsupportedModelError(
                name.rpartition(".")[0],
                f"has parameters in {parameter.dtype}, too coarse to write out curvature and solve with it",
                "Keep the model in float32, or use an optimizer that trains layer by layer, such as ACP.",
            )


def _check(**settings: float) -> None:
    for name, value in settings.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {value!r}.")
