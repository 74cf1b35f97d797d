"""What K-FAC does not see: affine maps of inputs and activities (Martens 2016, sec. 6.10)."""

import itertools

import pytest
import torch
from torch import nn

from optimizers import KFAC, Bernoulli, squared_error
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.statistics import exact_slopes, measure

WIDTHS = (4, 3, 4, 2)
UNDAMPED = 1e-30


def normal(*shape, seed):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class Activities(nn.Module):
    """ā† = Ω [φ(Φ s†); 1]: all that lies between two layers of a transformed network."""

    def __init__(self, omega, phi, function=torch.tanh):
        super().__init__()
        self.omega, self.phi, self.function = omega, phi, function

    def forward(self, sums):
        activities = self.function(sums @ self.phi.T)
        return torch.cat([activities, activities.new_ones(len(sums), 1)], dim=1) @ self.omega.T


class Inputs(nn.Module):
    """ā†₀ = Ω₀ [x; 1]."""

    def __init__(self, omega):
        super().__init__()
        self.omega = omega

    def forward(self, inputs):
        return torch.cat([inputs, inputs.new_ones(len(inputs), 1)], dim=1) @ self.omega.T


def plain():
    """Ω and Φ of a network that is not transformed."""
    omegas = [torch.eye(width + 1, dtype=torch.float64) for width in WIDTHS[:-1]]
    return omegas, [torch.eye(width, dtype=torch.float64) for width in WIDTHS[1:]]


def a_transformation(seed=7):
    omegas, phis = plain()
    return (
        [omega + 0.3 * normal(*omega.shape, seed=seed + i) for i, omega in enumerate(omegas)],
        [phi + 0.3 * normal(*phi.shape, seed=seed + 10 + i) for i, phi in enumerate(phis)],
    )


def matrices():
    return [
        normal(outputs, inputs + 1, seed=20 + inputs + outputs) * 0.7
        for inputs, outputs in itertools.pairwise(WIDTHS)
    ]


def transformed(omegas, phis):
    """The network whose W† = Φ⁻¹ W Ω⁻¹: it computes what the plain one does, the last Φ aside."""
    modules = [Inputs(omegas[0])]
    for i, w in enumerate(matrices()):
        layer = nn.Linear(w.shape[1], w.shape[0], bias=False).double()
        layer.weight.data = torch.linalg.solve(phis[i], w) @ torch.linalg.inv(omegas[i])
        modules.append(layer)
        if i < len(omegas) - 1:
            modules.append(Activities(omegas[i + 1], phis[i]))
    return nn.Sequential(*modules)


def layers(model):
    return [module for module in model.modules() if isinstance(module, nn.Linear)]


def moves(model, step):
    before = [layer.weight.detach().clone() for layer in layers(model)]
    step(model)
    return [layer.weight.detach() - start for layer, start in zip(layers(model), before, strict=True)]


@pytest.fixture(name="batch")
def _batch():
    return normal(40, 4, seed=1), (normal(40, 2, seed=2) > 0).double()


def undamped(batch, inverse="block_diagonal", updates=1):
    def step(model):
        optimizer = KFAC(
            model, Bernoulli(), lr=0.4, damping=UNDAMPED, targets="exact", inverse=inverse, refresh_every=1
        )
        for _ in range(updates):
            optimizer.step(*batch)

    return step


def by_gradient(batch, lr=0.4):
    def step(model):
        inputs, targets = batch
        params = [layer.weight for layer in layers(model)]
        found = torch.autograd.grad(Bernoulli().loss(model(inputs), targets), params)
        with torch.no_grad():
            for parameter, gradient in zip(params, found, strict=True):
                parameter.sub_(lr * gradient)

    return step


def mapped(model, phis, omegas, step):
    return [phi @ move @ omega for phi, move, omega in zip(phis, moves(model, step), omegas, strict=True)]


def distance(ours, theirs):
    pairs = list(zip(ours, theirs, strict=True))
    return max(((our - their).norm() / their.norm()).item() for our, their in pairs)


