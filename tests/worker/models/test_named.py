import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, mse_loss

from worker.models.named import NETWORKS
from worker.training.initialisation import glorot

PARAMETERS = {
    "curves_autoencoder": 842_340,
    "mnist_autoencoder": 2_837_314,
    "faces_autoencoder": 7_537_655,
    "narrow_deep": 7030,
    "mnist_wide": 784 * 1500 + 1500 + 1500 * 10 + 10,
    "nist_wide": 1024 * 500 + 500 + 500 * 62 + 62,
    "mnist_convolutional": 26 * 32 + (25 * 32 + 1) * 64 + (16 * 64 + 1) * 750 + 751 * 10,
    "faces_convolutional": 145 * 300 + (36 * 300 + 1) * 2048 + 2049 * 1024 + 1025 * 7,
}
SMALL = ("digits_wide", "digits_convolutional", "narrow_deep")
LOSSES = {
    "softmax": lambda outputs, _: cross_entropy(outputs, torch.zeros(len(outputs), dtype=torch.long)),
    "logistic": binary_cross_entropy_with_logits,
    "identity": mse_loss,
}


def built(name, **settings):
    return NETWORKS[name].build(generator=torch.Generator().manual_seed(0), **settings)


def linear_weights(name):
    return [tuple(layer.weight.shape) for layer in built(name).modules() if isinstance(layer, nn.Linear)]


@pytest.mark.row(22)
@pytest.mark.row(23)
@pytest.mark.parametrize("name", ["curves_autoencoder", "mnist_autoencoder", "faces_autoencoder"])
def test_a_deep_autoencoder_has_as_many_parameters_as_published(name):
    assert sum(parameter.numel() for parameter in built(name).parameters()) == PARAMETERS[name]


@pytest.mark.row(23)
@pytest.mark.parametrize(
    ("name", "layers", "link"),
    [
        ("curves_autoencoder", 12, "logistic"),
        ("mnist_autoencoder", 8, "logistic"),
        ("faces_autoencoder", 8, "identity"),
    ],
)
def test_a_deep_autoencoder_has_the_published_depth_and_link(name, layers, link):
    assert len(linear_weights(name)) == layers
    assert NETWORKS[name].link == link


@pytest.mark.row(27)
@pytest.mark.parametrize("name", ["mnist_wide", "nist_wide", "mnist_convolutional", "faces_convolutional"])
def test_the_networks_of_the_natural_gradient_are_built_in_full_size(name):
    assert sum(parameter.numel() for parameter in built(name).parameters()) == PARAMETERS[name]


@pytest.mark.row(28)
def test_the_first_weights_of_the_rectifier_network_are_225_images():
    assert linear_weights("mnist_rectifier")[0] == (225, 784)
    assert {type(layer) for layer in built("mnist_rectifier")} == {nn.Linear, nn.ReLU}


@pytest.mark.row(29)
def test_the_narrow_deep_network_has_7030_parameters_and_tanh_units():
    model = built("narrow_deep")

    assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS["narrow_deep"]
    assert [type(layer) for layer in model[1::2]] == [nn.Tanh] * 5


@pytest.mark.row(27)
@pytest.mark.parametrize("name", SMALL)
def test_a_small_network_of_the_table_trains(name):
    model, network = built(name), NETWORKS[name]
    inputs = torch.rand(8, *network.shape, generator=torch.Generator().manual_seed(1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(10):
        loss = LOSSES[network.link](model(inputs), inputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("name", NETWORKS)
def test_a_named_network_reads_examples_of_its_shape(name):
    outputs = built(name)(torch.zeros(2, *NETWORKS[name].shape))

    assert outputs.shape[0] == 2
    assert outputs.isfinite().all()


def test_a_setting_of_a_named_network_can_be_replaced():
    flat = built("mnist_wide", initialise=glorot(alpha=1e-6))

    assert flat[0].weight.abs().max() < 1e-4
