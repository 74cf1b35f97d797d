import itertools

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import ACP, CentredGradientDescent, CrossEntropy
from optimizers.errors import SingularFactorError
from optimizers.solvers.cholesky import inverse

EXACT = {"rtol": 1e-8, "atol": 1e-10}


def homogeneous(h):
    return torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], dim=1)


def vec(matrix):
    return matrix.T.reshape(-1)


def as_matrix(weight, bias):
    return torch.cat([weight, bias[:, None]], dim=1)


@pytest.mark.row(123)
def test_a_step_is_minus_lr_times_the_dense_solve_with_a_kronecker_alpha(
    a_network, a_batch, layer_rows, moves_of
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(12, 4, 3)
    known = layer_rows(model, inputs, targets)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=0.2, ridge=0.0)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for (h, g), weight, bias in zip(known, moves[::2], moves[1::2], strict=True):
        rows = homogeneous(h)
        of_inputs = sum(row.outer(row) for row in rows) / 12
        dense = torch.kron(of_inputs, 0.2 * torch.eye(g.shape[1], dtype=torch.float64))
        truth = -0.3 * torch.linalg.solve(dense, vec(g.T @ rows / 12))
        assert (vec(as_matrix(weight, bias)) - truth).norm() <= 1e-8 * truth.norm()


@pytest.mark.row(125)
@pytest.mark.row(235)
def test_a_ridge_on_all_is_the_dense_solve_with_it_on_the_entry_of_the_bias_too(
    a_network, a_batch, layer_rows, moves_of
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    known = layer_rows(model, inputs, targets)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=0.2, ridge=0.1, ridge_on="all")
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for (h, g), weight, bias in zip(known, moves[::2], moves[1::2], strict=True):
        rows = homogeneous(h)
        ridged = rows.T @ rows / 6 + 0.1 / 0.2 * torch.eye(rows.shape[1], dtype=torch.float64)
        truth = -(0.3 / 0.2) * (g.T @ rows / 6) @ torch.linalg.inv(ridged)
        assert (as_matrix(weight, bias) - truth).norm() <= 1e-8 * truth.norm()


@pytest.mark.row(125)
@pytest.mark.row(235)
def test_a_ridge_on_weights_is_the_dense_solve_with_it_on_all_entries_but_that_of_the_bias(
    a_network, a_batch, layer_rows, moves_of
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    known = layer_rows(model, inputs, targets)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=0.2, ridge=0.1)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for (h, g), weight, bias in zip(known, moves[::2], moves[1::2], strict=True):
        rows = homogeneous(h)
        ridge = torch.full((rows.shape[1],), 0.1 / 0.2, dtype=torch.float64)
        ridge[-1] = 0
        truth = -(0.3 / 0.2) * (g.T @ rows / 6) @ torch.linalg.inv(rows.T @ rows / 6 + ridge.diag())
        assert (as_matrix(weight, bias) - truth).norm() <= 1e-8 * truth.norm()


@pytest.mark.row(124)
def test_the_largest_slope_is_the_largest_squared_derivative_of_a_case_by_layer_and_batch(
    a_network, a_batch, layer_rows, moves_of
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(12, 4, 3)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha="largest_slope", ridge=0.0)
    optimizer.step(*a_batch(12, 4, 3, seed=2))
    kept = [layer["inverse_covariance"].clone() for layer in optimizer.state_dict()["layers"].values()]
    known = layer_rows(model, inputs, targets)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    alphas = [float(g.square().max()) for _, g in known]
    for (h, g), alpha, k, weight in zip(known, alphas, kept, moves[::2], strict=True):
        truth = -(0.3 / alpha) * (g.T @ (h - h.mean(dim=0)) / 12) @ k
        torch.testing.assert_close(weight, truth, **EXACT)
    assert alphas[0] != alphas[1]


def test_a_dead_layer_takes_no_step_and_spoils_no_other(a_network, a_batch, moves_of):
    model, batch = a_network(4, 5, 3, activation=nn.ReLU), a_batch(6, 4, 3)
    nn.init.constant_(model[0].bias, -1e6)
    optimizer = ACP(model, CrossEntropy(), alpha="largest_slope", ridge=0.1)
    moves = moves_of(model, lambda: optimizer.step(*batch))

    assert not moves[0].any()
    assert moves[3].any()
    assert all(move.isfinite().all() for move in moves)


@pytest.mark.row(123)
def test_it_is_block_diagonal_kfac_with_alpha_in_the_place_of_the_factor_of_the_outputs(
    a_network, a_batch, layer_rows, moves_of
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(12, 4, 3)
    known = layer_rows(model, inputs, targets)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=0.2, ridge=0.0)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for (h, g), weight, bias in zip(known, moves[::2], moves[1::2], strict=True):
        of_outputs = 0.2 * torch.eye(g.shape[1], dtype=torch.float64)
        gradient = g.T @ homogeneous(h) / 12
        of_inputs = homogeneous(h).T @ homogeneous(h) / 12
        truth = -0.3 * inverse(of_outputs) @ gradient @ inverse(of_inputs)
        torch.testing.assert_close(as_matrix(weight, bias), truth, **EXACT)


