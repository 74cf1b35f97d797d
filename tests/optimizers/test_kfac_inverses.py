"""The factors and both inverses of K-FAC beside matrices that are written out."""

import warnings
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn

from optimizers import KFAC, Bernoulli, squared_error
from optimizers.curvature.block_diagonal import BlockDiagonal
from optimizers.curvature.block_tridiagonal import BlockTridiagonal
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.dense import gauss_newton, jacobian, output_curvature
from optimizers.curvature.factor import Factor
from optimizers.curvature.network import Network
from optimizers.curvature.statistics import RunningStatistics, neighbours, rows_of, slopes_at, summed
from optimizers.errors import SingularFactorError
from tests.dense import damped

NAMES = ["0.weight", "2.weight", "4.weight"]
PAIRS = [("0.weight", "2.weight"), ("2.weight", "4.weight")]


def a_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def seen(model, inputs, objective=None, kind="exact", seed=0):
    """The rows of each slope, and the pairs of layers."""
    blocks = find_blocks(model)
    with recording(model, blocks) as uses:
        outputs = model(inputs)
    slopes = slopes_at(kind, objective or Bernoulli(), outputs.detach(), None, a_stream(seed))
    return [rows_of(uses, outputs, sent, retain_graph=True) for sent in slopes], neighbours(uses)


def statistics_of(model, inputs, **kind):
    rows, pairs = seen(model, inputs, **kind)
    return summed(rows, pairs=pairs)


def a_of(statistics, name):
    return statistics.factors[name].inputs.values


def g_of(statistics, name):
    return statistics.factors[name].outputs.values


@pytest.fixture(name="net")
def _net(a_network):
    return a_network(4, 3, 4, 2)


@pytest.fixture(name="inputs")
def _inputs(a_batch):
    return a_batch(30, 4, 2)[0]


@pytest.fixture(name="factors")
def _factors(net, inputs):
    return statistics_of(net, inputs)


def vec(matrices):
    return torch.cat([matrices[name].T.reshape(-1) for name in NAMES])


def apart(vector, factors):
    sizes = {name: (len(g_of(factors, name)), len(a_of(factors, name))) for name in NAMES}
    pieces = vector.split([rows * columns for rows, columns in sizes.values()])
    return {
        name: piece.reshape(columns, rows).T
        for piece, (name, (rows, columns)) in zip(pieces, sizes.items(), strict=True)
    }


def written_out(inverse, factors):
    size = sum(len(g_of(factors, name)) * len(a_of(factors, name)) for name in NAMES)
    columns = [vec(inverse.solve(apart(unit, factors))) for unit in torch.eye(size, dtype=torch.float64)]
    return torch.stack(columns, dim=1)


def blocks_of(matrix, factors):
    sizes = [len(g_of(factors, name)) * len(a_of(factors, name)) for name in NAMES]
    return [rows.split(sizes, dim=1) for rows in matrix.split(sizes)]


def gradients_like(factors, seed=3):
    size = sum(len(g_of(factors, name)) * len(a_of(factors, name)) for name in NAMES)
    return apart(torch.randn(size, generator=a_stream(seed), dtype=torch.float64), factors)


def damped_dense(factors, gamma):
    """F̃ on and beside the diagonal; both factors of each diagonal block are damped."""
    dense = {}
    for name in NAMES:
        a, g = damped(a_of(factors, name), g_of(factors, name), gamma=gamma)
        dense[name, name] = torch.kron(a, g)
    for pair, cross in factors.crosses.items():
        dense[pair] = torch.kron(cross.inputs.values, cross.outputs.values)
    return dense


def close(ours, truth, within=1e-10):
    assert (ours - truth).norm() <= within * truth.norm()


# The two inverses


@pytest.mark.row(136)
def test_the_block_diagonal_product_is_that_of_the_dense_inverse(factors):
    gradients = gradients_like(factors)
    solved = BlockDiagonal().refreshed(factors, 0.1).solve(gradients)
    dense = damped_dense(factors, 0.1)

    for name in NAMES:
        truth = torch.linalg.solve(dense[name, name], gradients[name].T.reshape(-1))
        close(solved[name].T.reshape(-1), truth)


