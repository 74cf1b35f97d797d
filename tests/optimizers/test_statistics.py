"""Factors of every form against the Fisher matrix written out, and their scale."""

import copy
import math
import pickle
from dataclasses import replace

import curvlinops
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import Bernoulli, CrossEntropy, squared_error
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.dense import output_curvature
from optimizers.curvature.factor import Factor, Factors
from optimizers.curvature.network import Network, constant_statistics
from optimizers.curvature.products import output_gradients, pull_by_case
from optimizers.curvature.statistics import (
    RunningStatistics,
    Statistics,
    backward,
    exact_slopes,
    measure,
    neighbours,
    rows_of,
    sampled_slopes,
)
from optimizers.errors import UnsupportedModelError

EXACT = {"dtype": torch.float64}
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), **EXACT)


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


class Then(nn.Module):
    """A layer, and a function of what it returns."""

    def __init__(self, layer, then):
        super().__init__()
        self.layer = layer
        self.then = then

    def forward(self, inputs):
        return self.then(self.layer(inputs))


def first_of(pair):
    return pair[0]


def mean_over_positions(outputs):
    return outputs.mean(dim=1)


def drawn(model):
    """The model in float64, with parameters of reasonable size: none is left at 0 or 1."""
    source = stream(1)
    with torch.no_grad():
        for parameter in model.double().parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=source, **EXACT))
    return model


def recorded(model, inputs):
    with constant_statistics(model), recording(model, find_blocks(model)) as uses:
        outputs = model(inputs)
    return uses, outputs


def exact(model, inputs, objective=None, **options):
    """The statistics with the expectation over targets taken exactly."""
    uses, outputs = recorded(model, inputs)
    slopes = exact_slopes(objective or squared_error(), outputs.detach(), stream())
    return uses, measure(uses, outputs, slopes, **options)


def written_out(factors):
    """A ⊗ G as a matrix on V row by row; groups are blocks on its diagonal."""
    a, g = factors.inputs.dense(), factors.outputs.dense()
    if a.dim() == 2:
        return torch.kron(g, a)
    return torch.block_diag(
        *[torch.kron(of_outputs, of_inputs) for of_inputs, of_outputs in zip(a, g, strict=True)]
    )


def fisher_of(block, model, inputs, objective=None):
    """The block of the Fisher matrix, by the Jacobian of each case."""
    network, objective = Network(model, inputs), objective or squared_error()
    with torch.no_grad():
        outputs = network(network.params)
    curvature = output_curvature(objective, outputs)
    columns = []
    for number in range(outputs[0].numel()):
        basis = torch.zeros_like(outputs).flatten(start_dim=1)
        basis[:, number] = 1.0
        pulled = pull_by_case(network, basis.reshape_as(outputs))
        columns.append(
            torch.stack(
                [
                    block.matrix({name: tensor[case] for name, tensor in pulled.items()}).flatten()
                    for case in range(len(outputs))
                ]
            )
        )
    jacobians = torch.stack(columns, dim=1)
    return torch.einsum("cip,cij,cjq->pq", jacobians, curvature, jacobians) / len(outputs)


def within_groups(matrix, groups):
    size = len(matrix) // groups
    return torch.block_diag(
        *[matrix[n * size : (n + 1) * size, n * size : (n + 1) * size] for n in range(groups)]
    )


ONE_PLACE = {
    "dense": (nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2, bias=False)), normal(1, 4)),
    "convolution": (nn.Sequential(nn.Conv2d(2, 3, (3, 2)), nn.Flatten(), nn.Tanh()), normal(1, 2, 3, 2)),
    "lookup": (Then(nn.Embedding(5, 3), torch.tanh), torch.tensor([2])),
    "attention": (
        nn.Sequential(
            Then(nn.Linear(4, 4), torch.tanh),
            nn.TransformerEncoderLayer(4, 2, 3, dropout=0.0, batch_first=True),
            nn.Flatten(),
        ),
        normal(1, 1, 4),
    ),
    "LSTM": (Then(nn.LSTM(4, 3, batch_first=True, proj_size=2), first_of), normal(1, 1, 4)),
    "GRU": (Then(nn.GRU(4, 3, batch_first=True), first_of), normal(1, 1, 4)),
    "batch norm": (nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3).eval(), nn.Tanh()), normal(1, 4)),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # of attention, case by case
