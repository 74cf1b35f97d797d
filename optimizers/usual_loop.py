"""The loop in which torch's own optimizers are used: loss.backward(), then step() or step(closure)."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar

from torch import Tensor
from torch.optim import Optimizer

Closure: TypeAlias = Callable[[], Tensor | float]
Taking = TypeVar("Taking", bound=Callable[..., Any])


def needs_the_batch(step: Taking) -> Taking:
    """Have step(inputs, targets) raise TypeError with the remedy when it is called without a batch.

    For methods that run the model by themselves: what they need is not in the gradients.
    """
    signature = inspect.signature(step)

    @wraps(step)
    def checked(self: object, *given: Any, **named: Any) -> Any:
        try:
            signature.bind(self, *given, **named)
        except TypeError:
            name = type(self).__name__
            raise TypeError(
                f"{name}.step needs the batch, step(inputs, targets): it runs the model by itself, more than "
                f"once. In a loop with loss.backward(), or with a closure, use an optimizer that only "
                f"changes gradients layer by layer, such as ACP."
            ) from None
        return step(self, *given, **named)

    return checked  # type: ignore[return-value]


def loss_scale(optimizer: Optimizer) -> float | None:
    """Return by what the gradients are multiplied: 1, or what torch's GradScaler says while it calls step.

    None where its `unscale_` has divided the gradients already, so that the scale is forgotten.
    """
    if not hasattr(optimizer, "found_inf"):
        return 1.0
    scale: Tensor | None = optimizer.grad_scale  # type: ignore[attr-defined]  # set for the time of the call
    return None if scale is None else scale.item()


def unscaled(gradient: Tensor, scale: float | None) -> Tensor:
    """Return the gradient without that factor."""
    return gradient if scale in {1.0, None} else gradient / scale
