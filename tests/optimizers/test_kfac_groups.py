"""Groups of parameters of K-FAC and EKFAC, with settings of their own."""

import pytest
import torch
from torch import nn

from optimizers import EKFAC, KFAC, CrossEntropy
from optimizers.curvature.dense import gauss_newton, jacobian, output_curvature
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat


class Scaled(nn.Sequential):
    """Two layers, and a parameter between them that no rule knows."""

    def __init__(self):
        torch.manual_seed(0)
        super().__init__(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, 5))
        self.double()

    def forward(self, inputs):
        return self[2](self[1](self[0](inputs)) * self.scale)


def parts(model):
    return [[*model[0].parameters()], [model.scale], [*model[2].parameters()]]


def grouped(model, *settings):
    return [{"params": part, **own} for part, own in zip(parts(model), settings, strict=True)]


def weights(model):
    return [[p.detach().clone() for p in part] for part in parts(model)]


def moves(optimizer, model, batch):
    before = weights(model)
    optimizer.step(*batch)
    return [
        [after - start for after, start in zip(*pair, strict=True)]
        for pair in zip(weights(model), before, strict=True)
    ]


def assert_close(ours, theirs):
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=1e-10, atol=1e-13)


OWN = [{"lr": 0.3, "l2": 0.0}, {"lr": 0.1, "l2": 0.1}, {"lr": 0.2, "l2": 0.01}]


def test_each_group_of_ekfac_takes_the_step_of_one_with_its_settings(a_batch):
    batch, model = a_batch(20, 4, 3), Scaled()
    own = [{**settings, "damping": damping} for settings, damping in zip(OWN, (0.1, 1.0, 0.3), strict=True)]
    ours = moves(EKFAC(model, CrossEntropy(), targets="data", params=grouped(model, *own)), model, batch)

    for place, settings in enumerate(own):
        whole = Scaled()
        theirs = moves(EKFAC(whole, CrossEntropy(), targets="data", **settings), whole, batch)
        assert_close(ours[place], theirs[place])


def test_each_group_of_kfac_takes_the_step_of_one_with_its_settings_and_the_damping_of_all(a_batch):
    batch, model = a_batch(20, 4, 3), Scaled()
    ours = moves(
        KFAC(model, CrossEntropy(), targets="data", lr=1.0, params=grouped(model, *OWN)), model, batch
    )

    for place, settings in enumerate(OWN):
        whole, damping = Scaled(), 0.1 + 0.1 - settings["l2"]  # γ is that of the largest l2
        theirs = moves(KFAC(whole, CrossEntropy(), targets="data", damping=damping, **settings), whole, batch)
        assert_close(ours[place], theirs[place])


def dense(optimizer, model, inputs, targets):
    """The weights, h's gradient and the matrix of M without λ, and η of each weight, as flat vectors."""
    network, own = Network(model, inputs), {}
    for group in optimizer.param_groups:
        own |= dict.fromkeys(group["params"], group["l2"])
    l2 = torch.cat([torch.full_like(p, own[p]).flatten() for p in model.parameters()])
    matrix = gauss_newton(jacobian(network), output_curvature(CrossEntropy(), network(network.params)))
    slopes = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), [*model.parameters()])
    before = flat(network.params).clone()
    gradient = torch.cat([slope.flatten() for slope in slopes]) + l2 * before
    return before, gradient, matrix + torch.diag(l2)


