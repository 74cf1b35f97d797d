"""Vectors in the space of parameters as one matrix for each block, by its name."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

Matrices = dict[str, Tensor]


def times(matrices: Mapping[str, Tensor], factor: float) -> Matrices:
    """Return a multiple."""
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


def inner(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> Tensor:
    """Return the inner product, added up over blocks in float64."""
    parts = [matrix.reshape(-1).dot(second[name].reshape(-1)).double() for name, matrix in first.items()]
    return torch.stack(parts).sum()


def norm(matrices: Mapping[str, Tensor]) -> float:
    """Return the Euclidean length."""
    return math.sqrt(float(inner(matrices, matrices))) if matrices else 0.0
