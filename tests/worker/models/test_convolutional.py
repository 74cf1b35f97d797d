"""A convolution is a linear layer whose weights are copied to every place; that layer is written out here."""

from itertools import product

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers.curvature.products import gauss_newton_product
from tests import dense
from worker.models.convolutional import Convolution, convolutional

SHAPES = {"sequence": (2, 7), "image": (2, 5, 4)}


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_network(shape, *, activation="tanh", **convolution):
    first = Convolution(**{"filters": 3, "kernel": 2, **convolution})
    model = convolutional(shape, [first], [4, 3], a_generator(), activation=activation).double()
    nn.init.normal_(model[0].bias, generator=a_generator(1))
    return model


def a_batch(shape):
    return torch.randn(5, *shape, generator=a_generator(2), dtype=torch.float64)


def loss(outputs):
    return cross_entropy(outputs, torch.tensor([0, 1, 2, 2, 1]))


def copied(layer, shape, outputs):
    """The number of the weight from each input (column) to each output (row), -1 where there is none."""
    places = torch.zeros(outputs.numel(), torch.Size(shape).numel(), dtype=torch.long) - 1
    numbers = torch.arange(layer.weight.numel()).reshape(layer.weight.shape)
    of_inputs = torch.arange(places.shape[1]).reshape(shape)
    of_outputs = torch.arange(places.shape[0]).reshape(outputs.shape)
    for at in product(*map(range, outputs.shape)):
        corner = [place * layer.stride[0] for place in at[1:]]
        for index in product(*map(range, layer.weight.shape[1:])):
            seen = [a + b for a, b in zip(corner, index[1:], strict=True)]
            places[of_outputs[at], of_inputs[index[0], *seen]] = numbers[at[0], *index]
    return places


def written_out(model, shape):
    """The same network with its convolution as a linear layer, and where that one's weights come from."""
    layer = model[0]
    outputs = layer(torch.zeros(1, *shape, dtype=torch.float64))[0]
    places = copied(layer, shape, outputs)
    linear = nn.Linear(places.shape[1], places.shape[0]).double()
    with torch.no_grad():
        linear.weight.copy_(layer.weight.reshape(-1)[places] * (places >= 0))
        linear.bias.copy_(layer.bias.repeat_interleave(outputs[0].numel()))
    rest = [part for part in model[1:] if not isinstance(part, nn.Flatten)]
    return nn.Sequential(nn.Flatten(), linear, *rest), places


@pytest.mark.row(21)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolutional_network_equals_the_perceptron_with_copied_weights(shape, stride):
    model, inputs = a_network(shape, stride=stride), a_batch(shape)
    perceptron, _ = written_out(model, shape)

    torch.testing.assert_close(model(inputs), perceptron(inputs), rtol=1e-12, atol=1e-12)


@pytest.mark.row(21)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_gradient_of_a_shared_weight_is_the_sum_over_its_places(shape):
    model, inputs = a_network(shape), a_batch(shape)
    perceptron, places = written_out(model, shape)
    loss(model(inputs)).backward()
    loss(perceptron(inputs)).backward()

    summed = torch.zeros(model[0].weight.numel(), dtype=torch.float64)
    summed.index_add_(0, places[places >= 0], perceptron[1].weight.grad[places >= 0])
    torch.testing.assert_close(model[0].weight.grad.reshape(-1), summed, rtol=1e-12, atol=1e-14)


@pytest.mark.row(21)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("pool", [1, 2])
def test_the_gradient_of_a_convolutional_network_is_that_of_finite_differences(shape, pool):
    model, inputs = a_network(shape, pool=pool), a_batch(shape)

    truth = dense.gradient_by_differences(model, loss, inputs)
    assert (dense.gradient(model, loss, inputs) - truth).norm() <= 1e-6 * truth.norm()


@pytest.mark.row(21)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_gauss_newton_products_of_a_convolutional_network_are_those_of_the_dense_matrix(shape):
    model, inputs = a_network(shape, pool=2), a_batch(shape)

    truth = dense.gauss_newton_of(model, loss, inputs)
    ours = dense.matrix_of(gauss_newton_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, rtol=1e-10, atol=1e-13)


def test_a_pool_passes_on_the_largest_of_its_places():
    model = convolutional(
        (1, 5), [Convolution(filters=1, kernel=1, pool=2)], [1], a_generator(), activation="identity"
    )
    with torch.no_grad():
        model[0].weight.fill_(1)

    assert model[:3](torch.tensor([[[1.0, 4.0, 3.0, 2.0, 9.0]]])).tolist() == [[[4.0, 3.0]]]


@pytest.mark.parametrize("too_large", [{"kernel": 6}, {"kernel": 3, "pool": 4}])
def test_a_convolution_that_leaves_nothing_is_refused(too_large):
    with pytest.raises(ValueError, match="leaves nothing of 5 places"):
        convolutional((1, 5), [Convolution(filters=1, **too_large)], [2], a_generator())


def test_an_example_that_is_neither_sequence_nor_image_is_refused():
    with pytest.raises(ValueError, match="no sequence"):
        convolutional((1, 5, 5, 5), [], [2], a_generator())
