"""Newton's method, Gauss-Newton and the natural gradient with the matrix written out.

For networks of up to some thousand parameters, any layers, and as the truth that cheaper methods approximate.
One step is δ = -lr (B + (λ + η) I)⁻¹ (∇h + η θ) with B on the batch of the gradient, Tikhonov damping λ and
an L2 term ½ η ‖θ‖². All of one batch: dropout masks are shared by gradient and curvature.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.dense import (
    LIMIT,
    block_diagonal,
    check_small,
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
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import NotPositiveDefiniteError
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.eigen import eigen
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.usual_loop import needs_the_batch
from optimizers.whole import Given, Whole

LR = Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=1.0, log=True)
DAMPING = Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True)
L2 = Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2)
BY_LAYER = Hyperparameter(name="by_layer", kind="boolean", default=False)


class _Dense(Whole, ABC):
    """What the three have in common: everything but the matrix."""

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (LR, DAMPING, L2, BY_LAYER)
    _own = Whole._own | {"_by_layer", "_negative", "_kind", "_samples"}  # noqa: SLF001

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
        group: Group = None,
    ) -> None:
        self._by_layer = by_layer
        super().__init__(model, objective, {"lr": lr, "damping": damping, "l2": l2}, generator, group)
        check_small(self._model, type(self).__name__, limit)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        settings = self.param_groups[0]
        with watch.phase("curvature"):
            own = self._matrix(given.statistics, given.targets)
            [matrix] = self._of_all([own], given.statistics.inputs)
            matrix = self._blocks(tikhonov(matrix, float(settings["l2"])), given.network)
        if not matrix.isfinite().all():
            return None
        with watch.phase("solve"):
            damped, damping = self._damped(matrix, float(settings["damping"]))
            update = -float(settings["lr"]) * _solved(damped, gradient)
        foreseen = float(gradient @ update + update @ matrix @ update / 2)
        return update, {"damping": damping, "model_change": foreseen}

    @abstractmethod
    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        """Return B, of the cases of this process."""

    def _damped(self, matrix: Tensor, damping: float) -> tuple[Tensor, float]:
        return tikhonov(matrix, damping), damping

    def _blocks(self, matrix: Tensor, network: Network) -> Tensor:
        return block_diagonal(matrix, sizes_by_layer(network.params)) if self._by_layer else matrix


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

    @needs_the_batch
    def step(  # type: ignore[override]  # a batch, no closure
        self, inputs: Tensor, targets: Tensor, *, statistics: Tensor | None = None
    ) -> Step:
        """Take one update on a batch, with the Fisher matrix of these inputs, or of those in `statistics`."""
        if statistics is not None and self._kind == "empirical":
            raise ValueError("The empirical matrix asks for targets: it can be that of the batch alone.")
        return self._precisely(inputs, targets, statistics)

    def _matrix(self, network: Network, targets: Tensor) -> Tensor:
        outputs = network(network.params)
        if self._kind == "exact":
            return gauss_newton(jacobian(network), output_curvature(self._objective, outputs))
        if self._kind == "empirical":
            return second_moment(gradients_by_case(network, self._objective, targets))
        stream = self._own_stream(outputs.device)
        draws = [self._objective.sample(outputs, stream) for _ in range(self._samples)]
        return second_moment(torch.cat([gradients_by_case(network, self._objective, y) for y in draws]))


def _solved(matrix: Tensor, vector: Tensor) -> Tensor:
    solution: Tensor
    solution, failures = torch.linalg.solve_ex(matrix, vector)
    if failures.item() or not solution.isfinite().all():
        raise NotPositiveDefiniteError(matrix)
    return solution
