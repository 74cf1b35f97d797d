"""The learning rate by the largest curvature: lr = 1 / λ (LeCun et al. 1993)."""

from torch import Tensor

from optimizers.curvature.products import Product
from optimizers.solvers.power_iteration import largest_eigenvalue


def curvature_rate(product: Product, start: Tensor, *, iterations: int = 20) -> float:
    """Return 1 / λ, which is too much for no quadratic. Raises ValueError where all is flat."""
    eigenvalue, _ = largest_eigenvalue(product, start, iterations=iterations)
    if eigenvalue == 0:
        raise ValueError("There is no curvature in the direction of the start. Try another start or batch.")
    return 1 / eigenvalue
