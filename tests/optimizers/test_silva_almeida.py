import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from optimizers import SilvaAlmeida, squared_error


def rates_after(gradients, **settings):
    """P of as many parameters as a gradient has, after updates by these gradients."""
    model = nn.Linear(len(gradients[0]), 1, bias=False).double()
    optimizer = SilvaAlmeida(model, squared_error(), **settings)
    for gradient in gradients:
        model.weight.grad = torch.as_tensor(gradient, dtype=torch.float64)[None]
        optimizer.step()
    return optimizer.state[model.weight]["rates"][0]


@pytest.mark.row(97)
def test_a_change_of_sign_shrinks_a_rate_and_its_absence_lets_it_grow():
    rates = rates_after([[1.0, 1.0, 1.0], [-2.0, 0.0, 3.0]], increase=1.2, decrease=0.8)

    torch.testing.assert_close(rates, torch.tensor([0.8, 1.2, 1.2], dtype=torch.float64))


@pytest.mark.row(97)
@given(st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=12), st.floats(1.0, 2.0), st.floats(0.1, 1.0))
def test_a_rate_is_a_product_of_one_factor_for_each_pair_of_gradients(gradients, increase, decrease):
    rates = rates_after([[gradient] for gradient in gradients], increase=increase, decrease=decrease)
    kept = sum(math.copysign(1, a) == math.copysign(1, b) or 0 in {a, b} for a, b in pairwise(gradients))

    assert rates.item() == pytest.approx(increase**kept * decrease ** (len(gradients) - 1 - kept))


@pytest.mark.row(97)
def test_rates_grow_geometrically_while_the_gradient_is_constant(moves_of):
    model = nn.Linear(2, 1, bias=False).double()
    optimizer = SilvaAlmeida(model, squared_error(), lr=0.1, increase=1.3)
    gradient = torch.tensor([[2.0, -1e-200]], dtype=torch.float64)
    for k in range(6):
        model.weight.grad = gradient.clone()
        [move] = moves_of(model, optimizer.step)
        torch.testing.assert_close(move[0, 0], -0.1 * 1.3**k * gradient[0, 0])

    torch.testing.assert_close(optimizer.state[model.weight]["rates"], torch.full((1, 2), 1.3**5).double())


@pytest.mark.row(97)
@pytest.mark.parametrize(("decrease", "drift"), [(1 / 1.2, 0.0), (0.8, math.log(1.2 * 0.8) / 2)])
def test_noise_alone_drives_rates_to_no_side_only_where_one_factor_undoes_the_other(decrease, drift):
    stream, updates, parameters = torch.Generator().manual_seed(0), 50, 4000
    noise = torch.randn(updates + 1, parameters, generator=stream, dtype=torch.float64)
    logs = rates_after(noise, increase=1.2, decrease=decrease).log()

    spread = (math.log(1.2) - math.log(decrease)) / 2 * math.sqrt(updates)
    assert logs.mean().item() == pytest.approx(updates * drift, abs=4 * spread / math.sqrt(parameters))
    assert logs.std().item() == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("wrong", [{"increase": 0.9}, {"decrease": 1.1}, {"decrease": 0.0}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SilvaAlmeida(nn.Linear(2, 1), squared_error(), **wrong)


def test_a_parameter_of_another_model_is_refused():
    with pytest.raises(ValueError, match="none of the model's"):
        SilvaAlmeida(nn.Linear(2, 1), squared_error(), params=nn.Linear(2, 1).parameters())
