"""K-FAC that finds lengths, momentum and damping by itself (Martens 2016, algorithm 7)."""

import copy
import io
import itertools
import math
import pickle
import re

import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from optimizers import KFAC, Bernoulli, CrossEntropy, Gaussian, squared_error
from optimizers.curvature.block_diagonal import BlockDiagonal
from optimizers.curvature.dense import gauss_newton, jacobian, output_curvature
from optimizers.curvature.network import Network
from optimizers.seen import Seen
from optimizers.solvers.cg import conjugate_gradients

OMEGA = (19 / 20) ** 5  # ω₁, for λ
KINDS = pytest.mark.parametrize("inverse", ["block_diagonal", "block_tridiagonal"])


def a_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def gradient(model, objective, inputs, targets):
    return nn.utils.parameters_to_vector(
        torch.autograd.grad(objective.loss(model(inputs), targets), list(model.parameters()))
    )


def fisher(model, objective, inputs):
    network = Network(model, inputs)
    return gauss_newton(jacobian(network), output_curvature(objective, network(network.params)))


def run(optimizer, batch, updates):
    return [optimizer.step(*batch) for _ in range(updates)]


def same(ours, theirs):
    """Whether two nested states are equal, to the last bit."""
    if isinstance(ours, torch.Tensor):
        return torch.equal(ours, theirs)
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs


# Length and momentum


@pytest.mark.row(139)
@pytest.mark.row(159)
def test_the_first_step_is_the_minimum_of_the_exact_model_along_the_preconditioned_gradient(
    a_network, a_batch
):
    (inputs, targets), objective = a_batch(20, 4, 3), CrossEntropy()
    model, plain = a_network(4, 5, 3), a_network(4, 5, 3)
    before, g = theta(model), gradient(model, objective, inputs, targets)
    matrix = fisher(model, objective, inputs) + 0.5 * torch.eye(len(g), dtype=torch.float64)
    KFAC(plain, objective, lr=1.0, damping=0.5, generator=a_stream()).step(inputs, targets)
    direction = theta(plain) - before

    step = KFAC(model, objective, damping=0.5, generator=a_stream()).step(inputs, targets)

    alpha = -(g @ direction) / (direction @ matrix @ direction)
    assert step.scale == pytest.approx(alpha.item(), rel=1e-9)
    torch.testing.assert_close(theta(model) - before, alpha * direction, rtol=1e-8, atol=1e-12)
    assert step.model_change == pytest.approx((g @ (alpha * direction)).item() / 2, rel=1e-8)


@pytest.mark.row(139)
def test_later_steps_are_the_minimum_in_the_plane_with_the_step_before(a_network, a_batch):
    (inputs, targets), objective, l2 = a_batch(20, 4, 3), CrossEntropy(), 0.01
    model = a_network(4, 5, 3)
    optimizer = KFAC(model, objective, damping=0.5, l2=l2, generator=a_stream())
    start = theta(model)
    optimizer.step(inputs, targets)
    before = theta(model)
    last, g = before - start, gradient(model, objective, inputs, targets) + l2 * before
    matrix = fisher(model, objective, inputs) + (0.5 + l2) * torch.eye(len(g), dtype=torch.float64)

    step = optimizer.step(inputs, targets)

    update = theta(model) - before
    direction = (update - step.momentum * last) / step.scale
    slope = g + matrix @ update  # of M at δ, flat along both
    assert abs(slope @ direction) <= 1e-9 * abs(g @ direction)
    assert abs(slope @ last) <= 1e-9 * abs(g @ last)
    assert step.model_change == pytest.approx((g @ update).item() / 2, rel=1e-8)


def test_without_momentum_no_step_has_any(a_network, a_batch):
    steps = run(KFAC(a_network(4, 5, 3), CrossEntropy(), momentum=False), a_batch(20, 4, 3), 3)

    assert [step.momentum for step in steps] == [0.0] * 3


