from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, grad

from optimizers import SGDQN, CrossEntropy, squared_error
from optimizers.curvature.dense import hessian
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from optimizers.height import Height
from optimizers.processes import ALONE
from optimizers.sgd_qn import secant

CURVATURES = [0.9, 0.2, 0.05]
START = [1.0, -2.0, 3.0]


def made(quadratic, **more):
    return SGDQN(quadratic.model, quadratic.objective, **{"skip": 1, **more})


def params_of(model):
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def rates(optimizer):
    return optimizer.state_dict()["kept"]["rates"]["weight"][0]


@pytest.mark.row(102)
@pytest.mark.parametrize("batch", ["next", "same"])
def test_by_the_rule_of_2009_one_secant_is_newtons_rate_on_a_quadratic_along_the_axes(a_quadratic, batch):
    quadratic = a_quadratic(torch.tensor(CURVATURES).diag(), START)
    optimizer = made(quadratic, rule="2009", batch=batch, lr=0.5)
    quadratic.path(optimizer, 2 if batch == "next" else 1)

    torch.testing.assert_close(rates(optimizer), 1 / torch.tensor(CURVATURES, dtype=torch.float64))


@pytest.mark.row(102)
def test_by_the_rule_of_2010_the_inverses_of_rates_are_sums_of_curvatures(a_quadratic):
    quadratic = a_quadratic(torch.tensor(CURVATURES).diag(), START)
    optimizer = made(quadratic, rule="2010", lr=0.5)
    quadratic.path(optimizer, 5)

    torch.testing.assert_close(1 / rates(optimizer), 1 + 4 * torch.tensor(CURVATURES, dtype=torch.float64))


@pytest.mark.row(102)
@pytest.mark.parametrize(("batch", "met"), [("next", 0.8), ("same", 0.4)])
def test_a_move_is_examined_on_the_batch_that_did_not_choose_it_unless_told(a_quadratic, batch, met):
    first, second = (a_quadratic([[curvature]], [1.0]) for curvature in (0.4, 0.8))
    optimizer = made(first, rule="2009", batch=batch, skip=3)
    for quadratic in (first, first, first, second):
        optimizer.step(*quadratic.batch)

    assert rates(optimizer).item() == pytest.approx(1 / met)


@pytest.mark.row(102)
@pytest.mark.parametrize(("batch", "updates"), [("next", 4), ("same", 3)])
def test_every_so_many_moves_one_is_examined(a_quadratic, batch, updates):
    quadratic = a_quadratic([[0.4]], [1.0])
    optimizer, counts = made(quadratic, batch=batch, skip=3), []
    for _ in range(2 * updates):
        optimizer.step(*quadratic.batch)
        counts.append(optimizer.state_dict()["kept"]["secants"]["weight"].item())

    assert counts.index(1.0) == updates - 1
    assert counts.index(2.0) == updates + 2


@pytest.mark.row(102)
def test_the_next_batch_is_asked_for_its_gradients_where_the_move_began_and_where_it_ended(
    a_network, a_batch
):
    model, least = a_network(4, 5, 3), 1e-2
    optimizer = SGDQN(model, CrossEntropy(), rule="2009", skip=1, lr=5.0, least_curvature=least)
    inputs, targets = a_batch(6, 4, 3, seed=2)
    slope = grad(lambda given: CrossEntropy().loss(functional_call(model, given, (inputs,)), targets))
    places = [params_of(model)]
    optimizer.step(*a_batch(6, 4, 3, seed=1))
    places.append(params_of(model))
    optimizer.step(inputs, targets)
    change, move = (flat(at(places[1])) - flat(at(places[0])) for at in (slope, dict))
    met = (change / move).clamp(least, 100 * least)

    torch.testing.assert_close(flat(optimizer.state_dict()["kept"]["rates"]), 1 / met)


@pytest.mark.row(102)
def test_a_short_move_meets_the_product_and_over_all_signs_the_diagonal_of_the_hessian(a_network, a_batch):
    inputs, targets = a_batch(6, 2, 3)
    network = Network(a_network(2, 1, 3), inputs)
    exact = hessian(network, CrossEntropy(), targets)
    height, total = Height(CrossEntropy(), network, targets, 0.0, ALONE), torch.zeros(9).double()
    _, gradient = height.slope(total)
    for signs in product([1.0, -1.0], repeat=9):
        move = 1e-4 * torch.tensor(signs, dtype=torch.float64)
        met = secant(height, move, gradient) / move
        torch.testing.assert_close(met, exact @ move / move, rtol=0, atol=1e-3)
        total += met / 2**9

    torch.testing.assert_close(total, exact.diagonal(), rtol=0, atol=1e-6)


@pytest.mark.row(102)
@settings(max_examples=25)
@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=4), st.floats(1e-3, 1.0))
def test_no_curvature_is_believed_below_the_least_or_above_a_hundred_times_that(a_quadratic, found, least):
    quadratic = a_quadratic(torch.tensor(found, dtype=torch.float64).diag(), [1.0] * len(found))
    optimizer = made(quadratic, rule="2009", least_curvature=least, batch="same", lr=1e-4)
    quadratic.path(optimizer, 1)

    believed = torch.tensor(found, dtype=torch.float64).clamp(least, 100 * least)
    torch.testing.assert_close(1 / rates(optimizer), believed, rtol=1e-5, atol=0.0)


def test_what_did_not_move_keeps_its_rate(a_quadratic):
    quadratic = a_quadratic(torch.tensor(CURVATURES).diag(), [1.0, 0.0, 1.0])
    optimizer = made(quadratic, rule="2009", batch="same")
    quadratic.path(optimizer, 1)

    assert rates(optimizer)[1].item() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "wrong", [{"least_curvature": 0.0}, {"skip": 0}, {"rule": "2011"}, {"batch": "last"}, {"lr": -1.0}]
)
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SGDQN(nn.Linear(2, 1), squared_error(), **wrong)
