"""Each unit's own block of the Gauss-Newton matrix, and the step by it."""

import pytest
import torch
from torch import nn

from optimizers import ACP, Bernoulli, CrossEntropy, UnitwiseGaussNewton, squared_error
from optimizers.curvature.dense import gauss_newton, jacobian, output_curvature
from optimizers.curvature.diagonals import backpropagated
from optimizers.curvature.network import Network
from optimizers.curvature.unit_blocks import solve_by_unit, unit_blocks
from optimizers.errors import NotPositiveDefiniteError, SingularFactorError, UnsupportedModelError

EXACT = {"rtol": 1e-9, "atol": 1e-12}


def homogeneous(h):
    return torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], dim=1)


def numbers_by_unit(model):
    """For each unit of each linear layer, where its weights and its bias stand among all parameters."""
    found, start = [], 0
    for layer in model:
        if isinstance(layer, nn.Linear):
            units, inputs = layer.weight.shape
            for unit in range(units):
                weights = range(start + unit * inputs, start + (unit + 1) * inputs)
                found.append([*weights, start + units * inputs + unit])
            start += units * (inputs + 1)
    return found


def exact_blocks(model, objective, inputs):
    network = Network(model, inputs)
    outputs = network(network.params)
    matrix = gauss_newton(jacobian(network), output_curvature(objective, outputs))
    return [matrix[numbers][:, numbers] for numbers in numbers_by_unit(model)]


def our_blocks(model, objective, inputs, targets):
    found = backpropagated(model, objective, inputs, targets, of="gn")
    order = [name for name, layer in model.named_children() if isinstance(layer, nn.Linear)]
    return [block for name in order for block in unit_blocks(found[name][0], homogeneous(found[name][1]))]


def a_bit_batch(a_batch, outputs):
    inputs, classes = a_batch(8, 4, 2)
    return inputs, torch.stack([(classes + k) % 2 for k in range(outputs)], dim=1).double()


@pytest.mark.row(143)
@pytest.mark.parametrize("objective", [squared_error(), Bernoulli()])
def test_with_one_hidden_layer_and_one_output_the_blocks_are_those_of_the_exact_matrix(
    a_network, a_batch, objective
):
    model, (inputs, targets) = a_network(4, 5, 1), a_bit_batch(a_batch, 1)

    for block, truth in zip(
        our_blocks(model, objective, inputs, targets), exact_blocks(model, objective, inputs), strict=True
    ):
        torch.testing.assert_close(block, truth, rtol=1e-9, atol=1e-12)


@pytest.mark.row(143)
def test_through_two_hidden_layers_only_the_upper_blocks_are_exact(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3, 3, 1), a_bit_batch(a_batch, 1)
    pairs = zip(
        our_blocks(model, Bernoulli(), inputs, targets), exact_blocks(model, Bernoulli(), inputs), strict=True
    )
    exact = [torch.allclose(block, truth, rtol=1e-9) for block, truth in pairs]

    assert exact == 3 * [False] + 3 * [True] + [True]


@pytest.mark.row(143)
def test_a_step_is_the_solve_with_the_block_of_each_unit_alone(a_network, a_batch, moves_of):
    model, (inputs, targets) = a_network(4, 5, 1), a_bit_batch(a_batch, 1)
    gradient = torch.autograd.grad(Bernoulli().loss(model(inputs), targets), list(model.parameters()))
    gradient = torch.cat([part.reshape(-1) for part in gradient])
    blocks, numbers = exact_blocks(model, Bernoulli(), inputs), numbers_by_unit(model)
    optimizer = UnitwiseGaussNewton(model, Bernoulli(), lr=0.3, damping=0.2)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))
    moved = torch.cat([move.reshape(-1) for move in moves])

    for block, places in zip(blocks, numbers, strict=True):
        damped = block + 0.2 * torch.eye(len(block), dtype=torch.float64)
        torch.testing.assert_close(
            moved[places], -0.3 * torch.linalg.solve(damped, gradient[places]), **EXACT
        )


@pytest.mark.row(143)
def test_no_block_has_a_negative_eigenvalue(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 6, 5, 3), a_batch(3, 4, 3)

    for block in our_blocks(model, CrossEntropy(), inputs, targets):
        values = torch.linalg.eigvalsh(block)
        assert values.min() >= -1e-12 * values.max()


