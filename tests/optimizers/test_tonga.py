import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import TONGA, CrossEntropy
from optimizers.curvature.dense import gradients_by_case
from optimizers.curvature.low_rank import compressed
from optimizers.curvature.network import Network
from optimizers.curvature.unit_blocks import units_of
from optimizers.damping.tikhonov import tikhonov
from optimizers.solvers.woodbury import solve_with_rows


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def gradients(model, inputs, targets):
    return gradients_by_case(Network(model, inputs), CrossEntropy(), targets)


def largest(matrix, rank):
    """The matrix by its largest eigenvalues alone."""
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors[:, -rank:] * values[-rank:]) @ vectors[:, -rank:].T


def assert_follows(model, optimizer, batches, direction):
    """direction(gradients of cases) is what each update goes along, at rate 0.3."""
    for batch in batches:
        before, rows = theta(model), gradients(model, *batch)
        optimizer.step(*batch)
        torch.testing.assert_close(theta(model), before - 0.3 * direction(rows), rtol=1e-7, atol=1e-9)


def rows_of(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.row(118)
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 8),
    size=st.integers(1, 8),
    units=st.integers(1, 3),
    exponent=st.floats(-3, 3),
)
def test_the_dual_solve_is_the_primal_one(seed, count, size, units, exponent):
    x, y, ridge = rows_of(units, count, size, seed=seed), rows_of(units, count, seed=seed + 1), 10.0**exponent
    v = (x.mT @ y[..., None])[..., 0]

    found = solve_with_rows(x, v, ridge)

    primal = torch.stack([torch.linalg.solve(tikhonov(a.T @ a, ridge), b) for a, b in zip(x, v, strict=True)])
    dual = torch.stack(
        [a.T @ torch.linalg.solve(tikhonov(a @ a.T, ridge), b) for a, b in zip(x, y, strict=True)]
    )
    torch.testing.assert_close(found, primal, rtol=1e-7, atol=1e-9)
    torch.testing.assert_close(found, dual, rtol=1e-7, atol=1e-9)


