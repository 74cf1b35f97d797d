"""Curvature by unit: of each, the block of its incoming weights and its bias, and nothing between units."""

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from optimizers.errors import NotPositiveDefiniteError


def unit_blocks(q: Tensor, rows: Tensor) -> Iterator[Tensor]:
    """Yield the mean over cases of q ā āᵀ for each unit, in float64: one by one, as they are large.

    q has a column for each unit, and is the curvature at its sum; `rows` are the inputs ā. With the exact
    diagonal at the sums, or q of Becker and LeCun's recursion where that is exact, these are the diagonal
    blocks of the Gauss-Newton matrix.
    """
    inputs = rows.double()
    for of_unit in q.mT.double():
        weighted = of_unit[:, None] * inputs
        yield weighted.mT @ inputs / len(rows)


def solve_by_unit(blocks: Iterable[Tensor], gradient: Tensor, damping: float) -> Tensor:
    """Return (block + damping I)⁻¹ ∇ of each unit, for a gradient with a row for each.

    Raises NotPositiveDefiniteError when one of them has no inverse.
    """
    solved = []
    for block, of_unit in zip(blocks, gradient.double(), strict=True):
        damped = block + damping * torch.eye(len(block), dtype=block.dtype, device=block.device)
        root, failure = torch.linalg.cholesky_ex(damped)
        if failure or not root.isfinite().all():
            raise NotPositiveDefiniteError(damped)
        solved.append(torch.cholesky_solve(of_unit[:, None], root)[:, 0])
    return torch.stack(solved).to(gradient.dtype)
