"""EKFAC (George, Laurent, Bouthillier, Ballas & Vincent 2018): K-FAC with corrected eigenvalues."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

from torch import Generator, nn

from optimizers.curvature.eigenbasis import Eigenbasis
from optimizers.curvature.forms import Rows
from optimizers.curvature.matrices import norm, times
from optimizers.curvature.statistics import Targets
from optimizers.groups import Params
from optimizers.hyperparameter import Hyperparameter
from optimizers.kronecker_factored import KroneckerFactored, check_settings
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.seen import Seen
from optimizers.solvers.outliving import Outliving
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch

FIRST = 3  # updates, in which averages still change much: bases are computed in each


@final
class EKFAC(KroneckerFactored):
    """Natural gradient in the eigenbasis of K-FAC's factors, for any model.

    The basis is computed every `refresh_every` updates; the curvature along each of its directions is
    measured in every update. A step is -lr (s + λ + η)⁻¹ ∇h in that basis.

    It takes batches, step(inputs, targets), or works in the usual loop, as KFAC does.

    A batch whose loss, gradient or curvature is not finite changes no weight. Without a generator, one is
    seeded from torch's global stream, so torch.manual_seed repeats a run. Raises UnsupportedModelError for
    gradients that are not dense.
    """

    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-5, high=10.0, log=True),
        Hyperparameter(name="l2", kind="float", default=0.0, low=0.0, high=1e-2),
        Hyperparameter(name="decay", kind="float", default=0.95, low=0.0, high=0.99),
        Hyperparameter(name="refresh_every", kind="int", default=20, low=1, high=100, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        damping: float = 0.1,  # λ
        l2: float = 0.0,  # η, ½ η ‖θ‖² is part of what is minimised
        decay: float = 0.95,  # of the averages of factors, and of s
        refresh_every: int = 20,  # updates
        statistics_from_every: int = 1,  # factors and s know one of so many cases
        targets: Targets = "sampled",  # over which the Fisher matrix takes its expectation
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
        )
        settings = {"lr": lr, "damping": damping, "l2": l2, "refresh_every": refresh_every}
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
        self._eigenbasis = Eigenbasis(Outliving(self._processes))

    def _is_due(self, seen: Seen) -> bool:
        return self._updates < FIRST or self._eigenbasis.lacks(seen.gradients)

    def _wants_statistics(self, seen: Seen) -> bool:
        del seen
        return True

    def _noted(self, seen: Seen, rows: Sequence[Mapping[str, Rows]], cases: int) -> None:
        statistics = self._statistics()
        due = list(statistics.factors) if self._is_due(seen) else self._share_of_refresh()
        if due:
            self._eigenbasis = self._eigenbasis.refreshed(statistics, only=due)
            self._note_refreshed(due)
        self._eigenbasis.note(rows, self._averages.decay, cases=cases)

    def _update(self, seen: Seen, told: Step, watch: Stopwatch) -> Step:
        l2 = self._of_blocks("l2")
        damping = {name: own + l2[name] for name, own in self._of_blocks("damping").items()}
        with watch.phase("solve"):
            solved = self._eigenbasis.solve(seen.gradients, damping, seen.low_rank)
            update = times(solved, {name: -lr for name, lr in self._of_blocks("lr").items()})
            length = norm(update)
        if not math.isfinite(length):
            return told
        seen.add(update)
        self._updates += 1
        return replace(told, update_norm=length, ages=self._ages(update), seconds=watch.seconds)

    def _saved(self) -> dict[str, Any]:
        return {**super()._saved(), "eigenbasis": self._eigenbasis.state_dict()}

    def _load(self, saved: Mapping[str, Any]) -> None:
        super()._load(saved)
        self._eigenbasis.load_state_dict(saved["eigenbasis"])
