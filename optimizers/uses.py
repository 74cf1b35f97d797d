"""What the layers that compute s = W h + b did in one forward pass, however often and at however many places.

A *row* is one use of a layer's weights: a case; a position of it, where a layer runs along a sequence or an
image; and again for each further call of the same layer. Equations over cases hold over rows, with the mean
over rows and g as the gradient that this mean makes of it: ∇W = mean of g hᵀ, ∇b = mean of g.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, autograd, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.functional import unfold

from optimizers.layers import listening

AffineLayer: TypeAlias = nn.Linear | nn.Conv2d
Gradients: TypeAlias = dict[Tensor, Tensor]  # by parameter


@dataclass(frozen=True, kw_only=True)
class Use:
    """One call of a layer."""

    inputs: Tensor
    edge: GradientEdge | None  # where a backward pass delivers the gradient of its sums, if one comes by


def affine_layers(model: nn.Module) -> dict[str, AffineLayer]:
    """Return by name the plain linear and convolutional layers that share no parameter with another one."""
    owners: dict[nn.Parameter, int] = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            owners[parameter] = owners.get(parameter, 0) + 1
    return {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, AffineLayer)
        and _is_plain(module)
        and all(owners[parameter] == 1 for parameter in module.parameters())
    }


def _is_plain(module: AffineLayer) -> bool:
    # A subclass may compute something else; weight norm and pruning put other parameters behind weight.
    own = dict(module.named_parameters(recurse=False)).keys()
    if type(module) not in {nn.Linear, nn.Conv2d} or "weight" not in own or not own <= {"weight", "bias"}:
        return False
    if isinstance(module, nn.Linear):
        return True
    return module.groups == 1 and module.padding_mode == "zeros" and not isinstance(module.padding, str)


@contextmanager
def recording_uses(layers: Mapping[str, AffineLayer]) -> Iterator[dict[str, list[Use]]]:
    """Record every call of these layers while the context is open; a layer that did not run is absent."""
    uses: dict[str, list[Use]] = {}

    def record(name: str, layer: nn.Module, inputs: Tensor, outputs: Tensor) -> None:
        del layer
        # An edge rather than the tensor: an in-place activation may overwrite the sums later.
        edge = get_gradient_edge(outputs) if outputs.requires_grad else None
        uses.setdefault(name, []).append(Use(inputs=inputs.detach(), edge=edge))

    with listening(layers, record):
        yield uses


def rows(layer: AffineLayer, uses: Sequence[Use]) -> Tensor:
    """Return h of all uses, one row each: inputs of a linear layer, patches under a convolution's kernel."""
    return torch.cat([_rows(layer, precise(use.inputs)) for use in uses])


def _rows(layer: AffineLayer, inputs: Tensor) -> Tensor:
    if isinstance(layer, nn.Linear):
        return inputs.reshape(-1, layer.in_features)
    if isinstance(layer.padding, str):
        raise TypeError("patches need the padding as numbers")
    images = inputs if inputs.dim() == 4 else inputs[None]
    patches = unfold(images, layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    return patches.mT.reshape(-1, patches.shape[1])


def precise(tensor: Tensor) -> Tensor:
    """Return it in float32 at least: means and curvature are too coarse in less."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one batch says of one layer."""

    name: str
    rows: Tensor  # h, of the uses that the loss depends on
    slopes: Sequence[Tensor]  # of the loss at the sums of each such use: g over the number of rows
    weight_gradient: Tensor  # ∇W = mean of g hᵀ, as a matrix
    bias_gradient: Tensor  # ∇b = mean of g; zeros where no bias is trained
    biased: bool  # whether a trained bias can take up what centring takes away
    is_convolution: bool  # then slopes have their units before their positions

    def row_gradients(self) -> Tensor:
        """Return g, one row each as in `rows`. Raises ValueError where the slopes are unknown."""
        self._check_slopes("Leave it to GradScaler.step to unscale.")
        return len(self.rows) * torch.cat([self._by_row(slope) for slope in self.slopes])

    def _by_row(self, slope: Tensor) -> Tensor:
        units = len(self.bias_gradient)
        if not self.is_convolution:
            return slope.reshape(-1, units)
        return slope.flatten(start_dim=-2).mT.reshape(-1, units)

    def largest_slope(self) -> Tensor:
        """Return the largest g² of all rows and units. Raises ValueError where the slopes are unknown."""
        self._check_slopes("Leave it to GradScaler.step to unscale, or choose a number for alpha.")
        largest = torch.stack([slope.abs().amax() for slope in self.slopes]).amax()
        return (len(self.rows) * largest).square()

    def _check_slopes(self, remedy: str) -> None:
        if not self.slopes:
            raise ValueError(
                f"The slopes of layer {self.name!r} are of a scaled loss, and nobody knows the scale since "
                f"GradScaler.unscale_. {remedy}"
            )


def backward(
    loss: Tensor,
    parameters: Sequence[Tensor],
    layers: Mapping[str, AffineLayer],
    uses: Mapping[str, Sequence[Use]],
) -> tuple[Gradients, dict[str, Seen]]:
    """Return, of all the loss depends on, the gradients by parameter, and what was seen by layer."""
    if not (parameters and loss.requires_grad):
        return {}, {}
    flows = [(name, use, use.edge) for name, calls in uses.items() for use in calls if use.edge is not None]
    sources: list[Tensor | GradientEdge] = [*parameters, *(edge for *_, edge in flows)]
    found: Sequence[Tensor | None] = autograd.grad(loss, sources, allow_unused=True)  # type: ignore[arg-type]
    gradients = {
        parameter: gradient
        for parameter, gradient in zip(parameters, found[: len(parameters)], strict=True)
        if gradient is not None
    }
    reached: dict[str, list[tuple[Use, Tensor]]] = {}
    for (name, use, _), slope in zip(flows, found[len(parameters) :], strict=True):
        if slope is not None and layers[name].weight in gradients:
            reached.setdefault(name, []).append((use, slope))
    return gradients, {name: seen(name, layers[name], calls, gradients) for name, calls in reached.items()}


def seen(
    name: str,
    layer: AffineLayer,
    calls: Sequence[tuple[Use, Tensor]],
    gradients: Gradients,
    scale: float | None = 1.0,
) -> Seen:
    """Return what the uses of a layer say of it, from the slopes at their sums.

    The slopes are those of `scale` times the loss; where nobody knows the scale, there are none.
    """
    weight = precise(gradients[layer.weight]).flatten(start_dim=1)
    bias = gradients.get(layer.bias) if layer.bias is not None else None
    return Seen(
        name=name,
        rows=rows(layer, [use for use, _ in calls]).to(weight.dtype),
        slopes=[] if scale is None else [precise(slope) / scale for _, slope in calls],
        weight_gradient=weight,
        bias_gradient=weight.new_zeros(len(weight)) if bias is None else precise(bias),
        biased=bias is not None,
        is_convolution=isinstance(layer, nn.Conv2d),
    )
