"""Quadratic models minimised within a trust region (Steihaug 1983, Toint 1981; Martens 2016, sec. 4.6.6)."""

import math
from typing import Any, Final, Literal, TypeAlias, final

import torch
from torch import Tensor, nn

from optimizers.curvature.products import Jacobian
from optimizers.damping.levenberg_marquardt import LevenbergMarquardt, next_radius
from optimizers.damping.line_search import backtrack
from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.cg import Product, dot
from optimizers.solvers.iterates import Heights
from optimizers.solvers.steihaug import Bounded, steihaug
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.usual_loop import needs_the_batch
from optimizers.whole import Given, Whole

Curvature: TypeAlias = Literal["gauss_newton", "hessian"]
CURVATURES: Final = ("gauss_newton", "hessian")


@final
class TrustRegion(Whole):
    """Minimises, in each update, a quadratic model of the loss within a radius, by conjugate gradients.

    They begin at 0, where they get longer from step to step, and end at the boundary: what is found lowers
    the Gauss-Newton model at least half as far as the best step of that length. Along negative curvature, of
    the Hessian, they go to the boundary at once. The radius is half as large again where a step that it held
    back was foreseen well, two thirds where one was foreseen badly. A line search shortens the step until the
    loss of the batch falls far enough; lr multiplies it.

    Batches should be large. A batch whose loss or gradient is not finite changes nothing.
    """

    hyperparameters = (
        Hyperparameter(name="radius", kind="float", default=1.0, low=1e-2, high=1e2, log=True),
        Hyperparameter(name="cg_steps", kind="int", default=250, low=5, high=300, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
        Hyperparameter(name="curvature", kind="categorical", default="gauss_newton", choices=CURVATURES),
        Hyperparameter(name="curvature_from_every", kind="int", default=1, low=1, high=10),
    )
    _own = Whole._own | {"_cg_steps", "_tolerance", "_curvature", "_cases"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        radius: float = 1.0,  # r, where it begins
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        cg_steps: int = 250,  # at most
        tolerance: float = 1e-3,  # of ‖(B + η I) δ + ∇h‖ / ‖∇h‖
        curvature: Curvature = "gauss_newton",
        curvature_from_every: int = 1,  # it is that of one of so many cases
        group: Group = None,
    ) -> None:
        if not 0 < radius < math.inf:
            raise ValueError(f"radius must be finite and above 0, got {radius!r}. Try 1.0.")
        if not 0 <= tolerance < math.inf:
            raise ValueError(f"tolerance must be finite and at least 0, got {tolerance!r}. Try 1e-3.")
        for name, count in (("cg_steps", cg_steps), ("curvature_from_every", curvature_from_every)):
            if count < 1:
                raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
        if curvature not in CURVATURES:
            raise ValueError(f"curvature is 'gauss_newton' or 'hessian', got {curvature!r}.")
        super().__init__(model, objective, {"lr": lr, "radius": radius, "l2": l2}, None, group)
        self._cg_steps, self._tolerance = cg_steps, tolerance
        self._curvature, self._cases = curvature, slice(None, None, curvature_from_every)

    @needs_the_batch
    def step(  # type: ignore[override]  # a batch, no closure
        self, inputs: Tensor, targets: Tensor, *, statistics: Tensor | None = None
    ) -> Step:
        """Take one update on a batch, with the curvature of these inputs, or of those in `statistics`."""
        if statistics is not None and self._curvature == "hessian":
            raise ValueError("The Hessian asks for targets: it can be that of the batch alone.")
        return self._precisely(inputs, targets, statistics)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        with torch.no_grad(), watch.phase("solve"):
            found = steihaug(
                self._product(given),
                -gradient,
                radius=float(self.param_groups[0]["radius"]),
                max_iterations=self._cg_steps,
                tolerance=self._tolerance,
            )
        with torch.no_grad(), watch.phase("judge"):
            return self._judged(given, gradient, found)

    def _product(self, given: Given) -> Product:
        """Return v -> (B + η I) v."""
        l2 = float(self.param_groups[0]["l2"])
        if self._curvature == "hessian":
            return self._hessian(given, self._cases, shift=l2)
        return self._fisher(
            Jacobian(given.statistics, recorded=True, cases=self._cases), self._objective, shift=l2
        )

    def _judged(self, given: Given, gradient: Tensor, found: Bounded) -> tuple[Tensor, dict[str, Any]]:
        """Return the step, after going back along it; the radius follows ρ."""
        settings, update = self.param_groups[0], found.solution
        lr, radius, l2 = (float(settings[name]) for name in ("lr", "radius", "l2"))
        height = Height(self._objective, given.network, given.targets, l2, self._processes)
        heights = Heights(height, gradient)
        least = torch.finfo(gradient.dtype).eps * abs(heights.before)
        if found.at_boundary and -found.objective <= least:  # flat: what led there may be rounding alone
            update = torch.zeros_like(update)
        judgement = LevenbergMarquardt().judge(
            before=heights.before,
            after=heights(found.products, update),
            model_change=found.objective,
            moved=bool(update.any()),
            dtype=gradient.dtype,
        )
        height_at = heights.along(found.products, update)
        alpha = backtrack(height_at, loss=heights.before, slope=dot(gradient, update))
        settings["radius"] = next_radius(radius, judgement, step_norm=math.sqrt(dot(update, update)))
        return lr * alpha * update, {
            "loss_after": height_at(lr * alpha),
            "radius": radius,
            "scale": alpha,
            "model_change": found.objective,
            "reduction_ratio": judgement.ratio,
            "iterations": found.products,
        }
