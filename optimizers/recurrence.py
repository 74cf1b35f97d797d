"""torch's recurrent layers step by step, with every product of weights in the open.

torch computes all steps of nn.RNN, nn.LSTM and nn.GRU inside one function, where no hook sees the sums.
"""

from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import PackedSequence

from optimizers.curvature.forms import Affine, AffinePart, Form, Piece

State: TypeAlias = tuple[Tensor, ...]  # h; of an LSTM h and c


def recurrent_forms(layer: Any) -> dict[str, Form]:
    """Return each matrix of weights with its bias: from the inputs, from the state, and of a projection."""
    names = {name for name, _ in layer.named_parameters()}
    return {
        name: Affine(weight=Piece(name), bias=Piece(bias) if bias in names else None)
        for name in sorted(names)
        if name.startswith("weight")
        for bias in [name.replace("weight", "bias", 1)]
    }


def run_cell(layer: Any, affine: AffinePart, inputs: Tensor, hx: Any = None) -> Any:
    """Return what nn.RNNCell, nn.LSTMCell or nn.GRUCell returns."""
    batched = inputs.dim() == 2
    given: State = () if hx is None else tuple(hx) if isinstance(layer, nn.LSTMCell) else (hx,)
    rows = inputs if batched else inputs[None]
    state = given or _zeros(layer, rows)  # that of one case is broadcast
    state = _step(layer, affine("weight_ih", rows), affine("weight_hh", state[0]), state)
    told = state if batched else tuple(part[0] for part in state)
    return told if isinstance(layer, nn.LSTMCell) else told[0]


def run(layer: Any, affine: AffinePart, inputs: Any, hx: Any = None) -> Any:
    """Return what nn.RNN, nn.LSTM or nn.GRU returns; of packed sequences by torch's function, unseen."""
    if isinstance(inputs, PackedSequence):
        return type(layer).forward(layer, inputs, hx)
    batched, is_lstm = inputs.dim() == 3, isinstance(layer, nn.LSTM)
    rows = inputs[None] if not batched else inputs if layer.batch_first else inputs.transpose(0, 1)
    given = () if hx is None else tuple(hx) if is_lstm else (hx,)  # the states of one sequence are broadcast

    ends: list[State] = []
    for level in range(layer.num_layers):
        if level:
            rows = _dropped(layer, rows)
        outputs = []
        for suffix in ("", "_reverse")[: 1 + layer.bidirectional]:
            state = tuple(part[len(ends)] for part in given) or _zeros(layer, rows)
            along, end = _run(layer, affine, f"_l{level}{suffix}", rows, state)
            outputs.append(along)
            ends.append(end)
        rows = torch.cat(outputs, dim=-1)

    last = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
    last = last if batched else tuple(part[:, 0] for part in last)
    told = rows[0] if not batched else rows if layer.batch_first else rows.transpose(0, 1)
    return told, last if is_lstm else last[0]


def _dropped(layer: Any, rows: Tensor) -> Tensor:
    # In torch's own order of time and cases, so that the same state of the stream drops the same units.
    dropped = dropout(rows.transpose(0, 1).contiguous(), layer.dropout, layer.training)
    return dropped.transpose(0, 1)


def _run(layer: Any, affine: AffinePart, suffix: str, rows: Tensor, state: State) -> tuple[Tensor, State]:
    """Return the outputs of one level in one direction, and its last state; cases come first."""
    sums = affine(f"weight_ih{suffix}", rows)
    times = range(rows.shape[1])
    outputs = {}
    for time in reversed(times) if suffix.endswith("_reverse") else times:
        state = _step(layer, sums[:, time], affine(f"weight_hh{suffix}", state[0]), state)
        if getattr(layer, "proj_size", 0):
            state = (affine(f"weight_hr{suffix}", state[0]), *state[1:])
        outputs[time] = state[0]
    return torch.stack([outputs[time] for time in times], dim=1), state


def _step(layer: Any, from_inputs: Tensor, from_state: Tensor, state: State) -> State:
    if isinstance(layer, nn.LSTM | nn.LSTMCell):
        within, forget, cell, out = (from_inputs + from_state).chunk(4, dim=-1)
        memory = forget.sigmoid() * state[1] + within.sigmoid() * cell.tanh()
        return out.sigmoid() * memory.tanh(), memory
    if isinstance(layer, nn.GRU | nn.GRUCell):
        reset, update, new = from_inputs.chunk(3, dim=-1)
        state_reset, state_update, state_new = from_state.chunk(3, dim=-1)
        fresh = (new + (reset + state_reset).sigmoid() * state_new).tanh()
        kept = (update + state_update).sigmoid()
        return ((1 - kept) * fresh + kept * state[0],)
    sums = from_inputs + from_state
    return (sums.relu() if layer.nonlinearity == "relu" else sums.tanh(),)


def _zeros(layer: Any, rows: Tensor) -> State:
    start = rows.new_zeros(len(rows), getattr(layer, "proj_size", 0) or layer.hidden_size)
    if isinstance(layer, nn.LSTM | nn.LSTMCell):
        return start, rows.new_zeros(len(rows), layer.hidden_size)
    return (start,)