@pytest.mark.parametrize("sharing", ["expand", "reduce"])
@pytest.mark.parametrize("name", ONE_PLACE)
def test_of_one_case_at_one_position_every_block_is_exact(name, sharing):
    model, inputs = ONE_PLACE[name]
    model = drawn(model)
    uses, statistics = exact(model, inputs, sharing=sharing)
    truths = {name: fisher_of(block, model, inputs) for name, block in uses.blocks.items()}

    assert statistics.factors.keys() == uses.blocks.keys()
    for block, factors in statistics.factors.items():
        torch.testing.assert_close(written_out(factors), truths[block], **CLOSE)


@pytest.mark.parametrize(
    "norm",
    [nn.LayerNorm((3, 4)), nn.RMSNorm(4), nn.BatchNorm1d(3), nn.BatchNorm1d(3).eval(), nn.GroupNorm(1, 3)],
    ids=lambda norm: f"{type(norm).__name__}, {'train' if norm.training else 'eval'}",
)
def test_the_block_of_a_normalisation_is_exact(norm):
    model, inputs = (
        drawn(nn.Sequential(nn.Linear(4, 4), norm, nn.Flatten(), nn.Linear(12, 2))),
        normal(5, 3, 4),
    )
    uses, statistics = exact(model, inputs)

    truth = fisher_of(uses.blocks["1.weight"], model, inputs)
    torch.testing.assert_close(written_out(statistics.factors["1.weight"]), truth, **CLOSE)


def test_of_a_large_normalisation_the_diagonal_is_exact():
    model = drawn(nn.Sequential(nn.Linear(4, 257), nn.LayerNorm(257), nn.Tanh(), nn.Linear(257, 2)))
    inputs = normal(5, 4)
    uses, statistics = exact(model, inputs)

    truth = fisher_of(uses.blocks["1.weight"], model, inputs).diagonal()
    torch.testing.assert_close(statistics.factors["1.weight"].outputs.values, truth, **CLOSE)


def test_expand_is_exact_for_deep_linear_networks_with_a_loss_at_every_position():
    model, inputs = drawn(nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(3, 2))), normal(5, 6, 4)
    uses, statistics = exact(model, inputs)

    for name, factors in statistics.factors.items():
        truth = fisher_of(uses.blocks[name], model, inputs)
        torch.testing.assert_close(written_out(factors), truth, **CLOSE)


def test_reduce_is_exact_for_deep_linear_networks_with_a_loss_on_the_mean_of_positions():
    model = drawn(nn.Sequential(nn.Linear(4, 3), Then(nn.Linear(3, 3), mean_over_positions), nn.Linear(3, 2)))
    inputs = normal(5, 6, 4)
    uses, statistics = exact(model, inputs, sharing="reduce")

    for name, factors in statistics.factors.items():
        truth = fisher_of(uses.blocks[name], model, inputs)
        torch.testing.assert_close(written_out(factors), truth, **CLOSE)


@st.composite
def convolutions(draw):
    groups = draw(st.integers(1, 3))
    return nn.Conv2d(
        groups * draw(st.integers(1, 2)),
        groups * draw(st.integers(1, 2)),
        (draw(st.integers(1, 3)), draw(st.integers(1, 3))),
        stride=draw(st.integers(1, 2)),
        padding=draw(st.integers(0, 2)),
        dilation=draw(st.integers(1, 2)),
        groups=groups,
        bias=draw(st.booleans()),
        padding_mode=draw(st.sampled_from(["zeros", "circular"])),
        **EXACT,
    )


