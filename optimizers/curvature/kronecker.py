"""The Kronecker factors of a linear layer's block of the Fisher matrix, F ~ A ⊗ G.

Martens & Grosse (2015); equation numbers are those of Martens' thesis (2016), chapter 6. The layer computes
s = W ā, where ā = [a; 1] carries the bias as W's last column; g is the gradient of one example's loss with
respect to s. Data has one row per example. vec() stacks columns, so (A ⊗ G) vec(V) = vec(G V A).
"""

import torch
from torch import Tensor


def input_factor(activations: Tensor, *, bias: bool) -> Tensor:
    """Return A = E[ā āᵀ], the layer's mean squared input (eq. 6.1)."""
    if bias:
        ones = activations.new_ones(len(activations), 1)
        activations = torch.cat([activations, ones], dim=1)  # homogeneous coordinate, last
    return activations.T @ activations / len(activations)


def output_factor(gradients: Tensor) -> Tensor:
    """Return G = E[g gᵀ] from gradients of the *mean* loss (eq. 6.1).

    The mean over n examples leaves row i with g/n instead of g, hence n Σ (g/n)(g/n)ᵀ = (1/n) Σ g gᵀ.
    """
    return len(gradients) * (gradients.T @ gradients)


def cross_factor(lower: Tensor, upper: Tensor) -> Tensor:
    """Return E[x yᵀ] between rows of the same cases, of two layers."""
    return lower.T @ upper / len(lower)


def expected_output_factor(gradients: Tensor, probabilities: Tensor) -> Tensor:
    """Return G with the expectation over targets taken exactly, as a sum over all classes.

    `gradients[c]` are the rows `output_factor` takes, had every target been class c; `probabilities[i, c]`
    is what the model predicts for example i.
    """
    roots = probabilities.sqrt().T[:, :, None]
    return torch.stack([output_factor(rows) for rows in roots * gradients]).sum(dim=0)


def precondition(gradient: Tensor, input_inverse: Tensor, output_inverse: Tensor) -> Tensor:
    """Return G⁻¹ V A⁻¹, which is (A ⊗ G)⁻¹ vec(V) without ever forming the product (sec. 6.4.2)."""
    return output_inverse @ gradient @ input_inverse
