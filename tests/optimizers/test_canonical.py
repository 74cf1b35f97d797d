"""Canonical coordinates beside their definition, and what becomes of correlations that mean nothing."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.curvature.block_tridiagonal import BlockTridiagonal, Foresight
from optimizers.curvature.canonical import Correlations
from optimizers.curvature.factor import Factor, Factors
from optimizers.curvature.statistics import Statistics
from optimizers.errors import NotPositiveDefiniteError


def moments(first, second, seed=0):
    """Second moments of two sets of variables that are correlated, and those between."""
    stream = torch.Generator().manual_seed(seed)
    size = first + second
    draws = torch.randn(40, size, generator=stream, dtype=torch.float64)
    whole = (draws @ torch.randn(size, size, generator=stream, dtype=torch.float64)).T.cov()
    return whole[:first, :first], whole[:first, first:], whole[first:, first:]


@pytest.mark.row(137)
@settings(deadline=None, max_examples=30)
@given(first=st.integers(1, 6), second=st.integers(1, 6), seed=st.integers(0, 1000))
def test_each_coordinate_of_one_set_is_correlated_with_one_of_the_other_alone(first, second, seed):
    a, c, b = moments(first, second, seed)
    known = Correlations(a, c, b).coordinates(0.0)
    k, j = known.own, known.above
    assert k.shape[1] == min(first, second)
    for ours, truth in (
        (k.T @ a @ k, known.own_squares),
        (j.T @ b @ j, known.above_squares),
        (k.T @ c @ j, known.squares),
    ):
        torch.testing.assert_close(ours, truth.diag(), rtol=1e-8, atol=1e-8)
    truth = torch.linalg.eigvals(torch.linalg.solve(a, c) @ torch.linalg.solve(b, c.T)).real
    torch.testing.assert_close(known.squares.sort().values, truth.sort().values[-len(known.squares) :])


def test_moments_that_are_not_positive_definite_are_refused():
    a, c, b = moments(3, 2)
    with pytest.raises(NotPositiveDefiniteError):
        Correlations(a, c, -b)


def test_moments_singular_in_their_precision_are_taken_in_float64():
    a, b, c = 1346269.0, 2178309.0, 3524578.0  # Fibonacci numbers: a c - b² = 1, lost in 24 bits
    between = 1e-4 * torch.tensor([[a], [b]])
    known = Correlations(torch.tensor([[a, b], [b, c]]), between, torch.eye(1))
    assert known.squares.item() == pytest.approx(1e-8 * a, rel=0.05)


def a_pair(correlations, dtype=torch.float32):
    """Factors of two blocks in white coordinates: own, between, above."""
    eye, between = (torch.eye(len(correlations), dtype=dtype), torch.tensor(correlations, dtype=dtype).diag())
    own, cross = Factors(Factor(values=eye), Factor(values=eye)), Factor(values=between)
    return own, Factors(cross, cross), own


@pytest.mark.parametrize(("dtype", "kept"), [(torch.float32, 2), (torch.float64, 3)])
def test_correlations_that_rounding_may_have_made_are_left_out(dtype, kept):
    foresight = Foresight.between(*a_pair([0.5, 0.01, 1e-7], dtype), upper="j")
    assert len(foresight.inputs.squares) == kept
    assert len(foresight.outputs.squares) == kept


def test_blocks_without_any_correlation_are_by_themselves():
    own, cross, above = a_pair([0.0, 0.0])
    statistics = Statistics(factors={"i": own, "j": above}, crosses={("i", "j"): cross})
    gradients = {"i": torch.ones(2, 2), "j": torch.ones(2, 2)}
    solved = BlockTridiagonal(norm=None).refreshed(statistics, 1.0).solve(gradients)
    for each in solved.values():
        torch.testing.assert_close(each, torch.full((2, 2), 0.25))
