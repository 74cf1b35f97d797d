"""What a forward and a backward pass gave, on one process or on all of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

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


def check_same_parts(
    passes: Passes, trained: Sequence[Tensor], layers: Sequence[str], processes: Processes
) -> None:
    """Raise UnsupportedModelError, on all processes, unless the loss depends on the same parts on each."""
    if processes.size == 1 or not trained:
        return
    there = [*(p in passes.gradients for p in trained), *(name in passes.seen for name in layers)]
    if processes.spread(torch.tensor(there, dtype=torch.float32, device=trained[0].device)) > 0:
        raise UnsupportedModelError(
            "",
            "has parts that took part on some processes and not on others",
            "Have the loss depend on all of it on each process, if need be with a factor of 0.",
        )


def check_same_gradients(passes: Passes, trained: Sequence[Tensor], processes: Processes) -> None:
    """Raise UnsupportedModelError, on all processes, if they have different gradients."""
    if processes.size == 1 or not trained:
        return
    length = norm(passes.gradients)
    length = length if math.isfinite(length) else -1.0
    if processes.spread(torch.tensor([length], device=trained[0].device)) > ROUNDING:
        raise UnsupportedModelError(
            "",
            "has other gradients on other processes",
            "Run it through DistributedDataParallel, or give each process's batch to step(inputs, targets).",
        )
