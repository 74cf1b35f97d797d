import itertools

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from optimizers import (
    ACP,
    PRONG,
    Bernoulli,
    CentredGradientDescent,
    LocalCriterion,
    OnlineNaturalGradient,
    UnitwiseGaussNewton,
    UpdatedBackpropagation,
)

UPDATES = 200


@pytest.fixture(scope="module")
def digits():
    return torch.tensor(load_digits().data / 16, dtype=torch.float32)


def an_autoencoder():
    torch.manual_seed(0)
    widths = [64, 32, 12, 32, 64]
    parts = [part for pair in itertools.pairwise(widths) for part in (nn.Linear(*pair), nn.Tanh())]
    return nn.Sequential(*parts[:-1])


def last_loss(digits, optimizer):
    """The mean over the last ten batches."""
    stream = torch.Generator().manual_seed(0)
    losses = []
    for _ in range(UPDATES):
        batch = digits[torch.randint(len(digits), (200,), generator=stream)]
        losses.append(optimizer.step(batch, batch).loss)
    return sum(losses[-10:]) / 10


MEAN_IMAGE = 27.2  # the loss of who knows the mean of each pixel and nothing of the image


@pytest.mark.parametrize(
    ("make", "reached"),
    [
        (lambda model: CentredGradientDescent(model, Bernoulli(), lr=0.3), 20.0),
        (lambda model: CentredGradientDescent(model, Bernoulli(), lr=0.3, consistent_bias=True), 20.0),
        (lambda model: CentredGradientDescent(model, Bernoulli(), lr=0.3, decay=0.9), 21.0),
        (lambda model: LocalCriterion(model, Bernoulli()), 20.0),
        (lambda model: ACP(model, Bernoulli(), refresh_every=20), 20.0),
        (lambda model: ACP(model, Bernoulli(), ridge_on="all", refresh_every=20), 21.0),
        (lambda model: ACP(model, Bernoulli(), alpha="largest_slope"), 20.0),
        (lambda model: PRONG(model, Bernoulli(), refresh_every=20), 22.0),
        (lambda model: PRONG(model, Bernoulli(), lr=0.003, momentum=0.9, refresh_every=20), 22.0),
        (lambda model: OnlineNaturalGradient(model, Bernoulli(), lr=0.3), 20.0),
        (lambda model: UnitwiseGaussNewton(model, Bernoulli()), 19.5),
        (lambda model: UpdatedBackpropagation(model, Bernoulli()), 25.5),
        (
            lambda model: UpdatedBackpropagation(model, Bernoulli(), lr=0.1, second_order_activation=False),
            25.5,
        ),
    ],
)
def test_an_autoencoder_learns_more_of_digits_than_their_mean(digits, make, reached):
    assert last_loss(digits, make(an_autoencoder())) < reached < MEAN_IMAGE