def test_lr_multiplies_a_step_and_its_model_is_that_of_the_step_taken(a_network, a_batch):
    (inputs, targets), objective = a_batch(20, 4, 3), CrossEntropy()
    model = a_network(4, 5, 3)
    optimizer = KFAC(model, objective, damping=0.5, generator=a_stream())
    optimizer.param_groups[0]["lr"] = 0.3
    before, g = theta(model), gradient(model, objective, inputs, targets)
    matrix = fisher(model, objective, inputs) + 0.5 * torch.eye(len(g), dtype=torch.float64)

    step = optimizer.step(inputs, targets)

    update = theta(model) - before
    assert step.model_change == pytest.approx((g @ update + update @ matrix @ update / 2).item(), rel=1e-8)
    whole = KFAC(a_network(4, 5, 3), objective, damping=0.5, generator=a_stream()).step(inputs, targets)
    assert step.scale == pytest.approx(0.3 * whole.scale)


def a_regression(model_seed=0):
    torch.manual_seed(model_seed)
    inputs = torch.randn(30, 5, dtype=torch.float64, generator=a_stream(1)) * torch.tensor([1, 1, 2, 3, 4.0])
    return nn.Linear(5, 2).double(), inputs, torch.randn(30, 2, dtype=torch.float64, generator=a_stream(2))


@pytest.mark.row(139)
def test_on_a_quadratic_with_one_inverse_its_steps_are_those_of_preconditioned_conjugate_gradients():
    model, inputs, targets = a_regression()
    objective = squared_error()
    optimizer = KFAC(model, objective, damping=1e-13, decay=0.0, refresh_every=1000, generator=a_stream(5))
    start, g = theta(model), gradient(model, objective, inputs, targets)
    matrix = fisher(model, objective, inputs)
    path = []
    for _ in range(6):
        optimizer.step(inputs, targets)
        path.append(theta(model) - start)
    kept = optimizer.state_dict()["inverse"]["kept"]["weight"]

    def preconditioned(vector):
        joined = torch.cat([vector[:10].reshape(2, 5), vector[10:, None]], dim=1)
        solved = kept["outputs"] @ joined @ kept["inputs"]
        return torch.cat([solved[:, :5].reshape(-1), solved[:, 5]])

    solved = conjugate_gradients(
        lambda v: matrix @ v,
        -g,
        precondition=preconditioned,
        max_iterations=6,
        keep=lambda number: number > 0,
    )
    for number, ours in enumerate(path, start=1):
        assert (ours - solved.iterates[number]).norm() <= 1e-9 * solved.iterates[number].norm()
    assert (path[0] - path[1]).norm() > 1e-3 * path[1].norm()


@pytest.mark.row(140)
def test_more_steps_of_conjugate_gradients_come_nearer_to_the_damped_solve(a_network, a_batch):
    (inputs, targets), objective = a_batch(20, 4, 3), CrossEntropy()
    start, g = theta(a_network(4, 5, 3)), gradient(a_network(4, 5, 3), objective, inputs, targets)
    matrix = fisher(a_network(4, 5, 3), objective, inputs)
    truth = -torch.linalg.solve(matrix + 0.1 * torch.eye(len(g), dtype=torch.float64), g)
    distances = []
    for steps in (1, 2, 5, 40):
        model = a_network(4, 5, 3)
        KFAC(model, objective, damping=0.1, cg_steps=steps, generator=a_stream()).step(inputs, targets)
        distances.append(((theta(model) - start - truth).norm() / truth.norm()).item())

    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-6 < distances[0]


@pytest.mark.row(140)
def test_one_step_of_conjugate_gradients_is_the_rescaled_step(a_network, a_batch):
    (inputs, targets), objective = a_batch(20, 4, 3), CrossEntropy()
    model, other = a_network(4, 5, 3), a_network(4, 5, 3)
    g, start = gradient(model, objective, inputs, targets), theta(model)
    optimizer = KFAC(model, objective, damping=0.1, generator=a_stream())
    optimizer.step(inputs, targets)
    matrix = fisher(other, objective, inputs) + 0.1 * torch.eye(len(g), dtype=torch.float64)
    kept = optimizer.state_dict()["inverse"]["kept"]

    def preconditioned(vector):
        nn.utils.vector_to_parameters(vector, other.parameters())
        parts = []
        for name, layer in (("0.weight", other[0]), ("2.weight", other[2])):
            joined = torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach()
            solved = kept[name]["outputs"] @ joined @ kept[name]["inputs"]
            parts += [solved[:, :-1].reshape(-1), solved[:, -1]]
        return torch.cat(parts)

    solved = conjugate_gradients(lambda v: matrix @ v, -g, precondition=preconditioned, max_iterations=1)
    torch.testing.assert_close(theta(model) - start, solved.solution, rtol=1e-9, atol=1e-12)