@settings(max_examples=25, deadline=None)
@given(convolutions(), st.sampled_from(["expand", "reduce"]))
def test_a_convolution_is_exact_within_groups_in_the_setting_of_its_sharing(layer, sharing):
    def mean_over_places(images):
        return images.mean(dim=(2, 3))

    model = drawn(Then(layer, torch.clone if sharing == "expand" else mean_over_places))
    images = normal(3, layer.in_channels, 5, 6)
    uses, statistics = exact(model, images, sharing=sharing)

    truth = within_groups(fisher_of(uses.blocks["layer.weight"], model, images), layer.groups)
    torch.testing.assert_close(written_out(statistics.factors["layer.weight"]), truth, **CLOSE)


def test_positions_that_come_before_cases_are_not_reduced():
    model = Then(nn.Linear(4, 3), lambda outputs: outputs.mean(dim=0))

    with pytest.raises(UnsupportedModelError, match=r"'layer\.weight' has a first dimension of 6.* 5 cases"):
        exact(drawn(model), normal(6, 5, 4), sharing="reduce")


def by_loops(h, g):
    """A and G of rows h and g, (cases, positions, width), g of the summed loss, one row at a time."""
    cases, positions = h.shape[:2]
    a = sum(torch.outer(row, row) for case in h for row in case) / (cases * positions)
    return a, sum(torch.outer(row, row) for case in g for row in case) / cases


def by_loops_reduced(h, g):
    cases = len(h)
    a = sum(torch.outer(case.mean(dim=0), case.mean(dim=0)) for case in h) / cases
    return a, sum(torch.outer(case.sum(dim=0), case.sum(dim=0)) for case in g) / cases


def with_ones(rows):
    return torch.cat([rows, torch.ones_like(rows[..., :1])], dim=-1)


@pytest.mark.parametrize(("sharing", "loops"), [("expand", by_loops), ("reduce", by_loops_reduced)])
def test_at_positions_factors_are_those_of_loops_over_rows(sharing, loops):
    first, second = drawn(nn.Linear(4, 3, **EXACT)), drawn(nn.Linear(3, 2, **EXACT))
    model, inputs, targets = nn.Sequential(first, nn.Tanh(), second), normal(5, 6, 4), normal(5, 6, 2, seed=1)
    uses, outputs = recorded(model, inputs)
    slopes = output_gradients(squared_error(), outputs.detach(), targets)
    factors = measure(uses, outputs, [slopes], sharing=sharing).factors

    sums = first(inputs).detach().requires_grad_()
    (second(sums.tanh()) - targets).square().sum().backward()
    a, g = loops(with_ones(inputs), sums.grad)
    torch.testing.assert_close(factors["0.weight"].inputs.values, a, **CLOSE)
    torch.testing.assert_close(factors["0.weight"].outputs.values, g, **CLOSE)


def test_the_factors_of_a_recurrent_layer_are_those_of_loops_over_cases_and_steps():
    layer, inputs = drawn(nn.RNN(3, 2, batch_first=True, **EXACT)), normal(4, 5, 3)
    uses, outputs = recorded(Then(layer, first_of), inputs)
    factors = measure(uses, outputs, [torch.ones_like(outputs)]).factors["layer.weight_hh_l0"]

    state, states, sums = torch.zeros(4, 2, **EXACT), [], []
    for time in range(5):
        states.append(state)
        sums.append(
            inputs[:, time] @ layer.weight_ih_l0.T
            + layer.bias_ih_l0
            + state @ layer.weight_hh_l0.T
            + layer.bias_hh_l0
        )
        sums[-1].retain_grad()
        state = sums[-1].tanh()
    torch.stack([each.tanh() for each in sums]).sum().backward()
    slopes = torch.stack([each.grad for each in sums], dim=1)
    a, g = by_loops(with_ones(torch.stack(states, dim=1).detach()), slopes)
    torch.testing.assert_close(factors.inputs.values, a, **CLOSE)
    torch.testing.assert_close(factors.outputs.values, g, **CLOSE)


