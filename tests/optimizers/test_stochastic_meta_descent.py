import math

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, StochasticMetaDescent, squared_error

H = [[2.0, 0.6, 0.1], [0.6, 1.0, -0.2], [0.1, -0.2, 0.5]]
START = [1.0, -2.0, 3.0]


def kept(optimizer, what):
    return torch.cat([part.flatten() for part in optimizer.state_dict()["kept"][what].values()])


def flat(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


@pytest.mark.row(101)
def test_v_is_the_derivative_of_the_parameters_in_a_shift_of_all_log_rates(a_network, a_batch):
    batch, shift, ends = a_batch(6, 4, 3), 1e-5, []
    for sign in (1, -1, 0):
        model = a_network(4, 5, 3)
        optimizer = StochasticMetaDescent(
            model,
            CrossEntropy(),
            lr=0.3 * math.exp(sign * shift),
            meta_lr=0.0,
            memory=1.0,
            curvature="hessian",
        )
        for _ in range(6):
            optimizer.step(*batch)
        ends.append(flat(model))

    torch.testing.assert_close(
        kept(optimizer, "sensitivity"), (ends[0] - ends[1]) / (2 * shift), rtol=1e-6, atol=1e-9
    )


@pytest.mark.row(101)
def test_without_memory_rates_follow_products_of_successive_gradients(a_quadratic):
    quadratic, lr, meta_lr = a_quadratic(H, START), 0.2, 0.05
    optimizer = StochasticMetaDescent(
        quadratic.model, quadratic.objective, lr=lr, meta_lr=meta_lr, memory=0.0
    )
    first, second, _ = [quadratic.hessian @ point for point in quadratic.path(optimizer, 2)]

    torch.testing.assert_close(kept(optimizer, "log_rates").exp(), 1 + meta_lr * lr * first * second)


@pytest.mark.row(101)
def test_without_a_rate_of_rates_it_is_gradient_descent(a_quadratic):
    quadratic = a_quadratic(H, START)
    optimizer = StochasticMetaDescent(quadratic.model, quadratic.objective, lr=0.2, meta_lr=0.0)
    descent = torch.eye(3, dtype=torch.float64) - 0.2 * quadratic.hessian

    for k, point in enumerate(quadratic.path(optimizer, 9)):
        torch.testing.assert_close(point, descent.matrix_power(k) @ quadratic.start)


@pytest.mark.row(101)
def test_where_the_parameters_rest_v_comes_to_minus_newtons_step(a_quadratic):
    quadratic = a_quadratic(H, START)
    optimizer = StochasticMetaDescent(quadratic.model, quadratic.objective, lr=0.4, meta_lr=0.0, memory=1.0)
    for _ in range(120):
        optimizer.step(*quadratic.batch)
        quadratic.place(quadratic.start)

    torch.testing.assert_close(kept(optimizer, "sensitivity"), -quadratic.start)  # H⁻¹ g = θ


@pytest.mark.row(101)
def test_off_the_axes_rates_for_single_parameters_do_not_cure_a_bad_condition(a_quadratic):
    turn = torch.tensor([[1.0, -1.0], [1.0, 1.0]], dtype=torch.float64) / math.sqrt(2)
    ends = []
    for axes in (torch.eye(2, dtype=torch.float64), turn):
        hessian = axes @ torch.diag(torch.tensor([1.0, 1e-3], dtype=torch.float64)) @ axes.mT
        quadratic = a_quadratic(hessian, axes @ torch.tensor([0.0, 1.0], dtype=torch.float64))
        optimizer = StochasticMetaDescent(quadratic.model, quadratic.objective, lr=1.0, meta_lr=300.0)
        ends.append(quadratic.path(optimizer, 200)[-1].norm().item())

    along, off = ends
    descent = (1 - 1e-3) ** 200
    assert along < 0.2 * descent
    assert off > 0.5 * descent


def test_no_update_more_than_halves_a_rate(a_quadratic):
    quadratic = a_quadratic([[2.0]], [1.0])
    optimizer = StochasticMetaDescent(quadratic.model, quadratic.objective, lr=0.9, meta_lr=1e4)
    quadratic.path(optimizer, 2)  # beyond the minimum, and to see it

    assert kept(optimizer, "log_rates").exp().item() == pytest.approx(0.5)


@pytest.mark.parametrize("wrong", [{"memory": 1.1}, {"meta_lr": -1.0}, {"curvature": "none"}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        StochasticMetaDescent(nn.Linear(2, 1), squared_error(), **wrong)
