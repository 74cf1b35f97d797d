from collections.abc import Iterable
from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.curvature.diagonals import backpropagated, check_sequence
from optimizers.curvature.unit_blocks import solve_by_unit, unit_blocks
from optimizers.curvature.vectors import Params, flat, shaped
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.stopwatch import Stopwatch
from optimizers.whole import Given, Whole

REMEDY = "Take KFAC, which knows any layers, or DiagonalNewton."


@final
class UnitwiseGaussNewton(Whole):
    """Each unit takes a damped Gauss-Newton step in its own weights and bias (Ollivier 2015).

        δ of a unit = -lr (mean of q ā āᵀ + damping I)⁻¹ ∇

    ā are its inputs with a 1 for the bias, and q is the curvature at its sum as Becker and LeCun's recursion
    sends it down, case by case: exact through one hidden layer where the outputs curve apart from each other,
    and later biased, as what paths through different units have in common is dropped.

    An affine map of what a layer sees, taken back by its weights, changes no undamped step. Models are
    sequences of linear layers and element-wise functions.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-3, high=1.0, log=True),
        Hyperparameter(name="damping", kind="float", default=0.1, low=1e-4, high=10.0, log=True),
    )

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,
        damping: float = 0.1,  # λ
        group: Group = None,
    ) -> None:
        super().__init__(model, objective, {"lr": lr, "damping": damping}, None, group)
        check_sequence(self._model, REMEDY)

    def _update(
        self, given: Given, gradient: Tensor, watch: Stopwatch
    ) -> tuple[Tensor, dict[str, Any]] | None:
        """Raise SingularFactorError naming a layer of which a unit has no inverse."""
        network, targets = given.network, given.targets
        settings, slopes = self.param_groups[0], shaped(gradient, network.params)
        with torch.no_grad(), watch.phase("curvature"):
            model = check_sequence(self._model, REMEDY)
            found = backpropagated(model, self._objective, network.inputs, targets, of="gn")
        moves: Params = {}
        with torch.no_grad(), watch.phase("solve"):
            for name, (q, below) in found.items():
                parts = _parts(name, below, slopes)
                if parts:
                    rows = torch.cat(list(parts.values()), dim=1)
                    blocks = (self._of_all([block], targets)[0] for block in unit_blocks(q, rows))
                    moves |= _solved(name, parts, blocks, slopes, float(settings["damping"]))
        update = -float(settings["lr"]) * flat({name: moves[name] for name in network.params})
        return (update, {}) if update.isfinite().all() else None


def _parts(name: str, below: Tensor, slopes: Params) -> Params:
    """Return the inputs of the trained ones among weight and bias of a layer."""
    parts = {f"{name}.weight": below, f"{name}.bias": torch.ones_like(below[:, :1])}
    return {part: columns for part, columns in parts.items() if part in slopes}


def _solved(name: str, parts: Params, blocks: Iterable[Tensor], slopes: Params, damping: float) -> Params:
    """Return the solution for these parts of a layer, whose units have these blocks."""
    gradient = torch.cat([slopes[part].reshape(len(slopes[part]), -1) for part in parts], dim=1)
    try:
        solved = solve_by_unit(blocks, gradient, damping)
    except NotPositiveDefiniteError:
        raise SingularFactorError(name, damping) from None
    pieces = solved.split([columns.shape[1] for columns in parts.values()], dim=1)
    return {part: piece.reshape_as(slopes[part]) for part, piece in zip(parts, pieces, strict=True)}