def test_a_table_has_the_shares_of_its_tokens_on_the_diagonal():
    table = drawn(nn.Embedding(5, 3, padding_idx=4))
    model, tokens = Then(table, torch.tanh), torch.tensor([[0, 1, 1], [1, 2, 4]])
    uses, outputs = recorded(model, tokens)
    factors = measure(uses, outputs, [torch.ones_like(outputs)]).factors["layer.weight"]

    slopes = (1 - table(tokens).detach().tanh().square()) * (tokens != 4)[..., None]
    assert factors.inputs.diagonal
    torch.testing.assert_close(factors.inputs.values, torch.tensor([1, 3, 1, 0, 0], **EXACT) / 5)
    torch.testing.assert_close(factors.outputs.values, by_loops(slopes, slopes)[1], **CLOSE)


def test_a_layer_that_is_called_twice_has_the_rows_of_both_calls():
    layer = drawn(nn.Linear(3, 3, **EXACT))
    model, inputs = nn.Sequential(layer, nn.Tanh(), layer), normal(5, 3)
    uses, outputs = recorded(model, inputs)
    factors = measure(uses, outputs, [torch.ones_like(outputs)]).factors["0.weight"]

    lower = layer(inputs).detach().requires_grad_()
    layer(lower.tanh()).sum().backward()
    h = with_ones(torch.stack([inputs, lower.detach().tanh()], dim=1))
    a, g = by_loops(h, torch.stack([lower.grad, torch.ones_like(lower)], dim=1))
    torch.testing.assert_close(factors.inputs.values, a, **CLOSE)
    torch.testing.assert_close(factors.outputs.values, g, **CLOSE)


def test_calls_on_different_numbers_of_cases_are_joined_position_by_position():
    layer = drawn(nn.Linear(3, 3, **EXACT))
    model, inputs = nn.Sequential(layer, nn.Flatten(0, 1), layer, nn.Unflatten(0, (2, 4))), normal(2, 4, 3)
    uses, outputs = recorded(model, inputs)
    factors = measure(uses, outputs, [torch.ones_like(outputs)]).factors["0.weight"]

    h = with_ones(torch.cat([inputs, layer(inputs).detach()], dim=1))
    torch.testing.assert_close(factors.inputs.values, by_loops(h, h)[0], **CLOSE)


TASKS = {
    "dense": (nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)), normal(6, 4)),
    "convolution": (
        nn.Sequential(nn.Conv1d(2, 3, 2), nn.Tanh(), nn.Flatten(), nn.Linear(9, 2)),
        normal(6, 2, 4),
    ),
}


@pytest.mark.parametrize("objective", [squared_error(), Bernoulli()], ids=["squared error", "Bernoulli"])
@pytest.mark.parametrize("name", ["dense", "convolution"])
def test_a_batch_with_every_case_twice_has_the_factors_of_the_batch(name, objective):
    model, inputs = TASKS[name]
    model = drawn(model)
    _, once = exact(model, inputs, objective)
    _, twice = exact(model, torch.cat([inputs, inputs]), objective)

    for block, factors in once.factors.items():
        torch.testing.assert_close(twice.factors[block].inputs.values, factors.inputs.values, **CLOSE)
        torch.testing.assert_close(twice.factors[block].outputs.values, factors.outputs.values, **CLOSE)


def sampled(outputs, source):
    return sampled_slopes(squared_error(), outputs.detach(), source)


def signed(outputs, source):
    return exact_slopes(squared_error(), outputs.detach(), source)


def mean_of_g(model, inputs, name, *, slopes, draws):
    """The mean of a block's G over so many draws, with its standard error."""
    uses, outputs = recorded(model, inputs)
    source = stream()
    values = torch.stack(
        [
            measure(uses, outputs, slopes(outputs, source), retain_graph=True).factors[name].outputs.values
            for _ in range(draws)
        ]
    )
    return values.mean(dim=0), values.std(dim=0) / math.sqrt(draws)


