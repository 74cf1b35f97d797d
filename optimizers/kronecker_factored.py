"""What optimizers with Kronecker factors of the Fisher matrix have in common: to learn from batches."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, final

import torch
from torch import Generator, Tensor, nn
from torch.optim import Optimizer

from optimizers.curvature.factors import FactorAverages, Factors, Rows
from optimizers.curvature.matrices import Matrices, inner, norm, plus
from optimizers.curvature.network import Network
from optimizers.curvature.signals import Targets, signals
from optimizers.linear_blocks import ALL, LinearBlocks, junctions
from optimizers.moved import moved
from optimizers.objectives import Objective
from optimizers.step import Step
from optimizers.stopwatch import Stopwatch
from optimizers.streams import stream_beside


@final
class Seen:
    """A batch at the weights as they are: h and ∇h, and the rows that factors are made of."""

    def __init__(
        self,
        blocks: LinearBlocks,
        network: Network,
        params: Mapping[str, Tensor],
        objective: Objective,
        targets: Tensor,
        *,
        l2: float,
        keep_graph: bool,
    ) -> None:
        self.network = network
        self._blocks, self._params, self._objective = blocks, params, objective
        self._targets, self._l2 = targets, l2
        self._forward = blocks.forward(network, params)
        with torch.enable_grad():
            loss = objective.loss(self._forward.outputs, targets)
        gradients, self.rows = blocks.backward(self._forward, loss, keep_graph=keep_graph)
        self.loss = loss.detach()
        with torch.no_grad():
            self.gradients = plus(gradients, self._weights(), l2) if l2 else gradients  # ∇h, with the L2 term

    @property
    def low_rank(self) -> Mapping[str, Rows] | None:
        """Rows whose products are the gradients, unless these have an L2 term."""
        return None if self._l2 else self.rows

    def h(self, update: Matrices | None = None) -> float:
        """Return h at θ, or at θ + δ with the same dropout masks and normalisation."""
        weights = self._weights()
        if update is None:
            return self.loss.item() + self._l2_term(weights)
        there = plus(weights, update)
        outputs = self.network(self._blocks.tensors(there))
        return self._objective.loss(outputs, self._targets).item() + self._l2_term(there)

    def rows_at(self, kind: Targets, cases: slice, generator: Generator) -> Mapping[str, Rows]:
        """Return rows of some cases, whose factors are those of the Fisher matrix."""
        if kind == "data" and cases == ALL:
            return self.rows
        forward = self._forward
        if cases != ALL:
            forward = self._blocks.forward(self.network, self._params, cases)
        outputs = forward.outputs.detach()
        sent = signals(self._objective, outputs, self._targets[cases], kind, generator)
        return self._blocks.rows(forward, sent)

    def junctions(self) -> Mapping[str, str]:
        """Return which layer follows which, and warn where that is not defined."""
        return junctions(self._forward)

    def _weights(self) -> Matrices:
        return self._blocks.matrices(self._params)

    def _l2_term(self, weights: Matrices) -> float:
        return 0.5 * self._l2 * float(inner(weights, weights)) if self._l2 else 0.0


class KroneckerFactored(Optimizer, ABC):
    """Learns the factors of a model's layers from batches; a subclass decides what step to take by them."""

    kept: ClassVar[tuple[str, ...]] = ("updates", "junctions", "refreshed")  # own attributes that are saved

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        settings: dict[str, Any],
        *,
        decay: float,
        targets: Targets,
        statistics_from_every: int,
        generator: Generator | None,
    ) -> None:
        self._model, self._objective = model, objective
        self._blocks = LinearBlocks(model)
        self._targets = targets
        self._cases = slice(None, None, statistics_from_every)
        self._averages = FactorAverages(decay)
        self._junctions: Mapping[str, str] | None = None  # from the first forward pass
        self._updates = 0
        self._refreshed = 0  # at which of them inverses were computed
        super().__init__(model.parameters(), settings)
        self._generator = stream_beside(next(model.parameters())) if generator is None else generator

    def step(self, inputs: Tensor, targets: Tensor) -> Step:  # type: ignore[override]  # a batch, no closure
        """Take one update on a batch. Raises SingularFactorError when a factor cannot be inverted."""
        self._follow_model()
        watch, damping = Stopwatch(), self._settings["damping"]
        with watch.phase("gradient"):
            seen = self._look(inputs, targets)
            told = Step(
                loss=seen.loss.item(),
                damping=math.nan if damping is None else damping,
                gradient_norm=norm(seen.gradients),
                update_norm=0.0,
            )
        if not (math.isfinite(told.loss) and math.isfinite(told.gradient_norm)):
            return told
        with watch.phase("statistics"):
            if self._wants_statistics() and not self._estimate(seen):
                return told
        with torch.no_grad():
            return self._update(seen, told, watch)

    @abstractmethod
    def _update(self, seen: Seen, told: Step, watch: Stopwatch) -> Step:
        """Change the weights, or not, and tell of it."""

    @abstractmethod
    def _is_due(self) -> bool:
        """Return whether this update computes inverses anew."""

    def _wants_junctions(self) -> bool:
        return False

    def _wants_statistics(self) -> bool:
        return self._averages.decay > 0 or self._is_due()

    def _look(self, inputs: Tensor, targets: Tensor) -> Seen:
        return Seen(
            self._blocks,
            Network(self._model, inputs),
            dict(self._model.named_parameters()),
            self._objective,
            targets,
            l2=float(self._settings["l2"]),
            keep_graph=self._wants_statistics() and self._cases == ALL and self._targets != "data",
        )

    def _estimate(self, seen: Seen) -> bool:
        """Average the batch into the factors (sec. 6.5), or return False when its own are not finite."""
        if self._junctions is None:
            self._junctions = seen.junctions() if self._wants_junctions() else {}
        rows = seen.rows_at(self._targets, self._cases, self._generator)
        with torch.no_grad():
            factors = Factors.of(rows, self._junctions)
            if not factors.is_finite():
                return False
            self._averages.add(factors)
            self._noted(rows)
        return True

    def _noted(self, rows: Mapping[str, Rows]) -> None:
        """Learn more from the rows of a batch that counts."""

    def _factors(self) -> Factors:
        if self._averages.factors is None:
            raise RuntimeError("The factors are asked for before the first batch.")
        return self._averages.factors

    @property
    def _settings(self) -> dict[str, Any]:
        return self.param_groups[0]

    def _follow_model(self) -> None:
        """Move what is kept to where the model is since, and to its precision."""
        factors, weight = self._averages.factors, next(self._model.parameters())
        if factors is None:
            return
        kept = next(iter(factors.inputs.values()))
        if (kept.device, kept.dtype) != (weight.device, weight.dtype):
            self._load(moved(self._saved(), weight.device, weight.dtype))

    def _saved(self) -> dict[str, Any]:
        own = {name: getattr(self, f"_{name}") for name in self.kept}
        return {**own, "averages": self._averages.state_dict()}

    def _load(self, saved: Mapping[str, Any]) -> None:
        for name in self.kept:
            setattr(self, f"_{name}", saved[name])
        self._averages.load_state_dict(saved["averages"])

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Raise ValueError: a parameter outside the model's layers has no curvature here."""
        if self.param_groups:
            name = type(self).__name__
            raise ValueError(
                f"{name} trains the model it was given and knows no other parameters. "
                f"Add the layer to the model and construct a new {name}."
            )
        super().add_param_group(param_group)

    def state_dict(self) -> dict[str, Any]:
        """Return all a resumed run needs, beside the model's own state, to repeat this one bit by bit."""
        return {**super().state_dict(), **self._saved(), "generator": self._generator.get_state()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over factors, inverses, settings, update count and random stream of a saved optimizer."""
        super().load_state_dict({key: state_dict[key] for key in ("state", "param_groups")})
        self._load(state_dict)
        self._generator.set_state(state_dict["generator"].cpu())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()


def check_settings(
    *, lr: float | None, damping: float | None, l2: float, decay: float, targets: str, **counts: int
) -> None:
    """Raise ValueError, with its name, for a setting out of range; None is found while training."""
    if lr is not None and not 0 <= lr < math.inf:
        raise ValueError(f"lr must be finite and at least 0, got {lr!r}. A good first try is 0.3.")
    if damping is not None and not 0 < damping < math.inf:
        raise ValueError(f"damping must be finite and above 0, got {damping!r}. A good first try is 0.1.")
    if not 0 <= l2 < math.inf:
        raise ValueError(f"l2 must be finite and at least 0, got {l2!r}.")
    if not 0 <= decay < 1:
        raise ValueError(f"decay must be at least 0 and below 1, got {decay!r}. A good first try is 0.95.")
    if targets not in {"sampled", "exact", "data"}:
        raise ValueError(f"targets are 'sampled', 'exact' or 'data', got {targets!r}.")
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} is a count and must be at least 1, got {count!r}.")
