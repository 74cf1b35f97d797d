"""A model of nn.Linear layers as blocks: each has a name, a matrix [W b], and rows of inputs and slopes.

What K-FAC knows of a model it knows from here.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, autograd, nn
from torch.autograd.graph import Node

from optimizers.curvature.factors import Rows
from optimizers.curvature.matrices import Matrices
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import Params
from optimizers.layers import Recorded, check_all_ran, linear_layers, recording

ALL = slice(None)


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A forward pass with its graph."""

    outputs: Tensor
    records: Mapping[str, Recorded]


@final
class LinearBlocks:
    """The layers of a model, by name. Raises UnsupportedModelError for one that it cannot know rightly."""

    def __init__(self, model: nn.Module) -> None:
        self._layers = linear_layers(model)

    def forward(self, network: Network, params: Mapping[str, Tensor], cases: slice = ALL) -> Pass:
        """Run some cases of the batch, all of them as training does. Raises UnsupportedModelError."""
        with torch.enable_grad(), recording(self._layers) as records:
            outputs = network.trained(params) if cases == ALL else network(params, cases)
        check_all_ran(self._layers, records, examples=len(outputs))
        return Pass(outputs=outputs, records=records)

    def backward(self, forward: Pass, loss: Tensor, *, keep_graph: bool) -> tuple[Matrices, dict[str, Rows]]:
        """Return the gradient of each layer's [W b], and the rows whose products they are."""
        edges = [forward.records[name].edge for name in self._layers]
        rows = self._rows(forward, [autograd.grad(loss, edges, retain_graph=keep_graph)])
        return {name: of_layer.slopes[0].mT @ of_layer.inputs for name, of_layer in rows.items()}, rows

    def rows(self, forward: Pass, signals: Sequence[Tensor]) -> dict[str, Rows]:
        """Return what each layer had and got, for each signal: a gradient of the mean loss at the outputs."""
        edges = [forward.records[name].edge for name in self._layers]
        slopes = [
            autograd.grad(forward.outputs, edges, signal, retain_graph=number < len(signals))
            for number, signal in enumerate(signals, start=1)
        ]
        return self._rows(forward, slopes)

    def _rows(self, forward: Pass, slopes: Sequence[Sequence[Tensor]]) -> dict[str, Rows]:
        return {
            name: Rows(
                inputs=_homogeneous(forward.records[name].activations, bias=layer.bias is not None),
                slopes=[of_signal[place] for of_signal in slopes],
            )
            for place, (name, layer) in enumerate(self._layers.items())
        }

    def matrices(self, tensors: Mapping[str, Tensor]) -> Matrices:
        """Return what belongs to each parameter, by its name, as [W b] of each layer."""
        return {
            name: torch.cat(
                [tensors[_of(name, part)].reshape(layer.out_features, -1) for part in _parts(layer)], dim=1
            )
            for name, layer in self._layers.items()
        }

    def tensors(self, matrices: Mapping[str, Tensor]) -> Params:
        """Return [W b] of each layer as what belongs to each parameter."""
        tensors: Params = {}
        for name, layer in self._layers.items():
            tensors[_of(name, "weight")] = matrices[name][:, : layer.in_features]
            if layer.bias is not None:
                tensors[_of(name, "bias")] = matrices[name][:, layer.in_features]
        return tensors

    def add(self, updates: Mapping[str, Tensor]) -> None:
        """Change the model."""
        with torch.no_grad():
            for name, layer in self._layers.items():
                layer.weight.add_(updates[name][:, : layer.in_features])
                if layer.bias is not None:
                    layer.bias.add_(updates[name][:, layer.in_features])


def junctions(forward: Pass) -> dict[str, str]:
    """Return which layer feeds which, by the graph: those that feed one layer alone, which no other feeds.

    Warns of layers below the outputs that are in no such junction with one above.
    """
    owners: dict[Node | None, str] = {record.edge.node: name for name, record in forward.records.items()}
    feeding = {name: _nearest(record.source, owners) for name, record in forward.records.items()}
    fed = [lower for lowers in feeding.values() for lower in lowers]
    found = {
        lower: upper
        for upper, lowers in feeding.items()
        for lower in lowers
        if len(lowers) == 1 and fed.count(lower) == 1
    }
    alone = forward.records.keys() - found.keys() - _nearest(forward.outputs.grad_fn, owners)
    if alone:
        names = ", ".join(sorted(map(repr, alone)))
        warnings.warn(f"Not one single layer follows {names}: block-diagonal there.", stacklevel=2)
    return found


def _nearest(start: Node | None, owners: Mapping[Node | None, str]) -> set[str]:
    """Return the layers that are met first on the way back through the graph."""
    met: set[str] = set()
    seen: set[Node] = set()
    waiting: list[Node | None] = [start]
    while waiting:
        node = waiting.pop()
        if node in owners:
            met.add(owners[node])
        elif node is not None and node not in seen:
            seen.add(node)
            waiting.extend(following for following, _ in node.next_functions)
    return met


def _homogeneous(activations: Tensor, *, bias: bool) -> Tensor:
    if not bias:
        return activations
    return torch.cat([activations, activations.new_ones(len(activations), 1)], dim=1)


def _parts(layer: nn.Linear) -> tuple[str, ...]:
    return tuple(dict(layer.named_parameters()))


def _of(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part
