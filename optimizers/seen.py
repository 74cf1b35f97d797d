import math
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature.blocks import Block, Uses, recording
from optimizers.curvature.forms import Affine, Rows, Whole, linear_places
from optimizers.curvature.matrices import Matrices, inner, norm, plus, times
from optimizers.curvature.network import Network
from optimizers.curvature.statistics import (
    Pair,
    Targets,
    backward,
    explained,
    last,
    neighbours,
    rows_of,
    slopes_at,
)
from optimizers.curvature.vectors import Params
from optimizers.objectives import Objective
from optimizers.passes import check_alike, check_same_gradients
from optimizers.processes import Processes
from optimizers.uses import precise
from optimizers.usual_loop import Closure

ALL = slice(None)  # cases


@final
@dataclass(frozen=True)
class Batch:
    """A step is to be taken on it."""

    inputs: Tensor
    targets: Tensor

    def targets_of(self, cases: slice) -> Tensor:
        """Return those of some cases, each of which may have as many rows of outputs and targets."""
        if cases == ALL:
            return self.targets
        if len(self.targets) % len(self.inputs):
            raise ValueError(
                f"{len(self.targets)} targets cannot be told apart by {len(self.inputs)} cases, of which "
                f"only some are looked at. Give each case as many, or set statistics_from_every and "
                f"model_from_every to 1."
            )
        by_case: Tensor = self.targets.unflatten(0, (len(self.inputs), -1))
        return by_case[cases].flatten(end_dim=1)


@final
@dataclass(frozen=True, kw_only=True)
class Heard:
    """What a backward pass in the usual loop left, of the cases of all calls that it came through."""

    inputs: Tensor
    slopes: Params  # the gradient by parameter
    loss: Tensor | None = None
    closure: Closure | None = None

    def loss_at(self, params: Mapping[str, Tensor], model: nn.Module) -> float:
        """Return the loss by the closure at other weights; weights, gradients and buffers stay."""
        if self.closure is None:
            raise RuntimeError("Without a closure the loss is not known anywhere else.")
        own = dict(model.named_parameters())
        places = [*(own[name] for name in params), *model.buffers()]
        before = [place.detach().clone() for place in places]
        slopes = {name: parameter.grad for name, parameter in own.items()}
        with torch.no_grad():
            for name, there in params.items():
                own[name].copy_(there)
        try:
            with torch.enable_grad():
                return float(torch.as_tensor(self.closure()).detach())
        finally:
            with torch.no_grad():
                for place, start in zip(places, before, strict=True):
                    place.copy_(start)
            for name, slope in slopes.items():
                own[name].grad = slope


