"""nn.MultiheadAttention with its four products of weights in the open, in place of inside one function."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import multi_head_attention_forward

from optimizers.curvature.forms import Affine, AffinePart, Form, Piece


def attention_forms(layer: Any) -> dict[str, Form]:
    """Return the three projections into the heads, and the one out of them."""
    forms: dict[str, Form] = {}
    size = layer.embed_dim
    for number, part in enumerate(("query", "key", "value")):
        rows = (number * size, (number + 1) * size)
        own = f"{part[0]}_proj_weight"
        forms[part] = Affine(
            weight=Piece(own) if layer.in_proj_weight is None else Piece("in_proj_weight", *rows),
            bias=None if layer.in_proj_bias is None else Piece("in_proj_bias", *rows),
        )
    biased = layer.out_proj.bias is not None
    forms["out_proj"] = Affine(
        weight=Piece("out_proj.weight"), bias=Piece("out_proj.bias") if biased else None
    )
    return forms


def attend(
    layer: Any,
    affine: AffinePart,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,  # noqa: FBT001, FBT002 - the signature of torch
    attn_mask: Tensor | None = None,
    average_attn_weights: bool = True,  # noqa: FBT001, FBT002
    is_causal: bool = False,  # noqa: FBT001, FBT002
) -> tuple[Tensor, Tensor | None]:
    """Return what the layer returns: torch's own function, with the identity for each projection."""
    batched = query.dim() == 3

    def projected(part: str, inputs: Tensor) -> Tensor:
        if not batched:
            return affine(part, inputs[None])[0]
        cases = inputs if layer.batch_first else inputs.transpose(0, 1)
        return affine(part, cases).transpose(0, 1)

    queries, keys, values = projected("query", query), projected("key", key), projected("value", value)
    same = torch.eye(layer.embed_dim, dtype=queries.dtype, device=queries.device)
    attended, weights = multi_head_attention_forward(
        queries,
        keys,
        values,
        layer.embed_dim,
        layer.num_heads,
        same.repeat(3, 1),
        None,
        layer.bias_k,
        layer.bias_v,
        layer.add_zero_attn,
        layer.dropout,
        same,
        None,
        training=layer.training,
        key_padding_mask=key_padding_mask,
        need_weights=need_weights,
        attn_mask=attn_mask,
        average_attn_weights=average_attn_weights,
        is_causal=is_causal,
    )
    if not batched:
        return affine("out_proj", attended[None])[0], weights
    outputs = affine("out_proj", attended.transpose(0, 1))
    return outputs if layer.batch_first else outputs.transpose(0, 1), weights
