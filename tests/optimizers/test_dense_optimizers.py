import inspect
import io
import math
from itertools import pairwise

import pytest
import torch
from torch import nn

from optimizers import (
    KFAC,
    SGDQN,
    TONGA,
    VSGD,
    AdaptiveNaturalGradient,
    Almeida,
    Bernoulli,
    CovarianceNaturalGradient,
    CrossEntropy,
    DiagonalNewton,
    FullAdaGrad,
    Gaussian,
    GaussNewton,
    LeCunRate,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    NonlinearConjugateGradients,
    OnlineLBFGS,
    OnlineNaturalGradient,
    OnlineNewtonStep,
    SilvaAlmeida,
    StochasticMetaDescent,
    UnitwiseGaussNewton,
    squared_error,
)
from optimizers.curvature.dense import (
    block_diagonal,
    gauss_newton,
    hessian,
    jacobian,
    output_curvature,
)
from optimizers.curvature.network import Network
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import NotPositiveDefiniteError, TooLargeError
from optimizers.stopwatch import Stopwatch

KINDS = {
    "newton": Newton,
    "newton, absolute": lambda *a, **s: Newton(*a, negative="absolute", **s),
    "gauss-newton": GaussNewton,
    "natural": NaturalGradient,
    "natural, sampled": lambda *a, **s: NaturalGradient(*a, kind="sampled", **s),
    "natural, empirical": lambda *a, **s: NaturalGradient(*a, kind="empirical", **s),
    "natural, by layer": lambda *a, **s: NaturalGradient(*a, by_layer=True, **s),
}
WITHOUT_SAMPLING = [kind for kind in KINDS if "sampled" not in kind]


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def theta(model):
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def linear(inputs=3, outputs=2, seed=0):
    torch.manual_seed(seed)
    return nn.Linear(inputs, outputs).double()


def a_regression(cases=8):
    stream = a_generator(1)
    inputs = torch.randn(cases, 3, generator=stream, dtype=torch.float64)
    return inputs, torch.randn(cases, 2, generator=stream, dtype=torch.float64)


def gradient_of(model, objective, inputs, targets):
    loss = objective.loss(model(inputs), targets)
    return torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, list(model.parameters()))])


# What each method is


@pytest.mark.row(107)
@pytest.mark.row(108)
@pytest.mark.parametrize("kind", ["newton", "gauss-newton", "natural"])
@pytest.mark.parametrize("objective", [squared_error(), squared_error(half=True), Gaussian(variance=0.1)])
def test_least_squares_are_solved_in_one_undamped_step(kind, objective):
    model, (inputs, targets) = linear(), a_regression()
    KINDS[kind](model, objective, damping=0.0).step(inputs, targets)

    rows = torch.cat([inputs, torch.ones(8, 1, dtype=torch.float64)], dim=1)
    truth = torch.linalg.lstsq(rows, targets).solution.T
    torch.testing.assert_close(torch.cat([model.weight, model.bias[:, None]], dim=1).detach(), truth)


def dense_step(model, batch, matrix, damping):
    gradient = gradient_of(model, CrossEntropy(), *batch)
    return -torch.linalg.solve(tikhonov(matrix, damping), gradient)


