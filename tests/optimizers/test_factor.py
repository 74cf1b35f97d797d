"""Factors do what the matrices written out do: whole, diagonal, and in groups."""

import math

import pytest
import torch

from optimizers.curvature.factor import Factor, Factors, second_moment
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import NotFiniteError, NotPositiveDefiniteError
from tests.dense import damped

CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def normal(*shape, seed=0):
    stream = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=stream, dtype=torch.float64)


def whole(*shape, seed=0):
    root = normal(*shape, shape[-1], seed=seed)
    return Factor(values=root @ root.mT)


def diagonal(*shape, seed=0):
    return Factor(values=normal(*shape, seed=seed).exp(), diagonal=True)


KINDS = {"whole": whole, "diagonal": diagonal}
BOTH = pytest.mark.parametrize("of_outputs", KINDS.values(), ids=KINDS)
SIDES = pytest.mark.parametrize("of_inputs", KINDS.values(), ids=KINDS)
GROUPS = pytest.mark.parametrize("groups", [(), (2,)], ids=["one group", "two groups"])


@GROUPS
@BOTH
@SIDES
def test_the_product_is_that_of_the_kronecker_product_with_stacked_columns(of_inputs, of_outputs, groups):
    factors = Factors(inputs=of_inputs(*groups, 4), outputs=of_outputs(*groups, 3, seed=1))
    matrix = normal(*groups, 3, 4, seed=2)
    ours = factors.times(matrix).reshape(-1, 3, 4)

    a, g = (
        side.dense().reshape(-1, size, size) for side, size in ((factors.inputs, 4), (factors.outputs, 3))
    )
    for number, one in enumerate(matrix.reshape(-1, 3, 4)):
        truth = torch.kron(a[number], g[number]) @ one.T.flatten()
        torch.testing.assert_close(ours[number].T.flatten(), truth, **CLOSE)


@GROUPS
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_inverse_is_that_of_the_matrix(kind, groups):
    factor = kind(*groups, 4)

    product = factor.inverse("of a test").dense() @ factor.dense()
    torch.testing.assert_close(product, torch.eye(4, dtype=torch.float64).expand_as(product))


@pytest.mark.parametrize("norm", ["trace", "frobenius", "spectral", None])
@BOTH
@SIDES
def test_damping_of_each_group_is_that_of_its_matrices(of_inputs, of_outputs, norm):
    factors = Factors(inputs=of_inputs(2, 4), outputs=of_outputs(2, 3, seed=1))
    ours = factors.damped(0.3, norm=norm)

    for group in range(2):
        a, g = factors.inputs.dense()[group], factors.outputs.dense()[group]
        truth = damped(a, g, gamma=0.3, norm=norm) if norm else (tikhonov(a, 0.3), tikhonov(g, 0.3))
        torch.testing.assert_close(ours.inputs.dense()[group], truth[0], **CLOSE)
        torch.testing.assert_close(ours.outputs.dense()[group], truth[1], **CLOSE)


DEAD = Factor(values=torch.zeros(3, 3, dtype=torch.float64))


@pytest.mark.parametrize("norm", ["trace", "frobenius", "spectral"])
@pytest.mark.parametrize("factors", [Factors(whole(4), DEAD), Factors(DEAD, whole(4))], ids=["G", "A"])
def test_damping_is_divided_evenly_where_a_factor_is_zero(norm, factors):
    damped_ones = factors.damped(0.3, norm=norm)

    for before, after in ((factors.inputs, damped_ones.inputs), (factors.outputs, damped_ones.outputs)):
        torch.testing.assert_close(after.values, tikhonov(before.values, 0.3), **CLOSE)


def test_one_dead_group_leaves_the_others_their_balance():
    alive = Factors(inputs=whole(2, 4), outputs=whole(2, 3, seed=1))
    values = alive.outputs.values.clone()
    values[0] = 0
    one_dead = Factors(inputs=alive.inputs, outputs=Factor(values=values))

    torch.testing.assert_close(
        one_dead.damped(0.3).inputs.values[1], alive.damped(0.3).inputs.values[1], **CLOSE
    )


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_factor_that_is_not_finite_is_named(kind):
    factor = kind(3)
    factor.values[0] = math.nan

    with pytest.raises(NotFiniteError, match="'of a layer, A'"):
        Factors(inputs=factor, outputs=whole(2)).inverse("of a layer")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_factor_without_an_inverse_is_refused(kind):
    factor = kind(2, 3)

    with pytest.raises(NotPositiveDefiniteError):
        Factor(values=0 * factor.values, diagonal=factor.diagonal).inverse("of a layer")


def test_a_stack_with_one_matrix_without_an_inverse_is_refused():
    values = whole(2, 3).values.clone()
    values[1] = -torch.eye(3)

    with pytest.raises(NotPositiveDefiniteError):
        Factor(values=values).inverse("of a layer")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_whether_all_entries_are_finite_is_told(kind):
    factors = Factors(inputs=whole(2), outputs=kind(3))
    assert factors.isfinite()

    factors.outputs.values[-1] = math.inf
    assert not factors.isfinite()


def test_a_second_moment_is_the_sum_of_squares_of_rows():
    rows = normal(5, 2, 3)

    truth = sum(torch.outer(row, row) for row in rows.flatten(end_dim=1))
    torch.testing.assert_close(second_moment(rows).values, truth, **CLOSE)


def test_a_second_moment_is_symmetric_to_the_last_bit():
    values = second_moment(normal(7, 1, 17)).values

    assert torch.equal(values, values.mT)


def test_each_group_has_a_second_moment():
    rows = normal(5, 2, 4, 3)

    for group in range(4):
        torch.testing.assert_close(
            second_moment(rows).values[group], second_moment(rows[:, :, group]).values, **CLOSE
        )


@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 2, 4, 3)], ids=["one group", "four groups"])
def test_above_the_limit_the_diagonal_is_kept(shape):
    rows = normal(*shape)
    narrow = second_moment(rows, limit=2)

    assert narrow.diagonal
    torch.testing.assert_close(narrow.values, second_moment(rows).values.diagonal(dim1=-2, dim2=-1), **CLOSE)
