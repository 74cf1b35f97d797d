from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import CrossEntropy, squared_error


def a_network(*widths, activation=nn.Tanh, bias=True, seed=0):
    torch.manual_seed(seed)
    modules = []
    for inputs, outputs in pairwise(widths):
        modules += [nn.Linear(inputs, outputs, bias=bias), activation()]
    return nn.Sequential(*modules[:-1]).double()


def a_batch(examples, features, classes, *, seed=1):
    stream = torch.Generator().manual_seed(seed)
    inputs = torch.randn(examples, features, generator=stream, dtype=torch.float64)
    return inputs, torch.randint(classes, (examples,), generator=stream)


class MostLikely:
    """Cross-entropy which "samples" the most likely class, so that a test knows the targets."""

    curvature, factor = CrossEntropy().curvature, CrossEntropy().factor

    def loss(self, outputs, targets):
        return cross_entropy(outputs, targets)

    def sample(self, outputs, generator):
        del generator
        return outputs.argmax(dim=1)


@pytest.fixture(name="a_network")
def _a_network():
    return a_network


@pytest.fixture(name="a_batch")
def _a_batch():
    return a_batch


@pytest.fixture(name="most_likely")
def _most_likely():
    return MostLikely()


def layer_rows(model, inputs, targets):
    """h and g of each linear layer, one row per case; a summed loss leaves each g its own, without 1/n."""
    row, kept = inputs, []
    for module in model:
        before, row = row, module(row)
        if isinstance(module, nn.Linear):
            row.retain_grad()
            kept.append((before.detach(), row))
    cross_entropy(row, targets, reduction="sum").backward()
    model.zero_grad()
    return [(h, s.grad) for h, s in kept]


def moves_of(model, update):
    """What an update adds to each parameter."""
    before = [parameter.detach().clone() for parameter in model.parameters()]
    update()
    return [parameter.detach() - start for parameter, start in zip(model.parameters(), before, strict=True)]


@pytest.fixture(name="layer_rows")
def _layer_rows():
    return layer_rows


@pytest.fixture(name="moves_of")
def _moves_of():
    return moves_of


class Quadratic:
    """h = ½ θᵀ H θ as a regression without noise, for what asks for a model and a batch."""

    def __init__(self, hessian, start):
        self.hessian = torch.as_tensor(hessian, dtype=torch.float64)
        self.start = torch.as_tensor(start, dtype=torch.float64)
        self.model = nn.Linear(len(self.start), 1, bias=False).double()
        self.weights = self.model.weight
        self.place(self.start)
        rows = len(self.start) ** 0.5 * torch.linalg.cholesky(self.hessian).mT
        self.batch = rows, torch.zeros(len(rows), 1, dtype=torch.float64)
        self.objective = squared_error(half=True)

    def place(self, point):
        with torch.no_grad():
            self.weights.copy_(point[None])

    @property
    def point(self):
        return self.weights.detach()[0].clone()

    @property
    def height(self):
        return (self.point @ self.hessian @ self.point / 2).item()

    def path(self, optimizer, updates):
        """The iterates, from where it is."""
        points = [self.point]
        for _ in range(updates):
            optimizer.step(*self.batch)
            points.append(self.point)
        return points


@pytest.fixture(name="a_quadratic", scope="session")
def _a_quadratic():
    return Quadratic
