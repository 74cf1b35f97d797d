"""What the usual loop did: the calls of the model whose backward passes left their gradients in `.grad`.

    listening = Listening(model, layers)
    loss = criterion(model(inputs), targets)     # heard, and forgotten unless a backward pass comes by
    loss.backward()                              # counts
    listening.uses()                             # by layer, with the slopes at its sums

A use of a layer counts when a backward pass has reached it and has added to the gradient of the layer's
weight. So all these count nothing: forward passes without gradients or without a backward pass, and
derivatives by torch.autograd.grad, which leave `.grad` alone. Several backward passes before one update add
up, as their gradients do; gradients that were thrown away take their uses with them.

What a forward pass left lives in its graph alone. The graph holds the listener by a weak reference, and the
listener holds no graph: neither keeps the other, or the model, alive.
"""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, final

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from optimizers.eager import run_as_written


@final
@dataclass(eq=False, kw_only=True)
class Call:
    """One call of the model, with gradients."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: Tensor | None = None  # without graph; None where the model gives something else than a tensor


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class HeardUse:
    """One call of a layer."""

    inputs: Tensor
    call: Call | None  # of the model; None where the layer was called without it


Slopes: TypeAlias = dict[HeardUse, Tensor]  # of the losses at the sums, added up over backward passes


@final
class Listening:
    """Hears the usual loop by hooks on a model and on layers that have a `weight`, until it is closed."""

    def __init__(self, model: nn.Module, layers: Mapping[str, nn.Module]) -> None:
        self.has_heard = False  # a call of the model or of a layer, whatever came of it
        self._calls: list[Call] = []  # under way
        self._reached: dict[tuple[int, str], Slopes] = {}  # by backward pass and layer, while it runs
        self._uses: dict[str, Slopes] = {}
        self._expecting: set[str] = set()  # layers whose weight tells when its gradient is there
        self._handles: list[RemovableHandle] = []
        self.close = weakref.finalize(self, _remove, self._handles)
        self.close.atexit = False

        here = weakref.ref(self)
        for name, layer in layers.items():
            used = _Hook(here, "used", name)
            self._handles.append(layer.register_forward_hook(used, with_kwargs=True))
        self._handles.append(model.register_forward_pre_hook(_Hook(here, "begun"), with_kwargs=True))
        ended = _Hook(here, "ended")
        self._handles.append(model.register_forward_hook(ended, with_kwargs=True, always_call=True))

    def uses(self) -> dict[str, Slopes]:
        """Return the uses that count, by layer, since the last `forget`."""
        return {name: dict(slopes) for name, slopes in self._uses.items()}

    def calls(self) -> list[Call]:
        """Return the calls of the model that these uses are of, in the order in which they were reached."""
        calls = {use.call: None for slopes in self._uses.values() for use in slopes}
        return [call for call in calls if call is not None]

    def forget(self) -> None:
        """Begin anew, as after an update."""
        self._uses.clear()
        self._reached.clear()
        self.has_heard = False

    def begun(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Hear that a call of the model begins."""
        del model
        if torch.is_grad_enabled():
            self.has_heard = True
            self._calls.append(Call(args=args, kwargs=kwargs))

    def ended(self, model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any) -> None:
        """Hear that it has ended, also by an error."""
        del model, args, kwargs
        if torch.is_grad_enabled() and self._calls:
            call = self._calls.pop()
            call.outputs = outputs.detach() if isinstance(outputs, Tensor) else None

    def used(
        self, name: str, layer: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor], sums: Tensor
    ) -> None:
        """Hear a call of a layer, and wait for its backward pass."""
        weight = layer.weight
        if not isinstance(weight, nn.Parameter):
            return  # torch.func has put its own there for the time of a call
        if not (torch.is_grad_enabled() and sums.requires_grad and weight.requires_grad):
            return
        if _backward_pass() == NONE:
            self._reached.clear()  # what is left there was not for `.grad`
        self.has_heard = True
        self._expect(name, weight)
        inputs = args[0] if args else kwargs["input"]
        use = HeardUse(inputs=inputs.detach(), call=self._calls[-1] if self._calls else None)
        # A hook on the tensor: it fires before an in-place activation's, and dies with the graph.
        sums.register_hook(partial(_reach, weakref.ref(self), name, use, weakref.ref(weight)))

    def _expect(self, name: str, weight: Tensor) -> None:
        if name not in self._expecting:  # not before it is trained: torch refuses hooks on what is frozen
            self._expecting.add(name)
            there = partial(_add, weakref.ref(self), name)
            self._handles.append(weight.register_post_accumulate_grad_hook(there))

    def reach(self, name: str, use: HeardUse, weight: Tensor | None, slope: Tensor) -> None:
        """Hear that a backward pass has come to a use."""
        key = _backward_pass(), name
        if weight is not None and weight.grad is None and key not in self._reached:
            self._uses.pop(name, None)  # their gradients were thrown away
        _put(self._reached.setdefault(key, {}), use, slope.detach())

    def add(self, name: str) -> None:
        """Hear that a backward pass has added to the gradient of a layer's weight."""
        for use, slope in self._reached.pop((_backward_pass(), name), {}).items():
            _put(self._uses.setdefault(name, {}), use, slope)


NONE = -1  # the number of the backward pass when none runs


def _backward_pass() -> int:
    return torch._C._current_graph_task_id()  # noqa: SLF001  # torch has no public name for it


def _put(slopes: Slopes, use: HeardUse, slope: Tensor) -> None:
    slopes[use] = slopes[use] + slope if use in slopes else slope


def _reach(
    here: "weakref.ref[Listening]", name: str, use: HeardUse, weight: "weakref.ref[Tensor]", slope: Tensor
) -> None:
    if (listening := here()) is not None:
        listening.reach(name, use, weight(), slope)


def _add(here: "weakref.ref[Listening]", name: str, weight: Tensor) -> None:
    del weight
    if (listening := here()) is not None:
        listening.add(name)


def _remove(handles: list[RemovableHandle]) -> None:
    for handle in handles:
        handle.remove()


class _Hook:
    """A method of a listener, as a hook. In a copy or a pickle of the model it is deaf."""

    def __init__(self, here: "weakref.ref[Listening] | None" = None, method: str = "", *names: str) -> None:
        self._here, self._method, self._names = here, method, names

    def __call__(self, *told: Any) -> None:
        if self._here is not None and (listening := self._here()) is not None:
            run_as_written(getattr(listening, self._method), *self._names, *told)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Hook, ()
