import copy
import math

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import CrossEntropy, UpdatedBackpropagation, squared_error
from optimizers.errors import UnsupportedModelError


def gradient_below(model, inputs, targets, loss):
    return torch.autograd.grad(loss(model(inputs), targets), [model[0].weight])[0]


def error_below(model, batch, lr, **settings):
    """How far the bottom layer's gradient is from that after the updates of the layers above it."""
    updated = copy.deepcopy(model)
    UpdatedBackpropagation(updated, CrossEntropy(), lr=lr, **settings).step(*batch)
    ours = (model[0].weight - updated[0].weight).detach() / lr
    updated[0].load_state_dict(model[0].state_dict())
    return (ours - gradient_below(updated, *batch, cross_entropy)).norm().item()


def order(model, batch, **settings):
    """The power of lr with which the error vanishes."""
    return math.log2(
        error_below(model, batch, 2e-3, **settings) / error_below(model, batch, 1e-3, **settings)
    )


def sgd(model, batch, lr, updates):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(updates):
        optimizer.zero_grad()
        cross_entropy(model(batch[0]), batch[1]).backward()
        optimizer.step()
    return model


def distance(ours, theirs):
    squares = [
        (a - b).detach().square().sum() for a, b in zip(ours.parameters(), theirs.parameters(), strict=True)
    ]
    return torch.stack(squares).sum().sqrt().item()


@pytest.mark.row(128)
@pytest.mark.row(235)
@pytest.mark.parametrize("activation", [nn.Sigmoid, nn.Tanh, nn.Identity])
def test_the_error_of_what_is_sent_down_is_of_second_order_in_the_updates(a_network, a_batch, activation):
    model = a_network(4, 6, 5, 3, activation=activation)

    assert order(model, a_batch(8, 4, 3)) == pytest.approx(2, abs=0.05)


@pytest.mark.row(128)
def test_without_the_bend_of_the_units_it_is_of_first_order(a_network, a_batch):
    model, batch = a_network(4, 6, 5, 3, activation=nn.Sigmoid), a_batch(8, 4, 3)

    assert order(model, batch, second_order_activation=False) == pytest.approx(1, abs=0.05)


@pytest.mark.row(128)
def test_units_that_do_not_bend_need_no_second_order(a_network, a_batch):
    model, batch = a_network(4, 6, 5, 3, activation=nn.Identity), a_batch(8, 4, 3)

    assert order(model, batch, second_order_activation=False) == pytest.approx(2, abs=0.05)


@pytest.mark.row(128)
def test_plain_backpropagation_errs_in_first_order(a_network, a_batch):
    model, batch = a_network(4, 6, 5, 3, activation=nn.Sigmoid), a_batch(8, 4, 3)

    assert order(model, batch, top_only=0) == pytest.approx(1, abs=0.05)


@pytest.mark.row(128)
def test_of_two_linear_layers_only_the_cross_term_of_the_update_and_the_curvature_is_missed(a_network):
    stream = torch.Generator().manual_seed(0)
    inputs, targets = (torch.randn(7, n, generator=stream, dtype=torch.float64) for n in (4, 3))
    start = a_network(4, 5, 3, activation=nn.Identity)
    model, h = copy.deepcopy(start), start[0](inputs).detach()
    UpdatedBackpropagation(model, squared_error(half=True), lr=0.5).step(inputs, targets)
    ours = (start[0].weight - model[0].weight).detach() / 0.5
    weight, bias = (
        (a - b).detach() for a, b in zip(model[2].parameters(), start[2].parameters(), strict=True)
    )

    model[0].load_state_dict(start[0].state_dict())
    truth = gradient_below(model, inputs, targets, squared_error(half=True).loss)
    cross = (h @ weight.T + bias) @ weight  # ΔWᵀ S Δs by case, with S = I
    torch.testing.assert_close(truth - ours, cross.T @ inputs / 7, rtol=1e-9, atol=1e-10)


