"""Hessian-free optimization (Martens 2010; Martens & Sutskever 2012). Sections: Martens (2016)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature import diagonals
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian
from optimizers.curvature.structural import Penalised, Watched, hidden_layers
from optimizers.curvature.vectors import Params, flat
from optimizers.damping.levenberg_marquardt import REJECTED, LevenbergMarquardt
from optimizers.damping.line_search import backtrack
from optimizers.height import Height
from optimizers.hyperparameter import Hyperparameter
from optimizers.last_vector import LastVector
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.solvers.cg import RESIDUAL, Product, Solved, conjugate_gradients
from optimizers.solvers.iterates import Heights, Worsening, back_tracked, is_kept, lowest
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.usual_loop import needs_the_batch
from optimizers.whole import Given, Whole

Curvature: TypeAlias = Literal["gauss_newton", "hessian"]
Preconditioner: TypeAlias = Literal["empirical_fisher", "gauss_newton", "none"]
PRECONDITIONERS: Final = ("empirical_fisher", "gauss_newton", "none")
WorseThan: TypeAlias = Literal["nothing", "ten_steps_ago", "best"]
WORSE_THAN: Final = ("nothing", "ten_steps_ago", "best")

LEAST = 1e-12  # of the largest: the least entry of the preconditioner


@final
class HessianFree(Whole):
    """Minimises, in each update, a quadratic model of the loss by conjugate gradients, from products alone.

    The model has the Gauss-Newton matrix and Tikhonov damping λ, which follows how well it foresaw the loss.
    Conjugate gradients begin with a part of what they ended with before, are preconditioned by a diagonal,
    and stop when the model gets hardly lower. Of their iterates the one is taken from which on, going
    backwards, the loss of the batch rises; a line search shortens it until that falls far enough. lr
    multiplies the step.

    `stop_if_worse_than` also stops them by the loss of the cases whose curvature it is: where that has risen
    by a tenth of all that it had fallen, above what it was ten steps ago or at best. By the former rule the
    next ones begin with the best iterate. `step` takes other cases as `search`, and the iterate is the best
    one for those.

    With `structural` above 0 the activities of hidden layers resist a change too, `structural` times λ as
    much: for recurrent networks, whose hidden states a small step may change by more than the model knows.

    Batches should be large. A batch whose loss or gradient is not finite changes nothing.
    """

    hyperparameters = (
        Hyperparameter(name="damping", kind="float", default=10.0, low=1e-2, high=1e3, log=True),
        Hyperparameter(name="warm_start", kind="float", default=0.95, low=0.0, high=1.0),
        Hyperparameter(name="cg_steps", kind="int", default=250, low=5, high=300, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
        Hyperparameter(name="structural", kind="float", default=0.0, low=0.0, high=0.1),
        Hyperparameter(
            name="preconditioner", kind="categorical", default="empirical_fisher", choices=PRECONDITIONERS
        ),
        Hyperparameter(name="curvature_from_every", kind="int", default=1, low=1, high=10),
        Hyperparameter(name="stop_if_worse_than", kind="categorical", default="nothing", choices=WORSE_THAN),
    )
    _own = Whole._own | {  # noqa: SLF001
        "_progress", "_worse_than", "_preconditioner", "_exponent", "_curvature", "_cases",
        "_structural", "_hidden", "_last",
    }  # fmt: skip

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 1.0,
        damping: float = 10.0,  # λ, where it begins
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        warm_start: float = 0.95,  # ζ, of the last solution
        cg_steps: int = 250,  # at most
        progress: float = 1e-4,  # ε of eq. 4.2
        stop_if_worse_than: WorseThan = "nothing",
        preconditioner: Preconditioner = "empirical_fisher",
        exponent: float = 0.75,  # ξ
        curvature: Curvature = "gauss_newton",
        curvature_from_every: int = 1,  # it is that of one of so many cases
        structural: float = 0.0,  # μ, of λ
        hidden: Sequence[str] | None = None,  # names of layers; None: activations and recurrent layers
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        if cg_steps < 1:
            raise ValueError(f"cg_steps counts products and must be at least 1, got {cg_steps!r}.")
        if curvature_from_every < 1:
            raise ValueError(
                f"curvature_from_every is a count and must be at least 1, got {curvature_from_every!r}."
            )
        if preconditioner not in PRECONDITIONERS:
            raise ValueError(
                f"preconditioner is one of {', '.join(PRECONDITIONERS)}; got {preconditioner!r}."
            )
        if stop_if_worse_than not in WORSE_THAN:
            raise ValueError(
                f"stop_if_worse_than is one of {', '.join(WORSE_THAN)}; got {stop_if_worse_than!r}."
            )
        if curvature not in {"gauss_newton", "hessian"}:
            raise ValueError(f"curvature is 'gauss_newton' or 'hessian', got {curvature!r}.")
        if not 0 <= structural < math.inf:
            raise ValueError(f"structural must be finite and at least 0, got {structural!r}. Try 0.03.")
        if structural and curvature == "hessian":
            raise ValueError("structural damping is a part of the Gauss-Newton matrix; take that curvature.")
        settings = {"lr": lr, "damping": damping, "l2": l2, "warm_start": warm_start, "cg_steps": cg_steps}
        super().__init__(model, objective, settings, generator, group)
        hidden = hidden_layers(self._model) if hidden is None else hidden
        if structural and not hidden:
            raise ValueError(
                "structural damping holds hidden layers, and none is known. Name them in `hidden`."
            )
        Watched(self._model, hidden)  # refuses unknown names
        self._progress, self._worse_than = progress, stop_if_worse_than
        self._preconditioner, self._exponent = preconditioner, exponent
        self._curvature, self._cases = curvature, slice(None, None, curvature_from_every)
        self._structural, self._hidden = structural, tuple(hidden)
        self._last = LastVector()  # solution

    @needs_the_batch
    def step(  # type: ignore[override]  # a batch, no closure
        self,
        inputs: Tensor,
        targets: Tensor,
        *,
        statistics: Tensor | None = None,
        search: tuple[Tensor, Tensor] | None = None,
    ) -> Step:
        """Take one update on a batch, with the curvature of these inputs, or of those in `statistics`.

        Of the iterates the one is taken that is lowest for the inputs and targets of `search`, which may be
        the start; without them the one that going back along the batch's own losses leads to.
        """
        if statistics is not None and self._curvature == "hessian":
            raise ValueError("The Hessian asks for targets: it can be that of the batch alone.")
        return self._precisely(inputs, targets, statistics, search)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        settings, network, targets = self.param_groups[0], given.network, given.targets
        damping, l2 = float(settings["damping"]), float(settings["l2"])
        with torch.no_grad(), watch.phase("curvature"):
            model = self._model_of(given, damping, l2)
            precondition = self._preconditioned(network, targets, damping + l2)
        with torch.no_grad(), watch.phase("solve"):
            heights = Heights(Height(self._objective, network, targets, l2, self._processes), gradient)
            worsening = self._worsening(given, gradient, heights)
            solved = conjugate_gradients(
                model.damped,
                -gradient,
                start=self._start(network),
                precondition=precondition,
                max_iterations=int(settings["cg_steps"]),
                progress=self._progress,
                keep=is_kept if given.search is None else lambda number: number == 0 or is_kept(number),
                stop=worsening,
            )
        with torch.no_grad(), watch.phase("judge"):
            return self._judged(given, gradient, solved, model, heights, worsening)

    def _worsening(self, given: Given, gradient: Tensor, heights: Heights) -> Worsening | None:
        """Return what stops conjugate gradients by the loss of the cases whose curvature it is."""
        if self._worse_than == "nothing":
            return None
        if self._cases.step > 1:
            l2 = float(self.param_groups[0]["l2"])
            height = Height(self._objective, given.network, given.targets, l2, self._processes, self._cases)
            heights = Heights(height, gradient)
        return Worsening(heights, above=self._worse_than)

    def _chosen(self, given: Given, solved: Solved, heights: Heights) -> int:
        """Return the number of the iterate to take."""
        if given.search is None:
            return back_tracked(solved.iterates, heights)
        l2 = float(self.param_groups[0]["l2"])
        height = Height(self._objective, *given.search, l2, self._processes)
        return lowest(solved.iterates, Heights(height, solved.solution))

    def _judged(
        self,
        given: Given,
        gradient: Tensor,
        solved: Solved,
        model: "Model",
        heights: Heights,
        worsening: Worsening | None,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return the step, after a choice of iterate and going back along it; damping follows ρ."""
        settings, rule, judgement = self.param_groups[0], LevenbergMarquardt(), REJECTED
        number = self._chosen(given, solved, heights)
        update = solved.iterates[number]
        change, slope = model.undamped(update, solved.objectives[number]), float(gradient @ update)
        has_arrived = solved.stopped == RESIDUAL and not solved.iterations
        if slope < 0 or has_arrived:
            judgement = rule.judge(
                before=heights.before,
                after=heights(number, update),
                model_change=change,
                moved=bool(update.any()),
                dtype=gradient.dtype,
            )
            kept = solved.iterations
            if worsening is not None and self._worse_than == "ten_steps_ago":
                kept = worsening.best
            self._last.keep(solved.iterates[kept], given.network.params)
        height_at = heights.along(number, update)
        alpha = backtrack(height_at, loss=heights.before, slope=slope)
        settings["damping"] = rule.next(float(settings["damping"]), judgement)
        share = float(settings["lr"]) * alpha
        return share * update, {
            "loss_after": height_at(share),
            "scale": alpha,
            "model_change": change,
            "reduction_ratio": judgement.ratio,
            "iterations": solved.iterations,
        }

    def _model_of(self, given: Given, damping: float, l2: float) -> "Model":
        network = given.statistics
        if self._curvature == "hessian":
            return Model(self._hessian(given, self._cases), damping, l2)
        if not self._structural:
            jacobian = Jacobian(network, recorded=True, cases=self._cases)
            return Model(self._fisher(jacobian, self._objective), damping, l2)
        watched = Network(Watched(self._model, self._hidden), network.inputs)
        watched.masks = {f"model.{name}": masks for name, masks in network.masks.items()}
        jacobian = Jacobian(watched, recorded=True, cases=self._cases)
        size = network(network.params, slice(1)).shape[1:]
        penalised = Penalised(objective=self._objective, strength=self._structural * damping, outputs=size)

        def length(update: Tensor) -> float:
            [mean] = self._of_all([penalised.length(jacobian.push(update))], jacobian.outputs)
            return penalised.strength * float(mean)

        return Model(self._fisher(jacobian, penalised), damping, l2, length)

    def _preconditioned(self, network: Network, targets: Tensor, shift: float) -> Product | None:
        """Return v -> P⁻¹ v, P = (diag B + λ + η)^ξ."""
        if self._preconditioner == "none":
            return None
        [diagonal] = self._of_all([flat(self._diagonal(network, targets))], targets)
        diagonal = diagonal + shift
        powers = diagonal.clamp(min=LEAST * float(diagonal.max())).pow(-self._exponent)
        return lambda vector: powers * vector

    def _diagonal(self, network: Network, targets: Tensor) -> Params:
        if self._preconditioner == "empirical_fisher":
            return diagonals.empirical_fisher(network, self._objective, targets)
        outputs = network(network.params)
        signs = diagonals.random_signs(outputs, self._own_stream(outputs.device))
        return diagonals.chapelle_erhan(network, self._objective, signs)

    def _start(self, network: Network) -> Tensor | None:
        last = self._last.among(network.params)
        self._last.forget()  # so that it is not in memory beside those of conjugate gradients
        return None if last is None else last.mul_(float(self.param_groups[0]["warm_start"]))

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), "last": self._last.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over settings, damping, last solution and random stream of a saved optimizer."""
        super().load_state_dict(state_dict)
        self._last.load_state_dict(state_dict["last"])


@dataclass(frozen=True)
class Model:
    """The quadratic model of an update, M(δ) = ∇hᵀδ + ½ δᵀ(B + η I)δ, and what damps it."""

    product: Product  # with B, structural damping included
    damping: float  # λ
    l2: float  # η
    structural: Callable[[Tensor], float] = lambda _: 0.0  # κ δᵀ D_s δ

    def damped(self, vector: Tensor) -> Tensor:
        """Return (B + (λ + η) I) v."""
        return self.product(vector).add_(vector, alpha=self.damping + self.l2)

    def undamped(self, update: Tensor, damped: float) -> float:
        """Return M(δ) - M(0), of the value that conjugate gradients found (sec. 4.6.5)."""
        if not update.any():
            return 0.0
        return (
            damped - (self.damping * float(update.double() @ update.double()) + self.structural(update)) / 2
        )
