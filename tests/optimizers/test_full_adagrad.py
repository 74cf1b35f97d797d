import math

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, FullAdaGrad, squared_error
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import TooLargeError


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def gradient_of(model, objective, inputs, targets):
    parts = torch.autograd.grad(objective.loss(model(inputs), targets), list(model.parameters()))
    return torch.cat([part.flatten() for part in parts])


def inverse_root(matrix):
    """A^(-1/2) by the iteration of Denman and Beavers, which knows no eigenvectors."""
    root, inverse = matrix, torch.eye(len(matrix), dtype=matrix.dtype)
    for _ in range(40):
        root, inverse = (root + torch.linalg.inv(inverse)) / 2, (inverse + torch.linalg.inv(root)) / 2
    return inverse


def a_line(weight):
    model = nn.Linear(weight.shape[1], len(weight), bias=False).double()
    with torch.no_grad():
        model.weight.copy_(weight)
    return model


@pytest.mark.row(86)
def test_a_step_is_by_the_inverse_root_of_the_matrix_written_out(a_network, a_batch):
    model, total = a_network(4, 5, 3), torch.zeros(43, 43, dtype=torch.float64)
    optimizer = FullAdaGrad(model, CrossEntropy(), lr=0.1, damping=0.05)
    for seed in range(6):
        batch, before = a_batch(6, 4, 3, seed=seed), theta(model)
        gradient = gradient_of(model, CrossEntropy(), *batch)
        total += torch.outer(gradient, gradient)
        optimizer.step(*batch)

        truth = before - 0.1 * inverse_root(tikhonov(total, 0.05)) @ gradient
        torch.testing.assert_close(theta(model), truth, rtol=1e-9, atol=1e-11)


@pytest.mark.row(86)
def test_of_gradients_along_the_axes_it_is_torchs_adagrad():
    start = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64)
    ours, theirs = a_line(start), a_line(start)
    full = FullAdaGrad(ours, squared_error(), lr=0.1, damping=0.05)
    diagonal = torch.optim.Adagrad(theirs.parameters(), lr=0.1, eps=0.0, initial_accumulator_value=0.05)
    for update in range(12):
        inputs = torch.eye(3, dtype=torch.float64)[[update % 3]] * (1 + update)
        targets = torch.ones(1, 1, dtype=torch.float64)
        full.step(inputs, targets)
        diagonal.zero_grad()
        squared_error().loss(theirs(inputs), targets).backward()
        diagonal.step()

    assert not torch.equal(ours.weight, start)
    torch.testing.assert_close(ours.weight, theirs.weight)


@pytest.mark.row(86)
@pytest.mark.parametrize("is_full", [True, False])
def test_a_rotation_of_the_parameters_rotates_its_steps_and_not_those_of_the_diagonal(is_full):
    stream = torch.Generator().manual_seed(0)
    inputs, targets = (torch.randn(20, n, generator=stream, dtype=torch.float64) for n in (4, 1))
    rotation = torch.linalg.qr(torch.randn(4, 4, generator=stream, dtype=torch.float64))[0]
    start = torch.randn(1, 4, generator=stream, dtype=torch.float64)
    ends = []
    for turn in (torch.eye(4, dtype=torch.float64), rotation):
        model = a_line(start @ turn)
        optimizer = (
            FullAdaGrad(model, squared_error(), lr=0.1)
            if is_full
            else torch.optim.Adagrad(model.parameters(), lr=0.1)
        )
        for rows in torch.arange(20).split(4):
            if is_full:
                optimizer.step(inputs[rows] @ turn, targets[rows])
            else:
                optimizer.zero_grad()
                squared_error().loss(model(inputs[rows] @ turn), targets[rows]).backward()
                optimizer.step()
        ends.append(model.weight.detach() @ turn.T)

    assert torch.allclose(*ends, rtol=1e-8, atol=1e-9) == is_full


@pytest.mark.row(86)
def test_the_first_step_is_nearly_as_long_as_lr(a_network, a_batch):
    step = FullAdaGrad(a_network(4, 5, 3), CrossEntropy(), lr=0.1, damping=1e-12).step(*a_batch(6, 4, 3))

    assert step.update_norm == pytest.approx(0.1)


def test_a_model_too_large_for_its_square_is_refused_with_what_to_do(a_network):
    with pytest.raises(TooLargeError, match=r"FullAdaGrad .* 43 x 43 .* limit is 42. Train a smaller model"):
        FullAdaGrad(a_network(4, 5, 3), CrossEntropy(), limit=42)


@pytest.mark.parametrize("wrong", [{"damping": 0.0}, {"lr": math.inf}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FullAdaGrad(a_network(4, 3), CrossEntropy(), **wrong)