@pytest.mark.row(137)
def test_the_tridiagonal_matrix_is_the_factored_one_on_and_beside_the_diagonal(factors):
    matrix = torch.linalg.inv(written_out(BlockTridiagonal().refreshed(factors, 0.1), factors))
    blocks, dense = blocks_of(matrix, factors), damped_dense(factors, 0.1)

    for place, name in enumerate(NAMES):
        close(blocks[place][place], dense[name, name])
    for place, (lower, upper) in enumerate(PAIRS):
        close(blocks[place][place + 1], dense[lower, upper])
        close(blocks[place + 1][place], dense[lower, upper].T)


@pytest.mark.row(137)
def test_the_inverse_of_the_tridiagonal_form_has_no_block_beyond_those_beside_the_diagonal(factors):
    inverse = written_out(BlockTridiagonal().refreshed(factors, 0.1), factors)
    blocks = blocks_of(inverse, factors)

    assert blocks[0][2].norm() <= 1e-10 * inverse.norm()
    assert blocks[2][0].norm() <= 1e-10 * inverse.norm()
    assert blocks[0][1].norm() > 1e-3 * inverse.norm()


@pytest.mark.row(137)
def test_the_tridiagonal_product_is_that_of_the_dense_inverse(factors):
    """The dense truth is put together from Ψ, Σ as they are defined, block by block."""
    dense, gradients = damped_dense(factors, 0.1), gradients_like(factors)
    size = sum(len(dense[name, name]) for name in NAMES)
    starts, start = {}, 0
    for name in NAMES:
        starts[name], start = slice(start, start + len(dense[name, name])), start + len(dense[name, name])
    xi = torch.eye(size, dtype=torch.float64)
    precisions = [torch.linalg.inv(dense[NAMES[2], NAMES[2]])]
    for lower, upper in reversed(PAIRS):
        regression = dense[lower, upper] @ torch.linalg.inv(dense[upper, upper])
        xi[starts[lower], starts[upper]] = -regression
        left = dense[lower, lower] - regression @ dense[upper, upper] @ regression.T
        precisions.insert(0, torch.linalg.inv(left))
    truth = xi.T @ torch.block_diag(*precisions) @ xi @ vec(gradients)

    close(vec(BlockTridiagonal().refreshed(factors, 0.1).solve(gradients)), truth)


@pytest.mark.row(180)
def test_the_precision_of_the_chain_holds_the_coefficients_that_predict_a_layer_from_the_next(factors):
    precision = blocks_of(written_out(BlockTridiagonal().refreshed(factors, 0.1), factors), factors)
    dense = damped_dense(factors, 0.1)
    coefficients = -torch.linalg.solve(precision[0][0], precision[0][1])

    close(coefficients, torch.linalg.solve(dense[NAMES[1], NAMES[1]].T, dense[PAIRS[0]].T).T)


@pytest.mark.row(180)
def test_rows_of_a_precision_matrix_are_regressions_on_all_other_variables():
    draws = torch.randn(200, 5, generator=a_stream(), dtype=torch.float64) @ torch.randn(
        5, 5, generator=a_stream(1), dtype=torch.float64
    )
    precision = torch.linalg.inv(draws.T @ draws / 200)
    for place in range(5):
        others = [other for other in range(5) if other != place]
        fitted = torch.linalg.lstsq(draws[:, others], draws[:, place]).solution
        close(-precision[place, others] / precision[place, place], fitted)
        residual = draws[:, place] - draws[:, others] @ fitted
        assert 1 / precision[place, place] == pytest.approx(residual.square().mean().item())


