import itertools

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import CentredGradientDescent, CentredLinear, CrossEntropy, MeanOnlyBatchNorm

EXACT = {"rtol": 1e-10, "atol": 1e-12}


def sgd_moves(model, inputs, targets, lr):
    gradients = torch.autograd.grad(cross_entropy(model(inputs), targets), list(model.parameters()))
    return [-lr * gradient for gradient in gradients]


@pytest.mark.row(121)
@pytest.mark.row(235)
@pytest.mark.parametrize("consistent_bias", [False, True])
def test_a_step_is_minus_lr_times_the_mean_of_g_and_the_centred_inputs(
    a_network, a_batch, layer_rows, moves_of, consistent_bias
):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    expected = []
    for h, g in layer_rows(model, inputs, targets):
        weight = -0.3 * sum(gi.outer(hi - h.mean(dim=0)) for gi, hi in zip(g, h, strict=True)) / 6
        bias = -0.3 * g.mean(dim=0) - (weight @ h.mean(dim=0) if consistent_bias else 0.0)
        expected += [weight, bias]

    optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.3, consistent_bias=consistent_bias)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for ours, truth in zip(moves, expected, strict=True):
        torch.testing.assert_close(ours, truth, **EXACT)


def test_on_inputs_of_zero_mean_it_is_gradient_descent(a_network, a_batch, moves_of):
    model, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    inputs = inputs - inputs.mean(dim=0)
    expected = sgd_moves(model, inputs, targets, 0.3)

    optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.3, consistent_bias=True)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    for ours, truth in zip(moves, expected, strict=True):
        torch.testing.assert_close(ours, truth, **EXACT)


@pytest.mark.row(121)
def test_weights_move_along_the_gradient_that_mean_only_batch_normalisation_gives_them(
    a_network, a_batch, moves_of
):
    plain, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    layer, norm = nn.Linear(4, 3, bias=False).double(), MeanOnlyBatchNorm(3).double()
    layer.weight.data.copy_(plain[0].weight)
    # so that both compute the same sums, and with them the same g
    norm.bias.data.copy_(plain(inputs).mean(dim=0).detach())
    (gradient,) = torch.autograd.grad(cross_entropy(norm(layer(inputs)), targets), [layer.weight])

    optimizer = CentredGradientDescent(plain, CrossEntropy(), lr=0.3)
    weight, _ = moves_of(plain, lambda: optimizer.step(inputs, targets))

    torch.testing.assert_close(weight, -0.3 * gradient, **EXACT)


def test_a_constant_on_the_inputs_that_the_bias_takes_back_changes_no_move_of_the_weights(
    a_network, a_batch, moves_of
):
    inputs, targets = a_batch(6, 4, 3)
    constant = torch.tensor([3.0, -1.0, 2.0, 5.0], dtype=torch.float64)
    ours, plain = [], []
    for shift in (torch.zeros_like(constant), constant):
        model = a_network(4, 3)
        model[0].bias.data -= model[0].weight.data @ shift
        plain.append(sgd_moves(model, inputs + shift, targets, 0.3)[0])
        optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.3)
        batch = (inputs + shift, targets)
        ours.append(moves_of(model, lambda step=optimizer.step, batch=batch: step(*batch))[0])

    torch.testing.assert_close(*ours, **EXACT)
    assert (plain[1] - plain[0]).norm() > 0.1 * plain[0].norm()


@pytest.mark.row(121)
@pytest.mark.row(235)
@pytest.mark.parametrize("consistent_bias", [False, True])
def test_the_loss_decreases(a_network, a_batch, consistent_bias):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.1, consistent_bias=consistent_bias)
    losses = [optimizer.step(*batch).loss for _ in range(50)]

    assert all(after < before for before, after in itertools.pairwise(losses))


def test_with_a_consistent_bias_the_loss_decreases_however_far_the_inputs_are_from_zero(a_batch):
    inputs, targets = a_batch(20, 4, 3)
    model = nn.Linear(4, 3).double()
    optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.01, consistent_bias=True)
    losses = [optimizer.step(inputs + 100, targets).loss for _ in range(20)]

    assert all(after < before for before, after in itertools.pairwise(losses))


@pytest.mark.row(68)
def test_a_new_mean_changes_no_output_of_a_centred_layer(a_batch):
    layer, (inputs, _) = CentredLinear(4, 3).double(), a_batch(6, 4, 3)
    before = layer(inputs)
    layer.recentre(inputs.mean(dim=0))
    layer.recentre(inputs.mean(dim=0) + 2)

    torch.testing.assert_close(layer(inputs), before, rtol=0, atol=1e-12)


@pytest.mark.row(68)
def test_a_running_mean_makes_it_gradient_descent_on_a_centred_layer(a_batch):
    centred, plain = CentredLinear(4, 3).double(), nn.Linear(4, 3).double()
    plain.load_state_dict({"weight": centred.weight.detach(), "bias": centred.bias.detach()})
    optimizer = CentredGradientDescent(plain, CrossEntropy(), lr=0.3, consistent_bias=True, decay=0.75)
    mean = None
    for k in range(1, 9):
        inputs, targets = a_batch(6, 4, 3, seed=k)
        past = min(1 - 1 / k, 0.75)
        new = inputs.mean(dim=0)
        mean = new if mean is None else past * mean + (1 - past) * new
        centred.recentre(mean)
        for parameter, move in zip(
            centred.parameters(), sgd_moves(centred, inputs, targets, 0.3), strict=True
        ):
            parameter.data += move

        optimizer.step(inputs, targets)

    inputs, _ = a_batch(6, 4, 3)
    torch.testing.assert_close(plain(inputs), centred(inputs), **EXACT)


def test_a_layer_without_bias_gets_the_plain_gradient(a_network, a_batch, moves_of):
    model, (inputs, targets) = a_network(4, 3, bias=False), a_batch(6, 4, 3)
    expected = sgd_moves(model, inputs, targets, 0.3)
    optimizer = CentredGradientDescent(model, CrossEntropy(), lr=0.3)

    torch.testing.assert_close(moves_of(model, lambda: optimizer.step(inputs, targets)), expected, **EXACT)
