"""What second-order methods are said to be good for, on the smallest networks where it can be seen."""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.optim import SGD

from optimizers import CrossEntropy, GaussNewton, NaturalGradient, squared_error
from optimizers.curvature.dense import (
    gauss_newton,
    gradients_by_case,
    jacobian,
    output_curvature,
    sizes_by_layer,
)
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from optimizers.solvers.cg import conjugate_gradients
from worker.models.one_unit import OneUnitAutoencoder


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def gradient_of(model, objective, inputs, targets):
    loss = objective.loss(model(inputs), targets)
    return flat(dict(enumerate(torch.autograd.grad(loss, list(model.parameters())))))


def step_of(optimizer_of, model, inputs, targets):
    """What one update adds to a copy of the model, as one vector."""
    moved = copy.deepcopy(model)
    optimizer_of(moved).step(inputs, targets)
    return (flat(dict(moved.named_parameters())) - flat(dict(model.named_parameters()))).detach()


# Long lags

LAGS = 10


class LinearRecurrent(nn.Module):
    """x ← W x + U u, and one fixed output at the end. A channel of inputs for each time, or one for all."""

    def __init__(self, radius, seed, *, units=4, channels=LAGS):
        super().__init__()
        w, u, c = normal(units, units, seed=seed), normal(units, channels, seed=seed + 1), normal(1, units)
        self.w = nn.Parameter(radius * torch.linalg.qr(w)[0])  # all eigenvalues have this size
        self.u = nn.Parameter(u / math.sqrt(LAGS))
        self.register_buffer("c", c)

    def forward(self, numbers):
        inputs = numbers.diag_embed() if self.u.shape[1] == LAGS else numbers[:, :, None]
        states = torch.zeros(len(numbers), len(self.w), dtype=numbers.dtype)
        for values in inputs.unbind(dim=1):
            states = states @ self.w.T + values @ self.u.T
        return states @ self.c.T


def responses(model):
    """The network on an impulse at each time: the first has the longest lag."""
    return Network(model, torch.eye(LAGS, dtype=torch.float64))


