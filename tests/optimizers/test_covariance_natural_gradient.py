import math

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import Bernoulli, CovarianceNaturalGradient, CrossEntropy, squared_error
from optimizers.curvature.dense import (
    covariance,
    gauss_newton,
    gradients_by_case,
    jacobian,
    output_curvature,
    second_moment,
)
from optimizers.curvature.network import Network
from optimizers.damping.tikhonov import tikhonov

CONVERGED = {"iterations": 300, "tolerance": 1e-13}


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def direction(model, batch, objective=None, **told):
    before = weights(model)
    CovarianceNaturalGradient(model, objective or CrossEntropy(), lr=1.0, **CONVERGED, **told).step(*batch)
    return before - weights(model)


def gradients(model, batch, objective=None):
    return gradients_by_case(Network(model, batch[0]), objective or CrossEntropy(), batch[1])


@pytest.mark.row(117)
@pytest.mark.parametrize("solver", ["cg", "gram"])
@pytest.mark.parametrize("centred", [False, True])
def test_a_step_is_the_solve_with_the_matrix_of_gradients_written_out(a_network, a_batch, solver, centred):
    model, batch = a_network(4, 5, 3), a_batch(8, 4, 3)
    inputs, targets = batch
    rows = torch.stack(
        [
            torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])
            for loss in (CrossEntropy().loss(model(inputs[[i]]), targets[[i]]) for i in range(8))
        ]
    )
    mean = rows.mean(dim=0)
    matrix = rows.T @ rows / 8 - centred * torch.outer(mean, mean)
    truth = torch.linalg.solve(tikhonov(matrix, 0.05), mean)

    found = direction(model, batch, solver=solver, centred=centred, damping=0.05)

    torch.testing.assert_close(found, truth, rtol=1e-8, atol=1e-10)


@pytest.mark.row(117)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cases=st.integers(1, 12), exponent=st.floats(-3, 3))
def test_both_covariances_take_one_direction_and_their_lengths_have_a_known_ratio(
    a_network, a_batch, seed, cases, exponent
):
    batch, damping = a_batch(cases, 4, 3, seed=seed), 10.0**exponent
    by_u, by_c = (
        direction(a_network(4, 5, 3), batch, solver="gram", centred=centred, damping=damping)
        for centred in (False, True)
    )
    rows = gradients(a_network(4, 5, 3), batch)
    mean = rows.mean(dim=0)
    ratio = 1 + mean @ torch.linalg.solve(tikhonov(covariance(rows), damping), mean)

    torch.testing.assert_close(by_c, ratio * by_u, rtol=1e-6, atol=1e-9)


@pytest.mark.row(117)
def test_other_targets_are_another_metric(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(8, 4, 3)
    others = (targets + 1) % 3
    mean = gradients(model, (inputs, targets)).mean(dim=0)
    solved = [
        torch.linalg.solve(tikhonov(second_moment(gradients(model, (inputs, y))), 0.1), mean)
        for y in (targets, others)
    ]

    assert (solved[0] - solved[1]).norm() > 0.1 * solved[0].norm()
    found = direction(model, (inputs, targets), damping=0.1)
    torch.testing.assert_close(found, solved[0], rtol=1e-8, atol=1e-10)


@pytest.mark.row(117)
@pytest.mark.parametrize("centred", [False, True])
def test_only_as_many_directions_as_there_are_cases_are_held_back(a_network, a_batch, centred):
    model, batch, damping = a_network(4, 5, 3), a_batch(6, 4, 3), 0.1
    rows = gradients(model, batch)
    matrix = covariance(rows) if centred else second_moment(rows)

    assert torch.linalg.matrix_rank(matrix) == 6 - centred
    gradient = rows.mean(dim=0)
    found = direction(model, batch, centred=centred, damping=damping)
    beyond = found - rows.T @ torch.linalg.lstsq(rows.T, found[:, None]).solution[:, 0]
    assert beyond.norm() < 1e-9 * gradient.norm() / damping


@pytest.mark.row(117)
def test_it_comes_near_the_fisher_matrix_where_the_model_is_right():
    stream = torch.Generator().manual_seed(0)
    inputs = torch.randn(20000, 3, generator=stream, dtype=torch.float64)
    torch.manual_seed(0)
    model = nn.Linear(3, 1).double()
    targets = Bernoulli().sample(model(inputs).detach(), stream)
    network = Network(model, inputs)
    fisher = gauss_newton(jacobian(network), output_curvature(Bernoulli(), model(inputs).detach()))

    rows = gradients(model, (inputs, targets), Bernoulli())

    assert (second_moment(rows) - fisher).norm() < 0.03 * fisher.norm()
    assert (covariance(rows) - fisher).norm() < 0.03 * fisher.norm()


def test_with_boundless_damping_it_is_gradient_descent(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(8, 4, 3)
    mean = gradients(model, batch).mean(dim=0)

    torch.testing.assert_close(1e9 * direction(model, batch, damping=1e9), mean, rtol=1e-6, atol=1e-7)


def test_conjugate_gradients_stop_at_the_tolerance_or_at_the_number_told(a_network, a_batch):
    batch = a_batch(8, 4, 3)
    few, enough = (
        CovarianceNaturalGradient(a_network(4, 5, 3), CrossEntropy(), damping=1e-3, **told).step(*batch)
        for told in ({"iterations": 3}, {"iterations": 100, "tolerance": 1e-2})
    )

    assert few.iterations == 3
    assert 3 < enough.iterations < 20  # U has 8 eigenvalues, and 0


@pytest.mark.parametrize("solver", ["cg", "gram"])
def test_batch_normalisation_takes_the_gradient_that_knows_of_it(a_batch, solver):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3)).double()
    inputs, targets = a_batch(8, 4, 3)
    truth = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), list(model.parameters()))

    found = direction(model, (inputs, targets), solver=solver, damping=1e9)

    torch.testing.assert_close(
        1e9 * found, torch.cat([part.flatten() for part in truth]), rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize(
    "wrong",
    [{"iterations": 0}, {"damping": 0.0}, {"solver": "lu"}, {"tolerance": -1.0}, {"lr": math.inf}],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CovarianceNaturalGradient(a_network(4, 3), squared_error(), **wrong)