def test_sampled_factors_are_right_on_average():
    model, inputs = TASKS["convolution"]
    model = drawn(model)
    mean, error = mean_of_g(model, inputs, "0.weight", slopes=sampled, draws=400)

    _, truth = exact(model, inputs)
    assert ((mean - truth.factors["0.weight"].outputs.values).abs() < 4 * error).all()


@pytest.mark.parametrize("slopes", [sampled, signed])
def test_the_diagonal_of_a_parameter_without_a_form_is_right_on_average(slopes):
    model, inputs = drawn(nn.Sequential(nn.Linear(4, 3), nn.PReLU(3), nn.Linear(3, 2))), normal(6, 4)
    mean, error = mean_of_g(model, inputs, "1.weight", slopes=slopes, draws=1000)

    truth = fisher_of(find_blocks(model)["1.weight"], model, inputs).diagonal()
    assert ((mean - truth).abs() < 4 * error + 1e-9).all()  # a unit of one case has no noise


def test_more_draws_are_a_mean_over_them():
    model, inputs = TASKS["dense"]
    model = drawn(model)
    uses, outputs = recorded(model, inputs)
    slopes = sampled_slopes(squared_error(), outputs.detach(), stream(), draws=3)
    together = measure(uses, outputs, slopes, retain_graph=True).factors["0.weight"]
    source = stream()
    alone = [
        measure(uses, outputs, sampled(outputs, source), retain_graph=True).factors["0.weight"]
        for _ in range(3)
    ]

    mean = torch.stack([each.outputs.values for each in alone]).mean(dim=0)
    torch.testing.assert_close(together.inputs.values, alone[0].inputs.values, **CLOSE)
    torch.testing.assert_close(together.outputs.values, mean, **CLOSE)


@pytest.mark.parametrize("name", ["dense", "convolution"])
def test_averaged_over_its_halves_a_batch_has_the_factors_of_the_whole(name):
    model, inputs = TASKS[name]
    model = drawn(model)
    _, whole = exact(model, inputs)
    halves = kept_of(*[exact(model, half)[1] for half in inputs.chunk(2)])

    for block, factors in whole.factors.items():
        torch.testing.assert_close(halves.kept.factors[block].inputs.values, factors.inputs.values, **CLOSE)
        torch.testing.assert_close(halves.kept.factors[block].outputs.values, factors.outputs.values, **CLOSE)


def test_a_network_as_training_has_it_is_recorded_alike():
    model, inputs = drawn(Then(nn.LSTM(4, 3, batch_first=True), first_of)), normal(5, 6, 4)
    uses, outputs = recorded(model, inputs)
    plain = measure(uses, outputs, [torch.ones_like(outputs)]).factors
    with recording(model, find_blocks(model)) as uses:
        outputs = Network(model, inputs).trained(dict(model.named_parameters()))
    seen = measure(uses, outputs, [torch.ones_like(outputs)]).factors

    for block, factors in plain.items():
        torch.testing.assert_close(seen[block].outputs.values, factors.outputs.values, **CLOSE)


def in_their_order(factors):
    """A ⊗ G as curvlinops has it: the weight row by row, and the bias after it."""
    a, g = factors.inputs.dense(), factors.outputs.dense()
    inputs = len(a) - 1
    matrix = torch.kron(g, a)
    numbers = torch.arange(len(matrix)).reshape(len(g), len(a))
    order = torch.cat([numbers[:, :inputs].flatten(), numbers[:, inputs]])
    return matrix[order][:, order]


