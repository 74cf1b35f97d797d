"""What is known of each type of layer: the forms its parameters take, and where its rows are to be seen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from torch import Tensor, nn
from torch.nn.functional import batch_norm, group_norm, layer_norm, rms_norm

from optimizers.attention import attend, attention_forms
from optimizers.curvature.forms import Affine, Form, Lookup, Piece, Scaling, convolution_places
from optimizers.recurrence import recurrent_forms, run, run_cell

Forward: TypeAlias = Callable[..., Any]  # of the layer, an AffinePart, and what the layer is called with


@final
@dataclass(frozen=True, kw_only=True)
class Rule:
    """The forms of a layer, by part, and its forward if more happens in it than one use of each part.

    Without a forward the layer's first argument and its output are the inputs and outputs of every part.
    With one, this runs in the layer's place while uses are recorded, and must return the same.
    """

    forms: Callable[[Any], Mapping[str, Form]]
    forward: Forward | None = None


def register(layer_type: Any, rule: Rule) -> None:
    """Have curvature of all layers of exactly this type taken by the rule, from now on.

    `verification.verify_rule` tells what is wrong with one. Raises TypeError for what is no type of layer.
    """
    if not (isinstance(layer_type, type) and issubclass(layer_type, nn.Module)):
        raise TypeError(
            f"register takes a type of layer, a subclass of nn.Module; it got {layer_type!r}. "
            f"Give it the class, not a layer made of it."
        )
    RULES[layer_type] = rule


def _linear(layer: nn.Linear) -> dict[str, Form]:
    return {"weight": Affine(weight=Piece("weight"), bias=_bias(layer))}


def _convolution(layer: Any) -> dict[str, Form]:
    form = Affine(weight=Piece("weight"), bias=_bias(layer), groups=layer.groups, places=convolution_places)
    return {"weight": form}


def _bias(layer: Any) -> Piece | None:
    return None if layer.bias is None else Piece("bias")


def _lookup(layer: nn.Embedding) -> dict[str, Form]:
    if layer.scale_grad_by_freq:  # then what torch gives is not the gradient
        return {}
    return {"weight": Lookup(weight=Piece("weight"))}


def _channels_normalised(layer: Any, inputs: Tensor) -> Tensor:
    if isinstance(layer, nn.GroupNorm):
        return group_norm(inputs, layer.num_groups, eps=layer.eps)
    if layer.training or layer.running_mean is None:
        return batch_norm(inputs, None, None, training=True, eps=layer.eps)
    return batch_norm(inputs, layer.running_mean, layer.running_var, eps=layer.eps)


def _units_normalised(layer: Any, inputs: Tensor) -> Tensor:
    if isinstance(layer, nn.LayerNorm):
        return layer_norm(inputs, layer.normalized_shape, eps=layer.eps)
    return rms_norm(inputs, layer.normalized_shape, eps=layer.eps)


def _channels(layer: nn.Module) -> dict[str, Form]:
    return {"weight": Scaling(names=_own(layer), normalised=_channels_normalised, channels=True)}


def _units(layer: nn.Module) -> dict[str, Form]:
    return {"weight": Scaling(names=_own(layer), normalised=_units_normalised, channels=False)}


def _own(layer: nn.Module) -> tuple[str, ...]:
    return tuple(name for name, _ in layer.named_parameters(recurse=False))


RULES: dict[type[nn.Module], Rule] = {  # by exact type: a subclass may compute something else
    nn.Linear: Rule(forms=_linear),
    **dict.fromkeys((nn.Conv1d, nn.Conv2d, nn.Conv3d), Rule(forms=_convolution)),
    nn.Embedding: Rule(forms=_lookup),
    **dict.fromkeys((nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.GroupNorm), Rule(forms=_channels)),
    **dict.fromkeys((nn.LayerNorm, nn.RMSNorm), Rule(forms=_units)),
    **dict.fromkeys((nn.RNN, nn.LSTM, nn.GRU), Rule(forms=recurrent_forms, forward=run)),
    **dict.fromkeys((nn.RNNCell, nn.LSTMCell, nn.GRUCell), Rule(forms=recurrent_forms, forward=run_cell)),
    nn.MultiheadAttention: Rule(forms=attention_forms, forward=attend),
}