@pytest.mark.row(110)
@pytest.mark.row(108)
@pytest.mark.parametrize("kind", ["gauss-newton", "natural"])
def test_a_step_is_minus_the_damped_inverse_of_fisher_times_the_gradient(a_network, a_batch, kind):
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    network, before = Network(model, batch[0]), theta(model)
    fisher = gauss_newton(jacobian(network), output_curvature(CrossEntropy(), model(batch[0]).detach()))
    expected = dense_step(model, batch, fisher, 0.3)

    KINDS[kind](model, CrossEntropy(), damping=0.3).step(*batch)
    torch.testing.assert_close(theta(model) - before, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.row(110)
@pytest.mark.row(170)
def test_predictions_diverge_by_half_the_square_of_a_natural_step_under_fisher(a_network, a_batch):
    errors = []
    for lr in (0.1, 0.01):
        model, (inputs, targets) = a_network(4, 3, 3), a_batch(6, 4, 3)
        before, first = theta(model), model(inputs).log_softmax(dim=1).detach()
        fisher = gauss_newton(
            jacobian(Network(model, inputs)), output_curvature(CrossEntropy(), model(inputs).detach())
        )
        NaturalGradient(model, CrossEntropy(), lr=lr, damping=0.1).step(inputs, targets)
        step, second = theta(model) - before, model(inputs).log_softmax(dim=1).detach()
        divergence = (first.exp() * (first - second)).sum(dim=1).mean()
        errors.append(abs(divergence / (step @ fisher @ step / 2) - 1).item())

    assert errors[0] < 0.2
    assert errors[1] < 0.15 * errors[0]  # of the order of the step


@pytest.mark.row(107)
def test_a_newton_step_is_minus_the_damped_inverse_of_the_hessian_times_the_gradient(a_network, a_batch):
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    before, matrix = theta(model), hessian(Network(model, batch[0]), CrossEntropy(), batch[1])
    expected = dense_step(model, batch, matrix, 5.0)

    Newton(model, CrossEntropy(), damping=5.0).step(*batch)
    torch.testing.assert_close(theta(model) - before, expected, rtol=1e-8, atol=1e-12)


@pytest.mark.row(109)
def test_by_layer_the_step_is_the_solve_with_each_layers_block_alone(a_network, a_batch):
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    network, before = Network(model, batch[0]), theta(model)
    fisher = gauss_newton(jacobian(network), output_curvature(CrossEntropy(), model(batch[0]).detach()))
    gradient = gradient_of(model, CrossEntropy(), *batch)
    damped = tikhonov(fisher, 0.3)
    blocks = [slice(0, 15), slice(15, 27)]
    expected = -torch.cat([torch.linalg.solve(damped[b, b], gradient[b]) for b in blocks])

    NaturalGradient(model, CrossEntropy(), damping=0.3, by_layer=True).step(*batch)
    torch.testing.assert_close(theta(model) - before, expected)


@pytest.mark.row(109)
def test_of_one_layer_by_layer_is_the_whole():
    steps = []
    for by_layer in (False, True):
        model = linear()
        GaussNewton(model, squared_error(), by_layer=by_layer).step(*a_regression())
        steps.append(theta(model))

    torch.testing.assert_close(*steps)


@pytest.mark.row(109)
def test_the_inverse_of_a_block_diagonal_matrix_has_the_inverses_of_the_blocks():
    root = torch.randn(5, 5, generator=a_generator(), dtype=torch.float64)
    blocks = block_diagonal(root @ root.T, [2, 3])

    torch.testing.assert_close(blocks.inverse()[2:, 2:], (root @ root.T)[2:, 2:].inverse())


class Product(nn.Module):
    """w₁ w₂ x: the smallest network with a saddle."""

    def __init__(self, first, second):
        super().__init__()
        self.first = nn.Parameter(torch.tensor(first, dtype=torch.float64))
        self.second = nn.Parameter(torch.tensor(second, dtype=torch.float64))

    def forward(self, inputs):
        return self.first * self.second * inputs


SADDLE = torch.tensor([[1.0]], dtype=torch.float64), torch.tensor([[1.5]], dtype=torch.float64)
L2 = 0.08  # C = (w₁ w₂ - 1.5)² + 0.04 (w₁² + w₂²)


@pytest.mark.row(107)
@pytest.mark.row(43)
@pytest.mark.parametrize(
    ("at", "eigenvalues"), [((0.0, 0.0), (-2.92, 3.08)), ((1.46**0.5, 1.46**0.5), (0.16, 5.84))]
)
def test_the_eigenvalues_at_a_saddle_and_a_minimum_are_those_known(at, eigenvalues):
    matrix = tikhonov(hessian(Network(Product(*at), SADDLE[0]), squared_error(), SADDLE[1]), L2)

    torch.testing.assert_close(
        torch.linalg.eigvalsh(matrix), torch.tensor(eigenvalues, dtype=torch.float64), rtol=1e-12, atol=1e-12
    )


@pytest.mark.row(107)
def test_near_a_strict_minimum_newton_converges_quadratically():
    model = Product(1.1, 1.3)
    optimizer, errors = Newton(model, squared_error(), damping=0.0, l2=L2), []
    for _ in range(6):
        errors.append(float((theta(model) - 1.46**0.5).norm()))
        optimizer.step(*SADDLE)

    assert errors[-1] < 1e-9
    assert all(after < 10 * before**2 for before, after in pairwise(errors[:-1]))


@pytest.mark.row(107)
@pytest.mark.parametrize("negative", ["raise", "absolute"])
def test_near_a_saddle_both_remedies_descend_where_the_plain_step_climbs(negative):
    def cost(model):
        return squared_error().loss(model(SADDLE[0]), SADDLE[1]) + L2 / 2 * theta(model).square().sum()

    model = Product(0.3, 0.2)
    gradient = gradient_of(model, squared_error(), *SADDLE) + L2 * theta(model)
    matrix = tikhonov(hessian(Network(model, SADDLE[0]), squared_error(), SADDLE[1]), L2)
    assert gradient @ -torch.linalg.solve(matrix, gradient) > 0

    before = cost(model).item()
    Newton(model, squared_error(), lr=0.01, damping=0.0, l2=L2, negative=negative).step(*SADDLE)
    assert cost(model).item() < before


def test_the_damping_that_was_raised_is_reported_and_forgotten():
    model = Product(0.3, 0.2)
    optimizer = Newton(model, squared_error(), damping=1e-3)
    step = optimizer.step(*SADDLE)

    assert step.damping > 2.5
    assert optimizer.param_groups[0]["damping"] == 1e-3


@pytest.mark.row(111)
def test_with_more_samples_the_step_nears_that_of_the_exact_fisher_by_their_root(a_network, a_batch):
    batch, exact = a_batch(6, 4, 3), a_network(4, 3, 3)
    NaturalGradient(exact, CrossEntropy(), damping=1.0).step(*batch)

    def error(samples):
        gaps = []
        for seed in range(10):
            model = a_network(4, 3, 3)
            NaturalGradient(
                model,
                CrossEntropy(),
                damping=1.0,
                kind="sampled",
                samples=samples,
                generator=a_generator(seed),
            ).step(*batch)
            gaps.append((theta(model) - theta(exact)).square().sum())
        return float(torch.stack(gaps).mean().sqrt())

    assert error(64) == pytest.approx(error(4) / 4, rel=0.5)


class Constant(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = nn.Parameter(torch.tensor([[value]], dtype=torch.float64))

    def forward(self, inputs):
        return self.value.expand(len(inputs), 1)


def errors_of(kind, *, start=1.0, lr=0.3, steps=60):
    """Distances from the minimum of h = ½ θ², whose Fisher matrix is 1 and whose empirical one θ²."""
    model, zero = Constant(start), torch.zeros(1, 1, dtype=torch.float64)
    optimizer = NaturalGradient(model, squared_error(half=True), kind=kind, lr=lr, damping=0.0)
    errors = []
    for _ in range(steps):
        optimizer.step(zero, zero)
        errors.append(abs(model.value.item()))
    return errors


@pytest.mark.row(112)
def test_the_exact_fisher_contracts_to_the_minimum_at_the_rate_of_one_less_lr():
    assert errors_of("exact")[:4] == pytest.approx([0.7, 0.49, 0.343, 0.2401])


@pytest.mark.row(112)
def test_the_empirical_fisher_does_not_converge_to_the_minimum_at_any_constant_rate():
    # θ - lr θ⁻² θ = (1 - lr θ⁻²) θ: the nearer the minimum, the longer the step.
    assert max(errors_of("empirical", steps=120)[-60:]) > 0.1
    assert max(errors_of("empirical", start=0.2, lr=0.01, steps=200)[-100:]) > 0.05


@pytest.mark.row(43)
@pytest.mark.row(44)
def test_the_l2_term_enters_gradient_and_matrix_until_it_is_switched_off():
    model, (inputs, targets) = linear(), a_regression()
    optimizer = Newton(model, squared_error(half=True), damping=0.0, l2=0.5)
    rows = torch.cat([inputs, torch.ones(8, 1, dtype=torch.float64)], dim=1)
    for l2 in (0.5, 0.0):
        optimizer.param_groups[0]["l2"] = l2
        optimizer.step(inputs, targets)
        ridge = torch.linalg.solve(
            rows.T @ rows / 8 + l2 * torch.eye(4, dtype=torch.float64), rows.T @ targets / 8
        )
        torch.testing.assert_close(torch.cat([model.weight, model.bias[:, None]], dim=1).detach(), ridge.T)


@pytest.mark.row(235)
@pytest.mark.parametrize("trade_off", [0.5, 4.0])
def test_a_natural_step_descends_and_trade_offs_are_rate_and_damping(a_network, a_batch, trade_off):
    # -(1/λ_F) (F + (ε/λ_F) I)⁻¹ ∇h is lr = 1/λ_F with damping ε/λ_F.
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    network, before = Network(model, batch[0]), theta(model)
    fisher = gauss_newton(jacobian(network), output_curvature(CrossEntropy(), model(batch[0]).detach()))
    gradient, epsilon = gradient_of(model, CrossEntropy(), *batch), 0.2

    NaturalGradient(model, CrossEntropy(), lr=1 / trade_off, damping=epsilon / trade_off).step(*batch)
    step = theta(model) - before
    torch.testing.assert_close(trade_off * fisher @ step + epsilon * step, -gradient)
    assert gradient @ step < 0


def test_the_model_change_is_what_the_undamped_quadratic_foresees(a_network, a_batch):
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    gradient, before = gradient_of(model, CrossEntropy(), *batch), theta(model)
    matrix = hessian(Network(model, batch[0]), CrossEntropy(), batch[1])
    step = Newton(model, CrossEntropy(), damping=5.0).step(*batch)
    delta = theta(model) - before

    assert step.model_change == pytest.approx(float(gradient @ delta + delta @ matrix @ delta / 2))


# What every one keeps to


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_is_bit_identical(a_network, a_batch, kind):
    def train(optimizer, batches):
        for seed in batches:
            optimizer.step(*a_batch(6, 4, 3, seed=seed))

    model = a_network(4, 3, 3)
    optimizer = KINDS[kind](model, CrossEntropy(), lr=0.5, damping=1.0)
    train(optimizer, range(2))
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    train(optimizer, range(2, 4))

    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed = a_network(4, 3, 3, seed=5)
    resumed.load_state_dict(of_model)
    other = KINDS[kind](resumed, CrossEntropy(), lr=9.0)
    other.load_state_dict(of_optimizer)
    train(other, range(2, 4))
    assert torch.equal(theta(resumed), theta(model))


@pytest.mark.parametrize("kind", WITHOUT_SAMPLING)
@pytest.mark.parametrize("change", ["every case twice", "another order"])
def test_the_step_depends_on_the_cases_and_not_on_how_they_stand(a_network, a_batch, kind, change):
    inputs, targets = a_batch(6, 4, 3)
    rows = torch.arange(6).repeat(2) if change == "every case twice" else torch.tensor([3, 1, 5, 0, 2, 4])
    steps = []
    for batch in ((inputs, targets), (inputs[rows], targets[rows])):
        model = a_network(4, 3, 3)
        KINDS[kind](model, CrossEntropy()).step(*batch)
        steps.append(theta(model))

    torch.testing.assert_close(*steps, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_of_zero_takes_no_step(kind):
    model, (inputs, _) = linear(), a_regression()
    step = KINDS[kind](model, squared_error()).step(inputs, model(inputs).detach())

    assert step.update_norm == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_falls_over_fifty_steps_on_a_convex_quadratic(kind):
    model, (inputs, targets) = linear(), a_regression()
    optimizer = KINDS[kind](model, squared_error(half=True), lr=0.1, damping=1.0, generator=a_generator())
    losses = [optimizer.step(inputs, targets).loss for _ in range(50)]

    assert losses[-1] < 0.9 * losses[0]
    assert losses == sorted(losses, reverse=True) or "sampled" in kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_that_is_not_finite_changes_nothing(a_network, a_batch, kind):
    (inputs, targets), norm = a_batch(6, 4, 3), nn.BatchNorm1d(4).double()
    model = nn.Sequential(norm, a_network(4, 3, 3))
    before = theta(model)
    inputs[2, 1] = math.nan
    step = KINDS[kind](model, CrossEntropy()).step(inputs, targets)

    assert math.isnan(step.loss)
    assert step.update_norm == 0
    assert torch.equal(theta(model), before)
    assert torch.equal(norm.running_mean, torch.zeros(4, dtype=torch.float64))


def test_a_scheduler_drives_lr(a_network, a_batch):
    model, batch = a_network(4, 3, 3), a_batch(6, 4, 3)
    optimizer = GaussNewton(model, CrossEntropy())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: float(update < 1))
    norms = []
    for _ in range(2):
        norms.append(optimizer.step(*batch).update_norm)
        scheduler.step()

    assert norms[0] > norms[1] == 0


def test_a_step_under_no_grad_is_the_same_step(a_network, a_batch):
    plain, guarded = a_network(4, 3, 3), a_network(4, 3, 3)
    Newton(plain, CrossEntropy()).step(*a_batch(6, 4, 3))
    with torch.no_grad():
        Newton(guarded, CrossEntropy()).step(*a_batch(6, 4, 3))

    assert torch.equal(theta(guarded), theta(plain))


def test_gradients_and_a_frozen_layer_are_left_alone(a_network, a_batch):
    model = a_network(4, 3, 3)
    model[0].requires_grad_(False)
    before = theta(model[0])
    step = Newton(model, CrossEntropy()).step(*a_batch(6, 4, 3))

    assert step.update_norm > 0
    assert torch.equal(theta(model[0]), before)
    assert all(parameter.grad is None for parameter in model.parameters())


class Scaled(nn.Module):
    """A factor and a shift, as single numbers or as vectors of one entry."""

    def __init__(self, *shape):
        super().__init__()
        self.factor = nn.Parameter(torch.full(shape, 0.5, dtype=torch.float64))
        self.shift = nn.Parameter(torch.full(shape, -0.2, dtype=torch.float64))

    def forward(self, inputs):
        return torch.tanh(self.factor * inputs + self.shift)


@pytest.mark.parametrize("kind", WITHOUT_SAMPLING)
def test_a_parameter_that_is_one_number_trains_as_a_vector_of_one_entry(kind):
    inputs = torch.linspace(-1, 1, 6, dtype=torch.float64)[:, None]
    number, vector = Scaled(), Scaled(1)
    for model in (number, vector):
        KINDS[kind](model, squared_error(), damping=0.1).step(inputs, inputs**2)

    torch.testing.assert_close(theta(number), theta(vector), rtol=1e-12, atol=0.0)
    assert (theta(number) != torch.tensor([0.5, -0.2])).all()


def test_any_layers_train_and_running_statistics_are_updated_once():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Unflatten(1, (1, 4)),
        nn.Conv1d(1, 2, 2),
        nn.BatchNorm1d(2),
        nn.Tanh(),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(6, 1),
    ).double()
    inputs = torch.randn(16, 4, dtype=torch.float64)
    targets = (inputs[:, :1] > 0).double()
    hidden = model[:2](inputs).detach()
    optimizer = NaturalGradient(model, Bernoulli(), lr=0.5, damping=0.1)
    losses = [optimizer.step(inputs, targets).loss]
    torch.testing.assert_close(model[2].running_mean, 0.1 * hidden.mean(dim=(0, 2)))
    losses += [optimizer.step(inputs, targets).loss for _ in range(15)]

    assert sum(losses[-3:]) / 3 < 0.5 * losses[0]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "newton"])  # which raises damping
