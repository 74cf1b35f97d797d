import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import KFAC, CrossEntropy

EPOCHS = 10
BATCH = 128


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    return torch.tensor(data.data / 16, dtype=torch.float32), torch.tensor(data.target)


def a_classifier():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))


def trained_loss(digits, model, update):
    inputs, targets = digits
    stream = torch.Generator().manual_seed(0)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(inputs), generator=stream).split(BATCH):
            update(inputs[rows], targets[rows])
    with torch.no_grad():
        return cross_entropy(model(inputs), targets).item()


def loss_of_kfac(digits):
    model = a_classifier()
    optimizer = KFAC(model, CrossEntropy(), lr=0.6, damping=0.1, generator=torch.Generator().manual_seed(0))
    return trained_loss(digits, model, optimizer.step)


def loss_of_sgd(digits, lr):
    model = a_classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def update(inputs, targets):
        optimizer.zero_grad()
        cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return trained_loss(digits, model, update)


def test_kfac_learns_digits_further_than_sgd_at_its_best_lr_in_as_many_updates(digits):
    ours = loss_of_kfac(digits)
    theirs = min(loss_of_sgd(digits, lr) for lr in (0.1, 0.3, 1.0, 1.5, 2.0))

    assert ours < 0.05
    assert ours < 0.5 * theirs