@pytest.mark.row(143)
def test_an_affine_map_of_the_inputs_that_the_layer_undoes_changes_no_undamped_step(a_network, a_batch):
    plain, mapped = a_network(4, 3, 3), a_network(4, 3, 3)
    inputs, targets = a_batch(30, 4, 3)
    stream = torch.Generator().manual_seed(0)
    turn = torch.randn(4, 4, generator=stream, dtype=torch.float64)
    shift = torch.randn(4, generator=stream, dtype=torch.float64)
    with torch.no_grad():
        back = plain[0].weight @ torch.linalg.inv(turn)
        mapped[0].weight.copy_(back)
        mapped[0].bias.copy_(plain[0].bias - back @ shift)
    others = inputs @ turn.T + shift

    torch.testing.assert_close(mapped(others), plain(inputs))
    for model, rows in ((plain, inputs), (mapped, others)):
        optimizer = UnitwiseGaussNewton(model, CrossEntropy(), lr=0.1, damping=0.0)
        for _ in range(3):
            optimizer.step(rows, targets)

    torch.testing.assert_close(mapped(others), plain(inputs), rtol=1e-7, atol=1e-9)


@pytest.mark.row(143)
@pytest.mark.parametrize("half", [False, True])
def test_where_the_curvature_at_a_sum_is_the_same_in_all_cases_it_is_acp(a_network, a_batch, half):
    ours, theirs = a_network(4, 3), a_network(4, 3)
    inputs, _ = a_batch(9, 4, 3)
    batch = inputs, inputs[:, :3].square()
    curvature = 1.0 if half else 2.0
    UnitwiseGaussNewton(ours, squared_error(half=half), lr=0.3, damping=0.2).step(*batch)
    ACP(theirs, squared_error(half=half), lr=0.3, alpha=curvature, ridge=0.2, ridge_on="all").step(*batch)

    for our, their in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(our, their, **EXACT)


@pytest.mark.parametrize("frozen", ["weight", "bias"])
def test_what_is_frozen_has_no_part_in_a_block(a_network, a_batch, moves_of, frozen):
    model, (inputs, targets) = a_network(4, 3), a_batch(9, 4, 3)
    getattr(model[0], frozen).requires_grad_(False)
    trained = next(p for p in model.parameters() if p.requires_grad)
    (gradient,) = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), trained)
    ((q, below),) = backpropagated(model, CrossEntropy(), inputs, targets, of="gn").values()
    rows = below if frozen == "bias" else torch.ones(9, 1, dtype=torch.float64)
    optimizer = UnitwiseGaussNewton(model, CrossEntropy(), lr=0.3, damping=0.1)
    moves = moves_of(model, lambda: optimizer.step(inputs, targets))

    truth = -0.3 * solve_by_unit(unit_blocks(q, rows), gradient.reshape(3, -1), 0.1).reshape_as(gradient)
    torch.testing.assert_close(moves[frozen == "weight"], truth, **EXACT)
    assert not moves[frozen == "bias"].any()


def test_a_layer_without_bias_trains(a_network, a_batch):
    optimizer = UnitwiseGaussNewton(a_network(4, 5, 3, bias=False), CrossEntropy(), lr=0.1)
    losses = [optimizer.step(*a_batch(20, 4, 3)).loss for _ in range(5)]

    assert losses == sorted(losses, reverse=True)


def test_a_unit_without_an_inverse_is_an_error_that_names_its_layer_and_moves_nothing(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(3, 4, 3)  # three cases, blocks of five
    before = [parameter.clone() for parameter in model.parameters()]

    with pytest.raises(SingularFactorError, match=r"layer '[02]'"):
        UnitwiseGaussNewton(model, CrossEntropy(), damping=0.0).step(inputs, targets)
    assert all(map(torch.equal, model.parameters(), before))


def test_a_block_that_is_not_positive_definite_is_refused():
    rows = torch.ones(2, 3, dtype=torch.float64)

    with pytest.raises(NotPositiveDefiniteError):
        solve_by_unit(unit_blocks(-torch.ones(2, 1, dtype=torch.float64), rows), rows[:1], 0.1)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            lambda: nn.Linear(4, 3),
            "is a Linear, but the curvature at the sums is sent down here from layer to layer",
        ),
        (lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), "'1' is a BatchNorm1d"),
    ],
)
def test_a_model_for_which_there_is_no_recursion_is_refused_at_once(model, sentence):
    with pytest.raises(UnsupportedModelError, match=sentence):
        UnitwiseGaussNewton(model(), CrossEntropy())


@pytest.mark.parametrize("wrong", [{"lr": -1.0}, {"damping": -0.1}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        UnitwiseGaussNewton(a_network(4, 3), CrossEntropy(), **wrong)