@pytest.mark.row(165)
@pytest.mark.parametrize("kind", [BlockDiagonal, BlockTridiagonal])
def test_products_by_the_few_rows_of_a_batch_are_those_by_its_gradient(a_network, a_batch, kind):
    model = a_network(12, 9, 11, 10)
    factors = statistics_of(model, a_batch(40, 12, 2)[0])
    [few], _ = seen(model, a_batch(2, 12, 2, seed=5)[0], kind="sampled")
    gradients = {name: rows.gradient() for name, rows in few.items()}
    inverse = kind().refreshed(factors, 0.1)
    ours, theirs = inverse.solve(gradients, few), inverse.solve(gradients)

    for name in NAMES:
        close(ours[name], theirs[name])
        assert not torch.equal(ours[name], theirs[name])  # by another way


def test_without_crosses_the_tridiagonal_inverse_is_block_diagonal(factors):
    alone = replace(factors, crosses={})
    gradients = gradients_like(factors)
    ours = BlockTridiagonal().refreshed(alone, 0.1).solve(gradients)
    theirs = BlockDiagonal().refreshed(alone, 0.1).solve(gradients)

    assert all(torch.equal(ours[name], theirs[name]) for name in NAMES)


@pytest.mark.parametrize("kind", [BlockDiagonal, BlockTridiagonal])
def test_a_refreshed_inverse_leaves_the_old_one_as_it_was(factors, kind):
    gradients = gradients_like(factors)
    old = kind().refreshed(factors, 0.1)
    before = old.solve(gradients)
    new = old.refreshed(factors, 1.0)

    assert all(torch.equal(old.solve(gradients)[name], before[name]) for name in NAMES)
    assert not torch.equal(new.solve(gradients)["0.weight"], before["0.weight"])


@pytest.mark.parametrize("kind", [BlockDiagonal, BlockTridiagonal])
def test_a_layer_without_an_inverse_keeps_its_last_one_with_a_warning(factors, kind):
    gradients, last = gradients_like(factors), kind().refreshed(factors, 0.1)
    wrong = replace(factors.factors["0.weight"], inputs=Factor(values=-a_of(factors, "0.weight")))
    bad = replace(factors, factors={**factors.factors, "0.weight": wrong})
    with pytest.warns(RuntimeWarning, match=r"last inverse of '0\.weight' is kept"):
        kept = last.refreshed(bad, 0.1)

    assert kept.failures == 1
    assert all(torch.equal(kept.solve(gradients)[name], last.solve(gradients)[name]) for name in NAMES)


@pytest.mark.parametrize("kind", [BlockDiagonal, BlockTridiagonal])
def test_without_any_inverse_a_layer_is_named(factors, kind):
    wrong = replace(factors.factors["2.weight"], outputs=Factor(values=-g_of(factors, "2.weight")))
    bad = replace(factors, factors={**factors.factors, "2.weight": wrong})
    with pytest.raises(SingularFactorError, match=r"layer '[02]\.weight'"):
        kind().refreshed(bad, 1e-3)


# Factors and their averages


@pytest.mark.row(166)
def test_factors_between_layers_are_averaged_as_those_of_layers_are(net, a_batch):
    running, batches = RunningStatistics(), [a_batch(9, 4, 2, seed=seed)[0] for seed in range(3)]
    each = [statistics_of(net, batch).crosses[PAIRS[0]].outputs.values for batch in batches]
    for batch in batches:
        running.update(statistics_of(net, batch))

    # while k is small the average is the mean of all
    close(running.kept.crosses[PAIRS[0]].outputs.values, sum(each) / 3, 1e-12)


def test_factors_between_layers_are_mean_products_of_their_rows(net, inputs):
    [rows], pairs = seen(net, inputs, kind="sampled")
    cross = summed([rows], pairs=pairs).crosses[PAIRS[0]]
    (a, g), (b, h) = (rows[name].lines() for name in PAIRS[0])

    close(cross.inputs.values, sum(x.outer(y) for x, y in zip(a, b, strict=True)) / 30)
    close(cross.outputs.values, sum(x.outer(y) for x, y in zip(g, h, strict=True)))


