"""Vectors in the space of parameters as one matrix for each block, by its name."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

Matrices = dict[str, Tensor]


def times(matrices: Mapping[str, Tensor], factor: float | Mapping[str, float]) -> Matrices:
    """Return a multiple, by one factor or by one for each block."""
    if isinstance(factor, Mapping):
        return {
            name: matrix if factor[name] == 1 else factor[name] * matrix for name, matrix in matrices.items()
        }
    return {name: factor * matrix for name, matrix in matrices.items()}


def plus(first: Mapping[str, Tensor], second: Mapping[str, Tensor], factor: float = 1.0) -> Matrices:
    """Return the first plus a multiple of the second."""
    return {name: torch.add(matrix, second[name], alpha=factor) for name, matrix in first.items()}


def fitted(matrices: Mapping[str, Tensor], like: Mapping[str, Tensor]) -> Matrices:
    """Return those with the names and shapes of others; zeros where there are none."""
    return {
        name: matrices[name]
        if name in matrices and matrices[name].shape == matrix.shape
        else torch.zeros_like(matrix)
        for name, matrix in like.items()
    }


def inner(
    first: Mapping[str, Tensor], second: Mapping[str, Tensor], weights: Mapping[str, float] | None = None
) -> Tensor:
    """Return the inner product, added up over blocks in float64, each with its weight if told."""
    parts = [matrix.reshape(-1).dot(second[name].reshape(-1)).double() for name, matrix in first.items()]
    if weights is not None:
        parts = [weights[name] * part for name, part in zip(first, parts, strict=True)]
    return torch.stack(parts).sum()


def norm(matrices: Mapping[str, Tensor]) -> float:
    """Return the Euclidean length."""
    return math.sqrt(float(inner(matrices, matrices))) if matrices else 0.0
