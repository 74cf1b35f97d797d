"""What a step does to hidden units, as a part of the curvature (Martens & Sutskever 2011; Martens 2016, 4.6).

The penalty is ½ κ times the mean of ‖c(θ + δ) - c(θ)‖², with c all activities of some layers, at all steps of
a sequence. Its curvature is κ times the mean of J_cᵀ J_c. It comes with the Gauss-Newton product at no other
pass: hidden activities stand beside the outputs, and the curvature of an output is κ I there.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor, nn

from optimizers.objectives import Objective

ACTIVATIONS = (
    nn.ReLU, nn.ReLU6, nn.LeakyReLU, nn.ELU, nn.SELU, nn.CELU, nn.GELU, nn.SiLU, nn.Mish, nn.Sigmoid,
    nn.LogSigmoid, nn.Tanh, nn.Tanhshrink, nn.Hardtanh, nn.Softplus, nn.Softsign,
)  # fmt: skip


def hidden_layers(model: nn.Module) -> list[str]:
    """Return the names of the layers that give activities: activations, and torch's recurrent layers."""
    kinds = (*ACTIVATIONS, nn.RNNBase, nn.RNNCellBase)
    return [name for name, module in model.named_modules() if isinstance(module, kinds)]


@final
class Watched(nn.Module):
    """A model whose outputs have the activities of some of its layers beside them: a row for each case."""

    def __init__(self, model: nn.Module, layers: Sequence[str]) -> None:
        """Raise ValueError for a name that the model has not."""
        super().__init__()
        self.model = model
        known = dict(model.named_modules())
        for name in layers:
            if name not in known:
                inside = ", ".join(map(repr, filter(None, known))) or "none, but for itself, ''"
                raise ValueError(f"The model has no layer {name!r}; its layers are {inside}.")
        self._layers = [known[name] for name in layers]

    def forward(self, inputs: Tensor) -> Tensor:
        with self._recording() as activities:
            outputs = self.model(inputs)
        return torch.cat([each.flatten(start_dim=1) for each in (outputs, *activities)], dim=1)

    @contextmanager
    def _recording(self) -> Iterator[list[Tensor]]:
        activities: list[Tensor] = []

        def record(layer: nn.Module, given: Any, made: Any) -> None:
            del layer, given
            activities.append(made[0] if isinstance(made, tuple) else made)  # of torch's recurrent layers

        with ExitStack() as undo:
            for layer in self._layers:
                undo.callback(layer.register_forward_hook(record).remove)
            yield activities


@final
@dataclass(frozen=True, kw_only=True)
class Penalised:
    """The curvature of an objective, and `strength` times I for what stands beside the outputs."""

    objective: Objective
    strength: float  # κ
    outputs: torch.Size  # of a case

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        """Return what it makes of each case's row."""
        own = self.outputs.numel()
        said, along = (each[:, :own].reshape(-1, *self.outputs) for each in (outputs, vectors))
        curved = self.objective.curvature(said, along).flatten(start_dim=1)
        return torch.cat([curved, self.strength * vectors[:, own:]], dim=1)

    def length(self, pushed: Tensor) -> Tensor:
        """Return the mean of ‖J_c δ‖², of the rows J δ."""
        return pushed[:, self.outputs.numel() :].square().sum(dim=1).mean()
