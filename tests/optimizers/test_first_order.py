"""The first-order methods of the literature are those of torch: which one, with which settings."""

import copy
import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim import LBFGS, SGD, Adadelta, Adagrad, Adam, RMSprop, Rprop

from optimizers.solvers.cg import conjugate_gradients

CURVATURES = torch.tensor([4.0, 1.0, 0.1], dtype=torch.float64)
START = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)


def path(optimizer, gradient, steps, **settings):
    """The iterates from START, of gradients that are given as a function of the iterate."""
    point = START.clone().requires_grad_()
    torchs, iterates = optimizer([point], **settings), [START.clone()]
    for _ in range(steps):
        point.grad = gradient(point.detach())
        torchs.step()
        iterates.append(point.detach().clone())
    return iterates


def of_quadratic(point):
    return CURVATURES * point


def constant(point):
    return torch.tensor([2.0, -1e-3, 50.0], dtype=point.dtype)


def moves(iterates):
    return [after - before for before, after in pairwise(iterates)]


@pytest.mark.row(81)
def test_gradient_descent_shrinks_each_error_by_its_curvature():
    iterates = path(SGD, of_quadratic, 7, lr=0.3)

    for k, iterate in enumerate(iterates):
        torch.testing.assert_close(iterate, (1 - 0.3 * CURVATURES) ** k * START)


@pytest.mark.row(81)
@pytest.mark.parametrize(("lr", "diverges"), [(0.499, False), (0.501, True)])
def test_gradient_descent_diverges_beyond_two_over_the_largest_curvature(lr, diverges):
    assert (path(SGD, of_quadratic, 200, lr=lr)[-1].norm(p=math.inf) > 1) == diverges


@pytest.mark.row(82)
def test_the_mean_of_the_gradients_of_an_epoch_is_the_full_gradient(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(12, 4, 3)

    def gradient(rows):
        loss = torch.nn.functional.cross_entropy(model(inputs[rows]), targets[rows])
        return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])

    parts = [gradient(rows) for rows in torch.randperm(12).split(3)]
    torch.testing.assert_close(torch.stack(parts).mean(dim=0), gradient(slice(None)))


@pytest.mark.row(83)
def test_momentum_zero_is_gradient_descent_and_more_is_the_heavy_ball():
    velocity, point, lr, momentum = torch.zeros_like(START), START.clone(), 0.2, 0.7
    for iterate in path(SGD, of_quadratic, 6, lr=lr, momentum=momentum)[1:]:
        velocity = momentum * velocity - of_quadratic(point)
        point = point + lr * velocity
        torch.testing.assert_close(iterate, point)

    plain, without = (path(SGD, of_quadratic, 6, lr=lr, **s) for s in ({}, {"momentum": 0.0}))
    assert all(torch.equal(*pair) for pair in zip(plain, without, strict=True))


@pytest.mark.row(83)
def test_the_best_constants_of_the_heavy_ball_converge_with_the_root_of_the_condition():
    high, low = math.sqrt(4.0), math.sqrt(0.1)
    rate = (high - low) / (high + low)
    iterates = path(SGD, of_quadratic, 400, lr=4 / (high + low) ** 2, momentum=rate**2)

    measured = (iterates[400].norm() / iterates[200].norm()).item() ** (1 / 200)
    assert measured == pytest.approx(rate, rel=0.02)


@pytest.mark.row(84)
def test_nesterov_takes_the_gradient_where_the_momentum_leads():
    velocity, point, lr, momentum = torch.zeros_like(START), START.clone(), 0.2, 0.7
    for iterate in path(SGD, of_quadratic, 6, lr=lr, momentum=momentum, nesterov=True)[1:]:
        velocity = momentum * velocity - lr * of_quadratic(point + momentum * velocity)
        point = point + velocity
        torch.testing.assert_close(iterate, point + momentum * velocity)  # torch keeps the point ahead


@pytest.mark.row(99)
@given(st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=3))
def test_the_units_of_loss_and_gradients_change_no_path_of_rprop(units):
    scale = torch.tensor(units, dtype=torch.float64)
    ours = path(Rprop, of_quadratic, 30, lr=0.1)
    theirs = path(Rprop, lambda point: scale * of_quadratic(point), 30, lr=0.1)

    assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