# Damping


@pytest.mark.row(138)
@pytest.mark.row(162)
def test_damping_changes_in_every_fifth_update_alone_by_the_rule(a_network, a_batch):
    optimizer, batch = KFAC(a_network(4, 5, 3), CrossEntropy(), damping=2.0), a_batch(20, 4, 3)
    steps = run(optimizer, batch, 21)

    for number, (step, following) in enumerate(itertools.pairwise(steps), start=1):
        if number % 5:
            assert step.reduction_ratio is None
            assert following.damping == step.damping
        else:
            factor = OMEGA if step.reduction_ratio > 0.75 else 1 / OMEGA if step.reduction_ratio < 0.25 else 1
            assert following.damping == pytest.approx(step.damping * factor)
            assert step.reduction_ratio == pytest.approx((step.loss_after - step.loss) / step.model_change)


@pytest.mark.row(138)
@pytest.mark.row(163)
def test_inverses_are_computed_in_the_first_three_updates_and_for_three_gammas_before_every_twentieth(
    a_network, a_batch, monkeypatch
):
    gammas, refreshed = [], BlockDiagonal.refreshed

    def spy(self, factors, gamma, **only):
        gammas[-1].append(gamma)
        return refreshed(self, factors, gamma, **only)

    monkeypatch.setattr(BlockDiagonal, "refreshed", spy)
    optimizer, batch = KFAC(a_network(4, 5, 3), CrossEntropy(), damping=4.0), a_batch(20, 4, 3)
    steps = []
    for _ in range(41):
        gammas.append([])
        steps.append(optimizer.step(*batch))

    inverted = {number: tried for number, tried in enumerate(gammas, start=1) if tried}
    omega = math.sqrt(19 / 20) ** 20
    assert list(inverted) == [1, 2, 3, 17, 18, 19, 37, 38, 39]  # no update pays for all three
    assert inverted[1] == [2.0]
    assert [*inverted[17], *inverted[18], *inverted[19]] == pytest.approx([2 / omega, 2 * omega, 2.0])
    assert [step.ages["0.weight"] for step in steps[:5]] == [0, 0, 0, 1, 2]


@pytest.mark.row(138)
@pytest.mark.row(161)
def test_of_three_gammas_the_one_with_the_lowest_model_is_kept(a_network, a_batch):
    optimizer, batch = KFAC(a_network(4, 5, 3), CrossEntropy(), damping=4.0), a_batch(20, 4, 3)
    run(optimizer, batch, 19)
    apart = {}
    for place in range(3):
        alone = copy.deepcopy(optimizer)
        alone._rivals = [alone._rivals[place]]
        step = alone.step(*batch)
        apart[step.factor_damping] = step.model_change

    step = optimizer.step(*batch)

    assert len(apart) == 3
    assert step.factor_damping == min(apart, key=apart.get)
    assert step.model_change == pytest.approx(min(apart.values()), rel=1e-12)
    assert optimizer.step(*batch).factor_damping == step.factor_damping


def test_a_model_that_is_no_number_rejects_the_step(a_network, a_batch, monkeypatch):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), damping=2.0)
    optimizer.step(*batch)
    before = theta(model)
    with monkeypatch.context() as patch:
        patch.setattr("optimizers.kfac.fisher_inner", lambda *_: torch.full((2, 2), math.nan))
        step = optimizer.step(*batch)

    assert step.update_norm == 0
    assert torch.equal(theta(model), before)
    assert optimizer.step(*batch).damping == pytest.approx(2.0 / OMEGA)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_the_first_damping_goes_with_the_scale_of_the_loss(scale):
    found, losses = [], []
    for variance in (1.0, 1 / scale):
        model, inputs, targets = a_regression()
        step = KFAC(model, Gaussian(variance=variance), generator=a_stream()).step(inputs, targets)
        found.append(step.damping)
        losses.append((Gaussian(variance=variance).loss(model(inputs), targets).item(), step.loss))

    # sampled targets differ from the mean by √variance, while residuals here do not shrink with it
    assert all(after < before for after, before in losses)
    assert 0.05 < found[1] / found[0] / scale < 20


