import copy

import pytest
import torch
from torch import nn

from optimizers import TransformedLayer


def a_layer():
    torch.manual_seed(0)
    layer = TransformedLayer(4, 6, 3).double()
    nn.init.normal_(layer.inner.weight)
    return layer


def some_inputs(seed=0, examples=40):
    stream = torch.Generator().manual_seed(seed)
    return 0.5 + torch.randn(examples, 4, generator=stream, dtype=torch.float64)


def squared_error(layer, names, values, inputs, targets):
    outputs = torch.func.functional_call(layer, dict(zip(names, values, strict=True)), (inputs,))
    return (outputs - targets).square().sum() / (2 * len(inputs))


def curvature(layer, inputs, targets):
    """The gradient and the Hessian of the squared error, over all parameters."""
    names, start = zip(*layer.named_parameters(), strict=True)
    sizes = [parameter.numel() for parameter in start]
    flat = torch.cat([parameter.detach().reshape(-1) for parameter in start])

    def loss(flat):
        parts = flat.split(sizes)
        values = [part.reshape(p.shape) for part, p in zip(parts, start, strict=True)]
        return squared_error(layer, names, values, inputs, targets)

    return torch.autograd.functional.jacobian(loss, flat), torch.autograd.functional.hessian(loss, flat)


@pytest.mark.row(69)
def test_a_transformation_changes_no_output():
    layer = a_layer()
    before = layer(some_inputs(9))
    for seed in range(3):
        layer.transform(some_inputs(seed))

    torch.testing.assert_close(layer(some_inputs(9)), before, rtol=0, atol=1e-12)


@pytest.mark.row(69)
def test_after_it_the_mean_activity_and_the_mean_slope_of_each_unit_are_zero():
    layer, inputs = a_layer(), some_inputs()
    layer.transform(some_inputs(seed=1))
    layer.transform(inputs)

    sums = layer.inner(inputs).detach().requires_grad_()
    units = torch.tanh(sums) + layer.slope * sums + layer.shift
    (slopes,) = torch.autograd.grad(units.sum(), sums)
    torch.testing.assert_close(layer.units(inputs), units)
    assert units.mean(dim=0).abs().max() <= 1e-12
    assert slopes.mean(dim=0).abs().max() <= 1e-12


@pytest.mark.row(69)
def test_the_hessian_is_better_conditioned_and_the_gradient_nearer_to_the_newton_direction():
    plain, inputs = a_layer(), some_inputs()
    targets = torch.sin(inputs[:, :3])
    transformed = copy.deepcopy(plain)
    transformed.transform(inputs)
    spreads, cosines = [], []
    for layer in (plain, transformed):
        gradient, hessian = curvature(layer, inputs, targets)
        values = torch.linalg.eigvalsh(hessian).abs()
        spreads.append((values.max() / values.median()).item())
        damped = hessian + 2.0 * torch.eye(len(gradient), dtype=torch.float64)
        newton = torch.linalg.solve(damped, gradient)
        cosines.append(torch.cosine_similarity(gradient, newton, dim=0).item())

    assert spreads[1] < 0.7 * spreads[0]
    assert cosines[1] > cosines[0]