@pytest.mark.parametrize("sharing", ["expand", "reduce"])
@pytest.mark.parametrize(
    ("layers", "shape"),
    [
        ([nn.Linear(4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(15, 3)], (6, 5, 4)),
        ([nn.Conv2d(2, 3, 2, stride=2, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(18, 3)], (6, 2, 4, 3)),
    ],
    ids=["linear at positions", "convolution"],
)
def test_another_implementation_has_the_same_factors_and_scale(layers, shape, sharing):
    model, inputs = drawn(nn.Sequential(*layers)), normal(*shape)
    _, statistics = exact(model, inputs, CrossEntropy(), sharing=sharing)
    theirs = curvlinops.KFACLinearOperator(
        model,
        nn.CrossEntropyLoss(),
        list(model.parameters()),
        [(inputs, torch.zeros(len(inputs), dtype=torch.long))],
        fisher_type=curvlinops.FisherType.TYPE2,
        kfac_approx=curvlinops.KFACType.EXPAND if sharing == "expand" else curvlinops.KFACType.REDUCE,
        separate_weight_and_bias=False,
    )
    size = sum(parameter.numel() for parameter in model.parameters())
    dense = theirs @ torch.eye(size, **EXACT)

    ours = torch.block_diag(*[in_their_order(factors) for factors in statistics.factors.values()])
    torch.testing.assert_close(ours, dense, **CLOSE)


@pytest.mark.row(65)
def test_the_curvature_of_batch_norm_is_that_at_constant_statistics():
    model = drawn(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 2)))
    inputs = normal(1, 4).expand(6, 4) + 0.1 * normal(6, 4)
    uses, statistics = exact(model, inputs)

    truth = fisher_of(uses.blocks["0.weight"], model, inputs)
    ours = (
        statistics.factors["0.weight"].outputs.values * statistics.factors["0.weight"].inputs.values[-1, -1]
    )
    biases = torch.arange(4, 15, 5)
    torch.testing.assert_close(ours, truth[biases][:, biases], **CLOSE)


def test_constant_statistics_move_no_buffer():
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).double()
    before = copy.deepcopy(model.state_dict())
    recorded(model, normal(6, 4))

    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_factors_are_kept_in_single_precision_at_least(dtype):
    model, inputs = (
        nn.Sequential(nn.Linear(4, 3), nn.LayerNorm(3), nn.PReLU()).to(dtype),
        normal(6, 4).to(dtype),
    )
    uses, outputs = recorded(model, inputs)
    factors = measure(uses, outputs, [torch.ones_like(outputs)]).factors

    assert {side.values.dtype for each in factors.values() for side in (each.inputs, each.outputs)} == {
        torch.float32
    }


def test_under_autocast_factors_are_nearly_those_without():
    model, inputs = (
        drawn(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))).float(),
        normal(6, 4).float(),
    )
    uses, outputs = recorded(model, inputs)
    plain = measure(uses, outputs, [torch.ones_like(outputs)]).factors["0.weight"]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        uses, outputs = recorded(model, inputs)
    cast = measure(uses, outputs, [torch.ones_like(outputs)]).factors["0.weight"]

    assert cast.outputs.values.dtype == torch.float32
    torch.testing.assert_close(
        cast.outputs.values, plain.outputs.values, rtol=0.1, atol=0.1 * float(plain.outputs.values.norm())
    )


def test_a_side_wider_than_the_limit_is_its_diagonal():
    model, inputs = TASKS["dense"]
    model = drawn(model)
    _, whole = exact(model, inputs)
    _, narrow = exact(model, inputs, limit=4)

    assert narrow.factors["0.weight"].inputs.diagonal
    assert not narrow.factors["0.weight"].outputs.diagonal
    torch.testing.assert_close(
        narrow.factors["0.weight"].inputs.values, whole.factors["0.weight"].inputs.values.diagonal(), **CLOSE
    )


