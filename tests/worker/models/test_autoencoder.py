import pytest
import torch
from torch import nn
from torch.nn.functional import mse_loss

from optimizers import KFAC, CrossEntropy
from tests import dense
from worker.models.autoencoder import autoencoder


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_a_decoder_mirrors_its_encoder_unless_told():
    model = autoencoder([7, 5, 2], a_generator())

    shapes = [tuple(layer.weight.shape) for layer in model.modules() if isinstance(layer, nn.Linear)]
    assert shapes == [(5, 7), (2, 5), (5, 2), (7, 5)]


@pytest.mark.row(22)
def test_a_decoder_may_have_sizes_of_its_own():
    model = autoencoder([7, 5, 2], a_generator(), decoder=[2, 3, 4, 7])

    assert model(torch.zeros(1, 7)).shape == (1, 7)
    assert sum(parameter.numel() for parameter in model.parameters()) == 52 + 9 + 16 + 35


@pytest.mark.parametrize("decoder", [[3, 5, 7], [2, 5, 6]])
def test_a_decoder_that_does_not_lead_back_is_refused(decoder):
    with pytest.raises(ValueError, match="from 2 units back to 7"):
        autoencoder([7, 5, 2], a_generator(), decoder=decoder)


def test_the_bottleneck_and_the_output_are_linear_and_all_else_is_logistic():
    model = autoencoder([7, 5, 3, 2], a_generator())

    kinds = [type(layer) for part in model for layer in part]
    assert kinds == [nn.Linear, nn.Sigmoid, nn.Linear, nn.Sigmoid, nn.Linear] * 2


@pytest.mark.row(22)
def test_the_gradient_of_an_autoencoder_is_that_of_finite_differences():
    model = autoencoder([4, 3, 2], a_generator(), output="logistic").double()
    inputs = torch.rand(5, 4, generator=a_generator(1), dtype=torch.float64)

    def loss(outputs):
        return mse_loss(outputs, inputs)

    truth = dense.gradient_by_differences(model, loss, inputs)
    assert (dense.gradient(model, loss, inputs) - truth).norm() <= 1e-6 * truth.norm()


def test_second_order_optimizers_recognise_every_layer_of_an_autoencoder():
    model = autoencoder([6, 4, 2], a_generator())
    before = dense.parameters_of(model)

    KFAC(model, CrossEntropy()).step(torch.rand(9, 6, generator=a_generator()), torch.arange(9) % 6)
    assert (dense.parameters_of(model) != before).any()
