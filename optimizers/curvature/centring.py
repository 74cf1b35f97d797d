"""Means, covariances and centred gradients of a layer s = W h + b. Data has one row per case.

With h̄ = mean h, C = mean (h - h̄)(h - h̄)ᵀ and A = mean [h; 1][h; 1]ᵀ,

    A⁻¹ = [[C⁻¹, -C⁻¹ h̄], [-h̄ᵀ C⁻¹, 1 + h̄ᵀ C⁻¹ h̄]],

so that what preconditions [∇W ∇b] by A⁻¹ needs the covariance C and the centred gradient alone.
"""

import torch
from torch import Tensor

from optimizers.processes import ALONE, Processes


def moments(rows: Tensor, *, centre: bool, processes: Processes = ALONE) -> tuple[Tensor, Tensor]:
    """Return h̄ and C; without centring, 0 and mean h hᵀ, as is right for a layer that has no bias.

    They are those of the rows of all processes.
    """
    total, count = processes.sum_of_rows(rows)
    mean = total / count if centre else torch.zeros_like(total)
    rows = rows - mean
    return mean, processes.total(rows.T @ rows) / count


def centred(weight_gradient: Tensor, bias_gradient: Tensor, mean: Tensor) -> Tensor:
    """Return mean of g (h - h̄)ᵀ, as ∇W - ∇b h̄ᵀ: no case is looked at again."""
    return weight_gradient - bias_gradient.outer(mean)


def centred_in_both_factors(
    errors: Tensor, activities: Tensor, error_mean: Tensor, activity_mean: Tensor
) -> Tensor:
    """Return mean of (g - E g)(h - E h)ᵀ (Schraudolph's gradient factor centring).

    When one of the means is that of these rows, the other makes no difference.
    """
    return (errors - error_mean).T @ (activities - activity_mean) / len(errors)


def shifted(matrix: Tensor, ridge: float) -> Tensor:
    """Return the matrix + ridge I, in float64 for what is to be inverted."""
    return matrix.double() + ridge * torch.eye(len(matrix), dtype=torch.float64, device=matrix.device)
