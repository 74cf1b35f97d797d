"""One training by an optimizer for torch: ours, torch's own, or one of an environment of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from benchmarks.optimizers import course
from benchmarks.optimizers.problems import Layer, Read

Settings = dict[str, Any]
Criterion = Callable[[Tensor, Tensor], Tensor]
Make = Callable[..., list[torch.optim.Optimizer]]

LAYERS: dict[str, Callable[..., nn.Module]] = {
    "linear": nn.Linear,
    "sigmoid": nn.Sigmoid,
    "image": lambda *shape: nn.Unflatten(1, shape),
    "convolution": lambda before, after: nn.Conv2d(before, after, 3, padding=1),
    "rectifier": nn.ReLU,
    "pooling": lambda: nn.MaxPool2d(2),
    "flat": nn.Flatten,
}


def network(layers: list[Layer]) -> nn.Sequential:
    """Return it, with weights of torch's stream."""
    return nn.Sequential(*(LAYERS[kind](*settings) for kind, *settings in layers))


def pixels(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the cross entropy summed over pixels, the mean over cases."""
    return binary_cross_entropy_with_logits(outputs, targets, reduction="sum") / len(outputs)


def sgd(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return Nesterov's method with the usual momentum."""
    return [torch.optim.SGD(model.parameters(), lr, momentum=0.9, nesterov=True)]


def adam(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return it with all else as it comes."""
    return [torch.optim.Adam(model.parameters(), lr)]


def muon(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return it for matrices, with rates scaled to be those of Adam, and Adam for all else."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() == 2]
    others = [parameter for parameter in model.parameters() if parameter.dim() != 2]
    scaled = torch.optim.Muon(matrices, lr, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    return [scaled, torch.optim.Adam(others, lr)]


def soap(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return that of pytorch_optimizer without its decay of weights."""
    from pytorch_optimizer import SOAP

    return [SOAP(model.parameters(), lr, weight_decay=0.0)]


def shampoo(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return the scalable one of pytorch_optimizer; its own 1,000 steps between roots outlast the run."""
    from pytorch_optimizer import ScalableShampoo

    return [ScalableShampoo(model.parameters(), lr, preconditioning_compute_steps=20)]


def singd(model: nn.Module, *, lr: float) -> list[torch.optim.Optimizer]:
    """Return it with dense factors, all else as it comes."""
    from singd.optim.optimizer import SINGD

    return [SINGD(model, lr=lr)]


USUAL: dict[str, Make] = {
    "SGD": sgd,
    "Adam": adam,
    "Muon": muon,
    "SOAP": soap,
    "Shampoo": shampoo,
    "SINGD": singd,
}
"""What works in the usual loop."""


def usual(model: nn.Module, criterion: Criterion, name: str, settings: Settings) -> course.Update:
    """Return updates in the usual loop."""
    optimizers = USUAL[name](model, **settings)

    def update(inputs: np.ndarray, targets: np.ndarray) -> None:
        model.zero_grad()
        criterion(model(torch.from_numpy(inputs)), torch.from_numpy(targets)).backward()
        for optimizer in optimizers:
            optimizer.step()

    return update


def ours(model: nn.Module, problem: Read, name: str, settings: Settings) -> course.Update:
    """Return updates by one of ours."""
    import optimizers

    objective = optimizers.CrossEntropy() if problem.classifies else optimizers.Bernoulli()
    optimizer = getattr(optimizers, name)(
        model, objective, generator=torch.Generator().manual_seed(0), **settings
    )
    return lambda inputs, targets: optimizer.step(torch.from_numpy(inputs), torch.from_numpy(targets))


def main() -> None:
    """Train as the command line says."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    asked, problem = course.wanted()
    model = network(problem.layers)
    with torch.no_grad():
        for parameter, first in zip(model.parameters(), problem.weights, strict=True):
            parameter.copy_(torch.from_numpy(first))
    criterion = cross_entropy if problem.classifies else pixels
    if asked.method in USUAL:
        update = usual(model, criterion, asked.method, asked.settings)
    else:
        update = ours(model, problem, asked.method, asked.settings)

    def loss(inputs: np.ndarray, targets: np.ndarray) -> float:
        with torch.no_grad():
            return criterion(model(torch.from_numpy(inputs)), torch.from_numpy(targets)).item()

    course.run(asked, problem, update, loss)


if __name__ == "__main__":
    main()
