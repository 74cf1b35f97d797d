"""What a network looks like from inside while it trains, as plain arrays and files.

arrays = measured(model, loss, inputs)        # loss: of the outputs, as a scalar
save(folder, update, arrays)                  # statistics-000600.npz
save_images(folder / "first-layer.pgm", weight_images(model[0], (28, 28)))
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from worker.training.initialisation import weighted_layers

Array = NDArray[Any]
UNITS: Final = (nn.ReLU, nn.Sigmoid, nn.Tanh)
BINS: Final = 50


@dataclass(frozen=True)
class Signal:
    """The root mean square of a layer's sums, and of the gradients of the loss by them."""

    forward: float
    backward: float


def activities(model: nn.Module, inputs: Tensor) -> dict[str, Tensor]:
    """Return what each layer of bent units answers to the inputs, by name."""
    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, UNITS)}
    with torch.no_grad(), _outputs(layers) as outputs:
        model(inputs)
    return outputs


def active_share(activity: Tensor) -> Tensor:
    """Return for each unit in how many of all cases it is above 0; a channel's places are cases too."""
    return (activity.transpose(0, 1).flatten(1) > 0).double().mean(dim=1)


def dead_units(activity: Tensor) -> int:
    """Return how many units are above 0 in no case: of ReLU units, those that learn nothing any more."""
    return int((active_share(activity) == 0).sum())


def histogram(activity: Tensor, *, bins: int = BINS) -> tuple[Array, Array]:
    """Return how many activities fall into each bin, and the edges of the bins."""
    return np.histogram(activity.cpu().numpy(), bins=bins)


def signals(model: nn.Module, loss: Callable[[Tensor], Tensor], inputs: Tensor) -> dict[str, Signal]:
    """Return the size of signal and gradient in each layer with weights, the first layer first."""
    with torch.enable_grad(), _outputs(weighted_layers(model)) as sums:
        cost = loss(model(inputs))
    gradients = torch.autograd.grad(cost, list(sums.values()))
    pairs = zip(sums.items(), gradients, strict=True)
    return {name: Signal(_root_mean_square(s), _root_mean_square(g)) for (name, s), g in pairs}


def measured(model: nn.Module, loss: Callable[[Tensor], Tensor], inputs: Tensor) -> dict[str, Array]:
    """Return the statistics of all layers as arrays, named `statistic/layer`."""
    arrays: dict[str, Array] = {}
    for layer, activity in activities(model, inputs).items():
        arrays[f"histogram/{layer}"], arrays[f"histogram_edges/{layer}"] = histogram(activity)
        arrays[f"active_share/{layer}"] = active_share(activity).cpu().numpy()
        arrays[f"dead_units/{layer}"] = np.array(dead_units(activity))
    for layer, signal in signals(model, loss, inputs).items():
        arrays[f"forward/{layer}"] = np.array(signal.forward)
        arrays[f"backward/{layer}"] = np.array(signal.backward)
    return arrays


def save(folder: Path, update: int, arrays: Mapping[str, Array]) -> Path:
    """Write the arrays of one moment into the folder, as numpy reads them; return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"statistics-{update:06}.npz"
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type] # its names may be any strings
    return path


def weight_images(layer: nn.Linear, shape: tuple[int, int]) -> Array:
    """Return the incoming weights of each unit as an image from 0, its lowest weight, to 255, its highest."""
    images = layer.weight.detach().cpu().double().reshape(-1, *shape)
    low, high = images.amin(dim=(1, 2), keepdim=True), images.amax(dim=(1, 2), keepdim=True)
    scaled = (images - low) / (high - low).clamp(min=torch.finfo(torch.float64).tiny)
    return (255 * scaled).round().to(torch.uint8).numpy()


def save_images(path: Path, images: Array) -> None:
    """Write images side by side into one file, as a PGM that picture viewers open."""
    height, width = images.shape[1:]
    columns = int(np.ceil(np.sqrt(len(images))))
    rows = -(-len(images) // columns)
    sheet = np.zeros((rows * (height + 1) - 1, columns * (width + 1) - 1), dtype=np.uint8)
    for number, image in enumerate(images):
        top, left = number // columns * (height + 1), number % columns * (width + 1)
        sheet[top : top + height, left : left + width] = image
    path.write_bytes(b"P5 %d %d 255\n" % sheet.shape[::-1] + sheet.tobytes())


@contextmanager
def _outputs(layers: Mapping[str, nn.Module]) -> Iterator[dict[str, Tensor]]:
    """Keep what each layer gave out last while the context is open; no hook outlives it."""
    outputs: dict[str, Tensor] = {}

    def keep(name: str, _layer: nn.Module, _inputs: object, output: Tensor) -> None:
        outputs[name] = output

    with ExitStack() as hooks:
        for name, layer in layers.items():
            hooks.callback(layer.register_forward_hook(partial(keep, name)).remove)
        yield outputs


def _root_mean_square(values: Tensor) -> float:
    return values.detach().square().mean().sqrt().item()
