import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import KFAC, CrossEntropy
from tests import dense
from thiessen.search import Stream
from thiessen.space import Float, Space
from worker.models.convolutional import Convolution, convolutional
from worker.models.perceptron import perceptron
from worker.models.recurrent import recurrent
from worker.training.initialisation import (
    INITIALISATIONS,
    balanced,
    fans,
    glorot,
    he,
    initialisation,
    nguyen_widrow,
    orthogonal,
    sparse,
    sparse_recurrent,
    sparse_tanh,
    weighted_layers,
)

INPUTS, UNITS = 300, 200
SCALED = {"glorot": 1 / (INPUTS + UNITS), "balanced": 1 / (INPUTS + UNITS), "he": 1 / INPUTS}
FOURTH_MOMENT = {"glorot": 9 / 5, "balanced": 3, "he": 3}  # of the distribution, in squared variances


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_layer(initialise, inputs=INPUTS, units=UNITS, seed=0):
    layer = nn.Linear(inputs, units)
    initialise(layer, a_generator(seed))
    return layer


def assert_variance(weights, expected, *, fourth_moment=3.0):
    """Within three standard errors; the mean too."""
    count, weights = weights.numel(), weights.detach().double()
    assert abs(weights.mean()) < 3 * math.sqrt(expected / count)
    assert abs(weights.square().mean() - expected) < 3 * expected * math.sqrt((fourth_moment - 1) / count)


@pytest.mark.parametrize("alpha", [0.5, 2.0, 8.0])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("glorot", marks=pytest.mark.row(55)),
        pytest.param("he", marks=pytest.mark.row(56)),
        pytest.param("balanced", marks=pytest.mark.row(58)),
    ],
)
def test_the_variance_of_the_weights_is_alpha_by_the_fans(name, alpha):
    layer = a_layer(initialisation(name, alpha=alpha))

    assert_variance(layer.weight, alpha * SCALED[name], fourth_moment=FOURTH_MOMENT[name])
    assert not layer.bias.any()


@pytest.mark.row(55)
def test_glorots_weights_are_those_of_torch():
    theirs = nn.init.xavier_uniform_(torch.empty(UNITS, INPUTS), generator=a_generator())

    torch.testing.assert_close(a_layer(glorot()).weight.detach(), theirs)


@pytest.mark.row(56)
def test_hes_weights_are_those_of_torch():
    theirs = nn.init.kaiming_normal_(torch.empty(UNITS, INPUTS), nonlinearity="relu", generator=a_generator())

    torch.testing.assert_close(a_layer(he()).weight.detach(), theirs)


@pytest.mark.row(57)
@given(seed=st.integers(0, 1000))
def test_alpha_is_a_dimension_of_a_search(seed):
    space = Space(alpha=Float(0.1, 10.0, log=True))
    config = space.decode([Stream(seed, 0).uniform()])

    weights = a_layer(initialisation("glorot", **config)).weight
    assert weights.abs().max() <= math.sqrt(3 * config["alpha"] / (INPUTS + UNITS))
    assert weights.abs().max() >= 0.99 * math.sqrt(3 * config["alpha"] / (INPUTS + UNITS))


def test_the_fans_of_a_convolution_count_its_kernel():
    model = convolutional((2, 9, 9), [Convolution(filters=5, kernel=3)], [4], a_generator())

    assert fans(model[0].weight) == (18, 45)


@pytest.mark.row(59)
@pytest.mark.parametrize(("inputs", "connections"), [(300, 15), (9, 9)])
def test_a_sparse_unit_has_fifteen_connections_or_all_there_are(inputs, connections):
    layer = a_layer(sparse(), inputs=inputs)

    assert layer.weight.count_nonzero(dim=1).unique().tolist() == [connections]
    assert_variance(layer.weight[layer.weight != 0], 1.0)
    assert not layer.bias.any()


@pytest.mark.row(59)
def test_every_place_of_a_sparse_unit_is_equally_likely():
    units, inputs, connections = 4000, 20, 5
    chosen = a_layer(sparse(connections=connections), inputs=inputs, units=units).weight.count_nonzero(dim=0)

    likelihood = connections / inputs
    error = math.sqrt(units * likelihood * (1 - likelihood))
    assert (chosen - units * likelihood).abs().max() < 4 * error


