"""Layers of a model, and hearing what they do in a forward pass."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn

from optimizers.errors import UnsupportedModelError

PRECISE = (torch.float32, torch.float64)
# What is told of a layer's forward pass: its name, itself, its inputs, its outputs.
Listener: TypeAlias = Callable[[str, nn.Module, Tensor, Tensor], None]
ELSEWHERE = "or train this model with an optimizer of torch.optim."


def linear_layers(model: nn.Module) -> dict[str, nn.Linear]:
    """Return them by name. Raises UnsupportedModelError when a parameter lies outside them, or in two."""
    layers: dict[str, nn.Linear] = {}
    owners: dict[nn.Parameter, str] = {}
    for name, module in model.named_modules(remove_duplicate=False):
        own = dict(module.named_parameters(recurse=False))
        if not own:
            continue
        layers[name] = _understood(name, module, own)
        for parameter in own.values():
            if parameter in owners:
                raise UnsupportedModelError(
                    name,
                    f"shares a parameter with {owners[parameter]!r}",
                    f"Give each layer parameters of its own, {ELSEWHERE}",
                )
            owners[parameter] = name
    return layers


def _understood(name: str, module: nn.Module, own: Mapping[str, nn.Parameter]) -> nn.Linear:
    # A subclass may compute something else; weight norm and pruning put other parameters behind weight.
    if type(module) is not nn.Linear or "weight" not in own or not own.keys() <= {"weight", "bias"}:
        raise UnsupportedModelError(
            name,
            f"has parameters ({', '.join(own)}) but is a {type(module).__name__}, not a plain nn.Linear",
            f"Replace it by one, {ELSEWHERE}",
        )
    for parameter in own.values():
        if parameter.dtype not in PRECISE:
            raise UnsupportedModelError(
                name,
                f"has parameters in {parameter.dtype}, too coarse to invert curvature in",
                "Convert the model with model.float().",
            )
    return module


@contextmanager
def listening(layers: Mapping[str, nn.Module], tell: Listener) -> Iterator[None]:
    """Tell of each layer's forward passes while the context is open; no hook outlives it."""

    def heard(
        name: str, layer: nn.Module, args: tuple[Tensor, ...], kwargs: dict[str, Tensor], outputs: Tensor
    ) -> None:
        tell(name, layer, args[0] if args else kwargs["input"], outputs)

    with ExitStack() as hooks:
        for name, layer in layers.items():
            hooks.callback(layer.register_forward_hook(partial(heard, name), with_kwargs=True).remove)
        yield