def share_of_the_long(responses):
    """Share of the longer half of all lags."""
    return float(responses[: LAGS // 2].square().sum() / responses.square().sum())


def share_of_long_lags(model, step):
    """Their share in how a step changes, to first order, the response to each input."""
    return share_of_the_long(jacobian(responses(model))[:, 0] @ step)


def share_of_their_weights(step):
    """Share of the weights that inputs of long ago alone go through."""
    weights = step[-4 * LAGS :].reshape(4, LAGS)  # U comes last
    return float(weights[:, : LAGS // 2].square().sum() / step.square().sum())


ALL = torch.ones(LAGS, dtype=torch.float64)
TWO = torch.tensor([0, 1, 0, 0, 0, 0, 0, 0, 0, 1], dtype=torch.float64)  # lags 8 and 0


def gradient_and_steps(model, *dampings, wanted=ALL):
    """The gradient and the steps of Gauss-Newton for learning the sum of the wanted inputs."""
    numbers = normal(200, LAGS, seed=100)
    batch = numbers, numbers @ wanted[:, None]
    return gradient_of(model, squared_error(), *batch), *(
        step_of(lambda m, d=d: GaussNewton(m, squared_error(), damping=d), model, *batch) for d in dampings
    )


@pytest.mark.row(189)
@pytest.mark.parametrize("seed", range(0, 16, 2))
@pytest.mark.parametrize("radius", [0.5, 0.7])
def test_a_step_has_more_of_long_lags_than_the_gradient_the_less_it_is_damped(radius, seed):
    model = LinearRecurrent(radius, seed)
    gradient, *steps = gradient_and_steps(model, 1e-1, 1e-3, 1e-9)
    shares = [share_of_long_lags(model, step) for step in (gradient, *steps)]

    assert shares == sorted(shares)
    assert shares[-1] > 4 * shares[0]
    assert share_of_their_weights(steps[-1]) > 2 * share_of_their_weights(gradient)
    lacking = 1 - responses(model)(dict(model.named_parameters())).detach()
    assert shares[-1] == pytest.approx(share_of_the_long(lacking), rel=0.01)


@pytest.mark.row(189)
@pytest.mark.parametrize(
    ("radius", "shares"),
    [(0.5, [0.0004, 0.027, 0.29, 0.43]), (0.7, [0.033, 0.28, 0.41, 0.41]), (0.9, [0.75, 0.37, 0.38, 0.38])],
)
def test_in_the_middle_of_eight_networks_long_lags_have_these_shares(radius, shares):
    models = [LinearRecurrent(radius, seed) for seed in range(0, 16, 2)]
    found = [
        [share_of_long_lags(model, step) for step in gradient_and_steps(model, 1e-1, 1e-3, 1e-9)]
        for model in models
    ]

    assert torch.tensor(found).median(dim=0).values.tolist() == pytest.approx(shares, rel=0.12)


@pytest.mark.row(189)
@pytest.mark.parametrize("radius", [0.5, 0.7])
def test_most_steps_have_more_of_long_lags_where_all_inputs_go_through_the_same_weights(radius):
    models = [LinearRecurrent(radius, seed, channels=1) for seed in range(0, 16, 2)]
    both = [(model, *gradient_and_steps(model, 1e-3)) for model in models]
    times = [share_of_long_lags(m, step) / share_of_long_lags(m, gradient) for m, gradient, step in both]

    assert sum(ratio > 2 for ratio in times) >= 7


@pytest.mark.row(189)
@pytest.mark.parametrize("seed", range(0, 16, 2))
def test_it_has_less_of_them_where_the_network_cannot_change_one_lag_without_the_others(seed):
    model = LinearRecurrent(0.7, seed, units=2, channels=1)
    shares = [share_of_long_lags(model, step) for step in gradient_and_steps(model, 1e-3, wanted=TWO)]

    assert shares[1] < 0.6 * shares[0]


@pytest.mark.row(189)
@pytest.mark.parametrize(("activation", "left"), [(nn.Tanh, 1e-2), (nn.Identity, 1e-2), (nn.Sigmoid, 1e-7)])
@pytest.mark.parametrize("seed", range(3))
def test_the_curvature_of_early_layers_vanishes_with_their_gradient(
    a_network, a_batch, activation, left, seed
):
    inputs, targets = a_batch(40, 5, 3)
    network = Network(a_network(*[5] * 10, 3, activation=activation, seed=seed), inputs)
    matrix = gauss_newton(jacobian(network), output_curvature(CrossEntropy(), network(network.params)))
    gradient = gradients_by_case(network, CrossEntropy(), targets).mean(dim=0)
    sizes = sizes_by_layer(network.params)
    gradients = torch.stack([part.norm() for part in gradient.split(sizes)])
    curvatures = torch.stack([part.sum().sqrt() for part in matrix.diag().split(sizes)])

    assert gradients[0] < left * gradients[-1]
    assert curvatures[0] < left * curvatures[-1]
    ratios = curvatures / gradients  # the root of a block's trace vanishes just as the gradient does
    assert ratios.max() < 5 * ratios.min()


# Plateaus


class LogisticUnit(nn.Module):
    """x ↦ logistic(w x + b), saturated where b is large."""

    def __init__(self, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
        self.bias = nn.Parameter(torch.tensor(bias, dtype=torch.float64))

    def forward(self, inputs):
        return torch.sigmoid(self.weight * inputs + self.bias)


INPUTS = torch.linspace(0, 1, 50, dtype=torch.float64)[:, None]
HALF_AND_HALF = torch.where(INPUTS > 0.5, 0.8, 0.2)


def natural_step(model, targets, **settings):
    return step_of(lambda m: NaturalGradient(m, squared_error(), **settings), model, INPUTS, targets)


@pytest.mark.row(190)
@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("exact", [23.2, 45.1, 97.0, 99.9, 100.0, 100.0]),
        ("empirical", [40.6, 55.5, 97.4, 99.9, 100.0, 100.0]),
    ],
)
def test_on_a_plateau_steps_by_fisher_and_by_covariance_are_longer_than_the_gradient(kind, times):
    ratios = []
    for bias in (0.0, 2.0, 4.0, 6.0, 8.0, 10.0):
        unit = LogisticUnit(bias)
        gradient = gradient_of(unit, squared_error(), INPUTS, HALF_AND_HALF)
        step = natural_step(unit, HALF_AND_HALF, kind=kind, damping=1e-2)
        ratios.append(float(step.norm() / gradient.norm()))

    assert ratios == pytest.approx(times, rel=3e-3)
    assert ratios[-1] == pytest.approx(1 / 1e-2, rel=1e-6)  # where the metric vanishes, damping remains


@pytest.mark.row(190)
def test_undamped_the_natural_step_moves_the_outputs_as_much_however_flat_the_plateau():
    moves = {"natural": [], "gradient": []}
    for bias in (6.0, 8.0, 10.0):
        unit = LogisticUnit(bias)
        slopes = jacobian(Network(unit, INPUTS))[:, 0]
        gradient = gradient_of(unit, squared_error(), INPUTS, HALF_AND_HALF)
        step = natural_step(unit, HALF_AND_HALF, damping=1e-14)
        moves["natural"].append(float((slopes @ step).norm()))
        moves["gradient"].append(float((slopes @ gradient).norm()))

    assert moves["natural"] == pytest.approx([moves["natural"][-1]] * 3, rel=0.01)
    falls = [after / before for before, after in zip(moves["gradient"], moves["gradient"][1:], strict=False)]
    assert falls == pytest.approx([math.exp(-4)] * 2, rel=0.05)  # by the square of the slope


@pytest.mark.row(190)
def test_the_weight_of_a_saturated_autoencoder_moves_further_than_by_its_gradient():
    for bias in (-4.0, -6.0, -8.0):
        model = OneUnitAutoencoder(1.0, bias).double()
        gradient = gradient_of(model, squared_error(), INPUTS, INPUTS)
        fisher = natural_step(model, INPUTS, damping=1e-2)
        covariance = natural_step(model, INPUTS, kind="empirical", damping=1e-2)

        assert min(fisher[0].abs(), covariance[0].abs()) > 1.2 * gradient[0].abs()
        assert float(fisher.norm() / gradient.norm()) == pytest.approx(
            0.5, abs=0.05
        )  # the bias, of curvature 2
        assert covariance.norm() < 0.1 * gradient.norm()


# First-order methods and conjugate gradients


def iterates_of(optimizer_of, values, start, updates):
    """The points that an optimizer of torch visits on ½ Σ λ x²."""
    point = nn.Parameter(start.clone())
    optimizer = optimizer_of([point])
    yield start
    for _ in range(updates):
        point.grad = values * point.detach()
        optimizer.step()
        yield point.detach().clone()


def height(values, point):
    return float((values * point**2).sum()) / 2


def solved(values, start, steps):
    return conjugate_gradients(
        lambda v: values * v, 0 * start, start=start, max_iterations=steps, progress=0.0, keep=lambda _: True
    )


spectra = st.lists(st.floats(1e-3, 1e2), min_size=1, max_size=8)


@pytest.mark.row(191)
@settings(deadline=None, max_examples=100)
@given(
    spectrum=spectra,
    share=st.floats(1e-3, 3.9),  # of the learning rate that the largest curvature allows
    momentum=st.floats(0, 1),
    nesterov=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_conjugate_gradients_are_never_worse_than_as_many_steps_of_the_heavy_ball(
    spectrum, share, momentum, nesterov, seed
):
    values = torch.tensor(spectrum, dtype=torch.float64)
    start, updates = normal(len(values), seed=seed), len(values)

    def torch_s(params):
        return SGD(params, lr=share / max(spectrum), momentum=momentum, nesterov=nesterov and momentum > 0)

    first, found = height(values, start), solved(values, start, updates)
    for k, point in enumerate(iterates_of(torch_s, values, start, updates)):
        if k:
            least = height(values, found.iterates[min(k, found.iterations)])
            assert least <= height(values, point) + 1e-12 * first


def steps_needed(points, values):
    """How many steps it takes until the excess is 10⁻¹² of the first."""
    heights = [height(values, point) for point in points]
    return next(k for k, height in enumerate(heights) if height <= 1e-12 * heights[0])


@pytest.mark.row(191)
@pytest.mark.parametrize(
    ("condition", "needed"), [(10.0, (59, 24, 21)), (100.0, (598, 85, 61)), (1000.0, (6064, 292, 151))]
)
def test_steps_grow_with_the_condition_for_descent_and_with_its_root_for_momentum(condition, needed):
    values = torch.logspace(0, math.log10(condition), 200, dtype=torch.float64)
    start, root = torch.ones_like(values), math.sqrt(condition)
    rate = (root - 1) / (root + 1)
    best = {"lr": 4 / (1 + root) ** 2, "momentum": rate**2}
    descent = [*iterates_of(lambda p: SGD(p, lr=2 / (1 + condition)), values, start, int(9 * condition))]
    ball = [*iterates_of(lambda p: SGD(p, **best), values, start, int(60 * root))]
    conjugate = [start, *solved(values, start, 300).iterates.values()]

    assert float(descent[-1][0] / descent[-2][0]) == pytest.approx((condition - 1) / (condition + 1))
    half = len(ball) // 2
    assert float(ball[-1].norm() / ball[-1 - half].norm()) ** (1 / half) == pytest.approx(rate, rel=0.02)
    counts = [steps_needed(points, values) for points in (descent, ball, conjugate)]
    assert counts == pytest.approx(needed, abs=1)


@pytest.mark.row(191)
@given(condition=st.floats(1, 1e6))
def test_the_rate_of_momentum_is_at_least_that_of_root_condition_steps_of_descent(condition):
    root = math.sqrt(condition)

    assert (root - 1) / (root + 1) <= ((condition - 1) / (condition + 1)) ** root + 1e-12
    assert 1 - 1 / root <= (1 - 1 / condition) ** root + 1e-12


@pytest.mark.row(191)
@settings(deadline=None, max_examples=50)
@given(spectrum=spectra, seed=st.integers(0, 1000))
def test_conjugate_gradients_keep_to_the_bound_of_the_condition(spectrum, seed):
    values = torch.tensor(spectrum, dtype=torch.float64)
    start, root = normal(len(values), seed=seed), math.sqrt(max(spectrum) / min(spectrum))
    first, found = height(values, start), solved(values, start, 20)

    for k, point in found.iterates.items():
        bound = 2 * ((root - 1) / (root + 1)) ** k  # in the norm of the matrix
        assert math.sqrt(height(values, point)) <= (bound + 1e-7) * math.sqrt(first)