def typical_curvature(model, batch, **settings):
    """Of the statistics of one batch."""
    optimizer = KFAC(copy.deepcopy(model), CrossEntropy(), lr=0.1, generator=a_stream(), **settings)
    optimizer.step(*batch)
    return optimizer._averages.kept.typical_curvature()


def test_typical_curvature_is_the_geometric_mean_over_all_parameters(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(1, 4, 3)  # of one case the factors are exact
    curvature = fisher(model, CrossEntropy(), batch[0]).diag().split([4 * 5, 5, 5 * 3, 3])
    blocks = torch.cat(curvature[:2]), torch.cat(curvature[2:])

    means = torch.cat([block.mean().expand(len(block)) for block in blocks])
    truth = means.log().mean().exp().item()
    assert typical_curvature(model, batch, targets="exact") == pytest.approx(truth)


def test_where_the_loss_is_not_known_elsewhere_damping_is_ten_times_the_mean_curvature(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(1, 4, 3)
    mean = fisher(model, CrossEntropy(), inputs).diag().mean().item()
    optimizer = KFAC(model, CrossEntropy(), targets="exact")
    CrossEntropy().loss(model(inputs), targets).backward()

    assert optimizer.step().damping == pytest.approx(10 * mean)


@pytest.mark.parametrize("spread", [1.0, 20.0])  # of the weights
def test_damping_begins_ten_times_higher_as_often_as_the_first_batch_does_not_trust_the_step(
    a_network, a_batch, spread
):
    start, batch = a_network(8, 6, 3, 6, 4), a_batch(20, 8, 4)
    with torch.no_grad():
        for parameter in start.parameters():
            parameter.mul_(spread)
    damping, raised = typical_curvature(start, batch), 0
    while ratio_of_first_step(copy.deepcopy(start), batch, damping) < 0.25:
        damping, raised = 10 * damping, raised + 1

    found = KFAC(start, CrossEntropy(), generator=a_stream()).step(*batch).damping

    assert raised == (0 if spread == 1 else 1)
    assert found == pytest.approx(damping)


def ratio_of_first_step(model, batch, damping):
    step = KFAC(model, CrossEntropy(), damping=damping, generator=a_stream()).step(*batch)
    return (CrossEntropy().loss(model(batch[0]), batch[1]).item() - step.loss) / step.model_change


def test_a_given_damping_is_where_it_begins(a_network, a_batch):
    assert KFAC(a_network(4, 3), CrossEntropy(), damping=7.0).step(*a_batch(9, 4, 3)).damping == 7.0


def test_a_step_to_where_there_is_no_loss_is_rejected_and_raises_damping(a_network, a_batch, monkeypatch):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), damping=2.0)
    run(optimizer, batch, 4)
    before = theta(model)
    with monkeypatch.context() as patch:
        patch.setattr(Seen, "h", lambda _, update=None, **_cases: 1.0 if update is None else math.nan)
        step = optimizer.step(*batch)

    assert step.update_norm == 0
    assert torch.equal(theta(model), before)
    following = optimizer.step(*batch)
    assert following.damping == pytest.approx(10 * step.damping)
    assert following.momentum == 0  # the rejected step is none to go on from


@pytest.mark.parametrize("lr", [None, 0.1])
def test_a_batch_whose_factors_are_not_finite_changes_neither_weights_nor_factors(
    a_network, a_batch, monkeypatch, lr
):
    model, batch = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), lr=lr)
    run(optimizer, batch, 2)
    before, kept = theta(model), copy.deepcopy(optimizer.state_dict()["averages"])
    huge = torch.full((9, 3), 1e200, dtype=torch.float64)  # its square overflows
    with monkeypatch.context() as patch:
        patch.setattr("optimizers.seen.slopes_at", lambda *_: [huge])
        step = optimizer.step(*batch)

    assert step.update_norm == 0
    assert torch.equal(theta(model), before)
    assert same(optimizer.state_dict()["averages"], kept)
    assert optimizer.step(*batch).update_norm > 0


