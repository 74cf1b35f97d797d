"""What a forward and a backward pass gave, on one process or on all of them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from optimizers.errors import UnsupportedModelError
from optimizers.processes import Processes
from optimizers.uses import AffineLayer, Gradients, Seen, precise

ROUNDING = 1e-5  # of float32 norms


@dataclass(frozen=True)
class Passes:
    """The loss, the gradients of all it depends on, and what was seen of the layers on the way."""

    loss: float | None  # None where the caller alone knows it
    gradients: Gradients
    seen: Mapping[str, Seen]


def norm(gradients: Gradients) -> float:
    """Return the Euclidean norm over all of them."""
    return math.sqrt(sum(float(precise(gradient).square().sum()) for gradient in gradients.values()))


def buffers_of(model: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Return each buffer with a copy of what is in it."""
    return [(buffer, buffer.clone()) for buffer in model.buffers()]


def restore(buffers: Iterable[tuple[Tensor, Tensor]]) -> None:
    """Give the buffers back what was in them."""
    with torch.no_grad():
        for buffer, before in buffers:
            buffer.copy_(before)


def joined(passes: Passes, layers: Mapping[str, AffineLayer], processes: Processes, *, cases: int) -> Passes:
    """Return what one process would have had on the cases of all. Rows and slopes stay where they are."""
    gradients = passes.gradients
    if processes.size == 1 or not gradients:
        return passes
    device = next(iter(gradients.values())).device
    loss = torch.tensor([passes.loss], dtype=torch.float64, device=device)
    mean, *means = processes.means([loss, *gradients.values()], cases)
    gradients = dict(zip(gradients, means, strict=True))
    seen = {name: _with(gradients, each, layers[name]) for name, each in passes.seen.items()}
    return Passes(mean.item(), gradients, seen)


def _with(gradients: Gradients, seen: Seen, layer: AffineLayer) -> Seen:
    weight = precise(gradients[layer.weight]).flatten(start_dim=1)
    bias = gradients.get(layer.bias) if layer.bias is not None else None
    return replace(
        seen, weight_gradient=weight, bias_gradient=seen.bias_gradient if bias is None else precise(bias)
    )


def check_alike(parts: object, weights: Sequence[Tensor], processes: Processes) -> None:
    """Raise UnsupportedModelError, on all processes, unless they train the same weights and parts of them."""
    if processes.size == 1:
        return
    if not processes.agree(parts, weights[0].device):
        raise UnsupportedModelError(
            "",
            "has parts that took part on some processes and not on others",
            "Have the loss depend on all of it on each process, if need be with a factor of 0.",
        )
    lengths = torch.stack([precise(weight.detach()).norm().float() for weight in weights])
    if processes.spread(lengths.nan_to_num(nan=-1.0)) > ROUNDING:
        raise UnsupportedModelError(
            "",
            "has other weights on other processes",
            "Begin with the same on each: seed torch alike before it is made, or load one state.",
        )


def check_same_gradients(length: float, like: Tensor, processes: Processes) -> None:
    """Raise UnsupportedModelError, on all processes, if their gradients have different norms."""
    if processes.size == 1:
        return
    if processes.spread(torch.tensor([length], device=like.device).nan_to_num(nan=-1.0)) > ROUNDING:
        raise UnsupportedModelError(
            "",
            "has other gradients on other processes",
            "Run it through DistributedDataParallel, or give each process's batch to step(inputs, targets).",
        )
