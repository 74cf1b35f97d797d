"""Curvature by unit: of each, the block of its incoming weights and its bias, and nothing between units."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from optimizers.curvature.vectors import Params
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


def units_of(params: Mapping[str, Tensor]) -> list[tuple[list[str], int]]:
    """Return the names of parameters that belong to the same units, and how many units those are.

    A row of a weight is what comes in to a unit; what else the layer has of so many rows is the unit's too.
    """
    names: dict[tuple[str, int], list[str]] = {}
    for name, tensor in params.items():
        units = len(tensor) if tensor.dim() else 1
        names.setdefault((name.rpartition(".")[0], units), []).append(name)
    return [(of_layer, units) for (_, units), of_layer in names.items()]


def joined_by_unit(rows: Mapping[str, Tensor], names: Sequence[str], units: int) -> Tensor:
    """Return for each unit a matrix, with a row for each row of these parameters."""
    parts = [rows[name].reshape(len(rows[name]), units, -1) for name in names]
    return torch.cat(parts, dim=2).movedim(0, 1)


def parted_by_unit(matrices: Tensor, names: Sequence[str], like: Mapping[str, Tensor]) -> Params:
    """Return by name the rows of which `joined_by_unit` made these matrices."""
    units, count, _ = matrices.shape
    pieces = matrices.movedim(1, 0).split([like[name].numel() // units for name in names], dim=2)
    return {name: piece.reshape(count, *like[name].shape) for name, piece in zip(names, pieces, strict=True)}
