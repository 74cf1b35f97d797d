import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from optimizers import Almeida, SilvaAlmeida, squared_error


def a_model(weights):
    model = nn.Linear(len(weights), 1, bias=False).double()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([weights]))
    return model


def height(weights):
    return (weights.pow(4) / 4 + weights.prod()).sum()


def slope(weights):
    return torch.func.grad(height)(weights)


def on_height(optimizer, model, updates):
    """The weights and gradients of some updates."""
    path = []
    for _ in range(updates):
        weights = model.weight.detach().clone()
        model.weight.grad = slope(weights)
        path.append((weights, model.weight.grad.clone()))
        optimizer.step()
    return path


@pytest.mark.row(98)
def test_a_rate_descends_along_the_derivative_of_the_loss_in_it():
    model, lr, meta_lr = a_model([0.9, -0.7, 0.4]), 0.05, 1e-3
    optimizer = Almeida(model, squared_error(), lr=lr, meta_lr=meta_lr)
    [(start, first), (_, second)] = on_height(optimizer, model, 2)
    state = optimizer.state[model.weight]
    descent = (state["rates"] - 1) * state["squares"] / meta_lr

    for j in range(3):
        step = torch.zeros_like(start)
        step[0, j] = 1e-6
        up, down = (height(start - (lr + sign * step) * first) for sign in (1, -1))
        assert descent[0, j].item() == pytest.approx(-(up - down).item() / 2e-6, rel=1e-6)
    torch.testing.assert_close(state["squares"], (first.square() + second.square()) / 2)


@pytest.mark.row(98)
def test_without_a_rate_of_rates_it_is_the_heavy_ball():
    ours, theirs = a_model([0.9, -0.7, 0.4]), a_model([0.9, -0.7, 0.4])
    ball = torch.optim.SGD(theirs.parameters(), lr=0.05, momentum=0.8)
    on_height(Almeida(ours, squared_error(), lr=0.05, meta_lr=0.0, momentum=0.8), ours, 9)
    on_height(ball, theirs, 9)

    torch.testing.assert_close(ours.weight, theirs.weight)


@pytest.mark.row(97)
@pytest.mark.row(98)
def test_log_rates_that_move_by_the_size_of_the_product_follow_its_sign():
    model, lr, alpha = a_model([0.9, -0.7, 0.4]), 0.05, 0.1
    optimizer = SilvaAlmeida(
        model, squared_error(), lr=lr, increase=math.exp(alpha), decrease=math.exp(-alpha)
    )
    path, logs = on_height(optimizer, model, 12), torch.zeros(1, 3, dtype=torch.float64)
    products = [one * other for (_, one), (_, other) in pairwise(path)]
    for product in products:
        logs += alpha / product.abs() * product

    torch.testing.assert_close(optimizer.state[model.weight]["rates"], logs.exp())
    assert {-1.0, 1.0} == set(torch.stack(products).sign().flatten().tolist())


@pytest.mark.row(98)
@given(
    st.lists(st.integers(-100, 100).map(lambda tenths: tenths / 10), min_size=1, max_size=12),
    st.floats(0.0, 3.0),
    st.floats(0.0, 0.95),
    st.floats(0.0, 0.99),
)
def test_a_step_is_that_of_the_rule_number_by_number(gradients, meta_lr, momentum, decay):
    model, place = a_model([0.0]), 0.0
    optimizer = Almeida(model, squared_error(), lr=0.1, meta_lr=meta_lr, momentum=momentum, decay=decay)
    rate, square, before, move = 1.0, 0.0, 0.0, 0.0
    for count, gradient in enumerate(gradients, start=1):
        model.weight.grad = torch.tensor([[gradient]], dtype=torch.float64)
        optimizer.step()
        past = min(1 - 1 / count, decay)
        square = past * square + (1 - past) * gradient**2
        if square > 0:
            rate *= min(2.0, max(0.5, 1 + meta_lr * gradient * before / square))
        before, move = gradient, momentum * move - 0.1 * rate * gradient
        place += move
        assert model.weight.item() == pytest.approx(place, rel=1e-9, abs=1e-12)


def test_no_factor_is_below_a_half_or_above_two():
    model = a_model([0.0, 0.0, 0.0])
    optimizer = Almeida(model, squared_error(), meta_lr=1e3)
    for gradient in ([1.0, 1.0, 0.0], [1.0, -1.0, 0.0]):
        model.weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()

    torch.testing.assert_close(
        optimizer.state[model.weight]["rates"], torch.tensor([[2.0, 0.5, 1.0]]).double()
    )


@pytest.mark.parametrize("wrong", [{"meta_lr": -0.1}, {"momentum": 1.0}, {"decay": 1.0}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Almeida(nn.Linear(2, 1), squared_error(), **wrong)
