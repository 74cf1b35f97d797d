import math

import pytest
import torch
from torch import nn

from worker.training.averaging import Compared, averaging, compared

ITERATES = torch.randn(300, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def averages(name, **settings):
    """The average after each iterate."""
    model = nn.Linear(3, 1, bias=False).double()
    average, path = averaging(name, **settings)(model), []
    for iterate in ITERATES:
        with torch.no_grad():
            model.weight.copy_(iterate[None])
        average.update_parameters(model)
        path.append(average.module.weight.detach()[0].clone())
    return torch.stack(path)


def recursion(memory):
    """θ̄ ← β_k θ̄ + (1 - β_k) θ, with k from 1."""
    average, path = ITERATES[0], []
    for k, iterate in enumerate(ITERATES, start=1):
        average = memory(k) * average + (1 - memory(k)) * iterate
        path.append(average)
    return torch.stack(path)


@pytest.mark.row(73)
def test_the_uniform_average_is_the_mean_of_all_iterates():
    counts = torch.arange(1, 301, dtype=torch.float64)[:, None]

    torch.testing.assert_close(averages("uniform"), ITERATES.cumsum(dim=0) / counts, rtol=1e-10, atol=1e-12)


@pytest.mark.row(73)
@pytest.mark.parametrize("limit", [0.9, 0.99])
def test_the_forgetting_average_follows_its_recursion(limit):
    expected = recursion(lambda k: min(1 - 1 / k, limit))

    torch.testing.assert_close(averages("forgetting", limit=limit), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.row(73)
def test_the_forgetting_average_is_the_mean_of_all_until_it_forgets():
    forgetting, uniform = averages("forgetting", limit=0.99), averages("uniform")

    torch.testing.assert_close(forgetting[:100], uniform[:100], rtol=1e-9, atol=1e-12)
    assert (forgetting[200:] - uniform[200:]).abs().max() > 1e-3


@pytest.mark.row(73)
def test_the_exponential_average_follows_its_recursion_from_the_first_iterate():
    expected = recursion(lambda _: 0.95)

    torch.testing.assert_close(averages("exponential", memory=0.95), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.row(73)
def test_the_better_of_iterate_and_average_is_reported():
    iterate, average = nn.Linear(1, 1), nn.Linear(1, 1)

    both = compared(lambda model: 2.0 if model is iterate else 1.0, iterate, average)
    assert (both.iterate, both.average, both.better) == (2.0, 1.0, 1.0)


@pytest.mark.parametrize("errors", [(math.nan, 1.0), (1.0, math.nan)])
def test_an_error_that_is_no_number_is_never_the_better_one(errors):
    assert Compared(*errors).better == 1.0


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("mean", {}, "'mean'.*'exponential', 'forgetting', 'uniform'"),
        ("exponential", {"memory": 1.0}, r"memory is 1\.0"),
        ("forgetting", {"limit": -0.1}, "limit is -0.1"),
    ],
)
def test_a_wrong_average_is_named(name, settings, said):
    with pytest.raises(ValueError, match=said):
        averaging(name, **settings)
