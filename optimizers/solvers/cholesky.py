import torch
from torch import Tensor

from optimizers.errors import NotPositiveDefiniteError


def inverse(matrix: Tensor) -> Tensor:
    """Return the inverse of a symmetric positive definite matrix. Raises NotPositiveDefiniteError."""
    root, failures = torch.linalg.cholesky_ex(matrix)
    if failures.item() or not root.isfinite().all():
        raise NotPositiveDefiniteError(matrix)
    return torch.cholesky_inverse(root)
