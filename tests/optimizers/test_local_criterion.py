import pytest
import torch

from optimizers import ACP, CrossEntropy, LocalCriterion


@pytest.mark.row(122)
def test_the_step_of_each_layer_is_the_minimum_of_its_criterion(a_network, a_batch, layer_rows, moves_of):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
    known = layer_rows(model, inputs, targets)
    optimizer = LocalCriterion(model, CrossEntropy(), lr=0.7, ridge=0.05)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for (h, g), weight, bias in zip(known, moves[::2], moves[1::2], strict=True):
        for move in (weight, bias):
            move.requires_grad_()
        residuals = h @ weight.T + bias + 0.7 * g
        criterion = residuals.square().sum(dim=1).mean() + 0.05 * weight.square().sum()
        for slope in torch.autograd.grad(criterion, [weight, bias]):
            assert slope.abs().max() <= 1e-10  # it is convex, so that no slope is a minimum


@pytest.mark.row(122)
def test_with_more_units_than_cases_and_no_ridge_to_speak_of_the_sums_move_as_told(
    a_network, a_batch, layer_rows
):
    model, (inputs, targets) = a_network(9, 3), a_batch(5, 9, 3)
    ((_, g),) = layer_rows(model, inputs, targets)
    before = model(inputs)
    LocalCriterion(model, CrossEntropy(), lr=0.7, ridge=1e-8).step(inputs, targets)

    torch.testing.assert_close(model(inputs) - before, -0.7 * g, rtol=0, atol=1e-6)


def test_it_is_acp_with_alpha_one_and_a_refresh_in_each_update(a_network, a_batch):
    ours, theirs = a_network(4, 5, 3), a_network(4, 5, 3)
    local = LocalCriterion(ours, CrossEntropy(), lr=0.3, ridge=0.2)
    acp = ACP(theirs, CrossEntropy(), lr=0.3, alpha=1.0, ridge=0.2, refresh_every=1)
    for seed in range(3):
        local.step(*a_batch(6, 4, 3, seed=seed))
        acp.step(*a_batch(6, 4, 3, seed=seed))

    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=1e-13)


def test_a_layer_without_bias_minimises_its_criterion_without_one(a_network, a_batch, layer_rows, moves_of):
    model, (inputs, targets) = a_network(4, 3, bias=False), a_batch(9, 4, 3)
    ((h, g),) = layer_rows(model, inputs, targets)
    optimizer = LocalCriterion(model, CrossEntropy(), lr=0.7, ridge=0.05)
    (weight,) = moves_of(model, lambda: optimizer.step(inputs, targets))

    weight.requires_grad_()
    criterion = (h @ weight.T + 0.7 * g).square().sum(dim=1).mean() + 0.05 * weight.square().sum()
    (slope,) = torch.autograd.grad(criterion, [weight])
    assert slope.abs().max() <= 1e-10
