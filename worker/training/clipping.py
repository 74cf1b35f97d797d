"""Gradients that are too long are cut before they move the weights."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, TypeAlias

from torch import Tensor, nn

from worker.training.settings import above_zero, chosen

Clipping: TypeAlias = Callable[[Iterable[nn.Parameter]], object]


def clipping(name: str, **settings: object) -> Clipping:
    """Return what cuts the gradients of parameters. Raises ValueError that names what is wrong."""
    return chosen("clipping", CLIPPINGS, name, **settings)


def by_norm(*, limit: float) -> Callable[[Iterable[nn.Parameter]], Tensor]:
    """Scale all gradients by one factor, so that together they are no longer than the limit."""
    above_zero("limit", limit)
    return partial(nn.utils.clip_grad_norm_, max_norm=limit)


def by_element(*, limit: float) -> Callable[[Iterable[nn.Parameter]], None]:
    """Cut each element at ± the limit, which changes the direction."""
    above_zero("limit", limit)
    return partial(nn.utils.clip_grad_value_, clip_value=limit)


CLIPPINGS: Final[Mapping[str, Callable[..., Clipping]]] = {"element": by_element, "norm": by_norm}
