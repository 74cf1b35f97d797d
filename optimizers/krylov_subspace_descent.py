"""Krylov subspace descent (Vinyals & Povey 2012)."""

import math
from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.curvature import diagonals
from optimizers.curvature.products import Jacobian
from optimizers.curvature.vectors import flat, shaped
from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.last_vector import LastVector
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.cg import Product
from optimizers.solvers.eigen import eigen
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.usual_loop import needs_the_batch
from optimizers.whole import Given, Whole

NEGLIGIBLE = 1e-6  # of a vector: what is left of it beside a basis is rounding
FLOOR = 1e-4  # of the largest curvature in the subspace: the least that is divided by
RIDGE = 1e-2  # of the mean of the diagonal that preconditions


@final
class KrylovSubspaceDescent(Whole):
    """Lowers the loss within the space of P⁻¹∇h, P⁻¹B P⁻¹∇h, … and the last step, by BFGS.

    B is the Gauss-Newton matrix, P its diagonal as the empirical Fisher matrix has it. The subspace has
    `dimensions` of them; in it the coordinates are scaled by B, and BFGS takes up to `searches` steps from 0
    on the loss itself: there is no damping, and no line search along the step. lr multiplies the step.

    Best are three different batches: `step` takes inputs for the curvature as `statistics`, and inputs with
    targets to search on as `search`; each is the batch itself where none are given. A search that ends higher
    than it began, or a batch that is not finite, changes nothing.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=0.1, high=1.0, log=True),
        Hyperparameter(name="dimensions", kind="int", default=20, low=2, high=50, log=True),
        Hyperparameter(name="searches", kind="int", default=30, low=5, high=60, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
    )
    _own = Whole._own | {"_dimensions", "_searches", "_preconditions", "_last"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        dimensions: int = 20,  # K
        searches: int = 30,  # steps of BFGS
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        preconditions: bool = True,
        group: Group = None,
    ) -> None:
        for name, count in (("dimensions", dimensions), ("searches", searches)):
            if count < 1:
                raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
        super().__init__(model, objective, {"lr": lr, "l2": l2}, None, group)
        self._dimensions, self._searches, self._preconditions = dimensions, searches, preconditions
        self._last = LastVector()  # the last step

    @needs_the_batch
    def step(  # type: ignore[override]  # a batch, no closure
        self,
        inputs: Tensor,
        targets: Tensor,
        *,
        statistics: Tensor | None = None,
        search: tuple[Tensor, Tensor] | None = None,
    ) -> Step:
        """Take one update on a batch, with the curvature of `statistics`, as low as it leads on `search`."""
        return self._precisely(inputs, targets, statistics, search)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        with torch.no_grad(), watch.phase("curvature"):
            basis, curved = self._subspace(given, gradient)
            if not len(basis):
                return torch.zeros_like(gradient), {}
            scaled = _scaled(basis, curved)
        with watch.phase("search"):
            places, before, after = self._lowest(given, scaled)
        if not (after < before and places.isfinite().all()):
            return None
        settings = self.param_groups[0]
        update = float(settings["lr"]) * (scaled.mT @ places)
        self._last.keep(update, given.network.params)
        if given.search is not None or settings["lr"] != 1:  # else the search knows it
            l2 = float(settings["l2"])
            after = Height(self._objective, given.network, given.targets, l2, self._processes)(update)
        return update, {"loss_after": after, "iterations": len(basis)}

    def _subspace(self, given: Given, gradient: Tensor) -> tuple[Tensor, Tensor]:
        """Return orthonormal rows V, and the rows B v."""
        jacobian = Jacobian(given.statistics, recorded=True)
        product = self._fisher(jacobian, self._objective, shift=float(self.param_groups[0]["l2"]))
        precondition = self._preconditioned(given)
        rows: list[Tensor] = []
        images: list[Tensor] = []
        vector = precondition(gradient)
        for _ in range(self._dimensions):
            row = _beside(rows, vector)
            if row is None:
                break
            rows.append(row)
            images.append(product(row))
            vector = precondition(images[-1])
        last = self._last.among(given.network.params)
        row = None if last is None else _beside(rows, last)
        if row is not None:
            rows.append(row)
            images.append(product(row))
        if not rows:
            return gradient[None][:0], gradient[None][:0]
        return torch.stack(rows), torch.stack(images)

    def _preconditioned(self, given: Given) -> Product:
        """Return v -> P⁻¹ v."""
        if not self._preconditions:
            return lambda vector: vector
        found = flat(diagonals.empirical_fisher(given.network, self._objective, given.targets))
        [diagonal] = self._of_all([found], given.targets)
        diagonal = diagonal + max(RIDGE * float(diagonal.mean()), torch.finfo(diagonal.dtype).tiny)
        return lambda vector: vector / diagonal

    def _lowest(self, given: Given, scaled: Tensor) -> tuple[Tensor, float, float]:
        """Return a, where BFGS ends on φ(a) = h(θ + Vᵀ a), and φ at 0 and there."""
        network, targets = given.search or (given.network, given.targets)
        params, l2 = network.params, float(self.param_groups[0]["l2"])
        places = torch.zeros(len(scaled), dtype=scaled.dtype, device=scaled.device, requires_grad=True)
        found = []  # of each evaluation
        bfgs = torch.optim.LBFGS(
            [places], max_iter=self._searches, history_size=self._searches, line_search_fn="strong_wolfe"
        )

        def height() -> Tensor:
            with torch.enable_grad():
                change = scaled.mT @ places
                moved = {name: params[name] + part for name, part in shaped(change, params).items()}
                loss = self._objective.loss(network(moved), targets)
                loss = loss + l2 / 2 * flat(moved).square().sum()
                (slope,) = torch.autograd.grad(loss, places)
            value, places.grad = self._of_all([loss.detach(), slope], targets)
            found.append(float(value))
            return value

        bfgs.step(height)
        after = float(height())
        return places.detach(), found[0], after if math.isfinite(after) else math.inf

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "last": self._last.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the settings and the last step of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._last.load_state_dict(state_dict["last"])


def _beside(rows: list[Tensor], vector: Tensor) -> Tensor | None:
    """Return the direction of the vector that is orthogonal to these rows, None where there is none."""
    length = float(vector.norm())
    if not (rows or length) or not math.isfinite(length):
        return None
    left = vector / (length or 1.0)
    if rows:
        basis = torch.stack(rows)
        for _ in range(2):  # once is not enough in floating point
            left = left - basis.mT @ (basis @ left)
    rest = float(left.norm())
    return left / rest if rest > NEGLIGIBLE else None


def _scaled(basis: Tensor, images: Tensor) -> Tensor:
    """Return rows in which B is the identity, but for directions of hardly any curvature."""
    projected = (basis @ images.mT).double()
    values, vectors = eigen((projected + projected.mT) / 2, "subspace")
    least = FLOOR * max(float(values.max()), torch.finfo(values.dtype).tiny)
    turned = vectors / values.clamp(min=least).sqrt()
    return turned.mT.to(basis.dtype) @ basis