@pytest.mark.row(59)
def test_sparse_tanh_units_have_a_quarter_of_the_weights_and_a_bias_of_a_half():
    layer, usual = a_layer(sparse_tanh()), a_layer(sparse())

    torch.testing.assert_close(layer.weight, usual.weight / 4)
    assert layer.bias.unique().tolist() == [0.5]


@pytest.mark.row(60)
def test_a_sparse_recurrent_network_listens_to_its_inputs_more_than_to_itself():
    hidden, readout = recurrent([40, 400, 300], a_generator(), initialise=sparse_recurrent()).layers
    deviations = {
        hidden.from_below.weight: 1.0,
        hidden.from_before.weight: 1 / 15,
        readout.from_below.weight: 1 / 15,
    }

    for weight, variance in deviations.items():
        assert weight.count_nonzero(dim=1).unique().tolist() == [15]
        assert_variance(weight[weight != 0], variance)
    assert_variance(hidden.from_below.bias, 1 / 15)
    assert_variance(readout.from_below.bias, 1 / 15)


@pytest.mark.row(61)
@given(inputs=st.integers(1, 12), units=st.integers(1, 12), seed=st.integers(0, 1000))
def test_orthogonal_weights_have_orthonormal_rows_or_columns(inputs, units, seed):
    layer = nn.Linear(inputs, units).double()
    orthogonal()(layer, a_generator(seed))
    weight = layer.weight if units <= inputs else layer.weight.T

    torch.testing.assert_close(weight @ weight.T, torch.eye(len(weight)).double(), rtol=0, atol=1e-12)


@pytest.mark.row(61)
def test_orthogonal_weights_keep_a_signal_as_large_as_the_gain_says():
    layer, signal = (
        a_layer(orthogonal(gain=1.5), inputs=50, units=50),
        torch.randn(50, generator=a_generator()),
    )

    torch.testing.assert_close(layer(signal).norm(), 1.5 * signal.norm())


@pytest.mark.row(61)
def test_orthogonal_weights_lean_to_neither_sign():
    # Without the signs of R's diagonal, Q has a fixed sign there: LAPACK's reflections leave it negative.
    corners = torch.stack(
        [a_layer(orthogonal(), 2, 2, seed).weight.diagonal().detach() for seed in range(400)]
    )

    assert (corners > 0).sum(dim=0).sub(200).abs().max() < 4 * 10  # a standard error is √(400/4)


@pytest.mark.row(62)
def test_nguyen_and_widrow_give_hidden_units_one_length_and_their_bends_that_range():
    model = perceptron([3, 500, 2], a_generator(), initialise=nguyen_widrow())
    length = 0.7 * 500 ** (1 / 3)
    bias = model[0].bias.detach()

    torch.testing.assert_close(model[0].weight.norm(dim=1), torch.full((500,), length))
    assert bias.abs().max() <= length
    assert_variance(bias, length**2 / 3, fourth_moment=9 / 5)


@pytest.mark.row(62)
def test_nguyen_and_widrow_leave_the_last_layer_small():
    last = perceptron([3, 500, 2], a_generator(), initialise=nguyen_widrow())[-1]

    assert 0.49 < last.weight.abs().max() <= 0.5
    assert last.bias.abs().max() <= 0.5


@pytest.mark.parametrize("name", INITIALISATIONS)
def test_a_rule_sets_every_weight_from_its_generator_alone(name):
    model = perceptron([20, 10, 5], a_generator())
    seen = []
    for garbage in (math.nan, 7.0):
        for parameter in model.parameters():
            nn.init.constant_(parameter, garbage)
        initialisation(name)(model, a_generator(3))
        seen.append(dense.parameters_of(model))

    assert seen[0].equal(seen[1])
    assert seen[0].isfinite().all()


