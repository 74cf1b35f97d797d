import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import AdaptiveNaturalGradient, CrossEntropy, squared_error
from optimizers.curvature.dense import gradients_by_case, jacobian, second_moment
from optimizers.curvature.network import Network
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import NotPositiveDefiniteError, TooLargeError
from optimizers.solvers.woodbury import inverse_with_diagonal, inverse_with_rows


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def eye(size):
    return torch.eye(size, dtype=torch.float64)


def rows_of(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.row(120)
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 6),
    size=st.integers(1, 6),
    past=st.floats(0.1, 1),
    added=st.floats(0, 10),
)
def test_inverses_of_sums_are_those_of_the_sums_written_out(seed, count, size, past, added):
    root, rows = rows_of(size, 2 * size, seed=seed), rows_of(count, size, seed=seed + 1)
    matrix = tikhonov(root @ root.T, 0.1)
    inverse = torch.linalg.inv(matrix)

    torch.testing.assert_close(
        inverse_with_rows(inverse, rows, past=past), torch.linalg.inv(past * matrix + rows.T @ rows)
    )
    torch.testing.assert_close(
        inverse_with_diagonal(inverse, added), torch.linalg.inv(tikhonov(matrix, added))
    )


def test_for_one_row_it_is_the_published_formula():
    inverse, u, epsilon = torch.linalg.inv(tikhonov(rows_of(4, 4, seed=0), 9.0)), rows_of(4, seed=1), 0.1
    inverse = (inverse + inverse.T) / 2
    image = inverse @ u
    published = inverse - epsilon * torch.outer(image, image) / ((1 - epsilon) + epsilon * u @ image)

    found = inverse_with_rows(inverse, math.sqrt(epsilon) * u[None], past=1 - epsilon)

    torch.testing.assert_close(found, published / (1 - epsilon))


def test_an_inverse_that_is_none_is_refused():
    with pytest.raises(NotPositiveDefiniteError, match="not positive definite"):
        inverse_with_rows(-9 * eye(3), eye(3))


@pytest.mark.row(120)
@pytest.mark.parametrize("cases", [1, 6])
@pytest.mark.parametrize("decay", [0.995, 0.9])  # the damping is put back after 200 updates, and after 10
def test_over_a_hundred_updates_the_inverse_is_that_of_the_matrix(
    a_network, a_batch, most_likely, cases, decay
):
    model = a_network(4, 5, 3)
    optimizer = AdaptiveNaturalGradient(model, most_likely, lr=0.02, damping=0.5, decay=decay)
    matrix = 0.5 * eye(43)
    for seed in range(100):
        inputs, targets = a_batch(cases, 4, 3, seed=seed)
        network, before = Network(model, inputs), theta(model)
        rows = gradients_by_case(network, CrossEntropy(), model(inputs).argmax(dim=1))
        gradient = gradients_by_case(network, CrossEntropy(), targets).mean(dim=0)
        matrix = decay * matrix + (1 - decay) * second_moment(rows)
        if decay == 0.9 and (seed + 1) % 10 == 0:
            matrix = tikhonov(matrix, 0.5 * (1 - 0.9**10))
        optimizer.step(inputs, targets)
        truth = before - 0.02 * torch.linalg.solve(matrix, gradient)
        torch.testing.assert_close(theta(model), truth, rtol=1e-8, atol=1e-10)

    torch.testing.assert_close(
        optimizer.state_dict()["matrix"], torch.linalg.inv(matrix), rtol=1e-7, atol=1e-9
    )


@pytest.mark.row(120)
def test_with_a_memory_of_all_it_stays_what_it_was_and_is_gradient_descent(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    optimizer = AdaptiveNaturalGradient(model, CrossEntropy(), lr=0.1, damping=0.5, decay=1.0)
    for _ in range(5):
        before = theta(model)
        gradient = gradients_by_case(Network(model, batch[0]), CrossEntropy(), batch[1]).mean(dim=0)
        optimizer.step(*batch)
        torch.testing.assert_close(theta(model), before - 0.1 / 0.5 * gradient)

    assert torch.equal(optimizer.state_dict()["matrix"], 2 * eye(43))


@pytest.mark.row(120)
def test_for_regression_with_unit_noise_it_tends_to_the_products_of_derivatives():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)).double()
    inputs = rows_of(64, 2, seed=1)
    optimizer = AdaptiveNaturalGradient(
        model, squared_error(half=True), lr=0.0, damping=1e-3, decay=0.995, generator=torch.Generator()
    )
    for _ in range(1200):
        optimizer.step(inputs, torch.zeros(64, 1).double())
    derivatives = jacobian(Network(model, inputs))[:, 0]
    truth = derivatives.T @ derivatives / 64

    found = torch.linalg.inv(optimizer.state_dict()["matrix"])

    assert (found - truth).norm() < 0.03 * truth.norm()


@pytest.mark.row(120)
def test_no_target_of_the_data_is_in_the_matrix(a_network, a_batch):
    inputs, targets = a_batch(6, 4, 3)
    states = []
    for y in (targets, (targets + 1) % 3):
        optimizer = AdaptiveNaturalGradient(
            a_network(4, 5, 3), CrossEntropy(), generator=torch.Generator().manual_seed(0)
        )
        optimizer.step(inputs, y)
        states.append(optimizer.state_dict()["matrix"])

    assert torch.equal(*states)


def test_the_inverse_stays_bounded_where_no_gradient_points(a_network, a_batch):
    model = a_network(4, 3)  # the sums of all columns of weights have no gradient
    optimizer = AdaptiveNaturalGradient(model, CrossEntropy(), damping=0.5, decay=0.5)
    for seed in range(200):
        optimizer.step(*a_batch(6, 4, 3, seed=seed))

    assert torch.linalg.eigvalsh(optimizer.state_dict()["matrix"]).max() < 1.001 * (1 / 0.5) / 0.5**2


def test_where_other_parameters_are_trained_it_begins_anew(a_network, a_batch, most_likely):
    model = a_network(4, 5, 3)
    optimizer = AdaptiveNaturalGradient(model, most_likely, decay=0.9, lr=0.0)
    for seed in range(7):
        optimizer.step(*a_batch(6, 4, 3, seed=seed))
    model[0].requires_grad_(False)
    other = AdaptiveNaturalGradient(model, most_likely, decay=0.9, lr=0.0)
    for seed in range(12):
        for each in (optimizer, other):
            each.step(*a_batch(6, 4, 3, seed=seed))

    assert other.state_dict()["matrix"].shape == (18, 18)
    torch.testing.assert_close(optimizer.state_dict()["matrix"], other.state_dict()["matrix"])


def test_a_model_too_large_for_its_square_is_refused_with_what_to_do(a_network):
    with pytest.raises(TooLargeError, match=r"matrix of 43 x 43 .* limit is 42. Train a smaller model, or"):
        AdaptiveNaturalGradient(a_network(4, 5, 3), CrossEntropy(), limit=42)


@pytest.mark.parametrize("wrong", [{"damping": 0.0}, {"decay": 0.0}, {"decay": 1.1}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdaptiveNaturalGradient(a_network(4, 3), CrossEntropy(), **wrong)
