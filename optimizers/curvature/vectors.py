"""Directions in the space of parameters, as a dictionary of tensors by name or as one flat vector.

The flat form joins the tensors in the order of `named_parameters`, each row by row, as
`torch.nn.utils.parameters_to_vector` does.
"""

from collections.abc import Mapping
from typing import TypeVar

import torch
from torch import Tensor

Params = dict[str, Tensor]
Vector = TypeVar("Vector", Tensor, Params)


def flat(params: Mapping[str, Tensor]) -> Tensor:
    """Return all entries as one vector."""
    return torch.cat([tensor.reshape(-1) for tensor in params.values()])


def flat_rows(params: Mapping[str, Tensor]) -> Tensor:
    """Return one flat vector per row, of tensors that have one row per case."""
    return torch.cat([tensor[:, None].flatten(start_dim=1) for tensor in params.values()], dim=1)


def shaped(vector: Tensor | Params, like: Mapping[str, Tensor]) -> Params:
    """Return the vector as a dictionary with the names, order and shapes of another.

    Raises ValueError for a flat vector of another length, KeyError for a dictionary that lacks a name.
    """
    if not isinstance(vector, Tensor):
        return {name: vector[name] for name in like}
    sizes = [tensor.numel() for tensor in like.values()]
    if vector.shape != (sum(sizes),):
        raise ValueError(
            f"A direction has {sum(sizes)} entries here, one of shape {tuple(vector.shape)} came."
        )
    pieces = vector.split(sizes)
    return {name: piece.reshape(like[name].shape) for name, piece in zip(like, pieces, strict=True)}


def shaped_rows(rows: Tensor, like: Mapping[str, Tensor]) -> Params:
    """Return by name the tensors, with one row per case, of which `flat_rows` made these rows."""
    pieces = rows.split([tensor.numel() for tensor in like.values()], dim=1)
    return {
        name: piece.reshape(len(rows), *like[name].shape) for name, piece in zip(like, pieces, strict=True)
    }


def alike(vector: Vector, params: Params) -> Vector:
    """Return params in the form of the vector: flat if it is flat."""
    if isinstance(vector, Tensor):
        return flat(params)
    return params
