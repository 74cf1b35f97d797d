"""The natural gradient by a few steps of a linear solver (Pascanu & Bengio 2014, algorithm 1)."""

import math
from typing import Any, Final, Literal, TypeAlias, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian
from optimizers.damping.levenberg_marquardt import LevenbergMarquardt
from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.last_vector import LastVector
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.cg import Product, conjugate_gradients
from optimizers.solvers.minres import minres_qlp
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.usual_loop import needs_the_batch
from optimizers.whole import Given, Whole

Solver: TypeAlias = Literal["cg", "minres_qlp"]
Ratio: TypeAlias = Literal["quadratic", "first_order"]

SOLVERS: Final = ("cg", "minres_qlp")


@final
class TruncatedNaturalGradient(Whole):
    """δ = -lr d, d after at most `iterations` steps of a solver of (F + (λ + η) I) d = ∇h.

    F is the exact Fisher matrix of the model's predictions, which no target enters: that of the batch, or of
    any inputs that `step` gets as `statistics`, labelled or not. A metric of other cases than the gradient's
    knows no bound on the step: with little damping the loss of the batch may rise.

    With `adapts`, λ follows how well δ was foreseen: by the undamped quadratic model, or by the slope alone
    (`ratio`; by default the slope from lr 2 on, where the model does not hold). A step that the model did not
    foresee is then not taken. That is for large batches: small ones are foreseen too well, and λ falls until
    a step fits its own batch alone.

    With "minres_qlp" and no damping, d is the shortest solution, where there are many.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=1.0, low=1e-2, high=5.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-3, high=10.0, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
        Hyperparameter(name="adapts", kind="boolean", default=False),
        Hyperparameter(name="iterations", kind="int", default=20, low=1, high=100, log=True),
    )
    _own = Whole._own | {"_adapts", "_ratio", "_iterations", "_tolerance", "_solver", "_last"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        damping: float = 0.1,  # λ, or where it begins
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        adapts: bool = False,
        ratio: Ratio | None = None,  # None: by lr
        iterations: int = 20,
        tolerance: float = 1e-4,  # of ‖(F + (λ + η) I) d - ∇h‖ / ‖∇h‖
        solver: Solver = "cg",
        warm_start: float = 0.0,  # of the last d, where conjugate gradients begin
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        if iterations < 1:
            raise ValueError(f"iterations counts products and must be at least 1, got {iterations!r}.")
        if solver not in SOLVERS:
            raise ValueError(f"solver is 'cg' or 'minres_qlp', got {solver!r}.")
        if ratio not in {"quadratic", "first_order", None}:
            raise ValueError(f"ratio is 'quadratic', 'first_order' or None, got {ratio!r}.")
        if not 0 <= tolerance < math.inf:
            raise ValueError(f"tolerance must be finite and at least 0, got {tolerance!r}. Try 1e-4.")
        settings = {"lr": lr, "damping": damping, "l2": l2, "warm_start": warm_start}
        super().__init__(model, objective, settings, generator, group)
        self._adapts, self._ratio, self._solver = adapts, ratio, solver
        self._iterations, self._tolerance = iterations, tolerance
        self._last = LastVector()  # d

    @needs_the_batch
    def step(  # type: ignore[override]  # a batch, no closure
        self, inputs: Tensor, targets: Tensor, *, statistics: Tensor | None = None
    ) -> Step:
        """Take one update on a batch, in the metric of these inputs, or of those in `statistics`."""
        return self._precisely(inputs, targets, statistics)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        settings = self.param_groups[0]
        lr, shift = float(settings["lr"]), float(settings["damping"]) + float(settings["l2"])
        with torch.no_grad(), watch.phase("solve"):
            jacobian = Jacobian(given.statistics, recorded=True)
            product = self._fisher(jacobian, self._objective, shift=shift)
            solution, products = self._solved(product, gradient, given.network)
        if not solution.isfinite().all():
            return None
        if settings["warm_start"]:
            self._last.keep(solution, given.network.params)
        update, told = -lr * solution, {"iterations": products}
        if not self._adapts:
            return update, told
        with torch.no_grad(), watch.phase("judge"):
            return self._judged(given, gradient, update, product, told)

    def _solved(self, product: Product, gradient: Tensor, network: Network) -> tuple[Tensor, int]:
        if self._solver == "minres_qlp":
            found = minres_qlp(product, gradient, max_iterations=self._iterations, tolerance=self._tolerance)
            return found.solution, found.products
        solved = conjugate_gradients(
            product,
            gradient,
            start=self._start(network),
            max_iterations=self._iterations,
            progress=0.0,
            tolerance=self._tolerance,
        )
        return solved.solution, solved.iterations

    def _start(self, network: Network) -> Tensor | None:
        share = float(self.param_groups[0]["warm_start"])
        last = self._last.among(network.params) if share else None
        return None if last is None else last.mul_(share)

    def _judged(
        self, given: Given, gradient: Tensor, update: Tensor, product: Product, told: dict[str, Any]
    ) -> tuple[Tensor, dict[str, Any]]:
        settings = self.param_groups[0]
        lr, damping = float(settings["lr"]), float(settings["damping"])
        is_quadratic = (self._ratio or ("quadratic" if lr < 2 else "first_order")) == "quadratic"
        change = float(gradient @ update)
        if is_quadratic:
            change += float(update @ product(update) - damping * update @ update) / 2
        rule = LevenbergMarquardt() if is_quadratic else LevenbergMarquardt.first_order(lr)
        height = Height(self._objective, given.network, given.targets, float(settings["l2"]), self._processes)
        before, after = height(torch.zeros_like(update)), height(update)
        judgement = rule.judge(
            before=before,
            after=after,
            model_change=change,
            moved=bool(update.any()),
            dtype=gradient.dtype,
        )
        settings["damping"] = rule.next(damping, judgement)
        told |= {"model_change": change, "reduction_ratio": judgement.ratio}
        if judgement.rejected:
            return torch.zeros_like(update), {**told, "loss_after": before}
        return update, {**told, "loss_after": after}

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "last": self._last.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings, damping and last solution of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._last.load_state_dict(state_dict["last"])
