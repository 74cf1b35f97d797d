"""The loop in which torch's own optimizers are used: loss.backward(), then step() or step(closure)."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Self, TypeAlias, TypeVar

from torch import Tensor, nn
from torch.optim import Optimizer

from optimizers.admission import told
from optimizers.listening import Listening
from optimizers.told import Told

Closure: TypeAlias = Callable[[], Tensor | float]
Taking = TypeVar("Taking", bound=Callable[..., Any])


class Hearing(Told, ABC):
    """An optimizer that hears the passes of the usual loop, until it is closed."""

    _model: nn.Module
    _listening: Listening | None = None

    @abstractmethod
    def _heard_layers(self) -> Mapping[str, nn.Module]:
        """Return by name the layers to hear."""

    def listen(self) -> None:
        """Hear the usual loop from now on. It is so from the start, until the first step(inputs, targets)."""
        if self._listening is None:
            self._listening = Listening(self._model, self._heard_layers())

    def close(self) -> None:
        """Take the hooks away with which the usual loop is heard."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def zero_grad(self, set_to_none: bool = True) -> None:  # noqa: FBT001, FBT002  # torch's signature
        """Throw away the gradients, and what was heard of the passes that they are of."""
        super().zero_grad(set_to_none)
        if self._listening is not None:
            self._listening.forget()


def batch_or_closure(
    optimizer: Optimizer, inputs: Tensor | Closure | None, targets: Tensor | None, closure: Closure | None
) -> tuple[Tensor, Tensor] | Closure | None:
    """Return what step was given: a batch, a closure or, after loss.backward(), nothing. Else TypeError.

    What a batch consists of is not looked at here.
    """
    name, given = type(optimizer).__name__, [each for each in (inputs, targets, closure) if each is not None]
    if len(given) == 2 and closure is None:
        return inputs, targets  # type: ignore[return-value]  # whether these are tensors is checked elsewhere
    if targets is None and len(given) <= 1 and all(map(callable, given)):
        return inputs or closure  # type: ignore[return-value]  # it is no tensor
    raise TypeError(
        f"{name}.step takes a batch, step(inputs, targets), or a closure, step(closure), or, after "
        f"loss.backward(), nothing. It got {', '.join(map(told, given))}."
    )


def parts_of(given: object, **more: object) -> dict[str, object]:
    """Return by name the parts of a batch that step was given, and what it was given beside it."""
    parts = dict(zip(("inputs", "targets"), given, strict=True)) if isinstance(given, tuple) else {}
    for name, value in more.items():
        if isinstance(value, tuple):
            parts |= {f"{part} of {name}": each for part, each in zip(parts, value, strict=False)}
        elif value is not None:
            parts[name] = value
    return parts


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