@pytest.mark.row(128)
def test_without_corrections_it_is_gradient_descent(a_network, a_batch):
    ours, theirs, batch = a_network(4, 6, 5, 3), a_network(4, 6, 5, 3), a_batch(8, 4, 3)
    UpdatedBackpropagation(ours, CrossEntropy(), lr=0.3, top_only=0).step(*batch)

    assert distance(ours, sgd(theirs, batch, 0.3, 1)) <= 1e-14


@pytest.mark.row(128)
def test_layers_that_do_not_move_correct_nothing(a_network, a_batch):
    model, batch = a_network(4, 6, 5, 3), a_batch(8, 4, 3)
    model[2].requires_grad_(False)
    model[4].requires_grad_(False)
    start = copy.deepcopy(model)
    UpdatedBackpropagation(model, CrossEntropy(), lr=0.3).step(*batch)

    gradient = gradient_below(start, *batch, cross_entropy)
    torch.testing.assert_close(model[0].weight, start[0].weight - 0.3 * gradient, rtol=1e-12, atol=1e-13)
    assert torch.equal(model[2].weight, start[2].weight)


@pytest.mark.row(128)
def test_as_lr_vanishes_the_run_becomes_that_of_gradient_descent(a_network, a_batch):
    def relative(lr):
        ours, theirs, batch = a_network(4, 6, 5, 3), a_network(4, 6, 5, 3), a_batch(8, 4, 3)
        optimizer = UpdatedBackpropagation(ours, CrossEntropy(), lr=lr)
        for _ in range(5):
            optimizer.step(*batch)
        return distance(ours, sgd(theirs, batch, lr, 5)) / lr

    assert relative(1e-2) / relative(5e-3) == pytest.approx(2, abs=0.1)


def test_only_the_top_layers_asked_for_correct(a_network, a_batch):
    model, batch = a_network(4, 6, 5, 3), a_batch(8, 4, 3)
    moves = []
    for top_only in (0, 1, None):
        trained = copy.deepcopy(model)
        UpdatedBackpropagation(trained, CrossEntropy(), lr=0.3, top_only=top_only).step(*batch)
        moves.append([trained[n].weight for n in (4, 2, 0)])

    none, one, every = moves
    assert [torch.equal(*pair) for pair in zip(none, one, strict=True)] == [True, False, False]
    assert [torch.equal(*pair) for pair in zip(one, every, strict=True)] == [True, True, False]


def test_an_in_place_activation_changes_no_step(a_network, a_batch):
    models = [a_network(4, 6, 3, activation=lambda way=way: nn.ReLU(inplace=way)) for way in (True, False)]
    for model in models:
        UpdatedBackpropagation(model, CrossEntropy(), lr=0.3).step(*a_batch(8, 4, 3))

    assert distance(*models) == 0


def test_an_activation_that_stands_in_two_places_acts_in_both(a_network, a_batch):
    apart, together = a_network(4, 6, 5, 3), a_network(4, 6, 5, 3)
    together[3] = together[1]
    for model in (apart, together):
        UpdatedBackpropagation(model, CrossEntropy(), lr=0.3).step(*a_batch(8, 4, 3))

    assert distance(apart, together) == 0


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Dropout()), "'1' is a Dropout"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.Softmax(dim=1)), "'1' is a Softmax"),
        (lambda: nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4)), "'1' has parameters"),
        (
            lambda: nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Tanhshrink(), nn.RReLU())),
            r"'1\.1' is a RReLU",
        ),
    ],
)
def test_a_model_whose_derivatives_it_would_get_wrong_is_refused(model, sentence):
    with pytest.raises(UnsupportedModelError, match=sentence):
        UpdatedBackpropagation(model(), CrossEntropy())


def test_a_negative_count_of_layers_is_refused(a_network):
    with pytest.raises(ValueError, match="top_only"):
        UpdatedBackpropagation(a_network(4, 3), CrossEntropy(), top_only=-1)


def test_a_second_param_group_is_refused(a_network):
    optimizer = UpdatedBackpropagation(a_network(4, 3), CrossEntropy())
    with pytest.raises(ValueError, match="knows no other parameters"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]})
