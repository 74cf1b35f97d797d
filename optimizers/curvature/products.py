"""Products of a curvature matrix with a vector, without the matrix.

Vectors are as long as all parameters together, in the model's order. A product stands for one batch: its
forward pass is made once and kept for all vectors. Derivatives are torch.autograd's, so any model will do.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from torch import Tensor, autograd, nn

Product: TypeAlias = Callable[[Tensor], Tensor]
Loss: TypeAlias = Callable[[Tensor], Tensor]  # of the outputs, as a scalar: the targets are in it


def hessian_product(model: nn.Module, loss: Loss, inputs: Tensor) -> Product:
    """Return v ↦ Hv, with H the Hessian of the loss on this batch."""
    parameters = list(model.parameters())
    with torch.enable_grad():
        gradient = _flat(_gradients(loss(model(inputs)), parameters, keep=True))

    def product(vector: Tensor) -> Tensor:
        return _flat(_gradients(gradient, parameters, vector))

    return product


def gauss_newton_product(model: nn.Module, loss: Loss, inputs: Tensor) -> Product:
    """Return v ↦ Jᵀ H_L J v, with J the Jacobian of the outputs and H_L the Hessian of the loss in them."""
    parameters = list(model.parameters())
    with torch.enable_grad():
        outputs = model(inputs)
        split = outputs.detach().requires_grad_()
        (slope,) = _gradients(loss(split), [split], keep=True)  # ∂L/∂z
        weights = torch.zeros_like(outputs, requires_grad=True)
        pulled = _flat(_gradients(outputs, parameters, weights, keep=True))  # Jᵀu, linear in u

    def product(vector: Tensor) -> Tensor:
        (pushed,) = _gradients(pulled, [weights], vector)  # Jv, as the gradient of (Jᵀu)ᵀv by u
        (bent,) = _gradients(slope, [split], pushed)  # H_L J v
        return _flat(_gradients(outputs, parameters, bent))

    return product


def _gradients(
    of: Tensor, by: Sequence[Tensor], along: Tensor | None = None, *, keep: bool = False
) -> tuple[Tensor, ...]:
    return autograd.grad(of, by, along, retain_graph=True, create_graph=keep, materialize_grads=True)


def _flat(tensors: tuple[Tensor, ...]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])
