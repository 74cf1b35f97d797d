import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from optimizers.curvature.centring import centred, centred_in_both_factors, moments, shifted

EXACT = {"rtol": 1e-10, "atol": 1e-12}


def some_rows(examples, units, seed):
    stream = torch.Generator().manual_seed(seed)
    return 1.0 + torch.randn(examples, units, generator=stream, dtype=torch.float64)


@settings(deadline=None, max_examples=30)
@given(units=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_mean_and_covariance_give_the_inverse_of_the_homogeneous_second_moment(units, seed):
    h = some_rows(4 * units + 4, units, seed)
    both = torch.cat([h, torch.ones(len(h), 1, dtype=torch.float64)], dim=1)
    mean, covariance = moments(h, centre=True)

    c = torch.linalg.inv(shifted(covariance, 0.0))
    corner = 1 + mean @ c @ mean
    block = torch.cat(
        [torch.cat([c, -(c @ mean)[:, None]], dim=1), torch.cat([-mean @ c, corner[None]])[None]]
    )

    torch.testing.assert_close(
        block @ (both.T @ both / len(h)), torch.eye(units + 1, dtype=torch.float64), rtol=0, atol=1e-8
    )


def test_without_centring_the_mean_is_zero_and_the_second_moment_is_of_the_rows_themselves():
    h = some_rows(6, 3, 0)
    mean, moment = moments(h, centre=False)

    assert not mean.any()
    torch.testing.assert_close(moment, sum(row.outer(row) for row in h) / 6, **EXACT)


@settings(deadline=None, max_examples=30)
@given(examples=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_the_centred_gradient_is_the_mean_over_cases_of_g_and_h_without_its_mean(examples, seed):
    h, g = some_rows(examples, 3, seed), some_rows(examples, 2, seed + 1)

    ours = centred(g.T @ h / examples, g.mean(dim=0), h.mean(dim=0))

    truth = sum(gi.outer(hi - h.mean(dim=0)) for gi, hi in zip(g, h, strict=True)) / examples
    torch.testing.assert_close(ours, truth, **EXACT)


@pytest.mark.row(67)
def test_centring_errors_and_activities_by_running_means_is_the_mean_over_cases_of_both_differences():
    h, g = some_rows(6, 3, 0), some_rows(6, 2, 1)
    h_mean, g_mean = some_rows(1, 3, 2)[0], some_rows(1, 2, 3)[0]

    ours = centred_in_both_factors(g, h, g_mean, h_mean)

    truth = sum((gi - g_mean).outer(hi - h_mean) for gi, hi in zip(g, h, strict=True)) / 6
    torch.testing.assert_close(ours, truth, **EXACT)


@pytest.mark.row(67)
def test_by_the_means_of_the_batch_centring_one_factor_is_centring_both():
    h, g = some_rows(6, 3, 0), some_rows(6, 2, 1)
    zero = torch.zeros(2, dtype=torch.float64)

    both = centred_in_both_factors(g, h, g.mean(dim=0), h.mean(dim=0))
    activities = centred_in_both_factors(g, h, zero, h.mean(dim=0))

    torch.testing.assert_close(both, activities, **EXACT)
