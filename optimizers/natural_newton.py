"""Natural Newton: Newton's method that trusts less where the cases disagree (Le Roux & Fitzgibbon 2010)."""

import math
from typing import Any, Final, Literal, TypeAlias, final

import torch
from torch import Tensor, nn

from optimizers.curvature import diagonals
from optimizers.curvature.dense import LIMIT, check_small, gradients_by_case, hessian
from optimizers.curvature.vectors import flat
from optimizers.errors import NotPositiveDefiniteError
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.eigen import eigen
from optimizers.solvers.woodbury import solve_with_rows
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole

Curvature: TypeAlias = Literal["diagonal", "hessian"]

CURVATURES: Final = ("diagonal", "hessian")


@final
class NaturalNewton(Whole):
    """δ = -lr (I + C / (n σ²))⁻¹ d̄, of the Newton directions d = (H + λ I)⁻¹ g of the n cases of the batch.

    d̄ is their mean and C their covariance. It is what to expect of the direction that all cases would give,
    having seen these: the normal distribution of d̄ about it has the covariance C / n, and before any
    case it is normal about 0 with the variance σ², `variance`. Where cases agree, or for a large σ², it is
    Newton's step; it is never longer. `cases` is n, where those of a batch do not stand for themselves.

    H is the diagonal of Gauss-Newton, for any model; or the Hessian, with absolute values for eigenvalues, of
    up to `limit` parameters. It is that of every `refresh_every`-th batch.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.3, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True),
        Hyperparameter(name="variance", kind="float", default=1.0, low=1e-3, high=1e3, log=True),
        Hyperparameter(name="directions", kind="categorical", default="diagonal", choices=CURVATURES),
        Hyperparameter(name="refresh_every", kind="int", default=1, low=1, high=50, log=True),
    )
    _own = Whole._own | {  # noqa: SLF001
        "_directions", "_refresh_every", "_cases", "_inverse", "_names", "_updates",
    }  # fmt: skip

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.3,
        damping: float = 0.1,  # λ
        variance: float = 1.0,  # σ²
        directions: Curvature = "diagonal",
        refresh_every: int = 1,  # updates
        cases: int | None = None,  # n; None: of the batch
        limit: int = LIMIT,
        group: Group = None,
    ) -> None:
        if directions not in CURVATURES:
            raise ValueError(f"directions are by the 'diagonal' or the 'hessian', got {directions!r}.")
        for name, count in (("refresh_every", refresh_every), ("cases", cases)):
            if count is not None and count < 1:
                raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
        if not variance > 0:
            raise ValueError(f"variance must be above 0, got {variance!r}. Try 1.")
        settings = {"lr": lr, "damping": damping, "variance": variance}
        super().__init__(model, objective, settings, None, group)
        if directions == "hessian":
            check_small(self._model, type(self).__name__, limit)
        self._directions, self._refresh_every, self._cases = directions, refresh_every, cases
        self._inverse: Tensor | None = None  # of H + λ I, a matrix or a diagonal
        self._names: list[str] = []  # of the parameters it is of
        self._updates = 0

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        lr, damping, variance = (float(self.param_groups[0][name]) for name in ("lr", "damping", "variance"))
        with torch.no_grad(), watch.phase("curvature"):
            inverse = self._inverse_of(given, damping)
            if not inverse.isfinite().all():
                return None
        with torch.no_grad(), watch.phase("solve"):
            own = gradients_by_case(given.network, self._objective, given.targets)
            rows = _times(inverse, self._processes.rows_of_all(own))
            around = (rows - rows.mean(dim=0)) / math.sqrt(len(rows))  # of these, C is the sum of squares
            n = self._cases or len(rows)
            direction = solve_with_rows(around / math.sqrt(n * variance), _times(inverse, gradient), 1.0)
        if not direction.isfinite().all():
            return None
        self._inverse, self._names, self._updates = inverse, [*given.network.params], self._updates + 1
        return -lr * direction, {}

    def _inverse_of(self, given: Given, damping: float) -> Tensor:
        """Return (H + λ I)⁻¹, not finite where H is not. Raises NotPositiveDefiniteError."""
        is_due = self._updates % self._refresh_every == 0 or self._names != [*given.network.params]
        if self._inverse is not None and not is_due:
            return self._inverse.to(flat(given.network.params))
        if self._directions == "diagonal":
            own = flat(diagonals.gauss_newton(given.network, self._objective))
            [diagonal] = self._of_all([own], given.targets)
            return _reciprocal(diagonal + damping)
        [matrix] = self._of_all([hessian(given.network, self._objective, given.targets)], given.targets)
        if not matrix.isfinite().all():
            return matrix
        values, vectors = eigen(matrix, "Hessian")
        return (vectors * _reciprocal(values.abs() + damping)) @ vectors.mT

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        held = {"inverse": self._inverse, "names": self._names, "updates": self._updates}
        return {**super().state_dict(), **held}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings and the inverse of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._inverse, self._names = state_dict["inverse"], list(state_dict["names"])
        self._updates = state_dict["updates"]


def _times(inverse: Tensor, rows: Tensor) -> Tensor:
    """Return H⁻¹ g of each row, for a symmetric inverse or its diagonal."""
    return rows * inverse if inverse.dim() == 1 else rows @ inverse


def _reciprocal(eigenvalues: Tensor) -> Tensor:
    if (eigenvalues == 0).any():
        raise NotPositiveDefiniteError(eigenvalues)
    return eigenvalues.reciprocal()