@pytest.mark.row(118)
def test_online_a_step_is_the_published_one_by_the_matrix_of_products(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = TONGA(model, CrossEntropy(), lr=0.3, damping=0.5, by_unit=False, decay=0.9)
    inputs, targets = a_batch(12, 4, 3)
    came = []

    def published(rows):
        came.append(rows[0])
        x = torch.stack([0.9 ** ((len(came) - 1 - j) / 2) * g for j, g in enumerate(came)], dim=1)
        last = torch.zeros(len(came), dtype=torch.float64)
        last[-1] = 1
        return x @ torch.linalg.solve(tikhonov(x.T @ x, 0.5), last)

    assert_follows(model, optimizer, [(inputs[[i]], targets[[i]]) for i in range(12)], published)


@pytest.mark.row(118)
@pytest.mark.parametrize("compress_every", [1, 1000])
def test_with_every_eigenvector_it_is_the_dense_running_covariance(a_network, a_batch, compress_every):
    model = a_network(4, 5, 3)
    optimizer = TONGA(
        model, CrossEntropy(), lr=0.3, damping=0.5, rank=1000, compress_every=compress_every, by_unit=False
    )
    running = torch.zeros(43, 43, dtype=torch.float64)

    def dense(rows):
        running.mul_(0.995).add_(rows.T @ rows / len(rows))
        return torch.linalg.solve(tikhonov(running, 0.5), rows.mean(dim=0))

    assert_follows(model, optimizer, [a_batch(6, 4, 3, seed=seed) for seed in range(6)], dense)


@pytest.mark.row(118)
def test_what_is_compressed_is_the_covariance_by_its_largest_eigenvalues(a_network, a_batch):
    model = a_network(4, 5, 3)
    told = {"rank": 3, "compress_every": 4, "by_unit": False, "decay": 0.9}
    optimizer = TONGA(model, CrossEntropy(), lr=0.3, damping=0.5, **told)
    running, waiting = torch.zeros(43, 43, dtype=torch.float64), [0]

    def dense(rows):
        running.mul_(0.9).add_(rows.T @ rows / len(rows))
        step = torch.linalg.solve(tikhonov(running, 0.5), rows.mean(dim=0))
        waiting[0] += len(rows)
        if waiting[0] >= 7:
            running.copy_(largest(running, 3))
            waiting[0] = 3
        return step

    assert_follows(model, optimizer, [a_batch(2, 4, 3, seed=seed) for seed in range(8)], dense)
    assert len(optimizer.state_dict()["rows"]["0.weight"]) < 7


@pytest.mark.row(118)
@pytest.mark.parametrize("compress_every", [1, 1000])
def test_unit_by_unit_it_is_the_dense_method_for_each_block(a_network, a_batch, compress_every):
    model = a_network(4, 5, 3)
    optimizer = TONGA(
        model, CrossEntropy(), lr=0.3, damping=0.5, rank=1000 if compress_every == 1 else 1,
        compress_every=compress_every,
    )  # fmt: skip
    of_unit = []  # places in the flat vector: W1 (5 x 4), b1, W2 (3 x 5), b2
    of_unit += [[*range(4 * j, 4 * j + 4), 20 + j] for j in range(5)]
    of_unit += [[*range(25 + 5 * j, 25 + 5 * j + 5), 40 + j] for j in range(3)]
    running = torch.zeros(43, 43, dtype=torch.float64)

    def dense(rows):
        running.mul_(0.995).add_(rows.T @ rows / len(rows))
        step, gradient = torch.zeros(43, dtype=torch.float64), rows.mean(dim=0)
        for places in of_unit:
            block = running[places][:, places]
            step[places] = torch.linalg.solve(tikhonov(block, 0.5), gradient[places])
        return step

    assert_follows(model, optimizer, [a_batch(6, 4, 3, seed=seed) for seed in range(5)], dense)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 7),
    size=st.integers(1, 7),
    rank=st.integers(1, 9),
)
def test_no_so_many_rows_are_nearer_than_the_compressed(seed, count, size, rank):
    rows = rows_of(2, count, size, seed=seed)
    found = compressed(rows, rank, "rows")

    assert found.shape == (2, min(rank, count), size)
    for x, few in zip(rows, found, strict=True):
        torch.testing.assert_close(few.T @ few, largest(x.T @ x, rank), rtol=1e-8, atol=1e-10)


def test_units_are_rows_of_weights_with_what_else_the_layer_has_of_so_many():
    layers = {
        "linear": nn.Linear(4, 3),
        "convolution": nn.Conv2d(2, 3, 2),
        "cells": nn.GRU(4, 5),
        "bare": nn.Embedding(7, 2),
    }
    params = dict(nn.ModuleDict(layers).named_parameters()) | {"temperature": torch.tensor(1.0)}

    assert units_of(params) == [
        (["linear.weight", "linear.bias"], 3),
        (["convolution.weight", "convolution.bias"], 3),
        (["cells.weight_ih_l0", "cells.weight_hh_l0", "cells.bias_ih_l0", "cells.bias_hh_l0"], 15),
        (["bare.weight"], 7),
        (["temperature"], 1),
    ]


def test_a_layer_that_was_frozen_begins_anew(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = TONGA(model, CrossEntropy())
    optimizer.step(*a_batch(6, 4, 3))
    model[0].requires_grad_(False)
    optimizer.step(*a_batch(6, 4, 3, seed=2))
    model[0].requires_grad_(True)
    optimizer.step(*a_batch(6, 4, 3, seed=3))
    rows = optimizer.state_dict()["rows"]

    assert len(rows["0.weight"]) == len(rows["2.weight"]) == 18
    assert (rows["0.weight"].flatten(1).norm(dim=1) > 0).tolist() == 12 * [False] + 6 * [True]


@pytest.mark.parametrize(
    "wrong",
    [{"rank": 0}, {"compress_every": 0}, {"damping": 0.0}, {"decay": 1.1}, {"lr": math.inf}],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TONGA(a_network(4, 3), CrossEntropy(), **wrong)