@pytest.mark.parametrize("name", INITIALISATIONS)
def test_a_rule_works_on_convolutions(name):
    model = convolutional(
        (3, 9, 9), [Convolution(filters=5, kernel=3)], [4], a_generator(), initialise=initialisation(name)
    )

    assert model(torch.ones(2, 3, 9, 9)).isfinite().all()


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("xavier", {}, r"'xavier'.*'glorot'"),
        ("glorot", {"scale": 1}, r"'glorot'.*'scale'.*\['alpha'\]"),
        ("he", {"alpha": 0.0}, "alpha is 0.0"),
        ("orthogonal", {"gain": math.inf}, "gain is inf"),
        ("sparse", {"connections": 0}, "connections is 0"),
        ("nguyen_widrow", {"alpha": 1.0}, r"'nguyen_widrow'.*\[\]"),
    ],
)
def test_a_wrong_rule_or_setting_is_named_with_what_there_is(name, settings, said):
    with pytest.raises(ValueError, match=said):
        initialisation(name, **settings)


def rectifiers(initialise, *, times=1.0, width=200):
    model = perceptron([width] * 21, a_generator(), activation="relu", initialise=initialise).double()
    with torch.no_grad():
        for layer in weighted_layers(model).values():
            layer.weight *= times
    return model


def growth(model, width=200):
    """How much a signal grows from the first layer to the last, and a gradient on the way back."""
    inputs = torch.randn(100, width, generator=a_generator(1), dtype=torch.float64)
    signals = []
    for layer in model:
        inputs = layer(inputs)
        if isinstance(layer, nn.Linear):
            inputs.retain_grad()
            signals.append(inputs)
    (inputs * torch.randn(inputs.shape, generator=a_generator(2), dtype=torch.float64)).sum().backward()
    return (signals[-1].norm() / signals[0].norm()).item(), (
        signals[0].grad.norm() / signals[-1].grad.norm()
    ).item()


@pytest.mark.row(58)
@pytest.mark.row(64)
@pytest.mark.parametrize("initialise", [he(), balanced()], ids=["he", "balanced"])
def test_twenty_rectifier_layers_keep_signal_and_gradient_at_their_size(initialise):
    forward, backward = growth(rectifiers(initialise))

    assert 0.2 < forward < 5
    assert 0.2 < backward < 5


@pytest.mark.row(64)
@pytest.mark.parametrize("times", [0.5, 2.0])
def test_other_weights_let_signal_and_gradient_grow_or_shrink_by_their_factor_in_each_layer(times):
    usual, scaled = growth(rectifiers(he())), growth(rectifiers(he(), times=times))

    for before, after in zip(usual, scaled, strict=True):
        assert after / before == pytest.approx(times**19, rel=1e-9)


class MostLikely:
    """A cross-entropy that "samples" the most likely class: then every step is deterministic."""

    curvature, factor = CrossEntropy().curvature, CrossEntropy().factor

    def loss(self, outputs, targets):
        return cross_entropy(outputs, targets)

    def sample(self, outputs, generator):
        del generator
        return outputs.argmax(dim=1)


def trained(kind, prepare):
    """A network after some steps of one kind of optimizer, from weights that were prepared."""
    model = perceptron([4, 5, 3], a_generator()).double()
    with torch.no_grad():
        prepare(model[0], model[2])
    before = dense.parameters_of(model)
    inputs = torch.randn(9, 4, generator=a_generator(1), dtype=torch.float64)
    targets = torch.arange(9) % 3
    optimizer = kind(model)
    for _ in range(12):
        if isinstance(optimizer, KFAC):
            optimizer.step(inputs, targets)
            continue
        optimizer.zero_grad()
        cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    assert (dense.parameters_of(model) - before).norm() > 0.01
    return model


KINDS = {
    "sgd": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
    "adam": lambda model: torch.optim.Adam(model.parameters(), lr=0.01),
    "kfac": lambda model: KFAC(model, MostLikely(), lr=0.1),
}


@pytest.mark.row(63)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_two_equal_units_stay_equal(kind):
    def prepare(first, last):
        first.weight[1] = first.weight[0]
        last.weight[:, 1] = last.weight[:, 0]

    model = trained(kind, prepare)
    torch.testing.assert_close(model[0].weight[1], model[0].weight[0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(model[2].weight[:, 1], model[2].weight[:, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.row(63)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_unit_without_any_weight_stays_without(kind):
    def prepare(first, last):
        first.weight[1] = 0
        last.weight[:, 1] = 0

    model = trained(kind, prepare)
    assert not model[0].weight[1].any()
    assert not model[2].weight[:, 1].any()
