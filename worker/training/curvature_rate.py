"""The learning rate by the largest curvature: lr = 1 / λ (LeCun et al. 1993)."""

from torch import Tensor

from optimizers.curvature.products import Product


def largest_eigenvalue(product: Product, start: Tensor, *, iterations: int = 20) -> tuple[float, Tensor]:
    """Return the size of the eigenvalue that is farthest from 0, and its direction, by power iteration.

    v ← Bv / ‖Bv‖, from a start that is not 0; the direction found for one batch is a good start for the next.
    An indefinite Hessian may answer with its most negative eigenvalue, without the sign.
    """
    direction, size = start / start.norm(), 0.0
    for _ in range(iterations):
        image = product(direction)
        size = image.norm().item()
        if size == 0:
            break
        direction = image / size
    return size, direction


def curvature_rate(product: Product, start: Tensor, *, iterations: int = 20) -> float:
    """Return 1 / λ, which is too much for no quadratic. Raises ValueError where all is flat."""
    eigenvalue, _ = largest_eigenvalue(product, start, iterations=iterations)
    if eigenvalue == 0:
        raise ValueError("There is no curvature in the direction of the start. Try another start or batch.")
    return 1 / eigenvalue
