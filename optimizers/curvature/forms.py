"""How parameters of a layer make a matrix V, and what a call of the layer says of the curvature of V.

A call makes pairs of rows (h, g), some for each case, such that the gradient of the case is

    ∇V = Σ g hᵀ,

a sum over the positions where the case met the same weights. K-FAC's factors are second moments of h and g.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Protocol, TypeAlias, final

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from optimizers.uses import precise

# From a layer, its inputs and the gradients at its outputs to h and g: (cases, positions, width), or with
# groups (cases, positions, groups, width).
Places: TypeAlias = Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]]

SMALL = 512  # entries of a normalisation, up to which it is worth a matrix


@final
@dataclass(frozen=True, kw_only=True)
class Rows:
    """What calls said of a block; h and g have the same cases and the same positions."""

    inputs: Tensor  # h; whole numbers (cases, positions) stand for rows that are 1 there, -1 for none
    outputs: Tensor  # g
    width: int  # of h
    diagonal: bool = False  # whether of g the squares alone are of use

    def lines(self) -> tuple[Tensor, Tensor] | None:
        """Return h and g as matrices, one row for each position; None of lookups and groups."""
        if not self.inputs.is_floating_point() or self.inputs.dim() > 3:
            return None
        return self.inputs.flatten(end_dim=1), self.outputs.flatten(end_dim=1)

    def count(self) -> int:
        """Return how many there are."""
        if self.inputs.is_floating_point():
            return self.inputs.shape[:2].numel()
        return int((self.inputs >= 0).sum())

    def gradient(self) -> Tensor:
        """Return Σ g hᵀ, the gradient of V."""
        g = self.outputs.flatten(end_dim=1)
        if self.inputs.is_floating_point():
            h = self.inputs.flatten(end_dim=1)
            return g.T @ h if g.dim() == 2 else g.movedim(0, 1).mT @ h.movedim(0, 1)
        seen = self.inputs.flatten() >= 0
        table = g.new_zeros(self.width, g.shape[-1])
        return table.index_add(0, self.inputs.flatten()[seen], g[seen]).mT


class Form(Protocol):
    """How some parameters of a layer make a matrix, and its calls make rows."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, as the layer names them."""

    def only(self, names: Collection[str]) -> "Form | None":
        """Return the form of these alone, the others being frozen; None where there is no such form."""

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Return V, in float32 at least, of tensors shaped like the parameters."""

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        """Write V into tensors shaped like the parameters."""

    def rows(self, layer: Any, inputs: Tensor, gradients: Tensor) -> Rows:
        """Return h and g of one call, from its inputs and the gradients at its outputs."""


class AffinePart(Protocol):
    """What a forward written for a rule computes its sums by, so that they are seen."""

    def __call__(self, part: str, inputs: Tensor, /) -> Tensor:
        """Return W h + b of a part whose form is `Affine`; the first dimension of h has the cases."""


@final
@dataclass(frozen=True)
class Piece:
    """A parameter, or some of its rows."""

    name: str
    start: int = 0
    stop: int | None = None

    def of(self, tensors: Mapping[str, Tensor]) -> Tensor:
        """Return these rows of the tensor with its name."""
        return tensors[self.name][self.start : self.stop]

    def in_layer(self, layer: nn.Module) -> Tensor:
        """Return these rows of the layer's own."""
        whole: Tensor = attrgetter(self.name)(layer)
        return whole[self.start : self.stop]


def linear_places(layer: nn.Module, inputs: Tensor, gradients: Tensor) -> tuple[Tensor, Tensor]:
    """Return inputs and gradients as they are: the first dimension has the cases, the last one the units."""
    del layer
    return tuple(t.reshape(len(t) if t.dim() > 1 else 1, -1, t.shape[-1]) for t in (inputs, gradients))  # type: ignore[return-value]


def convolution_places(layer: Any, inputs: Tensor, gradients: Tensor) -> tuple[Tensor, Tensor]:
    """Return for each place of the kernel what it covers there, and the gradients at its outputs."""
    spatial = len(layer.kernel_size)
    if inputs.dim() == spatial + 1:  # one case, without the dimension of the batch
        inputs, gradients = inputs[None], gradients[None]
    covered = patches(layer, inputs)
    slopes = gradients.flatten(start_dim=2).mT
    if layer.groups == 1:
        return covered, slopes
    return covered.unflatten(2, (layer.groups, -1)), slopes.unflatten(2, (layer.groups, -1))


def patches(layer: Any, images: Tensor) -> Tensor:
    """Return what the kernel covers at each of its places: (cases, places, channels and kernel)."""
    spatial = len(layer.kernel_size)
    mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
    covered = pad(images, _margins(layer), mode=mode)
    for dim in range(spatial):
        reach = layer.dilation[dim] * (layer.kernel_size[dim] - 1) + 1
        covered = covered.unfold(2 + dim, reach, layer.stride[dim])[..., :: layer.dilation[dim]]
    # (cases, channels, places in each direction, kernel in each direction)
    covered = covered.movedim(1, 1 + spatial)
    return covered.flatten(start_dim=1 + spatial).flatten(start_dim=1, end_dim=spatial)