@pytest.mark.row(141)
def test_exact_factors_are_the_mean_of_sampled_ones(net, inputs):
    exact = g_of(statistics_of(net, inputs), "2.weight")
    many = inputs.repeat(400, 1)
    sampled = g_of(statistics_of(net, many, kind="sampled"), "2.weight")

    close(sampled, exact, 0.05)


def dense_fisher(model, inputs, objective):
    network = Network(model, inputs)
    return gauss_newton(jacobian(network), output_curvature(objective, network(network.params)))


def factored_fisher(model, inputs, objective):
    """F̃ in the order of torch's parameters: every block of layers is Ā_ij ⊗ G_ij."""
    slopes, _ = seen(model, inputs, objective)
    lines = [{name: rows.lines() for name, rows in of_slope.items()} for of_slope in slopes]
    order, names = [], list(lines[0])
    blocks = [
        [
            torch.kron(
                lines[0][i][0].T @ lines[0][j][0] / len(inputs),
                sum(of_slope[i][1].T @ of_slope[j][1] for of_slope in lines),
            )
            for j in names
        ]
        for i in names
    ]
    start = 0
    for name in names:  # [W b] by columns; torch has W by rows, then b
        columns, outputs = (side.shape[1] for side in lines[0][name])
        places = start + torch.arange(outputs * columns).reshape(columns, outputs)
        order += [places[:-1].T.reshape(-1), places[-1]]
        start += outputs * columns
    joined = torch.cat([torch.cat(row, dim=1) for row in blocks])
    return joined[torch.cat(order)][:, torch.cat(order)]


def test_the_factored_matrix_is_exact_for_one_case_and_for_repeated_ones(a_network, a_batch):
    model, one = a_network(4, 3, 2), a_batch(1, 4, 2)[0]
    for inputs in (one, one.repeat(3, 1)):
        close(factored_fisher(model, inputs, Bernoulli()), dense_fisher(model, inputs, Bernoulli()))


def test_the_factored_matrix_is_exact_for_deep_linear_networks(a_network, inputs):
    model = a_network(4, 3, 3, 2, activation=nn.Identity)
    close(factored_fisher(model, inputs, squared_error()), dense_fisher(model, inputs, squared_error()))


def test_the_factored_matrix_is_not_exact_otherwise(net, inputs):
    ours, truth = (matrix(net, inputs, Bernoulli()) for matrix in (factored_fisher, dense_fisher))
    assert (ours - truth).norm() > 1e-3 * truth.norm()


# What the approximation leaves out


def with_all_targets(model, inputs):
    """ā and g of two layers for each case and each outcome of two yes-or-no targets, with probabilities."""
    chances = torch.sigmoid(model(inputs)).detach()
    parts = []
    for outcome in product([0.0, 1.0], repeat=chances.shape[1]):
        targets = torch.tensor(outcome, dtype=torch.float64).expand_as(chances)
        weight = torch.where(targets > 0, chances, 1 - chances).prod(dim=1) / len(inputs)
        with recording(model, find_blocks(model)) as uses:
            outputs = model(inputs)
        rows = rows_of(uses, outputs, torch.sigmoid(outputs.detach()) - targets)
        parts.append((weight, {name: each.lines() for name, each in rows.items()}))
    weights = torch.cat([weight for weight, _ in parts])
    stacked = {
        name: tuple(torch.cat([rows[name][side] for _, rows in parts]) for side in (0, 1))
        for name in parts[0][1]
    }
    return weights, stacked


@pytest.mark.row(182)
def test_anything_that_the_targets_do_not_decide_is_uncorrelated_with_a_gradient(net, inputs):
    weights, rows = with_all_targets(net, inputs)
    for name in NAMES:
        activities = torch.cat([rows[other][0] for other in NAMES], dim=1)
        mean = (weights[:, None, None] * activities[:, :, None] * rows[name][1][:, None, :]).sum(dim=0)
        assert mean.abs().max() <= 1e-14


