"""Makes a network of a quadratic, so that real optimizers run on it."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.utils import skip_init

from optimizers import Gaussian
from optimizers.whole import Whole

HALF_SQUARES = Gaussian()  # ½ ‖z - y‖²


def linear_model(start: Tensor) -> nn.Linear:
    """Return x -> θᵀx, with θ set."""
    model: nn.Linear = skip_init(nn.Linear, len(start), 1, bias=False, dtype=start.dtype)
    with torch.no_grad():
        model.weight.copy_(start)
    return model


def cases_of(curvature: Tensor) -> tuple[Tensor, Tensor]:
    """Return inputs and targets for which the mean loss of that model is ½ θᵀ B θ."""
    values, vectors = torch.linalg.eigh(curvature)
    inputs = (len(values) * values.clamp(min=0)).sqrt()[:, None] * vectors.T
    return inputs, torch.zeros(len(values), 1, dtype=curvature.dtype)


def visited(optimizer_of: Callable[[nn.Linear], Whole], curvature: Tensor, start: Tensor) -> Iterator[Tensor]:
    """Yield θ, before any update and after each, without end."""
    model, batch = linear_model(start), cases_of(curvature)
    optimizer = optimizer_of(model)
    while True:
        yield model.weight.detach()[0].clone()
        optimizer.step(*batch)


def height(curvature: Tensor, point: Tensor) -> float:
    """Return ½ θᵀ B θ."""
    return float(point @ curvature @ point) / 2
