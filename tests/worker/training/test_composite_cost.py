import pytest
import torch
from torch.nn.functional import l1_loss, mse_loss

from worker.training.composite_cost import CompositeCost


def content(outputs, targets):
    return mse_loss(outputs, targets)


def style(outputs, targets):
    """Compares how the columns go together, not where they are."""
    return (outputs.T @ outputs - targets.T @ targets).square().mean()


def a_pair():
    stream = torch.Generator().manual_seed(0)
    return (torch.randn(5, 3, generator=stream, dtype=torch.float64) for _ in range(2))


@pytest.mark.row(32)
def test_a_composite_cost_is_the_weighted_sum_of_its_parts_and_so_is_its_gradient():
    outputs, targets = a_pair()
    outputs.requires_grad_()
    cost = CompositeCost({"content": (2.0, content), "style": (0.3, style)})

    expected = 2 * content(outputs, targets) + 0.3 * style(outputs, targets)
    torch.testing.assert_close(cost.loss(outputs, targets), expected)
    torch.testing.assert_close(
        torch.autograd.grad(cost.loss(outputs, targets), outputs), torch.autograd.grad(expected, outputs)
    )


@pytest.mark.row(32)
def test_a_composite_cost_trains():
    outputs, targets = a_pair()
    picture = torch.nn.Parameter(outputs)
    optimizer = torch.optim.SGD([picture], lr=0.02)
    cost = CompositeCost({"content": (1.0, content), "style": (0.1, style)})
    before = cost.parts(picture, targets)
    for _ in range(300):
        optimizer.zero_grad()
        cost.loss(picture, targets).backward()
        optimizer.step()

    after = cost.parts(picture, targets)
    assert after["content"] < before["content"] / 2
    assert after["style"] < before["style"] / 10


def test_the_parts_are_told_without_their_weights():
    outputs, targets = a_pair()

    parts = CompositeCost({"near": (9.0, l1_loss)}).parts(outputs, targets)
    assert parts == {"near": l1_loss(outputs, targets).item()}


def test_a_cost_of_nothing_is_refused():
    with pytest.raises(ValueError, match="needs a term"):
        CompositeCost({})
