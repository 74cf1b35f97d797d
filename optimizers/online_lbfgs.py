"""L-BFGS on mini-batches (Schraudolph, Yu & Günter 2007)."""

from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.remembering import Remembering, Vectors
from optimizers.sgd_qn import secant
from optimizers.whole import Given

NEGLIGIBLE = 1e-10  # of ‖s‖ ‖y‖: a curvature sᵀy so small, or negative, is not believed


@final
class OnlineLBFGS(Remembering):
    """δ = -lr H g, where H is made of the last `pairs` moves s and of what they did to the gradient, y.

        y = ∇h(θ + s) - ∇h(θ) + damping s,   both gradients of the batch that s was made for

    so that y is curvature and not the noise between batches. H is the inverse of BFGS, from a multiple of the
    identity on: the mean of sᵀy / yᵀy. A pair without positive curvature is forgotten, and as long as there
    is none, H is the identity.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-3, high=10.0, log=True),
        Hyperparameter(name="pairs", kind="int", default=10, low=2, high=50, log=True),
    )
    _own = Remembering._own | {"_keeps"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        damping: float = 0.1,  # λ
        pairs: int = 10,  # m
        group: Group = None,
    ) -> None:
        if pairs < 1:
            raise ValueError(f"pairs is a count and must be at least 1, got {pairs!r}.")
        super().__init__(model, objective, {"lr": lr, "damping": damping}, None, group)
        self._keeps = tuple(f"{what} {age}" for what in ("move", "change") for age in range(pairs))

    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        lr, damping = (float(self.param_groups[0][name]) for name in ("lr", "damping"))
        height = Height(self._objective, given.network, given.targets, 0.0, self._processes)
        vectors = [kept[what] for what in self._keeps]
        moves, changes = vectors[: len(vectors) // 2], vectors[len(vectors) // 2 :]  # the newest first

        move = -lr * inverse_product(moves, changes, gradient)
        change = secant(height, move, gradient) + damping * move
        if is_curved(move, change):
            moves, changes = [move, *moves[:-1]], [change, *changes[:-1]]
        return move, dict(zip(self._keeps, [*moves, *changes], strict=True))


def is_curved(move: Tensor, change: Tensor) -> bool:
    """Return whether the gradient rose along the move: so it does not where either is 0."""
    return bool(move @ change > NEGLIGIBLE * move.norm() * change.norm())


def inverse_product(moves: Sequence[Tensor], changes: Sequence[Tensor], vector: Tensor) -> Tensor:
    """Return H v, with the inverse H of BFGS by these pairs, the newest first (Nocedal 1980)."""
    pairs = [(s, y) for s, y in zip(moves, changes, strict=True) if is_curved(s, y)]
    if not pairs:
        return vector
    shares = []
    for s, y in pairs:
        shares.append(s @ vector / (s @ y))
        vector = vector - shares[-1] * y
    vector = torch.stack([s @ y / (y @ y) for s, y in pairs]).mean() * vector
    for (s, y), share in zip(reversed(pairs), reversed(shares), strict=True):
        vector = vector + (share - y @ vector / (s @ y)) * s
    return vector
