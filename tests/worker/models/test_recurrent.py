import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers.curvature.products import gauss_newton_product
from tests import dense
from worker.models.recurrent import recurrent
from worker.training.initialisation import glorot

SIZES = {"shallow": [2, 3, 3], "deep": [2, 3, 2, 3]}


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_network(sizes, **settings):
    return recurrent(sizes, a_generator(), initialise=glorot(), **settings).double()


def a_batch(steps=4):
    return torch.randn(3, steps, 2, generator=a_generator(1), dtype=torch.float64)


def loss(outputs):
    """The sum over the steps and the mean over the sequences."""
    targets = torch.tensor([0, 1, 2]).repeat_interleave(outputs.shape[1])
    return cross_entropy(outputs.flatten(0, 1), targets, reduction="sum") / len(outputs)


@pytest.mark.row(25)
def test_the_shallow_network_is_the_one_of_torch_with_one_bias():
    model = a_network([2, 3, 4])
    hidden, readout = model.layers
    nn.init.normal_(hidden.from_below.bias, generator=a_generator(2))
    theirs = nn.RNN(2, 3, batch_first=True).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(hidden.from_below.weight)
        theirs.weight_hh_l0.copy_(hidden.from_before.weight)
        theirs.bias_ih_l0.copy_(hidden.from_below.bias)
        theirs.bias_hh_l0.zero_()

    inputs = a_batch()
    torch.testing.assert_close(model(inputs), readout.from_below(theirs(inputs)[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.row(25)
def test_before_the_first_step_all_activities_are_zero():
    model = a_network([2, 3, 3], output_memory=True)
    inputs = a_batch(steps=1)
    below = [layer.from_below for layer in model.layers]

    torch.testing.assert_close(model(inputs)[:, 0], below[1](torch.tanh(below[0](inputs[:, 0]))))


@pytest.mark.row(25)
@pytest.mark.parametrize("output_memory", [False, True])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_the_gradient_of_a_recurrent_network_is_that_of_finite_differences(sizes, output_memory):
    model, inputs = a_network(sizes, output_memory=output_memory), a_batch()

    truth = dense.gradient_by_differences(model, loss, inputs)
    assert (dense.gradient(model, loss, inputs) - truth).norm() <= 1e-6 * truth.norm()


@pytest.mark.row(25)
@pytest.mark.parametrize("output_memory", [False, True])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_gauss_newton_products_of_a_recurrent_network_are_those_of_the_dense_matrix(sizes, output_memory):
    model, inputs = a_network(sizes, output_memory=output_memory), a_batch()

    truth = dense.gauss_newton_of(model, loss, inputs)
    ours = dense.matrix_of(gauss_newton_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, rtol=1e-10, atol=1e-13)


def test_each_layer_has_one_bias_and_remembers_unless_it_is_the_output():
    shapes = {
        name: tuple(part.shape) for name, part in recurrent([2, 3, 4], a_generator()).named_parameters()
    }

    assert shapes == {
        "layers.0.from_below.weight": (3, 2),
        "layers.0.from_below.bias": (3,),
        "layers.0.from_before.weight": (3, 3),
        "layers.1.from_below.weight": (4, 3),
        "layers.1.from_below.bias": (4,),
    }


def test_an_output_depends_on_no_later_input():
    model, inputs = a_network([2, 3, 2, 3]), a_batch()
    changed = inputs.clone()
    changed[:, 2:] += 1

    outputs, others = model(inputs), model(changed)
    assert outputs[:, :2].equal(others[:, :2])
    assert not outputs[:, 2:].equal(others[:, 2:])


def test_one_size_makes_no_recurrent_network():
    with pytest.raises(ValueError, match="two sizes or more"):
        recurrent([3], a_generator())
