"""Momentum that is a matrix: it solves for Newton's step while the parameters move (Orr 1996)."""

from typing import final

import torch
from torch import Tensor, nn

from optimizers.curvature.products import CURVATURES, WORTH_A_SEARCH, Curvature, product_with
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.remembering import Remembering, Vectors
from optimizers.whole import Given


@final
class MatrixMomentum(Remembering):
    """θ ← θ + lr u,   u ← (I - velocity_lr B) u - velocity_lr g.

    Where θ rests u comes to -B⁻¹g, as long as velocity_lr is below 2 over the largest curvature. On a
    quadratic, with lr 1, it is the heavy ball that loses nothing: a smaller lr is what makes it settle.
    B is the Gauss-Newton, Hessian or Fisher matrix of each batch, and u begins with -velocity_lr g,
    where it was 0.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="velocity_lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="curvature", kind="categorical", default="gauss_newton", choices=WORTH_A_SEARCH),
    )
    _keeps = ("velocity",)
    _own = Remembering._own | {"_of"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,  # α
        velocity_lr: float = 0.1,  # κ
        curvature: Curvature = "gauss_newton",
        group: Group = None,
    ) -> None:
        if curvature not in CURVATURES:
            raise ValueError(f"curvature is one of {', '.join(CURVATURES)}; got {curvature!r}.")
        super().__init__(model, objective, {"lr": lr, "velocity_lr": velocity_lr}, None, group)
        self._of: Curvature = curvature

    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        lr, velocity_lr = (float(self.param_groups[0][name]) for name in ("lr", "velocity_lr"))
        u = torch.where(kept["velocity"] == 0, -velocity_lr * gradient, kept["velocity"])
        product = product_with(self._of, given.network, self._objective, given.targets)
        [curved] = self._of_all([product(u)], given.targets)
        return lr * u, {"velocity": u - velocity_lr * (gradient + curved)}