def test_an_affine_map_of_the_inputs_that_the_layer_undoes_changes_no_output_after_training(
    a_network, a_batch
):
    torch.manual_seed(0)
    twist, shift = torch.randn(4, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    plain, mapped = a_network(4, 5, 3), a_network(4, 5, 3)
    with torch.no_grad():
        mapped[0].weight.copy_(plain[0].weight @ torch.linalg.inv(twist))
        mapped[0].bias.copy_(plain[0].bias - mapped[0].weight @ shift)
    one, other = (ACP(m, CrossEntropy(), lr=0.1, ridge=0.0, refresh_every=3) for m in (plain, mapped))
    for seed in range(5):
        inputs, targets = a_batch(12, 4, 3, seed=seed)
        one.step(inputs, targets)
        other.step(inputs @ twist.T + shift, targets)

    inputs, _ = a_batch(12, 4, 3)
    torch.testing.assert_close(mapped(inputs @ twist.T + shift), plain(inputs), **EXACT)


def test_on_white_inputs_it_is_gradient_descent_with_lr_over_alpha(a_network, a_batch, moves_of):
    model, (inputs, targets) = a_network(4, 3), a_batch(12, 4, 3)
    inputs = inputs - inputs.mean(dim=0)
    root = torch.linalg.cholesky(inputs.T @ inputs / 12)
    inputs = torch.linalg.solve(root, inputs.T).T
    gradients = torch.autograd.grad(cross_entropy(model(inputs), targets), list(model.parameters()))

    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=0.2, ridge=0.0)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for ours, gradient in zip(moves, gradients, strict=True):
        torch.testing.assert_close(ours, -(0.3 / 0.2) * gradient, **EXACT)


def test_a_huge_ridge_leaves_the_direction_of_centred_gradient_descent(a_network, a_batch, moves_of):
    batch, weights = a_batch(12, 4, 3), []
    models = a_network(4, 5, 3), a_network(4, 5, 3)
    for model, optimizer, scale in [
        (models[0], ACP(models[0], CrossEntropy(), lr=0.1, ridge=1e6), 1e6),
        (models[1], CentredGradientDescent(models[1], CrossEntropy(), lr=0.1), 1.0),
    ]:
        moves = moves_of(model, lambda step=optimizer.step: step(*batch))
        weights.append([scale * move for move in moves[::2]])

    for ours, theirs in zip(*weights, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-8)


@pytest.mark.row(125)
def test_between_two_refreshes_the_inverse_is_kept_and_the_mean_is_that_of_the_batch(
    a_network, a_batch, layer_rows, moves_of
):
    model = a_network(4, 3)
    optimizer = ACP(model, CrossEntropy(), lr=0.3, alpha=1.0, ridge=0.1, refresh_every=3)
    inverses = []
    for seed in range(7):
        inputs, targets = a_batch(6, 4, 3, seed=seed)
        ((h, g),) = layer_rows(model, inputs, targets)
        weight, _ = moves_of(model, lambda batch=(inputs, targets): optimizer.step(*batch))
        inverses.append(optimizer.state_dict()["layers"]["0"]["inverse_covariance"].clone())

        truth = -0.3 * (g.T @ (h - h.mean(dim=0)) / 6) @ inverses[-1]
        torch.testing.assert_close(weight, truth, **EXACT)
    kept = [torch.equal(*pair) for pair in itertools.pairwise(inverses)]
    assert kept == [True, True, False, True, True, False]


@pytest.mark.row(125)
def test_an_inverse_comes_from_the_statistics_batch_when_one_is_given(a_network, a_batch):
    model, (others, _) = a_network(4, 3), a_batch(20, 4, 3, seed=5)
    optimizer = ACP(model, CrossEntropy(), ridge=0.1)
    optimizer.step(*a_batch(6, 4, 3), statistics=others)

    covariance = torch.cov(others.T, correction=0) + 0.1 * torch.eye(4, dtype=torch.float64)
    kept = optimizer.state_dict()["layers"]["0"]["inverse_covariance"]
    torch.testing.assert_close(kept, torch.linalg.inv(covariance), **EXACT)


def test_a_statistics_batch_leaves_no_trace_in_running_statistics(a_batch):
    models = [nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Linear(5, 3)).double() for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    for model, statistics in zip(models, (None, a_batch(9, 4, 3, seed=5)[0] + 7), strict=True):
        ACP(model, CrossEntropy()).step(*a_batch(6, 4, 3), statistics=statistics)

    torch.testing.assert_close(models[1][1].running_mean, models[0][1].running_mean, rtol=0, atol=0)


def test_inputs_without_variance_and_without_ridge_are_refused_by_name(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    with pytest.raises(SingularFactorError, match="layer '0'"):
        ACP(model, CrossEntropy(), ridge=0.0).step(torch.ones_like(inputs), targets)

    assert all(torch.equal(*pair) for pair in zip(model.parameters(), before, strict=True))


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": 0.0}, {"alpha": "largest"}, {"ridge": -1.0}, {"ridge_on": "bias"}, {"refresh_every": 0}],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ACP(a_network(4, 3), CrossEntropy(), **wrong)
