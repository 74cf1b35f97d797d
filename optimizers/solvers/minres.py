"""MINRES-QLP (Choi, Paige & Saunders 2011): the shortest least-squares solution of a symmetric system.

By Lanczos with full re-orthogonalisation and a small pseudo-inverse, which gives the same iterates in exact
arithmetic and is the better choice for the few dozen products it is meant for.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

CUT = 1e-12  # singular values of the tridiagonal matrix below this share of the largest count as 0


@dataclass(frozen=True, kw_only=True)
class ShortestSolution:
    """What MINRES-QLP found."""

    solution: Tensor
    residual_norms: list[float]  # of each iterate, from x = 0 on; never increasing
    products: int


def minres_qlp(
    product: Callable[[Tensor], Tensor], b: Tensor, *, max_iterations: int = 20, tolerance: float = 1e-4
) -> ShortestSolution:
    """Return the shortest x that minimises ‖A x - b‖ over the Krylov space so far.

    It stops at `max_iterations` products, when ‖A x - b‖ ≤ tolerance ‖b‖, or when the space is exhausted.
    """
    size = float(b.norm())
    solution, norms = torch.zeros_like(b), [size]
    if size == 0:
        return ShortestSolution(solution=solution, residual_norms=norms, products=0)
    basis, diagonal, off = [b / size], [], []  # V, and the entries of T
    for _ in range(max_iterations):
        image = product(basis[-1])
        diagonal.append(float(basis[-1] @ image))
        rest = _orthogonal(image, basis)
        off.append(float(rest.norm()))
        ended = off[-1] <= CUT * max(*map(abs, diagonal), *off)

        tridiagonal = _tridiagonal(diagonal, off).to(b)
        first = torch.zeros(len(tridiagonal)).to(b)
        first[0] = size
        coordinates = torch.linalg.pinv(tridiagonal, rtol=CUT) @ first
        norms.append(float((tridiagonal @ coordinates - first).norm()))
        solution = torch.stack(basis, dim=1) @ coordinates
        if ended or norms[-1] <= tolerance * size:
            break
        basis.append(rest / off[-1])
    return ShortestSolution(solution=solution, residual_norms=norms, products=len(diagonal))


def _orthogonal(vector: Tensor, basis: list[Tensor]) -> Tensor:
    vectors = torch.stack(basis, dim=1)
    for _ in range(2):  # twice is enough to be orthogonal to rounding
        vector = vector - vectors @ (vectors.T @ vector)
    return vector


def _tridiagonal(diagonal: list[float], off: list[float]) -> Tensor:
    """Return T of k + 1 rows and k columns. A last β of rounding noise counts as 0."""
    k = len(diagonal)
    matrix = torch.zeros(k + 1, k, dtype=torch.float64)
    noise = CUT * max(*map(abs, diagonal), *off)
    for i in range(k):
        matrix[i, i] = diagonal[i]
        matrix[i + 1, i] = off[i] if off[i] > noise else 0.0
        if i + 1 < k:
            matrix[i, i + 1] = off[i]
    return matrix