@pytest.mark.row(183)
@pytest.mark.parametrize(("inverse", "within"), [("block_diagonal", 1e-11), ("block_tridiagonal", 1e-6)])
def test_a_transformed_network_moves_as_the_plain_one_does(batch, inverse, within):
    omegas, phis = a_transformation()
    phis[-1] = torch.eye(2, dtype=torch.float64)  # the outputs are the outputs
    step = undamped(batch, inverse)
    ours, theirs = mapped(transformed(omegas, phis), phis, omegas, step), moves(transformed(*plain()), step)

    assert distance(ours, theirs) <= within


@pytest.mark.row(183)
def test_gradient_descent_in_a_transformed_network_goes_elsewhere(batch):
    omegas, phis = a_transformation()
    phis[-1] = torch.eye(2, dtype=torch.float64)
    step = by_gradient(batch)
    ours, theirs = mapped(transformed(omegas, phis), phis, omegas, step), moves(transformed(*plain()), step)

    assert distance(ours, theirs) > 0.5


def path(model, inputs, targets, updates=3):
    """The outputs on the way."""
    optimizer = KFAC(model, Bernoulli(), lr=0.02, damping=UNDAMPED, targets="exact", refresh_every=1)
    outputs = []
    for _ in range(updates):
        optimizer.step(inputs, targets)
        outputs.append(model(inputs).detach())
    return torch.stack(outputs)


@pytest.mark.row(185)
def test_logistic_and_tanh_networks_that_start_as_one_function_stay_one(a_network, batch):
    logistic, hyperbolic = a_network(4, 3, 3, activation=nn.Sigmoid), a_network(4, 3, 3, activation=nn.Tanh)
    with torch.no_grad():  # σ(s) = ½ tanh(s/2) + ½
        for place, (ours, theirs) in enumerate(zip(layers(hyperbolic), layers(logistic), strict=True)):
            weight, bias = theirs.weight.clone(), theirs.bias.clone()
            if place > 0:
                weight, bias = weight / 2, bias + weight.sum(dim=1) / 2
            if place == 0:
                weight, bias = weight / 2, bias / 2
            ours.weight.copy_(weight)
            ours.bias.copy_(bias)
    inputs, targets = batch[0], (normal(40, 3, seed=2) > 0).double()
    torch.testing.assert_close(hyperbolic(inputs), logistic(inputs), rtol=1e-12, atol=1e-12)

    ours, theirs = path(hyperbolic, inputs, targets), path(logistic, inputs, targets)

    assert (ours - theirs).norm() <= 1e-9 * theirs.norm()


@pytest.mark.row(185)
def test_the_units_and_the_origin_of_the_inputs_make_no_difference(a_network, batch):
    inputs, targets = batch
    mixed, shift = torch.eye(4) + 0.5 * normal(4, 4, seed=5), normal(4, seed=6)
    plain_model, other = a_network(*WIDTHS), a_network(*WIDTHS)
    with torch.no_grad():  # s = W x + b of x = M⁻¹(x† - c)
        weight = plain_model[0].weight @ torch.linalg.inv(mixed)
        other[0].weight.copy_(weight)
        other[0].bias.copy_(plain_model[0].bias - weight @ shift)

    ours, theirs = path(other, inputs @ mixed.T + shift, targets), path(plain_model, inputs, targets)

    assert (ours - theirs).norm() <= 1e-9 * theirs.norm()


def factors_of(model, inputs):
    with recording(model, find_blocks(model)) as uses:
        outputs = model(inputs)
    return measure(uses, outputs, exact_slopes(Bernoulli(), outputs.detach(), torch.Generator())).factors


def whitening(a):
    """Ω with Ω A Ωᵀ = I that keeps the homogeneous coordinate: [[C^-½, -C^-½ m], [0, 1]]."""
    mean, width = a[:-1, -1], len(a) - 1
    values, vectors = torch.linalg.eigh(a[:-1, :-1] - mean.outer(mean))
    root = (vectors / values.sqrt()) @ vectors.T
    omega = torch.eye(width + 1, dtype=torch.float64)
    omega[:-1, :-1], omega[:-1, -1] = root, -root @ mean
    return omega