def test_a_backward_pass_gives_gradients_and_the_rows_whose_products_they_are():
    model, inputs = drawn(nn.Sequential(nn.Linear(4, 3), nn.PReLU(), nn.Linear(3, 2))), normal(6, 4)
    uses, outputs = recorded(model, inputs)
    gradients, rows = backward(uses, outputs.square().mean(), retain_graph=True)

    outputs.square().mean().backward()
    torch.testing.assert_close(gradients, {name: each.grad for name, each in model.named_parameters()})
    assert rows.keys() == {"0.weight", "2.weight"}
    for name, of_block in rows.items():
        torch.testing.assert_close(of_block.gradient(), uses.blocks[name].matrix(gradients), **CLOSE)


def test_outputs_without_a_graph_have_no_factors():
    model, inputs = drawn(nn.Linear(4, 3)), normal(6, 4)
    uses, outputs = recorded(model, inputs)

    assert measure(uses, outputs.detach(), [torch.ones_like(outputs)]).factors == {}


def pairs_of(model, inputs):
    uses, _ = recorded(model, inputs)
    return neighbours(uses)


def test_factors_hold_no_graph():
    model, inputs = TASKS["convolution"]
    _, statistics = exact(drawn(model), inputs)

    assert not any(factors.inputs.values.requires_grad for factors in statistics.factors.values())


class Joined(nn.Module):
    """Two layers that feed one."""

    def __init__(self):
        super().__init__()
        self.left, self.right, self.last = (nn.Linear(3, 3) for _ in range(3))

    def forward(self, inputs):
        return self.last(self.left(inputs).tanh() + self.right(inputs).tanh())


def test_a_layer_that_is_fed_by_two_is_the_neighbour_of_none():
    assert pairs_of(Joined(), normal(5, 3).float()) == []


class Branched(nn.Module):
    """Layers made in another order than they run, one of which feeds two."""

    def __init__(self):
        super().__init__()
        self.last, self.left, self.right, self.first = (nn.Linear(3, 3) for _ in range(4))

    def forward(self, inputs):
        below = self.first(inputs).tanh()
        return self.last(self.left(below).tanh()) + self.right(below)


def test_neighbours_are_those_of_the_graph_and_no_branches():
    assert pairs_of(Branched(), normal(5, 3).float()) == [("left.weight", "last.weight")]


def test_layers_in_a_row_are_neighbours_whatever_lies_between():
    model = nn.Sequential(nn.Linear(4, 3), nn.PReLU(), nn.Dropout(), nn.Linear(3, 3), nn.Linear(3, 2))

    assert pairs_of(model, normal(5, 4).float()) == [("0.weight", "3.weight"), ("3.weight", "4.weight")]


def test_a_layer_that_is_called_twice_has_no_neighbours():
    layer = nn.Linear(3, 3)

    assert pairs_of(nn.Sequential(nn.Linear(3, 3), layer, nn.Tanh(), layer), normal(5, 3).float()) == []


def test_a_layer_that_is_fed_twice_by_one_other_is_not_its_neighbour():
    class Twice(Joined):
        def forward(self, inputs):
            below = self.left(inputs).tanh()
            return self.last(below) + self.last(2 * below)

    assert pairs_of(Twice(), normal(5, 3).float()) == []


def test_crosses_are_the_moments_between_rows_of_neighbours():
    model, inputs = TASKS["dense"]
    model = drawn(model)
    uses, outputs = recorded(model, inputs)
    slopes = exact_slopes(squared_error(), outputs.detach(), stream())
    pairs = neighbours(uses)
    crosses = measure(uses, outputs, slopes, pairs=pairs, retain_graph=True).crosses
    # the joint second moment of both layers' rows has the crosses as its corners
    rows = [rows_of(uses, outputs, each, retain_graph=True) for each in slopes]
    h, k = (with_ones(each) for each in (inputs, model[1](model[0](inputs)).detach()))
    g = sum(each["0.weight"].outputs[:, 0].T @ each["2.weight"].outputs[:, 0] for each in rows)

    assert list(crosses) == [("0.weight", "2.weight")]
    torch.testing.assert_close(crosses["0.weight", "2.weight"].inputs.values, h.T @ k / 6, **CLOSE)
    torch.testing.assert_close(crosses["0.weight", "2.weight"].outputs.values, g, **CLOSE)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (nn.Sequential(nn.Linear(4, 3), nn.Flatten(), nn.Linear(6, 2)), {}),
        (nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)), {"limit": 3}),
    ],
    ids=["other positions", "a diagonal side"],
)
def test_neighbours_without_common_rows_have_no_crosses(model, options):
    uses, outputs = recorded(model, normal(5, 2, 4).float())
    pairs = neighbours(uses)

    assert len(pairs) == 1
    assert measure(uses, outputs, [torch.ones_like(outputs)], pairs=pairs, **options).crosses == {}


