import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import VSGD, squared_error
from optimizers.errors import UnsupportedModelError

CURVATURES = torch.tensor([4.0, 1.0, 0.1], dtype=torch.float64)
START = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)


def made(quadratic, **more):
    return VSGD(quadratic.model, quadratic.objective, **{"lr": 1.0, "source": "gauss_newton", **more})


@pytest.mark.row(103)
def test_without_noise_and_caution_each_rate_is_the_inverse_of_its_curvature(a_quadratic):
    quadratic = a_quadratic(CURVATURES.diag(), START)
    quadratic.path(made(quadratic, caution=1.0), 1)

    torch.testing.assert_close(quadratic.point, torch.zeros_like(START))


@pytest.mark.row(103)
def test_caution_is_forgotten_where_there_is_no_noise(moves_of):
    model = nn.Linear(1, 1, bias=False).double()
    inputs, lengths = torch.full((1, 1), 0.1, dtype=torch.float64), []  # curvature 0.01, and a far minimum
    optimizer = VSGD(model, squared_error(half=True), lr=1.0, caution=10.0, source="gauss_newton")
    for _ in range(40):
        before = model.weight.item()
        targets = model(inputs).detach() + 0.5  # one and the same gradient, -0.05
        [move] = moves_of(model, lambda given=targets: optimizer.step(inputs, given))
        lengths.append(move.item() * 0.01 / 0.05)
        assert model.weight.item() > before

    assert lengths[0] == pytest.approx(0.1)
    assert lengths[-1] == pytest.approx(1.0, rel=0.01)


@pytest.mark.row(103)
def test_of_pure_noise_a_rate_comes_to_nothing(moves_of):
    model = nn.Linear(1, 1, bias=False).double()
    optimizer = VSGD(model, squared_error(half=True), lr=1.0, caution=2.0, source="gauss_newton")
    stream = torch.Generator().manual_seed(0)
    inputs, ratios = torch.ones(1, 1, dtype=torch.float64), []
    for noise in torch.randn(400, generator=stream, dtype=torch.float64):
        targets = model(inputs).detach() + noise  # wherever the weight is, the mean gradient is 0
        [move] = moves_of(model, lambda given=targets: optimizer.step(inputs, given))
        ratios.append(abs(move.item() / noise.item()))

    assert max(ratios[:5]) > 0.1
    assert max(ratios[-100:]) < 0.05


@pytest.mark.row(103)
@settings(max_examples=15)
@given(st.floats(-4.0, 4.0))
def test_the_unit_of_the_loss_changes_no_step(a_quadratic, power):
    scale = 10.0**power
    ours, theirs = (a_quadratic(unit * CURVATURES.diag(), START) for unit in (1.0, scale))
    paths = [each.path(made(each, caution=3.0), 6) for each in (ours, theirs)]

    torch.testing.assert_close(*paths, rtol=1e-6, atol=1e-9)


@pytest.mark.row(103)
def test_means_and_memories_are_those_of_the_paper(a_quadratic):
    quadratic = a_quadratic(CURVATURES.diag(), START)
    optimizer, point, memory = made(quadratic, caution=5.0, memory=2.0), START, torch.full((3,), 2.0)
    mean, square = CURVATURES * point, 5 * (CURVATURES * point).square()
    for k, after in enumerate(quadratic.path(optimizer, 5)[1:]):
        slope = CURVATURES * point
        if k:
            mean = (1 - 1 / memory) * mean + slope / memory
            square = (1 - 1 / memory) * square + slope.square() / memory
        rate = mean.square() / (CURVATURES * square)
        memory = (1 - mean.square() / square) * memory + 1
        point = point - rate * slope
        torch.testing.assert_close(after, point)


def test_a_parameter_without_curvature_rests():
    model = nn.Linear(2, 1, bias=False).double()
    before = model.weight.detach().clone()
    inputs = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    VSGD(model, squared_error()).step(inputs, torch.ones(1, 1, dtype=torch.float64))

    assert math.isfinite(model.weight.sum().item())
    assert (model.weight == before).tolist() == [[False, True]]


def test_the_recursion_refuses_what_is_no_sequence():
    with pytest.raises(UnsupportedModelError, match="source='chapelle_erhan'"):
        VSGD(nn.Bilinear(2, 2, 1), squared_error(), source="becker_lecun")


@pytest.mark.parametrize("wrong", [{"caution": 0.5}, {"memory": 0.0}, {"source": "none"}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        VSGD(nn.Linear(2, 1), squared_error(), **wrong)
