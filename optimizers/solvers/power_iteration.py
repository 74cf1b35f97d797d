from collections.abc import Callable

from torch import Tensor


def largest_eigenvalue(
    product: Callable[[Tensor], Tensor], start: Tensor, *, iterations: int = 20
) -> tuple[float, Tensor]:
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