def of(number, size=2, *, cross=True):
    def factors():
        return Factors(
            inputs=Factor(values=number * torch.eye(size, **EXACT)),
            outputs=Factor(values=torch.full((size,), float(number), **EXACT), diagonal=True),
        )

    return Statistics(factors={"layer": factors()}, crosses={("layer", "next"): factors()} if cross else {})


def kept_of(*batches):
    running = RunningStatistics()
    for batch in batches:
        running.update(batch)
    return running


@pytest.mark.row(166)
def test_running_averages_begin_with_the_first_batch_and_forget_by_095_later():
    numbers = [3.0, 5.0, 4.0, *range(30)]
    running, expected = RunningStatistics(), 0.0
    for count, number in enumerate(numbers, start=1):
        running.update(of(number))
        weight = min(1 - 1 / count, 0.95)
        expected = weight * expected + (1 - weight) * number
        assert float(running.kept.factors["layer"].inputs.values[0, 0]) == pytest.approx(expected)
        assert float(running.kept.factors["layer"].outputs.values[0]) == pytest.approx(expected)
        assert float(running.kept.crosses["layer", "next"].inputs.values[0, 0]) == pytest.approx(expected)


def test_without_decay_the_last_batch_is_kept():
    running = RunningStatistics(decay=0.0)
    for number in (3.0, 5.0, 4.0):
        running.update(of(number))

    assert float(running.kept.factors["layer"].inputs.values[0, 0]) == 4.0


def test_a_batch_that_is_not_finite_changes_no_average():
    running = kept_of(of(3.0))
    before = running.state_dict()

    assert not running.update(of(float("nan")))
    assert running.state_dict() == before


def test_a_factor_that_changed_its_size_begins_anew():
    running = kept_of(of(3.0), of(3.0), of(7.0, size=3))

    assert float(running.kept.factors["layer"].inputs.values[2, 2]) == 7.0


def test_a_block_that_comes_later_begins_with_its_first_batch():
    running = kept_of(of(3.0, cross=False), of(3.0, cross=False), of(7.0))

    assert float(running.kept.crosses["layer", "next"].inputs.values[0, 0]) == 7.0


@pytest.mark.parametrize(
    "copied",
    [
        copy.deepcopy,
        lambda running: pickle.loads(pickle.dumps(running)),  # noqa: S301 - our own bytes
        lambda running: loaded(running.state_dict()),
    ],
    ids=["deepcopy", "pickle", "state_dict"],
)
def test_copies_of_running_averages_go_on_alike(copied):
    running = kept_of(of(3.0), of(5.0))
    twin = copied(running)
    for each in (running, twin):
        each.update(of(4.0))

    assert torch.equal(twin.kept.factors["layer"].inputs.values, running.kept.factors["layer"].inputs.values)


def loaded(state):
    running = RunningStatistics()
    running.load_state_dict(state)
    return running


def test_averages_take_over_the_precision_of_the_batches():
    running = kept_of(of(3.0))
    single = Factor(values=torch.eye(2))
    running.update(
        Statistics(
            factors={"layer": Factors(single, replace(single, values=torch.ones(2), diagonal=True))},
            crosses={},
        )
    )

    assert running.kept.factors["layer"].inputs.values.dtype == torch.float32