@pytest.mark.row(99)
def test_a_step_of_rprop_grows_while_the_sign_stays_shrinks_where_it_changes_and_then_rests_once():
    signs = iter([1, 1, -1, -1, -1])
    taken = moves(path(Rprop, lambda point: next(signs) * torch.ones_like(point), 5, lr=0.1))

    assert [move[0].item() for move in taken] == pytest.approx([-0.1, -0.12, 0.0, 0.06, 0.072])


@pytest.mark.row(99)
@pytest.mark.parametrize(("gradient", "bound"), [(lambda _: 1.0, 2.0), (lambda k: (-1.0) ** (k // 2), 1e-3)])
def test_steps_of_rprop_stay_within_their_bounds(gradient, bound):
    counted = iter(range(200))
    taken = moves(
        path(
            Rprop,
            lambda point: torch.full_like(point, gradient(next(counted))),
            200,
            lr=0.1,
            step_sizes=(1e-3, 2.0),
        )
    )

    lengths = torch.stack(taken).abs()
    assert lengths.max() <= 2.0 + 1e-12
    assert lengths[lengths > 0].min() >= 1e-3 - 1e-12
    assert lengths[-4:].max().item() == pytest.approx(bound, rel=0.3)


@pytest.mark.row(99)
def test_rprop_solves_a_quadratic_of_condition_a_million_along_the_axes():
    curvatures = torch.tensor([1.0, 1e3, 1e6], dtype=torch.float64)
    iterates = path(Rprop, lambda point: curvatures * point, 200, lr=0.1)

    assert min(iterate.norm(p=math.inf) for iterate in iterates) < 1e-4


@pytest.mark.row(85)
def test_adagrads_steps_shrink_with_the_root_of_the_count():
    first, *others = moves(path(Adagrad, constant, 9, lr=0.01, eps=0.0))

    for k, move in enumerate(others, start=2):
        torch.testing.assert_close(move, first / math.sqrt(k))


@pytest.mark.row(85)
def test_adagrad_is_the_root_of_the_diagonal_of_the_empirical_fisher():
    seen = []

    def gradient(point):
        seen.append(of_quadratic(point))
        return seen[-1]

    for k, move in enumerate(moves(path(Adagrad, gradient, 5, lr=0.1, eps=0.0)), start=1):
        diagonal = torch.stack(seen[:k]).square().mean(dim=0)
        torch.testing.assert_close(move, -0.1 / math.sqrt(k) * seen[k - 1] / diagonal.sqrt())


@pytest.mark.row(85)
@pytest.mark.row(87)
@pytest.mark.row(89)
@pytest.mark.parametrize("optimizer", [Adagrad, RMSprop, Adam])
def test_the_unit_of_a_gradient_changes_no_step(optimizer):
    units = torch.tensor([1e-3, 10.0, 7.0], dtype=torch.float64)
    ours = path(optimizer, lambda _: torch.ones_like(units), 5, lr=0.01, eps=0.0)
    theirs = path(optimizer, lambda _: units, 5, lr=0.01, eps=0.0)

    torch.testing.assert_close(ours, theirs)


@pytest.mark.row(87)
def test_rmsprop_comes_to_steps_of_lr_against_the_sign():
    last = moves(path(RMSprop, constant, 300, lr=0.01, alpha=0.9, eps=0.0))[-1]

    torch.testing.assert_close(last, -0.01 * constant(START).sign())


@pytest.mark.row(87)
def test_rmsprop_without_memory_steps_by_the_sign():
    for move in moves(path(RMSprop, constant, 3, lr=0.01, alpha=0.0, eps=0.0)):
        torch.testing.assert_close(move, -0.01 * constant(START).sign())


@pytest.mark.row(88)
def test_the_unit_of_the_loss_changes_no_path_of_adadelta():
    ours = path(Adadelta, of_quadratic, 30, lr=1.0, rho=0.95, eps=1e-14)
    theirs = path(Adadelta, lambda point: 1e3 * of_quadratic(point), 30, lr=1.0, rho=0.95, eps=1e-14)

    for one, other in zip(moves(ours), moves(theirs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=0.0)


@pytest.mark.row(88)
def test_adadelta_begins_with_a_step_of_its_own_size():
    (first,) = moves(path(Adadelta, constant, 1, lr=1.0, rho=0.95, eps=1e-12))

    torch.testing.assert_close(first, -math.sqrt(1e-12 / 0.05) * constant(START).sign(), rtol=1e-5, atol=0.0)


@pytest.mark.row(89)
def test_adam_begins_with_a_step_of_lr_against_the_sign():
    (first,) = moves(path(Adam, constant, 1, lr=0.001, eps=0.0))

    torch.testing.assert_close(first, -0.001 * constant(START).sign())


@pytest.mark.row(89)
def test_adam_without_its_first_moment_is_rmsprop_but_for_the_correction_of_the_start():
    adam = moves(path(Adam, constant, 8, lr=0.01, betas=(0.0, 0.9), eps=0.0))
    rmsprop = moves(path(RMSprop, constant, 8, lr=0.01, alpha=0.9, eps=0.0))

    for k, (one, other) in enumerate(zip(adam, rmsprop, strict=True), start=1):
        torch.testing.assert_close(one, other * math.sqrt(1 - 0.9**k))


HESSIAN = torch.tensor([[4.0, 0.6, 0.1], [0.6, 1.0, -0.2], [0.1, -0.2, 0.5]], dtype=torch.float64)


def by_lbfgs(slope, steps, *, is_exact=False, **settings):
    """The iterates of L-BFGS, with steps of lr, or to where the quadratic is lowest along them."""
    settings |= {"max_iter": 1, "tolerance_grad": 0.0, "tolerance_change": 0.0}
    point, iterates = START.clone().requires_grad_(), [START.clone()]
    optimizer = LBFGS([point], **settings)
    for _ in range(steps):
        if is_exact:
            twin = point.detach().clone().requires_grad_()
            tried = LBFGS([twin], **settings)
            tried.load_state_dict(copy.deepcopy(optimizer.state_dict()))
            tried.param_groups[0]["lr"] = 1.0
            move = taken_by(tried, twin, slope) - iterates[-1]
            optimizer.param_groups[0]["lr"] = -(slope(iterates[-1]) @ move / (move @ HESSIAN @ move)).item()
        iterates.append(taken_by(optimizer, point, slope))
    return iterates


def taken_by(optimizer, point, slope):
    """Where one step of L-BFGS leads."""

    def closure():
        point.grad = slope(point.detach())
        return point.detach() @ point.grad

    optimizer.step(closure)
    return point.detach().clone()


def inverse_of_bfgs(moves, changes):
    """The matrix that these pairs make, the oldest first, written out."""
    unit = torch.eye(len(START), dtype=torch.float64)
    inverse = (moves[-1] @ changes[-1]) / (changes[-1] @ changes[-1]) * unit
    for s, y in zip(moves, changes, strict=True):
        turned = unit - torch.outer(s, y) / (s @ y)
        inverse = turned @ inverse @ turned.mT + torch.outer(s, s) / (s @ y)
    return inverse


@pytest.mark.row(105)
def test_lbfgs_steps_by_a_matrix_that_fulfils_the_secant_equation():
    def slope(point):
        return HESSIAN @ point + 0.1 * point**3

    iterates = by_lbfgs(slope, 6, lr=0.3, history_size=3)
    for k in range(2, 6):
        known = iterates[max(0, k - 3) : k + 1]
        steps, changes = moves(known), moves([slope(point) for point in known])
        inverse = inverse_of_bfgs(steps, changes)
        torch.testing.assert_close(iterates[k + 1] - iterates[k], -0.3 * inverse @ slope(iterates[k]))
        torch.testing.assert_close(inverse @ changes[-1], steps[-1])


@pytest.mark.row(105)
def test_lbfgs_with_exact_steps_on_a_quadratic_is_conjugate_gradients():
    iterates = by_lbfgs(lambda point: HESSIAN @ point, 3, is_exact=True)
    for k, iterate in enumerate(iterates):
        linear = conjugate_gradients(lambda v: HESSIAN @ v, -HESSIAN @ START, max_iterations=k, progress=0.0)
        torch.testing.assert_close(iterate - START, linear.solution, rtol=1e-7, atol=1e-9)

    torch.testing.assert_close(iterates[-1], torch.zeros(3).double(), rtol=0, atol=1e-9)


@pytest.mark.row(105)
def test_lbfgs_believes_no_negative_curvature():
    iterates = by_lbfgs(lambda point: -point, 4, lr=0.5)

    for move, point in zip(moves(iterates)[1:], iterates[1:], strict=False):
        torch.testing.assert_close(move, 0.5 * point)  # plain gradient descent
