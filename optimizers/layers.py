"""The part of a model that K-FAC understands: linear layers, each run once per forward pass."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node, get_gradient_edge

from optimizers.errors import UnsupportedModelError

PRECISE = (torch.float32, torch.float64)
# What is told of a layer's forward pass: its name, itself, its inputs, its outputs.
Listener: TypeAlias = Callable[[str, nn.Module, Tensor, Tensor], None]
ELSEWHERE = "or train this model with an optimizer of torch.optim."


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """What one layer did in one forward pass."""

    activations: Tensor  # its inputs a, one row per example
    edge: GradientEdge  # where a backward pass delivers the gradient of its outputs s
    source: Node | None  # what computed its inputs; None for those of the model


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


@contextmanager
def recording(layers: Mapping[str, nn.Linear]) -> Iterator[dict[str, Recorded]]:
    """Record each layer's only forward pass while the context is open; a second one is refused."""
    records: dict[str, Recorded] = {}

    def record(name: str, layer: nn.Module, inputs: Tensor, outputs: Tensor) -> None:
        if name in records:
            raise UnsupportedModelError(
                name,
                "ran more than once in one forward pass, and its curvature is known for one use only",
                f"Give each use a layer of its own, {ELSEWHERE}",
            )
        records[name] = _recorded(name, layer, inputs, outputs)

    with listening(layers, record):
        yield records


def _recorded(name: str, layer: nn.Module, activations: Tensor, outputs: Tensor) -> Recorded:
    if activations.shape[:-1] != activations.shape[:1]:
        raise UnsupportedModelError(
            name,
            f"got an input of shape {tuple(activations.shape)}, not one row per example",
            f"Flatten what one example is into one row, {ELSEWHERE}",
        )
    if outputs.dtype not in PRECISE:
        raise UnsupportedModelError(
            name, f"ran in {outputs.dtype}, too coarse to invert curvature in", "Call step outside autocast."
        )
    if not (outputs.requires_grad and all(parameter.requires_grad for parameter in layer.parameters())):
        raise UnsupportedModelError(
            name,
            "is frozen, or ran under no_grad",
            "Unfreeze it, or give the optimizer only the trained part of the model.",
        )
    # An edge rather than the tensor: an in-place activation may overwrite the outputs later.
    return Recorded(
        activations=activations.detach(), edge=get_gradient_edge(outputs), source=activations.grad_fn
    )


def check_all_ran(layers: Mapping[str, nn.Linear], records: Mapping[str, Recorded], *, examples: int) -> None:
    """Raise UnsupportedModelError for a layer that did not run, or not on one row per example."""
    for name in layers:
        if name not in records:
            raise UnsupportedModelError(
                name,
                "did not run in the forward pass, so its curvature is unknown",
                f"Take it out of the model, call it as a module, {ELSEWHERE}",
            )
        rows = len(records[name].activations)
        if rows != examples:
            raise UnsupportedModelError(
                name,
                f"ran on {rows} rows for {examples} outputs, so its weights are shared within an example",
                f"Let each example pass the layer once, {ELSEWHERE}",
            )