@pytest.mark.row(184)
def test_it_is_gradient_descent_where_activities_are_white_and_so_are_gradients(batch):
    model = transformed(*plain())
    factors = factors_of(model, batch[0])
    omegas = [whitening(each.inputs.values) for each in factors.values()]
    roots = [torch.linalg.eigh(each.outputs.values) for each in factors.values()]
    phis = [(vectors / values.sqrt()) @ vectors.T for values, vectors in roots]
    white = transformed(omegas, phis)
    last = nn.Linear(2, 2, bias=False).double()
    last.weight.data = phis[-1]  # the outputs are the outputs: Φ stands behind the last layer, and stays
    frozen = nn.Sequential(white, last)

    def descend(_):
        found = torch.autograd.grad(
            Bernoulli().loss(frozen(batch[0]), batch[1]), [layer.weight for layer in layers(white)]
        )
        with torch.no_grad():
            for layer, gradient in zip(layers(white), found, strict=True):
                layer.weight.sub_(0.4 * gradient)

    ours, theirs = mapped(white, phis, omegas, descend), moves(model, undamped(batch))
    assert distance(ours, theirs) <= 1e-10


@pytest.mark.row(184)
@pytest.mark.row(235)
def test_white_activities_are_centred_and_those_of_the_symmetric_root_are_not():
    activities = torch.cat([normal(40, 3, seed=8), torch.ones(40, 1, dtype=torch.float64)], dim=1)
    a = activities.T @ activities / 40
    values, vectors = torch.linalg.eigh(a)
    white, other = activities @ whitening(a).T, activities @ (vectors / values.sqrt()) @ vectors.T

    for each in (white, other):
        torch.testing.assert_close(each.T @ each / 40, torch.eye(4, dtype=torch.float64))
    assert white[:, :-1].mean(dim=0).abs().max() <= 1e-12
    assert other[:, :-1].mean(dim=0).abs().max() > 0.01


@pytest.mark.row(141)
@pytest.mark.row(183)
def test_the_form_of_heskes_without_damping_moves_alike_in_a_transformed_network(batch):
    omegas, phis = a_transformation()
    phis[-1] = torch.eye(2, dtype=torch.float64)

    def step(model):
        KFAC.heskes(model, Bernoulli(), lr=0.4, damping=UNDAMPED).step(*batch)

    ours, theirs = mapped(transformed(omegas, phis), phis, omegas, step), moves(transformed(*plain()), step)
    assert distance(ours, theirs) <= 1e-11


@pytest.mark.row(136)
def test_where_inputs_are_white_with_their_constant_only_the_gradients_are_whitened(a_network):
    columns = torch.cat([torch.ones(40, 1, dtype=torch.float64), normal(40, 4, seed=3)], dim=1)
    inputs = torch.linalg.qr(columns)[0][:, 1:] * 40**0.5
    targets, model = (normal(40, 2, seed=4) > 0).double(), a_network(4, 2)
    g = factors_of(model, inputs)["0.weight"].outputs.values
    found = torch.autograd.grad(Bernoulli().loss(model(inputs), targets), list(model.parameters()))
    before = [parameter.detach().clone() for parameter in model.parameters()]
    KFAC(model, Bernoulli(), lr=0.4, damping=UNDAMPED, targets="exact").step(inputs, targets)

    for parameter, start, gradient in zip(model.parameters(), before, found, strict=True):
        torch.testing.assert_close(
            parameter.detach() - start, -0.4 * torch.linalg.solve(g, gradient), rtol=1e-9, atol=1e-12
        )


def test_for_one_linear_layer_it_is_the_natural_gradient(a_network, a_batch):
    model, (inputs, _) = a_network(4, 2), a_batch(20, 4, 2)
    targets = normal(20, 2, seed=4)
    KFAC(model, squared_error(), lr=1.0, damping=UNDAMPED, targets="exact").step(inputs, targets)

    design = torch.cat([inputs, torch.ones(20, 1, dtype=torch.float64)], dim=1)
    best = torch.linalg.lstsq(design, targets).solution
    torch.testing.assert_close(model(inputs), design @ best, rtol=1e-9, atol=1e-9)
