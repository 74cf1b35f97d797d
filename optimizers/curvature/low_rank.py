"""Second moments by their largest eigenvalues and a number for the others (Povey, Zhang & Khudanpur 2014)."""

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from optimizers.curvature.centring import moments
from optimizers.errors import NotFiniteError
from optimizers.processes import ALONE, Processes
from optimizers.solvers.eigen import eigen


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class LowRank:
    """F = Σ v u uᵀ over some eigenvectors u, and `floor` in all directions else."""

    basis: Tensor  # the u, as rows
    values: Tensor  # the v
    floor: Tensor

    @property
    def mean(self) -> Tensor:
        """The mean of all eigenvalues."""
        rank, size = self.basis.shape
        return (self.values.sum() + (size - rank) * self.floor) / size

    def matrix(self) -> Tensor:
        """Return F, written out."""
        rest = torch.eye(self.basis.shape[1], dtype=self.basis.dtype, device=self.basis.device)
        return self.floor * rest + (self.basis.mT * (self.values - self.floor)) @ self.basis

    def solve(self, rows: Tensor, ridge: float) -> Tensor:
        """Return (F + ridge · mean · I)⁻¹ x for each row x; the rows as they are where F is 0."""
        if float(self.mean) == 0:
            return rows
        shift = ridge * self.mean
        within = rows @ self.basis.mT
        outside = rows - within @ self.basis
        return (within / (self.values + shift)) @ self.basis + outside / (self.floor + shift)


def estimated(rows: Tensor, rank: int, name: str, processes: Processes = ALONE) -> LowRank:
    """Return the mean of x xᵀ by its largest eigenvalues. Raises what `eigen` does, with the name."""
    _, matrix = moments(rows, centre=False, processes=processes)
    values, vectors = eigen(matrix, name)
    return _with_floor(vectors.mT[-rank:], values[-rank:], matrix.trace())


def averaged(before: LowRank, rows: Tensor, past: float, name: str, processes: Processes = ALONE) -> LowRank:
    """Return past · F + (1 - past) · mean of x xᵀ, in directions that are one step of power iteration on.

    The trace is that of the sum; with every direction, so is the matrix. Raises NotFiniteError with the name.
    """
    squares, count = processes.sum_of_rows(rows.square())
    product = processes.total((before.basis @ rows.mT) @ rows) / count
    image = (
        past * before.values[:, None] * before.basis + (1 - past) * product
    )  # of the u, which F only scales
    if not image.isfinite().all():
        raise NotFiniteError(name)
    _, values, basis = torch.linalg.svd(image.double(), full_matrices=False)
    trace = past * before.basis.shape[1] * before.mean + (1 - past) * squares.sum() / count
    return _with_floor(basis.to(rows.dtype), values.to(rows.dtype), trace)


def compressed(rows: Tensor, rank: int, name: str) -> Tensor:
    """Return so many rows, whose Σ x xᵀ is that of these in the directions where it is largest.

    They are its eigenvectors, as long as the roots of its eigenvalues, and all of them where the rows are no
    more. Rows may be a stack. Raises what `eigen` does, with the name.
    """
    x = rows.double()
    _, vectors = eigen(x @ x.mT, name)
    return (vectors[..., -rank:].mT @ x).to(rows.dtype)


def _with_floor(basis: Tensor, values: Tensor, trace: Tensor) -> LowRank:
    """Return the matrix of this trace."""
    others = basis.shape[1] - len(basis)
    # Where none are left out, rows have no part outside but for rounding, which is not to be enlarged.
    floor = ((trace - values.sum()) / others).clamp(min=0) if others else values.max()
    return LowRank(basis=basis, values=values, floor=floor)