def test_an_undamped_singular_matrix_is_an_error_and_no_step(kind):
    model, (inputs, targets) = linear(), a_regression()
    before = theta(model)
    with pytest.raises(NotPositiveDefiniteError, match=r"\(8, 8\) matrix .* Add damping"):
        KINDS[kind](model, squared_error(), damping=0.0).step(0 * inputs, 0 * targets)

    assert torch.equal(theta(model), before)


def test_a_model_beyond_the_limit_is_refused_with_its_size():
    with pytest.raises(TooLargeError, match=r"10,100 x 10,100 .* limit is 5,000"):
        Newton(nn.Linear(100, 100), CrossEntropy())


def test_a_second_param_group_is_refused():
    with pytest.raises(ValueError, match="knows no other parameters"):
        Newton(linear(), squared_error()).add_param_group({"params": [nn.Parameter(torch.ones(1))]})


@pytest.mark.parametrize(
    ("optimizer", "wrong"),
    [
        (Newton, {"lr": -1.0}),
        (Newton, {"damping": math.nan}),
        (GaussNewton, {"l2": math.inf}),
        (Newton, {"negative": "ignore"}),
        (NaturalGradient, {"kind": "approximate"}),
        (NaturalGradient, {"samples": 0}),
    ],
)
def test_a_setting_out_of_range_is_refused_by_name(optimizer, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        optimizer(linear(), squared_error(), **wrong)


def test_the_seconds_of_a_step_are_told_by_phase(a_network, a_batch):
    step = Newton(a_network(4, 3, 3), CrossEntropy()).step(*a_batch(6, 4, 3))

    assert step.seconds.keys() == {"gradient", "curvature", "solve"}
    assert all(seconds > 0 for seconds in step.seconds.values())


def test_a_stopwatch_adds_up_and_counts_what_ended_in_an_error(monkeypatch):
    times = iter([0.0, 1.0, 5.0, 7.0])
    monkeypatch.setattr("optimizers.stopwatch.perf_counter", lambda: next(times))
    watch = Stopwatch()
    with watch.phase("solve"):
        pass
    with pytest.raises(ZeroDivisionError), watch.phase("solve"):
        raise ZeroDivisionError

    assert watch.seconds == {"solve": 3.0}


# What a search may try


def arguments_of(optimizer):
    arguments = {}
    for kind in optimizer.__mro__:
        if kind.__module__.startswith("optimizers"):
            arguments = dict(inspect.signature(kind.__init__).parameters) | arguments
    return arguments


@pytest.mark.parametrize(
    "optimizer",
    [
        KFAC, Newton, GaussNewton, NaturalGradient, DiagonalNewton, LeCunRate, OnlineNaturalGradient,
        UnitwiseGaussNewton, CovarianceNaturalGradient, TONGA, AdaptiveNaturalGradient,
        FullAdaGrad, NaturalNewton, OnlineNewtonStep, Almeida, SilvaAlmeida, StochasticMetaDescent,
        MatrixMomentum,
        SGDQN, VSGD, NonlinearConjugateGradients, OnlineLBFGS,
    ],
)  # fmt: skip
def test_every_hyperparameter_is_an_argument_with_that_default_inside_its_range(optimizer):
    arguments = arguments_of(optimizer)

    for hyperparameter in optimizer.hyperparameters:
        assert arguments[hyperparameter.name].default == hyperparameter.default
        if hyperparameter.default is None:  # found while training
            continue
        if hyperparameter.kind in {"float", "int"}:
            assert hyperparameter.low <= hyperparameter.default <= hyperparameter.high
            assert not hyperparameter.log or hyperparameter.low > 0
        if hyperparameter.kind == "categorical":
            assert hyperparameter.default in hyperparameter.choices
