"""The derivatives that autograd takes of the activations are those of the textbook and of differences."""

import pytest
import torch
from torch.autograd import grad

from worker.models.layers import ACTIVATIONS, activation_layer
from worker.models.perceptron import perceptron

SUMS = torch.linspace(-4, 4, 41, dtype=torch.float64) + 0.03  # nowhere at the bend of ReLU
DERIVATIVES = {  # the first and the second, in the activity a = φ(s)
    "identity": (torch.ones_like, torch.zeros_like),
    "logistic": (lambda a: a * (1 - a), lambda a: a * (1 - a) * (1 - 2 * a)),
    "tanh": (lambda a: 1 - a**2, lambda a: -2 * a * (1 - a**2)),
    "relu": (lambda a: (a > 0).double(), torch.zeros_like),
}


def derivatives(name, sums):
    sums = sums.clone().requires_grad_()
    activities = activation_layer(name)(sums)
    (first,) = grad(activities.sum(), sums, create_graph=True)
    (second,) = grad((first + 0 * sums).sum(), sums)
    return activities.detach(), first.detach(), second


@pytest.mark.row(30)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_derivatives_of_an_activation_are_those_of_the_textbook(name):
    activities, first, second = derivatives(name, SUMS)

    torch.testing.assert_close(first, DERIVATIVES[name][0](activities), rtol=0, atol=1e-14)
    torch.testing.assert_close(second, DERIVATIVES[name][1](activities), rtol=0, atol=1e-14)


@pytest.mark.row(30)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_finite_differences_agree_with_both_derivatives_of_an_activation(name):
    step = 1e-5
    (ahead, ahead_first, _), (behind, behind_first, _) = (derivatives(name, SUMS + s) for s in (step, -step))
    _, first, second = derivatives(name, SUMS)

    torch.testing.assert_close((ahead - behind) / (2 * step), first, rtol=0, atol=1e-9)
    torch.testing.assert_close((ahead_first - behind_first) / (2 * step), second, rtol=0, atol=1e-9)


@pytest.mark.row(30)
def test_the_logistic_function_is_a_squeezed_tanh():
    squeezed = activation_layer("tanh")(SUMS / 2) / 2 + 0.5

    torch.testing.assert_close(activation_layer("logistic")(SUMS), squeezed, rtol=0, atol=1e-15)


@pytest.mark.row(30)
def test_relu_has_no_slope_at_its_bend():
    _, first, _ = derivatives("relu", torch.zeros(1, dtype=torch.float64))

    assert first.item() == 0


def test_an_unknown_activation_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'sine'.*'identity', 'logistic', 'relu', 'tanh'"):
        perceptron([2, 2, 1], torch.Generator(), activation="sine")
