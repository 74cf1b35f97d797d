"""K-FAC (Martens & Grosse 2015). Equations, sections and algorithms are those of Martens' thesis (2016)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias, final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.block_diagonal import BlockDiagonal
from optimizers.curvature.block_tridiagonal import BlockTridiagonal
from optimizers.curvature.matrices import Matrices, fitted, inner, norm, plus, times
from optimizers.curvature.products import Jacobian, fisher, fisher_inner
from optimizers.curvature.statistics import Targets
from optimizers.curvature.vectors import flat, shaped
from optimizers.damping.factor_damping import FactorDamping, best
from optimizers.damping.factored import Norm
from optimizers.damping.levenberg_marquardt import (
    AS_BEFORE,
    CEILING,
    REJECTED,
    Judgement,
    LevenbergMarquardt,
)
from optimizers.damping.rescaling import best_multiples, model_change
from optimizers.errors import SingularFactorError
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.kronecker_factored import KroneckerFactored, check_settings, share
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.seen import Seen
from optimizers.solvers.cg import conjugate_gradients
from optimizers.solvers.outliving import Outliving
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch

Inverse: TypeAlias = BlockDiagonal | BlockTridiagonal
InverseName: TypeAlias = Literal["block_diagonal", "block_tridiagonal"]

INVERSES: Final[Mapping[str, Callable[..., Inverse]]] = {
    "block_diagonal": BlockDiagonal,
    "block_tridiagonal": BlockTridiagonal,
}
FIRST = 3  # updates, in which averages still change much: inverses are computed in each
ADAPT_EVERY = 5  # updates between two changes of λ, T₁
SEARCH_EVERY = 20  # updates, at least, between two searches for γ, T₂
UNJUDGED = 10.0  # times the mean curvature: λ where the loss is not known at other weights
TRIALS = 8  # of λ on the first batch
RISE = 10.0  # from one of them to the next, and after a step that would lead far up
WILD = Judgement(ratio=None, model_is_trusted=False, rejected=True)


@dataclass(frozen=True, kw_only=True)
class Move:
    """A step that may be taken, and what the quadratic model says of it where one was asked."""

    update: Matrices  # δ
    inverse: Inverse
    gamma: float  # γ
    scale: float | None = None  # α
    momentum: float | None = None  # μ
    model_change: float | None = None  # M(δ) - M(0)
    before: float | None = None  # h at θ of the cases that M knows

    @cached_property
    def length(self) -> float:
        """‖δ‖."""
        return norm(self.update)


@final
class KFAC(KroneckerFactored):
    """Natural gradient by Kronecker factors of the true Fisher matrix, for any model.

    Without `lr` it is algorithm 7 of Martens (2016): how far to go along the preconditioned gradient, and how
    much of the last step to add, is what minimises a quadratic model with the exact Fisher matrix, and
    damping follows how well that model foresaw the loss. `lr` in `param_groups` is then 1 and multiplies each
    step. With `lr` a step is -lr times the preconditioned gradient, and damping is what it is told to be.

    It takes batches, step(inputs, targets), or works in the usual loop: after loss.backward(), or with a
    closure. There the model runs again on what its calls were given, and must take one tensor.

    A batch whose loss, gradient or curvature is not finite changes no weight. Without a generator, one is
    seeded from torch's global stream, so torch.manual_seed repeats a run. Raises UnsupportedModelError for
    gradients that are not dense.
    """

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        Hyperparameter(name="lr", kind="float", default=None, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=None, low=1e-4, high=100.0, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
        Hyperparameter(name="inverse", kind="categorical", default="block_diagonal", choices=tuple(INVERSES)),
        Hyperparameter(name="momentum", kind="boolean", default=True),
        Hyperparameter(name="decay", kind="float", default=0.95, low=0.0, high=0.99),
        Hyperparameter(name="refresh_every", kind="int", default=20, low=1, high=100, log=True),
    )

    kept = (*KroneckerFactored.kept, "is_adaptive", "refreshed_at", "gamma", "last")
    shared = (*KroneckerFactored.shared, "damping")

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float | None = None,  # None: found in each step
        damping: float | None = None,  # λ, or where it begins; None: found on the first batch
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        inverse: InverseName = "block_diagonal",
        momentum: bool = True,  # no matter with lr
        decay: float = 0.95,  # of the averages of factors; 0: those of one batch, at each refresh
        refresh_every: int = 20,  # updates, T₃
        statistics_from_every: int | None = None,  # the factors know one of so many cases, 1/τ₁; None: of 8
        model_from_every: int | None = None,  # and so does the quadratic model, 1/τ₂; None: of 4
        cg_steps: int = 1,  # on that model, K-FAC as their preconditioner; no matter with lr
        targets: Targets = "sampled",  # over which the Fisher matrix takes its expectation
        split: Norm | None = "trace",  # of damping between a layer's two factors, π
        generator: Generator | None = None,
        params: Params | None = None,
        group: Group = None,
    ) -> None:
        check_settings(
            lr=lr,
            damping=damping,
            l2=l2,
            decay=decay,
            targets=targets,
            refresh_every=refresh_every,
            statistics_from_every=statistics_from_every,
            model_from_every=model_from_every,
            cg_steps=cg_steps,
        )
        if inverse not in INVERSES:
            raise ValueError(f"inverse is one of {', '.join(INVERSES)}, got {inverse!r}.")
        if lr is not None and statistics_from_every is None:
            statistics_from_every = 1
        self._is_adaptive, self._has_momentum = lr is None, momentum
        self._model_from_every = model_from_every
        self._cg_steps = cg_steps
        self._gamma = math.nan  # γ, of the inverse at hand
        self._last: Matrices | None = None  # δ₀
        self._refreshed_at = math.nan  # λ when the inverse was computed
        self._rivals: list[tuple[float, Inverse]] = []  # γ and inverses, for the next search
        self._inverse_of = partial(INVERSES[inverse], norm=split)
        settings = {
            "lr": 1.0 if lr is None else lr,
            "damping": 0.1 if damping is None and lr is not None else damping,
            "l2": l2,
            "refresh_every": refresh_every,
        }
        super().__init__(
            model,
            objective,
            params,
            settings,
            decay=decay,
            targets=targets,
            statistics_from_every=statistics_from_every,
            generator=generator,
            group=group,
        )
        self._inverse = self._no_inverse()

    @classmethod
    def simple(
        cls,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.3,
        damping: float = 0.1,
        refresh_every: int = 100,
        **settings: Any,
    ) -> Self:
        """Return the plain form: now and then factors of one whole batch, steps of lr, constant damping."""
        usual = {"lr": lr, "damping": damping, "refresh_every": refresh_every, "decay": 0.0}
        return cls(model, objective, **{**usual, **settings})

    @classmethod
    def empirical(cls, model: nn.Module, objective: Objective, **settings: Any) -> Self:
        """Return the form whose factors take the data's targets: cheaper, and not the Fisher matrix."""
        return cls(model, objective, targets="data", **settings)

    @classmethod
    def heskes(
        cls,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.3,
        damping: float = 1e-4,
        **settings: Any,
    ) -> Self:
        """Return the form of Heskes (2000): exact G, √λ added to both factors alike, steps of lr."""
        return cls(model, objective, lr=lr, damping=damping, targets="exact", split=None, **settings)

    def _told(self, name: str, value: object) -> object:
        if name == "lr" and self._is_adaptive:
            return f"{value} times what each step finds"
        return "found on the first batch" if name == "damping" and value is None else value

    def _wants_pairs(self) -> bool:
        return self._inverse.uses_crosses

    def _update(self, seen: Seen, told: Step, watch: Stopwatch) -> Step:
        if self._settings["damping"] is None:
            with watch.phase("damping"):
                self._set_damping(self._first_damping(seen))
        damping = float(self._settings["damping"])
        with watch.phase("prepare"):
            self._prepare()
        with watch.phase("solve"):
            move = self._move(seen, damping)
        with watch.phase("judge"):
            judgement, after = self._judged(seen, move)
            self._take(seen, move, judgement)
        return replace(
            told,
            damping=damping,
            update_norm=0.0 if judgement.rejected else move.length,
            loss_after=after,
            factor_damping=move.gamma if self._is_adaptive else None,
            scale=move.scale,
            momentum=move.momentum,
            model_change=move.model_change,
            reduction_ratio=judgement.ratio,
            ages=self._ages(move.update),
            seconds=watch.seconds,
        )

    def _set_damping(self, damping: float) -> None:
        for group in self.param_groups:
            group["damping"] = damping

    def _gamma_at(self, damping: float) -> float:
        """Return √(λ + η), of the largest η there is."""
        return math.sqrt(damping + self._largest_l2())

    def _largest_l2(self) -> float:
        return float(max(group["l2"] for group in self.param_groups))

    # What step to take

    def _is_due(self, seen: Seen) -> bool:
        """Return whether this update computes all inverses anew (algorithm 7)."""
        update, every = self._updates + 1, self._settings["refresh_every"]
        if self._inverse.lacks(seen.gradients) or (self._is_adaptive and math.isnan(self._gamma)):
            return True
        if self._averages.decay == 0:
            return self._updates % every == 0  # type: ignore[no-any-return]
        is_time = update % every == 0 and not self._spreads
        return update <= FIRST or is_time or self._has_damping_moved()

    @property
    def _spreads(self) -> bool:
        """Whether a refresh is spread; where γ is searched for, the inverses of one γ are of one age."""
        return self._averages.decay > 0 and not self._is_adaptive

    def _has_damping_moved(self) -> bool:
        if self._is_adaptive:  # γ goes its own way
            return False
        return not 0.5 <= self._settings["damping"] / self._refreshed_at <= 2

    def _move(self, seen: Seen, damping: float) -> Move:
        tried = self._tried(seen, damping)
        if self._is_adaptive:
            return self._best_move(seen, tried, damping)
        [(gamma, inverse)] = tried
        solved = inverse.solve(seen.gradients, seen.low_rank)
        update = times(solved, {name: -lr for name, lr in self._of_blocks("lr").items()})
        return Move(update=update, inverse=inverse, gamma=gamma)

    def _tried(self, seen: Seen, damping: float) -> list[tuple[float, Inverse]]:
        """Return the inverse in force, or those that compete for it."""
        if self._until_search() == 0 and self._rivals:
            rivals, self._rivals = self._rivals, []
            if not any(inverse.lacks(seen.gradients) for _, inverse in rivals):
                self._note_refreshed(self._statistics().factors, before=1)
                return rivals
        due = self._due(seen)
        if not due:
            return [(self._gamma, self._inverse)]
        goes_its_way = self._is_adaptive and math.isfinite(self._gamma)
        gamma = self._gamma if goes_its_way else self._gamma_at(damping)
        self._note_refreshed(due)
        return [(gamma, self._inverse.refreshed(self._statistics(), gamma, only=due))]

    def _due(self, seen: Seen) -> list[str]:
        if self._is_due(seen):
            self._refreshed_at = self._settings["damping"]
            return list(self._statistics().factors)
        return self._share_of_refresh() if self._spreads else []

    def _prepare(self) -> None:
        """Compute one of the inverses of the next search for γ: no update shall pay for all (sec. 6.6.6)."""
        if not self._is_adaptive or self._updates <= FIRST or math.isnan(self._gamma):
            return
        gammas = self._search().candidates(self._gamma, 0)
        if 1 <= self._until_search() <= len(gammas):
            gamma = gammas[self._until_search() - 1]  # γ itself comes last
            self._rivals.append((gamma, self._inverse.refreshed(self._statistics(), gamma)))

    def _until_search(self) -> int:
        return -(self._updates + 1) % self._search().every

    def _search(self) -> FactorDamping:
        refresh = self._settings["refresh_every"]
        every = refresh * math.ceil(SEARCH_EVERY / refresh)  # T₂
        return FactorDamping(every=every, l2=self._largest_l2())

    def _best_move(self, seen: Seen, tried: Sequence[tuple[float, Inverse]], damping: float) -> Move:
        """Return δ = α Δ + μ δ₀ by the inverse with which M(δ) is lowest (sec. 6.6.4, 6.6.6, 6.7)."""
        fastest, speeds = self._speeds()
        last = [] if self._last is None else [times(fitted(self._last, seen.gradients), speeds)]
        jacobian = Jacobian(seen.network, cases=self._cases_of_model(seen))
        directions = [
            times(self._direction(seen, inverse, jacobian, damping), speeds) for _, inverse in tried
        ]
        quadratic, slopes = self._model_along(seen, [*directions, *last], jacobian, damping)
        before = seen.h_of(jacobian.outputs, self._cases_of_model(seen))
        moves = []
        for place, (gamma, inverse) in enumerate(tried):
            places = [place, len(tried)] if last else [place]
            k, r = quadratic[places][:, places], slopes[places]
            multiples = fastest * best_multiples(k, r)
            alpha, mu = [*multiples.tolist(), 0.0][:2]
            update = times(directions[place], alpha)
            move = Move(
                update=plus(update, last[0], mu) if last else update,
                inverse=inverse,
                gamma=gamma,
                scale=alpha,
                momentum=mu,
                model_change=model_change(k, r, multiples),
                before=before,
            )
            moves.append(move)
        return _lowest(moves)

    def _speeds(self) -> tuple[float, dict[str, float]]:
        """Return the largest lr, which multiplies the step, and that of each block beside it."""
        lrs = self._of_blocks("lr")
        fastest = max(lrs.values())
        return fastest, {name: lr / fastest if fastest else 1.0 for name, lr in lrs.items()}

    def _direction(self, seen: Seen, inverse: Inverse, jacobian: Jacobian, damping: float) -> Matrices:
        """Return Δ: the preconditioned gradient, or what some steps of conjugate gradients make of it."""
        if self._cg_steps == 1:  # the same but for its length, which M decides
            return times(inverse.solve(seen.gradients, seen.low_rank), -1.0)
        like, shift = jacobian.network.params, self._shift(damping)

        def joined(matrices: Matrices) -> Tensor:
            return flat(shaped(seen.tensors(matrices), like))

        def curved(vector: Tensor) -> Tensor:
            product: Tensor = fisher(jacobian, self._objective, vector)
            [product] = self._processes.means([product], len(jacobian.outputs))
            return product + shifts * vector

        def apart(vector: Tensor) -> Matrices:
            return seen.matrices(shaped(vector, like))

        shifts = joined({name: torch.full_like(g, shift[name]) for name, g in seen.gradients.items()})
        solved = conjugate_gradients(
            curved,
            -joined(seen.gradients),
            precondition=lambda vector: joined(inverse.solve(apart(vector))),
            max_iterations=self._cg_steps,
        )
        return apart(solved.solution)

    def _shift(self, damping: float) -> dict[str, float]:
        """Return λ + η of each block."""
        return {name: damping + l2 for name, l2 in self._of_blocks("l2").items()}

    def _model_along(
        self, seen: Seen, directions: Sequence[Matrices], jacobian: Jacobian, damping: float
    ) -> tuple[Tensor, Tensor]:
        """Return all uᵀ(F + (λ + η) I)v with the exact F, and all ∇hᵀu, between directions (B.3)."""
        vectors = [seen.tensors(direction) for direction in directions]
        curved = fisher_inner(jacobian, self._objective, *vectors).double()
        shift = self._shift(damping)
        squares = torch.stack([torch.stack([inner(u, v, shift) for v in directions]) for u in directions])
        slopes = torch.stack([inner(seen.gradients, u) for u in directions])
        quadratic = curved + squares
        # The slopes are those of all already, but all processes must go on by the same ones, bit by bit.
        quadratic, slopes = self._processes.means([quadratic, slopes], len(jacobian.outputs))
        return quadratic, slopes

    def _first_damping(self, seen: Seen) -> float:
        """Return the typical curvature: where blocks differ, λ much above it would hold most of them still.

        It is raised until the batch trusts the step that it gives. Where nobody can tell how a step went, λ
        has to do for all that come: it is well above the mean curvature.
        """
        if not seen.knows_the_loss:
            return UNJUDGED * self._statistics().mean_curvature()
        damping = self._statistics().typical_curvature()
        for _ in range(TRIALS):
            if self._is_trusted(seen, damping):
                break
            damping *= RISE
        return damping

    def _is_trusted(self, seen: Seen, damping: float) -> bool:
        gamma = self._gamma_at(damping)
        try:
            inverse = self._inverse.refreshed(self._statistics(), gamma)
        except SingularFactorError:  # where slopes vanish on their way down, so does typical curvature
            return False
        move = self._best_move(seen, [(gamma, inverse)], damping)
        return self._judgement(seen, move, seen.h(move.update)).model_is_trusted is not False

    # How it went

    def _judged(self, seen: Seen, move: Move) -> tuple[Judgement, float | None]:
        """Judge the step, and let λ follow: every T₁ updates by ρ, else only where M foresees no descent."""
        if not self._is_adaptive:
            return AS_BEFORE if math.isfinite(move.length) else REJECTED, None
        if self._is_wild(seen, move):
            self._set_damping(min(self._settings["damping"] * RISE, CEILING))
            return WILD, None
        rule = LevenbergMarquardt.every(ADAPT_EVERY)
        after = None
        if (self._updates + 1) % ADAPT_EVERY == 0 and seen.knows_the_loss:
            after = seen.h(move.update)
            judgement = self._judgement(seen, move, after)
        else:
            foresees = move.model_change is not None and move.model_change <= 0
            judgement = AS_BEFORE if foresees else REJECTED
        if judgement is not AS_BEFORE:
            self._set_damping(rule.next(self._settings["damping"], judgement))
        return judgement, seen.h() if judgement.rejected and after is not None else after

    def _is_wild(self, seen: Seen, move: Move) -> bool:
        """Tell whether a step would double the loss of the cases that M knows, or worse.

        A closure is not asked: it would go through the whole batch, and back.
        """
        if move.before is None or not move.length > 0:
            return False
        after = seen.h(move.update, cases=self._cases_of_model(seen))
        return not after - move.before <= abs(move.before)  # also when it is no number

    def _cases_of_model(self, seen: Seen) -> slice:
        return share(seen, self._model_from_every, 4)

    def _judgement(self, seen: Seen, move: Move, after: float) -> Judgement:
        assert move.model_change is not None  # noqa: S101 # nosec B101 - adaptive moves come with one
        return LevenbergMarquardt.every(ADAPT_EVERY).judge(
            before=seen.h(),
            after=after,
            model_change=move.model_change,
            moved=move.length > 0,
            dtype=torch.float64 if seen.loss is None else seen.loss.dtype,
        )

    def _take(self, seen: Seen, move: Move, judgement: Judgement) -> None:
        self._inverse, self._gamma, self._last = move.inverse, move.gamma, None
        if judgement is WILD:
            self._gamma, self._rivals = math.nan, []  # it follows λ again
        if not judgement.rejected:
            seen.add(move.update)
            if self._is_adaptive and self._has_momentum and move.length > 0:
                self._last = move.update
        self._updates += 1

    def _saved(self) -> dict[str, Any]:
        rivals = [(gamma, inverse.state_dict()) for gamma, inverse in self._rivals]
        return {**super()._saved(), "inverse": self._inverse.state_dict(), "rivals": rivals}

    def _load(self, saved: Mapping[str, Any]) -> None:
        super()._load(saved)
        self._inverse = self._loaded(saved["inverse"])
        self._rivals = [(gamma, self._loaded(state)) for gamma, state in saved["rivals"]]

    def _no_inverse(self) -> Inverse:
        return self._inverse_of(kept=Outliving(self._processes))

    def _loaded(self, state: dict[str, Any]) -> Inverse:
        inverse = self._no_inverse()
        inverse.load_state_dict(state)
        return inverse


def _lowest(moves: Sequence[Move]) -> Move:
    """Return the move with the lowest M; the first where M is no number, which will be rejected."""
    changes = [math.nan if move.model_change is None else move.model_change for move in moves]
    is_any = any(math.isfinite(change) for change in changes)
    return moves[best([move.gamma for move in moves], changes) if is_any else 0]
