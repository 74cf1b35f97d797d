import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import MeanOnlyBatchNorm
from tests import dense
from worker.models.layers import ACTIVATIONS
from worker.models.perceptron import perceptron


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_batch(seed=1):
    inputs = torch.randn(6, 4, generator=a_generator(seed), dtype=torch.float64)
    return inputs, lambda outputs: cross_entropy(outputs, torch.tensor([0, 1, 2, 2, 1, 0]))


@pytest.mark.row(20)
@pytest.mark.row(65)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("normalisation", [None, "batch", "mean_only"])
def test_the_gradient_of_a_perceptron_is_that_of_finite_differences(activation, normalisation):
    model = perceptron(
        [4, 3, 5, 3], a_generator(), activation=activation, normalisation=normalisation
    ).double()
    inputs, loss = a_batch()

    truth = dense.gradient_by_differences(model, loss, inputs)
    assert (dense.gradient(model, loss, inputs) - truth).norm() <= 1e-6 * truth.norm()


@pytest.mark.row(31)
def test_a_perceptron_without_bends_is_one_affine_map():
    model = perceptron([4, 3, 5, 2], a_generator(), activation="identity").double()
    inputs, _ = a_batch()
    weight, bias = torch.eye(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    for layer in model:
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.bias, generator=a_generator(2))
            weight, bias = layer.weight @ weight, layer.weight @ bias + layer.bias

    torch.testing.assert_close(model(inputs), inputs @ weight.T + bias, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "kind"), [("batch", nn.BatchNorm1d), ("mean_only", MeanOnlyBatchNorm)])
def test_a_normalisation_stands_before_each_bend_and_takes_the_place_of_the_bias(name, kind):
    model = perceptron([4, 3, 5, 2], a_generator(), normalisation=name)

    assert [type(layer) for layer in model] == [nn.Linear, kind, nn.Tanh] * 2 + [nn.Linear]
    assert [layer.bias is None for layer in model[::3]] == [True, True, False]


def test_equal_seeds_give_equal_networks_and_leave_the_global_stream_alone():
    before = torch.get_rng_state()
    first, second, other = (dense.parameters_of(perceptron([4, 3, 2], a_generator(s))) for s in (5, 5, 6))

    assert first.equal(second)
    assert not first.equal(other)
    assert torch.get_rng_state().equal(before)


def test_the_output_can_be_bent_too():
    model = perceptron([4, 3, 2], a_generator(), output="logistic")

    assert isinstance(model[-1], nn.Sigmoid)


@pytest.mark.parametrize("sizes", [[4], [4, 0, 2]])
def test_sizes_that_make_no_network_are_refused(sizes):
    with pytest.raises(ValueError, match="two sizes or more"):
        perceptron(sizes, a_generator())


def test_an_unknown_normalisation_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"'layer'.*'batch', 'mean_only'"):
        perceptron([4, 3, 2], a_generator(), normalisation="layer")
