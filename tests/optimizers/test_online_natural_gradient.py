"""Gradient descent on rows that other cases have whitened, and the few eigenvalues it keeps of them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from optimizers import KFAC, CrossEntropy, OnlineNaturalGradient, squared_error
from optimizers.curvature.low_rank import averaged, estimated
from optimizers.errors import NotFiniteError

WHOLE = {"rank_of_inputs": 99, "rank_of_gradients": 99}
EXACT = {"rtol": 1e-9, "atol": 1e-12}


def ours(model, objective=None, **settings):
    return OnlineNaturalGradient(model, objective or CrossEntropy(), **settings)


def homogeneous(h):
    return torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], dim=1)


def as_matrices(moves):
    return [
        torch.cat([weight, bias[:, None]], dim=1)
        for weight, bias in zip(moves[::2], moves[1::2], strict=True)
    ]


def moment(rows):
    return sum(row.outer(row) for row in rows) / len(rows)


def cut(matrix, rank):
    """Its largest eigenvalues, and the mean of the others for each of the others."""
    values, vectors = torch.linalg.eigh(matrix)
    values[:-rank] = values[:-rank].mean()
    return (vectors * values) @ vectors.T


def whitened(rows, matrix, ridge):
    size = len(matrix)
    shifted = matrix + ridge * matrix.trace() / size * torch.eye(size, dtype=rows.dtype)
    found = torch.stack([torch.linalg.solve(shifted, row) for row in rows])
    return rows.norm() / found.norm() * found


def step_of(x, g, of_x, of_g, ridge):
    return -(whitened(g, of_g, ridge).T @ whitened(x, of_x, ridge)) / len(x)


def some_rows(size, seed, count=None):
    rows = torch.randn(count or 2 * size, size, generator=torch.Generator().manual_seed(seed))
    return rows.double()


# The matrix


@pytest.mark.row(142)
@given(size=st.integers(1, 6), rank=st.integers(1, 8), seed=st.integers(0, 1000), ridge=st.floats(0.01, 10))
def test_rows_are_solved_as_by_the_dense_matrix(size, rank, seed, ridge):
    seen, rows = some_rows(size, seed), some_rows(size, seed + 1)
    found = estimated(seen, rank, "")
    shift = ridge * moment(seen).trace() / size
    dense = found.matrix() + shift * torch.eye(size, dtype=torch.float64)

    torch.testing.assert_close(found.solve(rows, ridge), rows @ torch.linalg.inv(dense), rtol=1e-8, atol=1e-9)


@pytest.mark.row(142)
@given(size=st.integers(1, 6), rank=st.integers(1, 8), seed=st.integers(0, 1000))
def test_the_largest_eigenvalues_and_the_trace_are_kept(size, rank, seed):
    truth = torch.linalg.eigvalsh(moment(some_rows(size, seed)))
    found = estimated(some_rows(size, seed), rank, "").matrix()
    kept = torch.linalg.eigvalsh(found)

    torch.testing.assert_close(kept[-rank:], truth[-rank:], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(found.trace(), truth.sum())
    assert len(kept[:-rank]) == 0 or kept[:-rank].std(correction=0) <= 1e-9 * kept.max()


@pytest.mark.row(142)
def test_with_every_direction_an_average_is_that_of_the_matrices():
    first, second = some_rows(5, 0, count=3), some_rows(5, 1)
    found = averaged(estimated(first, 5, ""), second, 0.3, "")

    truth = 0.3 * moment(first) + 0.7 * moment(second)
    torch.testing.assert_close(found.matrix(), truth, rtol=1e-10, atol=1e-12)


@pytest.mark.row(142)
def test_with_fewer_directions_an_average_has_their_image_and_the_trace():
    first, second = some_rows(6, 0), some_rows(6, 1)
    before = estimated(first, 2, "")
    sum_of_both = 0.3 * before.matrix() + 0.7 * moment(second)
    after = averaged(before, second, 0.3, "")

    image = sum_of_both @ before.basis.T
    span = image @ torch.linalg.pinv(image)
    torch.testing.assert_close(after.basis.T @ after.basis, span, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(after.values, torch.linalg.svdvals(image))
    torch.testing.assert_close(
        after.matrix().trace(), 0.3 * moment(first).trace() + 0.7 * moment(second).trace()
    )


@pytest.mark.row(142)
def test_averages_of_one_batch_come_to_its_largest_eigenvalues():
    other, rows = some_rows(6, 0), some_rows(6, 1) * torch.tensor([9.0, 5.0, 1.0, 0.5, 0.3, 0.1])
    found = estimated(other, 2, "")
    for _ in range(60):
        found = averaged(found, rows, 0.5, "")

    torch.testing.assert_close(found.matrix(), cut(moment(rows), 2), rtol=1e-8, atol=1e-9)


def test_a_tiny_ridge_enlarges_no_rounding_where_every_eigenvalue_is_kept():
    rows = some_rows(6, 0, count=4).float()
    inverse = torch.linalg.pinv(moment(rows.double()))

    solved = estimated(rows, 6, "").solve(rows, 1e-6).double()
    # What is left is the rounding of the rows themselves: 2 or 3 %, by the kind of processor.
    assert (solved - rows.double() @ inverse).norm() < 0.05 * solved.norm()


@given(seed=st.integers(0, 1000))
def test_what_rounding_leaves_of_the_trace_makes_no_eigenvalue_negative(seed):
    rows = some_rows(8, seed, count=3).float()  # so that five eigenvalues are 0
    found = estimated(rows, 4, "")

    assert found.floor >= 0
    assert averaged(found, rows, 0.5, "").floor >= 0


def test_rows_that_are_not_finite_are_refused_by_name():
    rows = some_rows(3, 0)
    found = estimated(rows, 2, "")

    with pytest.raises(NotFiniteError, match="'hidden, inputs'"):
        averaged(found, rows * torch.inf, 0.5, "hidden, inputs")


# The step


@pytest.mark.row(142)
@pytest.mark.parametrize("ranks", [(99, 99), (2, 1)])
def test_the_first_step_is_the_mean_product_of_whitened_rows_that_are_as_long_as_before(
    a_network, a_batch, layer_rows, moves_of, ranks
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(12, 4, 3)
    known = layer_rows(model, inputs, targets)
    kinds = dict(zip(("rank_of_inputs", "rank_of_gradients"), ranks, strict=True))
    optimizer = ours(model, lr=0.3, relative_ridge=0.2, **kinds)
    moves = as_matrices(moves_of(model, lambda: optimizer.step(inputs, targets)))

    for (h, g), move in zip(known, moves, strict=True):
        x = homogeneous(h)
        of_x, of_g = (
            cut(moment(rows), rank) if rank < 99 else moment(rows)
            for rows, rank in zip((x, g), ranks, strict=True)
        )
        torch.testing.assert_close(move, 0.3 * step_of(x, g, of_x, of_g, 0.2), rtol=1e-8, atol=1e-11)


@pytest.mark.row(142)
def test_cases_are_whitened_by_batches_before_and_then_added_to_them(
    a_network, a_batch, layer_rows, moves_of
):
    model, seen = a_network(4, 5, 3), []
    optimizer = ours(model, lr=0.3, relative_ridge=0.2, decay=0.6, refresh_every=1, **WHOLE)
    for seed in range(4):
        batch = a_batch(12, 4, 3, seed=seed)
        seen.append([(homogeneous(h), g) for h, g in layer_rows(model, *batch)])
        moves = as_matrices(moves_of(model, lambda batch=batch: optimizer.step(*batch)))

    for layer, move in enumerate(moves):
        (x0, g0), (x1, g1), (x2, g2), (x3, g3) = (rows[layer] for rows in seen)
        of_x, of_g = (
            0.6 * (moment(first) + moment(second)) / 2 + 0.4 * moment(third)
            for first, second, third in ((x0, x1, x2), (g0, g1, g2))
        )
        torch.testing.assert_close(move, 0.3 * step_of(x3, g3, of_x, of_g, 0.2), rtol=1e-8, atol=1e-11)


def test_between_two_refreshes_nothing_is_added(a_network, a_batch):
    optimizer = ours(a_network(4, 5, 3), refresh_every=3)
    counts, ages = [], []
    for seed in range(5):
        step = optimizer.step(*a_batch(6, 4, 3, seed=seed))
        counts.append(float(optimizer.state_dict()["layers"]["2"]["count"]))
        ages.append(step.ages["2"])

    assert counts == [1, 1, 1, 2, 2]
    assert ages == [0, 1, 2, 0, 1]


@pytest.mark.row(142)
def test_with_every_eigenvalue_it_is_empirical_kfac_but_for_the_length(a_network, a_batch, moves_of):
    one, other, batch = a_network(4, 3), a_network(4, 3), a_batch(12, 4, 3)
    ridge = 0.3
    optimizer = ours(one, relative_ridge=ridge, **WHOLE)
    move = torch.cat([m.reshape(-1) for m in moves_of(one, lambda: optimizer.step(*batch))])
    kept = optimizer.state_dict()["layers"]["0"]
    means = [kept[f"{side}_values"].mean() for side in ("inputs", "gradients")]

    # Both factors damped in proportion to the mean of their eigenvalues: a factored damping of the strength
    gamma = ridge * (means[0] * means[1]).sqrt()
    kfac = KFAC.empirical(other, CrossEntropy(), lr=0.1, damping=gamma.square().item())
    their = torch.cat([m.reshape(-1) for m in moves_of(other, lambda: kfac.step(*batch))])

    torch.testing.assert_close(move / move.norm(), their / their.norm(), rtol=1e-8, atol=1e-10)
    assert not torch.allclose(move, their, rtol=0.1)


@pytest.mark.row(142)
def test_on_white_rows_it_is_gradient_descent(moves_of):
    stream = torch.Generator().manual_seed(0)
    columns = torch.randn(20, 6, generator=stream, dtype=torch.float64)
    columns[:, 0] = 1  # for the bias
    white = torch.linalg.qr(columns)[0] * 20**0.5
    inputs, g = white[:, 1:4] * white[0, 0].sign(), 2.5 * white[:, 4:]
    model = nn.Sequential(nn.Linear(3, 2)).double()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    g = g + 0.7 * white[:, [1, 2]]  # a gradient that is not 0, from rows that are still of one length
    optimizer = ours(model, squared_error(half=True), lr=0.3, **WHOLE)
    moves = moves_of(model, lambda: optimizer.step(inputs, -g))

    torch.testing.assert_close(moves[0], -0.3 * g.T @ inputs / 20, **EXACT)
    torch.testing.assert_close(moves[1], -0.3 * g.mean(dim=0), **EXACT)


@pytest.mark.row(142)
def test_it_knows_the_targets_of_the_data(a_network, a_batch):
    inputs, targets = a_batch(12, 4, 3)
    kept = []
    for labels in (targets, (targets + 1) % 3):
        optimizer = ours(a_network(4, 3), lr=0.0)
        optimizer.step(inputs, labels)
        kept.append(optimizer.state_dict()["layers"]["0"])

    assert torch.equal(kept[0]["inputs_basis"], kept[1]["inputs_basis"])
    assert not torch.allclose(kept[0]["gradients_values"], kept[1]["gradients_values"])


def test_the_unit_of_the_loss_makes_no_difference_to_how_rows_are_whitened(a_network, a_batch, moves_of):
    class Scaled:
        def loss(self, outputs, targets):
            return 1000 * CrossEntropy().loss(outputs, targets)

    moves = []
    for objective in (CrossEntropy(), Scaled()):
        model = a_network(4, 5, 3)
        optimizer = ours(model, objective)
        moves.append(moves_of(model, lambda o=optimizer: o.step(*a_batch(9, 4, 3))))

    for plain, scaled in zip(*moves, strict=True):
        torch.testing.assert_close(1000 * plain, scaled, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("batches_before", [0, 1])
def test_a_layer_whose_inputs_are_zero_rests_and_spoils_no_other(a_batch, moves_of, batches_before):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5, bias=False), nn.Tanh(), nn.Linear(5, 3)).double()
    optimizer, (inputs, targets) = ours(model), a_batch(6, 4, 3)
    for _ in range(batches_before):
        optimizer.step(inputs, targets)
    first, _, bias = moves_of(model, lambda: optimizer.step(0 * inputs, targets))

    assert not first.any()
    assert bias.any()


def test_a_bias_may_be_frozen_and_unfrozen(a_network, a_batch):
    model = a_network(4, 3)
    optimizer, batch = ours(model), a_batch(6, 4, 3)
    optimizer.step(*batch)
    for trained, width in ((False, 4), (True, 5)):
        model[0].bias.requires_grad_(trained)
        optimizer.step(*batch)
        assert optimizer.state_dict()["layers"]["0"]["inputs_basis"].shape[1] == width


def test_gradients_that_were_unscaled_by_hand_are_refused(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    optimizer, scaler = ours(model), torch.amp.GradScaler("cpu", init_scale=2.0**7)
    scaler.scale(CrossEntropy().loss(model(inputs), targets)).backward()
    scaler.unscale_(optimizer)

    with pytest.raises(ValueError, match=r"slopes of layer '0'.* Leave it to GradScaler.step to unscale"):
        scaler.step(optimizer)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("relative_ridge", 0.0),
        ("rank_of_inputs", 0),
        ("rank_of_gradients", -1),
        ("decay", 1.0),
        ("refresh_every", 0),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, name, value):
    with pytest.raises(ValueError, match=name):
        ours(a_network(4, 3), **{name: value})
