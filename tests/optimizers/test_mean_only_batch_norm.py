import pytest
import torch
from torch import nn
from torch.autograd import grad, gradcheck

from optimizers import MeanOnlyBatchNorm

CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def a_tensor(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def a_layer(units, **settings):
    layer = MeanOnlyBatchNorm(units, **settings).double()
    nn.init.normal_(layer.bias, generator=torch.Generator().manual_seed(7))
    return layer


def mean(rows):
    return rows.mean(dim=0, keepdim=True)


@pytest.mark.row(66)
def test_each_unit_loses_its_mean_over_the_batch_and_gains_an_offset():
    layer, sums = a_layer(3), a_tensor(5, 3)

    torch.testing.assert_close(layer(sums), sums - mean(sums) + layer.bias, **CLOSE)


def test_the_mean_of_a_channel_goes_over_its_places_too():
    layer, sums = a_layer(3), a_tensor(5, 3, 4, 2)
    expected = sums - sums.mean(dim=(0, 2, 3), keepdim=True) + layer.bias.reshape(3, 1, 1)

    torch.testing.assert_close(layer(sums), expected, **CLOSE)


@pytest.mark.row(66)
def test_the_gradient_sent_back_is_the_centred_one():
    layer, sums, arriving = a_layer(3), a_tensor(5, 3).requires_grad_(), a_tensor(5, 3, seed=1)

    (sent_back,) = grad(layer(sums), sums, arriving)
    torch.testing.assert_close(sent_back, arriving - mean(arriving), **CLOSE)


@pytest.mark.row(66)
def test_finite_differences_agree_with_the_gradient_sent_back():
    assert gradcheck(a_layer(3), a_tensor(5, 3).requires_grad_())


@pytest.mark.row(66)
def test_the_weights_before_it_get_the_centred_gradient():
    inputs, arriving, linear = a_tensor(5, 4), a_tensor(5, 3, seed=1), nn.Linear(4, 3, bias=False).double()

    (ours,) = grad(a_layer(3)(linear(inputs)), linear.weight, arriving / len(inputs))
    centred_inputs = arriving.T @ (inputs - mean(inputs)) / len(inputs)
    centred_errors = (arriving - mean(arriving)).T @ inputs / len(inputs)
    torch.testing.assert_close(ours, centred_inputs, **CLOSE)
    torch.testing.assert_close(ours, centred_errors, **CLOSE)


def test_in_evaluation_each_example_stands_alone():
    layer, sums = a_layer(3), a_tensor(5, 3)
    layer(sums)
    layer.eval()

    torch.testing.assert_close(layer(sums)[:1], layer(sums[:1]), **CLOSE)


def test_the_running_mean_is_that_of_torchs_batch_normalisation():
    ours, theirs = a_layer(3, decay=0.8), nn.BatchNorm1d(3, momentum=0.2).double()
    for seed in range(4):
        ours(a_tensor(5, 3, seed=seed))
        theirs(a_tensor(5, 3, seed=seed))

    torch.testing.assert_close(ours.running_mean, theirs.running_mean, **CLOSE)


def test_the_running_mean_is_saved_with_the_model():
    layer, copy = a_layer(3), MeanOnlyBatchNorm(3).double()
    layer(a_tensor(5, 3))
    copy.load_state_dict(layer.state_dict())

    assert copy.eval()(a_tensor(2, 3)).equal(layer.eval()(a_tensor(2, 3)))


@pytest.mark.parametrize("decay", [-0.1, 1.0])
def test_a_decay_that_forgets_nothing_or_less_is_refused(decay):
    with pytest.raises(ValueError, match="below 1"):
        MeanOnlyBatchNorm(3, decay=decay)