def test_at_a_minimum_nothing_moves_and_damping_stays(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(9, 4, 3)
    targets = model(inputs).detach()
    before = theta(model)
    steps = run(KFAC(model, squared_error(), damping=2.0), (inputs, targets), 6)

    assert torch.equal(theta(model), before)
    assert [step.damping for step in steps] == [2.0] * 6


# Whatever the batch is


@KINDS
def test_repeating_the_batch_changes_no_step(a_network, a_batch, inverse):
    once, twice = a_network(4, 5, 3), a_network(4, 5, 3)
    inputs, targets = a_batch(9, 4, 3)
    settings = {"inverse": inverse, "targets": "exact"}
    ours, theirs = KFAC(twice, CrossEntropy(), **settings), KFAC(once, CrossEntropy(), **settings)
    for _ in range(6):
        ours.step(inputs.repeat(2, 1), targets.repeat(2))
        theirs.step(inputs, targets)

    torch.testing.assert_close(theta(twice), theta(once), rtol=1e-7, atol=1e-9)


@KINDS
def test_the_order_of_the_cases_changes_no_step(a_network, a_batch, inverse):
    model, other = a_network(4, 5, 3), a_network(4, 5, 3)
    inputs, targets = a_batch(9, 4, 3)
    settings = {"inverse": inverse, "targets": "exact", "damping": 1.0}
    KFAC(model, CrossEntropy(), **settings).step(inputs, targets)
    KFAC(other, CrossEntropy(), **settings).step(inputs.flip(0), targets.flip(0))

    torch.testing.assert_close(theta(model), theta(other), rtol=1e-9, atol=1e-12)


@pytest.mark.row(163)
def test_factors_and_model_can_be_of_fewer_cases(a_network, a_batch):
    inputs, targets = a_batch(16, 4, 3)
    changed = inputs.clone()
    changed[1::2] *= -2  # cases that neither knows
    kept = []
    for batch in (inputs, changed):
        optimizer = KFAC(
            a_network(4, 5, 3),
            CrossEntropy(),
            damping=1.0,
            statistics_from_every=2,
            model_from_every=2,
            generator=a_stream(),
        )
        optimizer.step(batch, targets)
        kept.append(optimizer.state_dict()["averages"]["factors"]["0.weight"]["outputs"])

    assert torch.equal(*kept)
    whole = KFAC(a_network(4, 5, 3), CrossEntropy(), damping=1.0, generator=a_stream())
    whole.step(inputs, targets)
    assert not torch.equal(whole.state_dict()["averages"]["factors"]["0.weight"]["outputs"], kept[0])


@pytest.mark.row(163)
@pytest.mark.parametrize(
    ("cases", "statistics_from_every", "model_from_every"),
    [(900, 8, 4), (500, 5, 4), (299, 2, 2), (199, 1, 1)],
)
def test_without_being_told_factors_know_an_eighth_and_the_model_a_fourth_of_a_batch_or_a_hundred_cases(
    a_network, a_batch, cases, statistics_from_every, model_from_every
):
    found = []
    for settings in (
        {},
        {"statistics_from_every": statistics_from_every, "model_from_every": model_from_every},
    ):
        model = a_network(4, 5, 3)
        optimizer = KFAC(model, CrossEntropy(), damping=1.0, generator=a_stream(), **settings)
        run(optimizer, a_batch(cases, 4, 3), 2)
        found.append(theta(model))

    assert torch.equal(*found)


@pytest.mark.row(163)
def test_with_a_length_of_step_factors_know_every_case(a_network, a_batch):
    found = []
    for settings in ({}, {"statistics_from_every": 1}):
        model = a_network(4, 5, 3)
        KFAC(model, CrossEntropy(), lr=0.1, generator=a_stream(), **settings).step(*a_batch(900, 4, 3))
        found.append(theta(model))

    assert torch.equal(*found)


@pytest.mark.row(163)
def test_the_model_of_fewer_cases_has_their_curvature_and_the_gradient_of_all(a_network, a_batch):
    (inputs, targets), objective = a_batch(16, 4, 3), CrossEntropy()
    model = a_network(4, 5, 3)
    before, g = theta(model), gradient(model, objective, inputs, targets)
    matrix = fisher(model, objective, inputs[::4]) + torch.eye(len(g), dtype=torch.float64)

    step = KFAC(model, objective, damping=1.0, model_from_every=4).step(inputs, targets)

    update = theta(model) - before
    assert step.model_change == pytest.approx((g @ update + update @ matrix @ update / 2).item(), rel=1e-8)


@pytest.mark.row(46)
def test_loss_before_and_after_have_the_same_dropout_and_normalisation():
    torch.manual_seed(0)
    modules = [nn.Linear(4, 6), nn.BatchNorm1d(6, affine=False), nn.Tanh(), nn.Dropout(0.5), nn.Linear(6, 2)]
    model = nn.Sequential(*modules).double()
    inputs = torch.randn(12, 4, dtype=torch.float64, generator=a_stream())
    optimizer = KFAC(model, Bernoulli(), damping=1.0)
    optimizer.param_groups[0]["lr"] = 0.0
    steps = run(optimizer, (inputs, (inputs[:, :2] > 0).double()), 5)

    assert steps[4].loss_after == pytest.approx(steps[4].loss, rel=1e-12)
    assert len({step.loss for step in steps}) == 5  # each has a mask of its own
    assert model[1].num_batches_tracked == 5


@pytest.mark.parametrize("settings", [{}, {"inverse": "block_tridiagonal"}, {"lr": 0.1}])
def test_a_batch_with_nan_changes_nothing_and_training_goes_on(a_network, a_batch, settings):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), **settings)
    run(optimizer, (inputs, targets), 3)
    before, state = theta(model), copy.deepcopy(optimizer.state_dict())
    spoilt = inputs.clone()
    spoilt[2, 1] = math.nan

    step = optimizer.step(spoilt, targets)

    assert step.update_norm == 0
    assert torch.equal(theta(model), before)
    assert same(optimizer.state_dict(), state)
    assert optimizer.step(inputs, targets).update_norm > 0