def entries(weights, rows):
    """Of each entry between two layers: what the factored matrix misses, and three cumulants."""

    def mean(*variables):
        return (weights * torch.stack(variables).prod(dim=0)).sum()

    def cumulant(*v):
        v = [each - mean(each) for each in v]
        if len(v) == 3:
            return mean(*v)
        pairs = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
        return mean(*v) - sum(mean(v[a], v[b]) * mean(v[c], v[d]) for (a, b), (c, d) in pairs)

    (a_lower, g_lower), (a_upper, g_upper) = rows["0.weight"], rows["2.weight"]
    for i, j, k, m in product(range(4), range(4), range(3), range(3)):
        a1, a2, g1, g2 = a_lower[:, i], a_upper[:, j % 4], g_lower[:, k], g_upper[:, m]
        error = mean(a1, a2, g1, g2) - mean(a1, a2) * mean(g1, g2)
        third = mean(a1) * cumulant(a2, g1, g2), mean(a2) * cumulant(a1, g1, g2)
        yield error.item(), [part.item() for part in (cumulant(a1, a2, g1, g2), *third)]


@pytest.mark.row(181)
def test_the_error_of_an_entry_is_its_cumulants(net, inputs):
    for error, cumulants in entries(*with_all_targets(net, inputs)):
        assert error == pytest.approx(sum(cumulants), abs=1e-12)


@pytest.mark.row(181)
def test_the_whole_error_is_no_more_than_the_sizes_of_the_cumulants(net, inputs):
    found = list(entries(*with_all_targets(net, inputs)))
    error = sum(abs(error) for error, _ in found)

    assert 0 < error <= sum(abs(part) for _, cumulants in found for part in cumulants)


# Which layer feeds which


class Reordered(nn.Module):
    """Layers are registered in another order than they run in, with an in-place activation between."""

    def __init__(self):
        super().__init__()
        self.last, self.first = nn.Linear(5, 2).double(), nn.Linear(4, 5).double()

    def forward(self, inputs):
        return self.last(torch.relu_(self.first(inputs)))


class Branched(nn.Module):
    """The trunk feeds two layers, which feed a fourth together; that feeds the last."""

    def __init__(self):
        super().__init__()
        self.trunk, self.left, self.right = (nn.Linear(4, 4).double() for _ in range(3))
        self.joint, self.last = nn.Linear(4, 4).double(), nn.Linear(4, 2).double()

    def forward(self, inputs):
        hidden = self.trunk(inputs).tanh()
        return self.last(self.joint(self.left(hidden) + self.right(hidden)).tanh())


def test_a_chain_is_linked_in_the_order_of_its_calls(net, inputs):
    assert seen(net, inputs)[1] == PAIRS
    assert seen(Reordered(), inputs)[1] == [("first.weight", "last.weight")]


def test_where_layers_do_not_follow_one_another_there_is_no_link_and_one_warning(inputs):
    optimizer, targets = (
        KFAC(Branched(), Bernoulli(), inverse="block_tridiagonal"),
        (inputs[:, :2] > 0).double(),
    )
    alone = r"follows 'left\.weight', 'right\.weight', 'trunk\.weight': block-diagonal"
    with pytest.warns(UserWarning, match=alone) as warned:
        optimizer.step(inputs, targets)
    optimizer.step(inputs, targets)  # where a warning is an error

    parts = optimizer.state_dict()["inverse"]["kept"]
    assert {name: part["upper"] for name, part in parts.items() if "upper" in part} == {
        "joint.weight": "last.weight"
    }
    ours = [each for each in warned if "block-diagonal" in str(each.message)]  # torch may tell of its own
    assert len(ours) == 1


def test_a_model_with_branches_trains_with_the_tridiagonal_inverse(inputs):
    model = Branched()
    optimizer = KFAC(model, Bernoulli(), inverse="block_tridiagonal", generator=a_stream())
    targets = (inputs[:, :2] > 0).double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = [optimizer.step(inputs, targets).loss for _ in range(10)]

    assert losses[-1] < 0.5 * losses[0]