def now(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("inverse", ["block_diagonal", "block_tridiagonal"])
def test_the_model_of_an_adaptive_step_has_the_l2_term_and_the_length_of_each_group(a_batch, inverse):
    model, batch = Scaled(), a_batch(20, 4, 3)
    settings = {"targets": "data", "damping": 0.5, "inverse": inverse}
    optimizer = KFAC(model, CrossEntropy(), params=grouped(model, *OWN), **settings)
    optimizer.step(*a_batch(20, 4, 3, seed=1))  # from here on with momentum
    before, gradient, matrix = dense(optimizer, model, *batch)
    step = optimizer.step(*batch)
    moved = now(model) - before

    curved = matrix @ moved + step.damping * moved
    assert step.model_change == pytest.approx(float(gradient @ moved + moved @ curved / 2), rel=1e-9)


def test_conjugate_gradients_solve_with_the_l2_term_of_each_group(a_batch):
    model, batch = Scaled(), a_batch(20, 4, 3)
    groups = grouped(model, {"l2": 0.0}, {"l2": 2.0}, {"l2": 0.5})
    optimizer = KFAC(model, CrossEntropy(), targets="data", damping=0.5, cg_steps=50, params=groups)
    before, gradient, matrix = dense(optimizer, model, *batch)
    optimizer.step(*batch)
    truth = -torch.linalg.solve(matrix + 0.5 * torch.eye(len(matrix)), gradient)

    assert (now(model) - before - truth).norm() < 1e-3 * truth.norm()


def kind(optimizer, **usual):
    return lambda model, **more: optimizer(model, CrossEntropy(), targets="data", **usual, **more)


KINDS = [kind(EKFAC), kind(KFAC, lr=0.1), kind(KFAC, damping=1.0)]
of_kinds = pytest.mark.parametrize("make", KINDS, ids=["EKFAC", "KFAC", "KFAC, adaptive"])


@of_kinds
def test_what_is_in_no_group_is_as_if_it_were_frozen(make, a_batch):
    frozen, model = Scaled(), Scaled()
    frozen[0].requires_grad_(False)
    one, other = make(frozen), make(model, params=[{"params": parts(model)[1]}, {"params": parts(model)[2]}])
    for seed in range(6):
        one.step(*a_batch(20, 4, 3, seed=seed))
        other.step(*a_batch(20, 4, 3, seed=seed))

    for ours, theirs in zip(weights(model), weights(frozen), strict=True):
        assert_close(ours, theirs)


@of_kinds
def test_a_group_at_rest_leaves_the_others_the_steps_that_they_take_alone(make, a_batch):
    alone, model = Scaled(), Scaled()
    alone_params, rests = [{"params": parts(alone)[2]}], [{"lr": 0.0}, {"lr": 0.0}, {}]
    one, other = make(alone, params=alone_params), make(model, params=grouped(model, *rests))
    for seed in range(6):
        one.step(*a_batch(20, 4, 3, seed=seed))
        other.step(*a_batch(20, 4, 3, seed=seed))

    for ours, theirs in zip(weights(model), weights(alone), strict=True):
        assert_close(ours, theirs)


def test_a_group_whose_lr_falls_to_0_stays_with_its_momentum(a_batch):
    model = Scaled()
    optimizer = KFAC(model, CrossEntropy(), targets="data", damping=1.0, params=grouped(model, {}, {}, {}))
    optimizer.step(*a_batch(20, 4, 3))
    optimizer.param_groups[1]["lr"] = 0.0
    moved = moves(optimizer, model, a_batch(20, 4, 3, seed=1))

    assert [any(move.any() for move in part) for part in moved] == [True, False, True]


def test_the_loss_after_has_the_l2_term_of_each_group(a_batch):
    model, (inputs, targets) = Scaled(), a_batch(20, 4, 3)
    groups = grouped(model, *OWN)
    optimizer = KFAC(model, CrossEntropy(), targets="data", damping=1.0, params=groups)
    *_, step = [optimizer.step(inputs, targets) for _ in range(5)]

    with torch.no_grad():
        term = sum(g["l2"] / 2 * sum(p.square().sum() for p in g["params"]) for g in groups)
        h = CrossEntropy().loss(model(inputs), targets) + term
    assert step.loss_after == pytest.approx(float(h), rel=1e-12)


def test_an_lr_of_all_groups_multiplies_the_adaptive_step(a_batch):
    whole, halved = Scaled(), Scaled()
    settings = {"targets": "data", "damping": 1.0}
    theirs = moves(KFAC(whole, CrossEntropy(), **settings), whole, a_batch(20, 4, 3))
    slow = KFAC(halved, CrossEntropy(), **settings, params=grouped(halved, *[{"lr": 0.5}] * 3))

    for ours, full in zip(moves(slow, halved, a_batch(20, 4, 3)), theirs, strict=True):
        assert_close(ours, [0.5 * move for move in full])


def test_a_group_that_comes_later_has_the_damping_that_was_found(a_batch):
    model = Scaled()
    optimizer = KFAC(model, CrossEntropy(), params=parts(model)[2])
    for seed in range(10):
        optimizer.step(*a_batch(20, 4, 3, seed=seed))
    optimizer.add_param_group({"params": parts(model)[0]})
    for seed in range(10, 20):
        optimizer.step(*a_batch(20, 4, 3, seed=seed))

    dampings = [group["damping"] for group in optimizer.param_groups]
    assert dampings[0] == dampings[1]


@of_kinds
@pytest.mark.parametrize(
    ("group", "sentence"),
    [
        (lambda model: {"params": [model[0].bias]}, "'0.weight' and '0.bias' are in two groups"),
        (lambda _: {"params": [nn.Parameter(torch.ones(1))]}, "none of the model's"),
        (lambda model: {"params": [model.scale], "lr": -1.0}, "lr must be"),
        (lambda model: {"params": [model.scale], "refresh_every": 3}, "refresh_every differs between groups"),
        (lambda model: {"params": [model.scale], "decay": 0.5}, "decay is one for all groups"),
    ],
)
def test_a_group_that_cannot_be_is_refused_and_leaves_nothing(make, group, sentence):
    model = Scaled()
    optimizer = make(model, params=[model[0].weight])
    with pytest.raises(ValueError, match=sentence):
        optimizer.add_param_group(group(model))

    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize("lr", [None, 0.1])
def test_kfac_has_one_damping_for_all_groups_and_says_so(lr):
    model = Scaled()
    with pytest.raises(ValueError, match=r"damping differs between groups \(1.0, 2.0\), but KFAC has one"):
        KFAC(model, CrossEntropy(), lr=lr, damping=1.0, params=grouped(model, {}, {"damping": 2.0}, {}))


def test_a_shared_setting_that_is_changed_in_one_group_is_refused_by_the_step(a_batch):
    model = Scaled()
    optimizer = EKFAC(model, CrossEntropy(), params=grouped(model, {}, {}, {}))
    optimizer.param_groups[1]["refresh_every"] = 7
    with pytest.raises(ValueError, match="refresh_every differs between groups"):
        optimizer.step(*a_batch(6, 4, 3))


def test_a_layer_that_is_unfrozen_into_two_groups_is_refused_by_the_step(a_batch):
    model = Scaled()
    model[0].requires_grad_(False)
    groups = [{"params": [parameter]} for parameter in model[0].parameters()]
    optimizer = EKFAC(model, CrossEntropy(), params=groups)
    model[0].requires_grad_(True)
    with pytest.raises(ValueError, match=r"'0\.weight' and '0\.bias' are in two groups"):
        optimizer.step(*a_batch(6, 4, 3))