# To stop and go on


@KINDS
@pytest.mark.parametrize("settings", [{}, {"lr": 0.1}, {"momentum": False}])
def test_a_resumed_run_is_bit_identical(a_network, a_batch, inverse, settings):
    batch, settings = a_batch(9, 4, 3), {**settings, "inverse": inverse}
    model, resumed = a_network(4, 5, 3), a_network(4, 5, 3, seed=5)
    optimizer = KFAC(model, CrossEntropy(), **settings)
    run(optimizer, batch, 18)  # between the inversions of a search
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    run(optimizer, batch, 9)
    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed.load_state_dict(of_model)
    other = KFAC(resumed, CrossEntropy(), **settings)
    other.load_state_dict(of_optimizer)
    run(other, batch, 9)

    assert torch.equal(theta(resumed), theta(model))


def pickled(each):
    file = io.BytesIO(pickle.dumps(each))
    return pickle.Unpickler(file).load()  # noqa: S301  # our own


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled])
def test_a_copy_of_the_optimizer_trains_its_own_copy_of_the_model_alike(a_network, a_batch, copied):
    model, batch = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = KFAC(model, CrossEntropy())
    run(optimizer, batch, 3)
    other = copied(optimizer)
    before = theta(model)
    steps = run(other, batch, 3)
    assert torch.equal(theta(model), before)

    assert [step.loss for step in run(optimizer, batch, 3)] == [step.loss for step in steps]


