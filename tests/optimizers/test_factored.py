import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.curvature.factor import Factor, Factors
from optimizers.damping.factored import size
from optimizers.errors import NotPositiveDefiniteError
from optimizers.solvers.cholesky import inverse
from tests.dense import SIZES


def factors(first, second):
    return Factors(inputs=Factor(values=first), outputs=Factor(values=second))


def balance(first, second, *, norm):
    return float(factors(first, second).balance(norm))


def damped(first, second, *, gamma, norm="trace"):
    both = factors(first, second).damped(gamma, norm=norm)
    return both.inputs.values, both.outputs.values


scales = st.floats(1e-6, 1e6)


def a_factor(size, *, scale=1.0, seed=0):
    stream = torch.Generator().manual_seed(seed)
    root = torch.randn(size, size, generator=stream, dtype=torch.float64)
    return scale * root @ root.T


@pytest.mark.row(160)
@pytest.mark.parametrize("norm", SIZES)
@settings(deadline=None)
@given(of_inputs=scales, of_outputs=scales, tilt=st.floats(0.1, 10.0))
def test_pi_makes_the_departure_from_exact_damping_smallest_in_its_norm(norm, of_inputs, of_outputs, tilt):
    first, second = a_factor(4, scale=of_inputs), a_factor(3, scale=of_outputs, seed=1)
    length = SIZES[norm]

    def departure(pi):  # π I ⊗ G + 1/π A ⊗ I, at most
        return pi * length(torch.eye(4)) * length(second) + length(first) * length(torch.eye(3)) / pi

    pi = balance(first, second, norm=norm)
    assert departure(pi) <= departure(pi * tilt) * (1 + 1e-12)


@pytest.mark.parametrize("norm", SIZES)
def test_a_size_is_in_those_of_the_identity_and_of_each_matrix_of_a_stack(norm):
    stack = torch.stack([a_factor(3, seed=seed) for seed in range(2)])
    lengths = [SIZES[norm](matrix) / SIZES[norm](torch.eye(3)) for matrix in stack]

    torch.testing.assert_close(size(stack, norm), torch.tensor(lengths, dtype=torch.float64))


@pytest.mark.parametrize("norm", SIZES)
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_of_a_diagonal_matrix_its_diagonal_says_the_size(norm, shape):
    diagonal = torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    torch.testing.assert_close(size(diagonal, norm, diagonal=True), size(diagonal.diag_embed(), norm))


@pytest.mark.parametrize("norm", SIZES)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_has_no_finite_size(norm, value):
    sizes = size(torch.full((2, 1, 1), value), norm), size(torch.full((2, 1), value), norm, diagonal=True)

    assert [each.shape for each in sizes] == [(2,), (2,)]
    assert not any(each.isfinite().any() for each in sizes)


@settings(deadline=None)
@given(of_inputs=scales, of_outputs=scales, gamma=st.floats(1e-4, 1e2))
def test_the_two_shifts_multiply_to_the_tikhonov_strength(of_inputs, of_outputs, gamma):
    first, second = a_factor(4, scale=of_inputs), a_factor(3, scale=of_outputs, seed=1)
    shifts = [
        (after - before).diag()
        for before, after in zip((first, second), damped(first, second, gamma=gamma), strict=True)
    ]

    # The shift is read off a difference, so it carries the rounding of the larger term.
    slack = 1e-12 * (1 + first.norm() / shifts[0][0] + second.norm() / shifts[1][0])
    assert (shifts[0][:3] * shifts[1] / gamma**2 - 1).abs().max() <= slack


@pytest.mark.row(160)
@pytest.mark.parametrize("norm", SIZES)
@pytest.mark.parametrize("value", [0.0, math.inf, math.nan])
def test_pi_is_one_where_a_factor_is_zero_or_not_finite(value, norm):
    sick, sound = torch.full((2, 2), value), torch.eye(3)

    assert balance(sick, sound, norm=norm) == balance(sound, sick, norm=norm) == 1


@pytest.mark.parametrize("norm", SIZES)
def test_damping_splits_by_the_norm_that_is_asked_for(norm):
    first, second = a_factor(4), a_factor(3, seed=1)
    pi = balance(first, second, norm=norm)

    of_inputs, _ = damped(first, second, gamma=0.5, norm=norm)
    torch.testing.assert_close(of_inputs - first, 0.5 * pi * torch.eye(4, dtype=torch.float64))


def test_a_zero_factor_is_damped_by_gamma_alone():
    of_inputs, of_outputs = damped(3 * torch.eye(2), torch.zeros(2, 2), gamma=0.5)

    torch.testing.assert_close(of_inputs, 3.5 * torch.eye(2))
    torch.testing.assert_close(of_outputs, 0.5 * torch.eye(2))


@pytest.mark.parametrize("matrix", [-torch.eye(2), torch.zeros(2, 2), torch.full((2, 2), math.nan)])
def test_a_matrix_that_is_not_positive_definite_has_no_inverse(matrix):
    with pytest.raises(NotPositiveDefiniteError, match=r"\(2, 2\) matrix in torch.float32"):
        inverse(matrix)