def _margins(layer: Any) -> list[int]:
    margins = []  # as torch pads: the last direction comes first
    for dim in reversed(range(len(layer.kernel_size))):
        if layer.padding == "same":
            missing = layer.dilation[dim] * (layer.kernel_size[dim] - 1)
            margins += [missing // 2, missing - missing // 2]
        else:
            margins += [0, 0] if layer.padding == "valid" else [layer.padding[dim]] * 2
    return margins


@final
@dataclass(frozen=True, kw_only=True)
class Affine:
    """s = W h + b at every place: V = [W b], one such matrix for each group."""

    weight: Piece | None = None
    bias: Piece | None = None
    groups: int = 1
    places: Places = linear_places

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece.name for piece in (self.weight, self.bias) if piece is not None)

    def only(self, names: Collection[str]) -> "Affine | None":
        kept = {
            side: piece if piece is not None and piece.name in names else None
            for side, piece in (("weight", self.weight), ("bias", self.bias))
        }
        return replace(self, **kept) if any(kept.values()) else None  # type: ignore[arg-type]

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        return torch.cat([precise(self._stacked(part)) for part in self._parts(tensors)], dim=-1)

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        parts = self._parts(tensors)
        widths = [self._stacked(part).shape[-1] for part in parts]
        for part, columns in zip(parts, matrix.split(widths, dim=-1), strict=True):
            part.copy_(columns.reshape(part.shape))

    def rows(self, layer: Any, inputs: Tensor, gradients: Tensor) -> Rows:
        h, g = self.places(layer, precise(inputs), precise(gradients))
        columns = [h] if self.weight is not None else []
        columns += [h.new_ones(*h.shape[:-1], 1)] if self.bias is not None else []
        rows = torch.cat(columns, dim=-1)
        return Rows(inputs=rows, outputs=g, width=rows.shape[-1])

    def _parts(self, tensors: Mapping[str, Tensor]) -> list[Tensor]:
        return [piece.of(tensors) for piece in (self.weight, self.bias) if piece is not None]

    def _stacked(self, part: Tensor) -> Tensor:
        shape = (len(part), -1) if self.groups == 1 else (self.groups, len(part) // self.groups, -1)
        return part.reshape(shape)


@final
@dataclass(frozen=True, kw_only=True)
class Lookup:
    """The rows of a table: V is its transpose, h is 1 at the number looked up, so that A is diagonal."""

    weight: Piece

    @property
    def names(self) -> tuple[str, ...]:
        return (self.weight.name,)

    def only(self, names: Collection[str]) -> "Lookup | None":
        return self if self.weight.name in names else None

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        return precise(self.weight.of(tensors).mT)

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        self.weight.of(tensors).copy_(matrix.mT)

    def rows(self, layer: Any, inputs: Tensor, gradients: Tensor) -> Rows:
        numbers = inputs.reshape(len(inputs) if inputs.dim() else 1, -1)
        slopes = precise(gradients).reshape(*numbers.shape, -1)
        if layer.padding_idx is not None:  # what stands there is not trained
            padded = numbers == layer.padding_idx
            numbers, slopes = numbers.masked_fill(padded, -1), slopes.masked_fill(padded[..., None], 0.0)
        return Rows(inputs=numbers, outputs=slopes, width=layer.num_embeddings)


@final
@dataclass(frozen=True, kw_only=True)
class Scaling:
    """y = w ⊙ x̂ + b after a normalisation: V is [w; b] as one column, g the whole gradient of a case.

    The block is exact; of one with more than 512 entries the diagonal is.
    """

    names: tuple[str, ...]
    normalised: Callable[[Any, Tensor], Tensor]  # x̂, of a layer and its inputs
    channels: bool  # whether w belongs to the second dimension; else to the last ones

    def only(self, names: Collection[str]) -> "Scaling | None":
        kept = tuple(name for name in self.names if name in names)
        return replace(self, names=kept) if kept else None

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        return torch.cat([precise(tensors[name]).reshape(-1, 1) for name in self.names])

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        parts = [tensors[name] for name in self.names]
        for part, column in zip(parts, matrix.split([part.numel() for part in parts]), strict=True):
            part.copy_(column.reshape(part.shape))

    def rows(self, layer: Any, inputs: Tensor, gradients: Tensor) -> Rows:
        slopes = precise(gradients)
        by_name = {"weight": slopes * self.normalised(layer, precise(inputs)), "bias": slopes}
        g = torch.cat([self._by_case(by_name[name], layer.weight.dim()) for name in self.names], dim=1)
        ones = g.new_ones(len(g), 1, 1)
        return Rows(inputs=ones, outputs=g[:, None], width=1, diagonal=g.shape[1] > SMALL)

    def _by_case(self, slopes: Tensor, dims: int) -> Tensor:
        if self.channels:
            return slopes.flatten(start_dim=2).sum(dim=2) if slopes.dim() > 2 else slopes
        lines = slopes.flatten(start_dim=-dims)
        return lines[None] if lines.dim() == 1 else lines.reshape(len(lines), -1, lines.shape[-1]).sum(dim=1)


@final
@dataclass(frozen=True, kw_only=True)
class Whole:
    """A parameter without a form of its own: V is one column, and of its curvature the diagonal is known.

    The only row is the gradient of the batch. Of sampled targets its square is, on average, the sum of the
    squares of the cases: the gradients of two cases are independent, and 0 on average.
    """

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def only(self, names: Collection[str]) -> "Whole | None":
        return self if self.name in names else None

    def matrix(self, tensors: Mapping[str, Tensor]) -> Tensor:
        return precise(tensors[self.name]).reshape(-1, 1)

    def put(self, matrix: Tensor, tensors: Mapping[str, Tensor]) -> None:
        tensors[self.name].copy_(matrix.reshape(tensors[self.name].shape))

    def rows(self, layer: Any, inputs: Tensor, gradients: Tensor) -> Rows:
        del layer, inputs
        g = precise(gradients).reshape(1, 1, -1)
        return Rows(inputs=torch.ones_like(g[..., :1]), outputs=g, width=1, diagonal=True)