def test_a_model_in_another_precision_goes_on(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = KFAC(model, CrossEntropy())
    run(optimizer, (inputs, targets), 4)
    model.float()
    steps = run(optimizer, (inputs.float(), targets), 4)

    assert 0 < steps[-1].update_norm < math.inf


def test_a_run_learns_more_than_gradient_descent_of_any_rate(a_network, a_batch):
    batch = a_batch(60, 4, 3)
    ours = run(KFAC(a_network(4, 8, 3), CrossEntropy()), batch, 60)[-1].loss
    theirs = []
    for lr in (0.1, 0.3, 1.0, 3.0):
        model = a_network(4, 8, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(60):
            optimizer.zero_grad()
            loss = CrossEntropy().loss(model(batch[0]), batch[1])
            loss.backward()
            optimizer.step()
        theirs.append(loss.item())

    assert ours < 0.5 * min(theirs)


@pytest.mark.parametrize(
    "wrong",
    [
        {"l2": -1.0},
        {"inverse": "dense"},
        {"decay": 1.0},
        {"targets": "guessed"},
        {"statistics_from_every": 0},
        {"model_from_every": 0},
        {"cg_steps": 0},
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=re.escape(next(iter(wrong)))):
        KFAC(a_network(4, 3), CrossEntropy(), **wrong)


# Where layers differ much


def a_deep_network(*widths, activation, seed=0):
    torch.manual_seed(seed)
    modules = []
    for pair in itertools.pairwise(widths):
        modules += [nn.Linear(*pair), activation()]
    return nn.Sequential(*modules[:-1])


def digits():
    data = load_digits()
    return torch.tensor(data.data[:1500] / 16, dtype=torch.float32), torch.tensor(data.target[:1500])


DEEP = {
    "rectifiers": (64, *[32] * 8, 10),
    "a few units": (64, 30, 20, 10, 5, 3, 2, 2, 2, 3, 5, 10),
}


@pytest.mark.parametrize(
    ("widths", "activation"), [(DEEP["rectifiers"], nn.ReLU), (DEEP["a few units"], nn.Sigmoid)]
)
def test_a_network_whose_layers_differ_by_powers_of_ten_does_not_diverge(widths, activation):
    (inputs, targets), stream = digits(), a_stream()
    optimizer = KFAC(a_deep_network(*widths, activation=activation), CrossEntropy(), generator=a_stream(1))
    losses = []
    for _ in range(100):
        cases = torch.randint(len(inputs), (64,), generator=stream)
        losses.append(optimizer.step(inputs[cases], targets[cases]).loss)

    assert max(losses) < 50 * losses[0]  # what fits one batch may raise another


@pytest.mark.parametrize("activation", [nn.ReLU, nn.Tanh])
def test_in_the_usual_loop_without_a_closure_it_does_not_diverge(activation):
    (inputs, targets), stream = digits(), a_stream()
    model = a_deep_network(64, 32, 32, 32, 10, activation=activation)
    optimizer, losses = KFAC(model, CrossEntropy(), generator=a_stream(1)), []
    for _ in range(60):
        cases = torch.randint(len(inputs), (64,), generator=stream)
        optimizer.zero_grad()
        loss = CrossEntropy().loss(model(inputs[cases]), targets[cases])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    assert max(losses) < 2 * losses[0]
    assert losses[-1] < 0.3 * losses[0]


def test_a_step_that_would_double_the_loss_is_not_taken_and_damping_follows():
    model, (inputs, targets) = a_deep_network(*DEEP["a few units"], activation=nn.Sigmoid), digits()
    optimizer = KFAC(model, CrossEntropy(), damping=1e-14, generator=a_stream())
    refused = 0
    for number in range(12):
        batch = slice(20 * number, 20 * number + 20)
        before, damping = theta(model), optimizer.param_groups[0]["damping"]
        step = optimizer.step(inputs[batch], targets[batch])
        now = optimizer.param_groups[0]["damping"]
        if step.update_norm == 0:
            refused += 1
            assert torch.equal(theta(model), before)
            assert now == pytest.approx(10 * damping)
            following = optimizer.step(inputs[batch], targets[batch])
            assert following.factor_damping == pytest.approx(math.sqrt(now))
        else:
            after = CrossEntropy().loss(model(inputs[batch]), targets[batch]).item()
            assert after <= 2 * step.loss

    assert refused


def test_the_first_damping_rises_where_factors_have_no_inverse():
    """Slopes vanish on their way down: typical curvature is 5e-11 here, beside activities of 0.3."""
    model = a_deep_network(784, 400, 200, 100, 50, 25, 6, 25, 50, 100, 200, 400, 784, activation=nn.Sigmoid)
    inputs = torch.rand(500, 784, generator=a_stream())

    step = KFAC(model, Bernoulli(), generator=a_stream()).step(inputs, inputs)

    assert step.update_norm > 0