@final
class Seen:
    """A batch at the weights as they are: h and ∇h by block, and the rows that factors are made of.

    Blocks that the loss does not depend on have no gradient here, and rest. Where several processes train
    together, h and ∇h are those of the batches of all; rows are of this process alone.
    """

    def __init__(
        self,
        model: nn.Module,
        blocks: Mapping[str, Block],
        network: Network,
        objective: Objective,
        told: Batch | Heard,
        *,
        l2: Mapping[str, float],  # by block
        explained: Collection[str],
        wants_rows: bool,
        processes: Processes,
    ) -> None:
        self.network, self.blocks = network, blocks
        self._model, self._params = model, dict(model.named_parameters())
        self._objective, self._told, self._l2, self._processes = objective, told, l2, processes
        with torch.enable_grad(), recording(model, blocks) as self._uses:
            as_trained = isinstance(told, Batch)
            self._outputs = network.trained(self._params) if as_trained else network(self._params)
        if isinstance(told, Batch):
            known = [name for name in self._uses.calls if name in explained]
            by_rows = [name for name in known if wants_rows or _has_few_rows(self._uses, name)]
            with torch.enable_grad():
                loss = objective.loss(self._outputs, told.targets)
            self.loss: Tensor | None = loss.detach()
            self._slopes, self._rows = backward(_divided(self._uses, by_rows), loss, retain_graph=True)
        else:
            self.loss, self._slopes, self._rows = told.loss, told.slopes, {}
        with torch.no_grad():
            gradients = self._of_all(self._gradients())
            self.gradients = gradients
            if any(l2.values()):
                self.gradients = plus(gradients, times(self._weights(gradients), l2))

    def is_finite(self) -> bool:
        """Tell whether the loss and its gradient are."""
        return math.isfinite(0.0 if self.loss is None else self.loss.item()) and math.isfinite(
            norm(self.gradients)
        )

    @property
    def knows_the_loss(self) -> bool:
        """Whether the loss can be computed at other weights: from a batch, or by a closure."""
        return isinstance(self._told, Batch) or self._told.closure is not None

    @property
    def low_rank(self) -> Mapping[str, Rows] | None:
        """Rows whose products are the gradients, unless these have an L2 term."""
        return None if any(self._l2.values()) or self._processes.size > 1 else self._rows

    def h(self, update: Matrices | None = None, cases: slice = ALL) -> float:
        """Return h at θ, or at θ + δ with the same dropout masks and normalisation.

        At θ + δ of some cases alone, if told; a closure knows all or nothing.
        """
        weights = self._weights(self.gradients)
        if update is None:
            return (math.nan if self.loss is None else self.loss.item()) + self._l2_term(weights)
        there = {name: self._params[name] + change for name, change in self.tensors(update).items()}
        if isinstance(self._told, Batch):
            loss = self._objective.loss(self.network(there, cases), self._told.targets_of(cases)).item()
        else:
            loss = self._told.loss_at(there, self._model)
        loss = self._processes.mean(loss, self._weight, self._device)
        return loss + self._l2_term(plus(weights, update))

    def h_of(self, outputs: Tensor, cases: slice) -> float | None:
        """Return h at θ of some cases by their outputs, None where their targets are not known."""
        if not isinstance(self._told, Batch):
            return None
        loss = self._objective.loss(outputs, self._told.targets_of(cases)).item()
        loss = self._processes.mean(loss, self._weight, self._device)
        return loss + self._l2_term(self._weights(self.gradients))

    def rest_but(self, names: Collection[str]) -> None:
        """Have all blocks rest but these."""
        self.gradients = {name: gradient for name, gradient in self.gradients.items() if name in names}

    def explained(self) -> dict[str, Block]:
        """Return the blocks; those whose gradients their rows do not make up by the diagonals alone."""
        return explained(self._uses, self._outputs, self._processes)

    def pairs(self) -> list[Pair]:
        """Return which block feeds which, and warn of those that are in no such pair with one above."""
        pairs = neighbours(self._uses)
        alone = self._uses.calls.keys() - {lower for lower, _ in pairs} - last(self._uses, self._outputs)
        if alone:
            names = ", ".join(sorted(map(repr, alone)))
            warnings.warn(f"Not one single layer follows {names}: block-diagonal there.", stacklevel=2)
        return pairs

    def rows_at(
        self, kind: Targets, cases: slice, generator: Generator
    ) -> tuple[list[Mapping[str, Rows]], int]:
        """Return rows of some cases, whose factors are those of the Fisher matrix, and how many cases.

        The graph is used up. A parameter without a form has one row, of the cases of all processes.
        Batch normalisation is held constant for them: nothing couples the cases.
        """
        is_batch = isinstance(self._told, Batch)
        is_same = cases == ALL and not (is_batch and self.network.couples_cases)
        if kind == "data" and is_batch and is_same:
            return [self._with_wholes(self._of_cases(), len(self._outputs))], len(self._outputs)
        uses, outputs = self._uses, self._outputs
        if not is_same:
            with torch.enable_grad(), recording(self._model, self.blocks) as uses:
                outputs = self.network(self._params, cases)
        targets = self._told.targets_of(cases) if isinstance(self._told, Batch) else None
        slopes = slopes_at(kind, self._objective, precise(outputs.detach()), targets, generator)
        rows = [
            rows_of(uses, outputs, of_cases, retain_graph=number < len(slopes))
            for number, of_cases in enumerate(slopes, start=1)
        ]
        return [self._with_wholes(of_slope, len(outputs)) for of_slope in rows], len(outputs)

    def tensors(self, matrices: Mapping[str, Tensor]) -> Params:
        """Return what belongs to blocks as what belongs to each trained parameter; 0 of other blocks."""
        tensors = {name: torch.zeros_like(tensor) for name, tensor in self.network.params.items()}
        for name, matrix in matrices.items():
            self.blocks[name].put(matrix, tensors)
        return tensors

    def matrices(self, tensors: Mapping[str, Tensor]) -> Matrices:
        """Return what belongs to each trained parameter as what belongs to each block that has a gradient."""
        return {name: self.blocks[name].matrix(tensors) for name in self.gradients}

    def add(self, update: Mapping[str, Tensor]) -> None:
        """Change the model."""
        params = self.network.params  # the model's own storage
        for name, change in update.items():
            self.blocks[name].put(self.blocks[name].matrix(params) + change, params)
        if isinstance(self._told, Batch):
            self.network.keep_buffers()

    def _gradients(self) -> Matrices:
        gradients, slopes, params = {}, self._slopes, self.network.params
        for name, block in self.blocks.items():
            if name in self._rows:
                gradients[name] = self._rows[name].gradient()
            elif not slopes.keys().isdisjoint(block.params):
                own = {p: slopes[p] if p in slopes else torch.zeros_like(params[p]) for p in block.params}
                gradients[name] = block.matrix(own)
        return gradients

    @property
    def _device(self) -> torch.device:
        return self._outputs.device

    @property
    def _weight(self) -> int:
        """What the loss here weighs beside that of other processes."""
        return len(self._outputs) if isinstance(self._told, Batch) else 1  # as the caller averages gradients

    def _of_all(self, gradients: Matrices) -> Matrices:
        """Return the gradients of all processes, who take their losses together too.

        Raises UnsupportedModelError where processes differ in what they train or, in the usual loop, in its
        gradients.
        """
        if self._processes.size == 1:
            return gradients
        parts = {name: self.blocks[name].params for name in gradients}
        check_alike(parts, [*self._params.values()], self._processes)
        if isinstance(self._told, Heard):
            check_same_gradients(norm(gradients), self._outputs, self._processes)
        else:
            means = self._processes.means(gradients.values(), self._weight)
            gradients = dict(zip(gradients, means, strict=True))
        if self.loss is not None:
            [self.loss] = self._processes.means([self.loss], self._weight)
        return gradients

    def _with_wholes(self, rows: dict[str, Rows], cases: int) -> dict[str, Rows]:
        """Return the rows, those of parameters without a form with the cases of all processes."""
        wholes = [name for name in rows if isinstance(self.blocks[name].form, Whole)]
        if self._processes.size == 1 or not wholes:
            return rows
        count = float(self._processes.total(torch.tensor(float(cases), device=self._device)))
        means = self._processes.means([rows[name].outputs / math.sqrt(cases) for name in wholes], cases)
        return rows | {
            name: replace(rows[name], outputs=math.sqrt(count) * mean)
            for name, mean in zip(wholes, means, strict=True)
        }

    def _of_cases(self) -> dict[str, Rows]:
        """Return the rows at the data's targets, of single cases: this pass has those of the mean loss."""
        rows = dict(self._rows)
        for name, block in self.blocks.items():
            if isinstance(block.form, Whole) and name in self.gradients:
                slope = self._slopes[block.params[0]]
                rows[name] = block.form.rows(None, slope, slope)
        scale = math.sqrt(len(self._outputs))
        return {name: replace(each, outputs=scale * each.outputs) for name, each in rows.items()}

    def _weights(self, like: Mapping[str, Tensor]) -> Matrices:
        return {name: self.blocks[name].matrix(self.network.params) for name in like}

    def _l2_term(self, weights: Matrices) -> float:
        return 0.5 * float(inner(weights, weights, self._l2)) if any(self._l2.values()) else 0.0


def _has_few_rows(uses: Uses, name: str) -> bool:
    """Tell whether a block has fewer rows than it is wide: products by them may be cheaper."""
    form, calls = uses.blocks[name].form, uses.calls[name]
    if not isinstance(form, Affine) or form.places is not linear_places:
        return False
    return sum(use.inputs.shape[:-1].numel() for use in calls) <= calls[0].inputs.shape[-1]


def _divided(uses: Uses, by_rows: Collection[str]) -> Uses:
    """Return them with the calls of some blocks, and the parameters of all others."""
    params = {param for name in by_rows for param in uses.blocks[name].params}
    return Uses(
        blocks=uses.blocks,
        parameters={name: each for name, each in uses.parameters.items() if name not in params},
        calls={name: calls for name, calls in uses.calls.items() if name in by_rows},
    )
