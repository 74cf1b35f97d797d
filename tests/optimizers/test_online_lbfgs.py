import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from optimizers import OnlineLBFGS, squared_error
from optimizers.online_lbfgs import inverse_product, is_curved

H = [[4.0, 0.6, 0.1], [0.6, 1.0, -0.2], [0.1, -0.2, 0.5]]
START = [1.0, -2.0, 3.0]


def kept(optimizer, what):
    return [
        params["weight"][0]
        for name, params in optimizer.state_dict()["kept"].items()
        if name.startswith(what)
    ]


def rows(count, size):
    return st.lists(
        st.lists(st.floats(-10.0, 10.0), min_size=size, max_size=size), min_size=count, max_size=count
    ).map(lambda entries: torch.tensor(entries, dtype=torch.float64))


def written_out(pairs):
    """The inverse of BFGS by these pairs, the newest first."""
    unit = torch.eye(len(pairs[0][0]), dtype=torch.float64)
    inverse = torch.stack([s @ y / (y @ y) for s, y in pairs]).mean() * unit
    for s, y in reversed(pairs):
        turned = unit - torch.outer(s, y) / (s @ y)
        inverse = turned @ inverse @ turned.mT + torch.outer(s, s) / (s @ y)
    return inverse


@pytest.mark.row(105)
@given(rows(3, 4), rows(3, 4), rows(1, 4))
def test_the_product_is_that_of_the_matrix_written_out_without_pairs_of_no_curvature(moves, factors, vector):
    # changes by a positive matrix, but for one pair that curves down
    curvature = factors.mT @ factors + torch.eye(4, dtype=torch.float64)
    moves = moves + 0.5 * torch.eye(4, dtype=torch.float64)[:3]
    changes = moves @ curvature
    changes[1] = -moves[1]
    pairs = [(moves[0], changes[0]), (moves[2], changes[2])]
    if not (is_curved(*pairs[0]) and is_curved(*pairs[1])):
        return
    found = inverse_product([*moves], [*changes], vector[0])
    inverse = written_out(pairs)

    torch.testing.assert_close(found, inverse @ vector[0], rtol=1e-6, atol=1e-6 * inverse.norm().item())
    torch.testing.assert_close(
        inverse_product([*moves], [*changes], changes[0]), moves[0], rtol=1e-6, atol=1e-8
    )


@pytest.mark.row(105)
def test_both_gradients_are_of_one_batch_and_the_damping_is_added(a_quadratic):
    first, second = a_quadratic(H, START), a_quadratic(torch.tensor(H) * 3, START)
    optimizer = OnlineLBFGS(first.model, first.objective, lr=0.05, damping=0.7, pairs=3)
    for quadratic in (first, second):
        optimizer.step(*quadratic.batch)
    moves, changes = kept(optimizer, "move"), kept(optimizer, "change")

    torch.testing.assert_close(changes[0], (second.hessian + 0.7 * torch.eye(3)) @ moves[0])
    torch.testing.assert_close(changes[1], (first.hessian + 0.7 * torch.eye(3)) @ moves[1])
    assert not moves[2].any()


class Counting:
    """Squared error that counts how often it is asked for."""

    def __init__(self):
        self.known, self.count = squared_error(half=True), 0
        self.sample, self.curvature, self.factor = self.known.sample, self.known.curvature, self.known.factor

    def loss(self, outputs, targets):
        self.count += 1
        return self.known.loss(outputs, targets)


@pytest.mark.row(105)
def test_under_batch_normalisation_both_gradients_are_of_one_function_else_one_is_there_already():
    inputs = torch.randn(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    counts, changes = [], []
    for norm in (nn.Identity(), nn.BatchNorm1d(1, affine=False, eps=1e-12)):
        model, objective = nn.Sequential(nn.Linear(2, 1, bias=False), norm).double(), Counting()
        outputs = model[0](inputs).detach()
        scale = outputs.std(correction=0) if isinstance(norm, nn.BatchNorm1d) else 1.0
        optimizer = OnlineLBFGS(model, objective, lr=1e-3, damping=0.0)
        optimizer.step(inputs, inputs[:, :1])
        counts.append(objective.count)
        move, change = (
            optimizer.state_dict()["kept"][f"{what} 0"]["0.weight"][0] for what in ("move", "change")
        )
        changes.append((change, inputs.mT @ inputs @ move / len(inputs) / scale**2))

    assert counts == [2, 3]
    for change, expected in changes:
        assert change.any()
        torch.testing.assert_close(change, expected)


@pytest.mark.row(105)
def test_a_step_is_minus_the_matrix_times_the_gradient(a_quadratic):
    quadratic = a_quadratic(H, START)
    optimizer = OnlineLBFGS(quadratic.model, quadratic.objective, lr=0.1, damping=0.0, pairs=2)
    *before, last, end = quadratic.path(optimizer, 5)
    moves = [last - before[-1], before[-1] - before[-2]]
    inverse = written_out([(s, quadratic.hessian @ s) for s in moves])

    torch.testing.assert_close(end - last, -0.1 * inverse @ quadratic.hessian @ last)
    assert [len(kept(optimizer, what)) for what in ("move", "change")] == [2, 2]


class Upside:
    """Minus half the squares of the outputs: it curves down."""

    known = squared_error(half=True)
    sample, curvature, factor = known.sample, known.curvature, known.factor

    def loss(self, outputs, targets):
        del targets
        return -outputs.square().mean() / 2


@pytest.mark.row(105)
def test_a_pair_that_does_not_curve_up_is_not_kept(a_quadratic):
    quadratic = a_quadratic(H, START)
    optimizer = OnlineLBFGS(quadratic.model, Upside(), lr=0.1, damping=0.1)
    optimizer.step(*quadratic.batch)

    assert not any(vector.any() for vector in kept(optimizer, ""))


@pytest.mark.row(105)
def test_it_solves_what_gradient_descent_of_the_same_rate_does_not(a_quadratic):
    stiff = [[100.0, 3.0, 0.0], [3.0, 1.0, 0.1], [0.0, 0.1, 0.1]]
    quadratic = a_quadratic(stiff, START)
    first = OnlineLBFGS(quadratic.model, quadratic.objective, lr=0.01, damping=0.0)
    quadratic.path(first, 3)
    first.param_groups[0]["lr"] = 0.5
    quadratic.path(first, 60)

    assert quadratic.height < 1e-10


@pytest.mark.parametrize("wrong", [{"pairs": 0}, {"damping": -1.0}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OnlineLBFGS(nn.Linear(2, 1), squared_error(), **wrong)
