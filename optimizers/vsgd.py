"""No more pesky learning rates (Schaul, Zhang & LeCun 2013)."""

from typing import final

import torch
from torch import Generator, Tensor, nn

from optimizers.curvature import diagonals
from optimizers.curvature.diagonals import SOURCES, Source
from optimizers.curvature.vectors import flat
from optimizers.hyperparameter import Hyperparameter
from optimizers.objectives import Objective
from optimizers.processes import Group
from optimizers.remembering import Remembering, Vectors
from optimizers.whole import Given


@final
class VSGD(Remembering):
    """δ = -lr m² / (h s) ⊙ g: the rates that lower the expected loss of noisy quadratics most, one by one.

    m, s and h are running means of gradient, squared gradient and a diagonal of curvature, each parameter
    with a memory of τ updates: τ ← (1 - m² / s) τ + 1, long where gradients are noise, else short.
    The first s is `caution` times too large, so that the first steps are that much shorter, and the first τ
    is `memory`. `source` names the diagonal, as `curvature.diagonals` does; the paper's is "becker_lecun".

    The paper's lr is 1, right along the axes. Off them a diagonal knows too little of the curvature for that.
    """

    hyperparameters = (
        Hyperparameter(name="lr", kind="float", default=0.1, low=1e-2, high=1.0, log=True),
        Hyperparameter(name="caution", kind="float", default=10.0, low=1.0, high=1000.0, log=True),
        Hyperparameter(name="source", kind="categorical", default="chapelle_erhan", choices=SOURCES),
    )
    _keeps = ("mean", "square", "curvature", "memory")
    _own = Remembering._own | {"_source"}  # noqa: SLF001

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        *,
        lr: float = 0.1,  # 1 in the paper
        caution: float = 10.0,  # C
        memory: float = 1.0,  # τ of the first update
        source: Source = "chapelle_erhan",
        generator: Generator | None = None,
        group: Group = None,
    ) -> None:
        for name, number in (("caution", caution), ("memory", memory)):
            if not number >= 1:
                raise ValueError(f"{name} must be at least 1, got {number!r}.")
        settings = {"lr": lr, "caution": caution, "memory": memory}
        super().__init__(model, objective, settings, generator, group)
        self._source: Source = source
        diagonals.check_source(source, self._model)

    def _rule(self, given: Given, gradient: Tensor, kept: Vectors) -> tuple[Tensor, Vectors]:
        lr, caution, first = (float(self.param_groups[0][name]) for name in ("lr", "caution", "memory"))
        is_new = kept["memory"] == 0
        memory = torch.where(is_new, first, kept["memory"])
        weight = torch.where(is_new, 1.0, 1 / memory)

        mean = torch.lerp(kept["mean"], gradient, weight)
        squared = torch.where(is_new, caution * gradient.square(), gradient.square())
        square = torch.lerp(kept["square"], squared, weight)
        curvature = torch.lerp(kept["curvature"], self._diagonal(given), weight)

        signal = torch.where(square > 0, mean.square() / square, 0.0)
        rates = torch.where(curvature > 0, signal / curvature, 0.0)
        after = {"mean": mean, "square": square, "curvature": curvature, "memory": (1 - signal) * memory + 1}
        return -lr * rates * gradient, after

    def _diagonal(self, given: Given) -> Tensor:
        found = diagonals.diagonal(
            self._source, self._model, given.network, self._objective, given.targets, self._own_stream
        )
        [mean] = self._of_all([flat(found)], given.targets)
        return mean.abs()  # a mean of Hessians may be negative
