import copy
import math

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, DiagonalNewton, squared_error
from optimizers.curvature.diagonals import becker_lecun, empirical_fisher, gauss_newton
from optimizers.curvature.network import Network
from optimizers.errors import UnsupportedModelError
from optimizers.running_average import averaged

SOURCES = ["chapelle_erhan", "gauss_newton", "empirical_fisher", "becker_lecun", "becker_lecun_hessian"]


def gradient_of(model, objective, inputs, targets):
    loss = objective.loss(model(inputs), targets)
    return [part.detach() for part in torch.autograd.grad(loss, list(model.parameters()))]


def a_quadratic(*rows):
    """A linear unit whose loss is ½ Σ (row · θ)², with the rows as given."""
    inputs = torch.tensor(rows, dtype=torch.float64) * math.sqrt(len(rows))
    model = nn.Sequential(nn.Linear(inputs.shape[1], 1, bias=False)).double()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[1.0, 2.0]]))
    return model, (inputs, torch.zeros(len(rows), 1, dtype=torch.float64))


@pytest.mark.row(90)
@pytest.mark.parametrize("source", ["chapelle_erhan", "gauss_newton", "becker_lecun", "becker_lecun_hessian"])
def test_a_quadratic_along_the_axes_is_solved_in_one_step(source):
    model, batch = a_quadratic([3.0, 0.0], [0.0, 0.2])
    optimizer = DiagonalNewton(
        model, squared_error(half=True), lr=1.0, damping=0.0, exponent=1.0, source=source
    )
    optimizer.step(*batch)

    assert model[0].weight.abs().max() < 1e-12


@pytest.mark.row(90)
@pytest.mark.parametrize("exponent", [0.5, 0.75, 1.0])
def test_a_step_is_the_gradient_over_the_damped_power_of_the_diagonal(a_network, a_batch, moves_of, exponent):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    diagonal = gauss_newton(Network(model, batch[0]), CrossEntropy()).values()
    gradients = gradient_of(model, CrossEntropy(), *batch)
    optimizer = DiagonalNewton(
        model, CrossEntropy(), lr=0.3, damping=0.2, exponent=exponent, source="gauss_newton"
    )

    for move, gradient, entry in zip(
        moves_of(model, lambda: optimizer.step(*batch)), gradients, diagonal, strict=True
    ):
        torch.testing.assert_close(move, -0.3 * gradient / (entry + 0.2) ** exponent)


@pytest.mark.row(90)
def test_a_large_damping_leaves_the_direction_of_the_gradient(a_network, a_batch, moves_of):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    gradients = gradient_of(model, CrossEntropy(), *batch)
    optimizer = DiagonalNewton(model, CrossEntropy(), lr=1e8, damping=1e8, exponent=1.0)

    for move, gradient in zip(moves_of(model, lambda: optimizer.step(*batch)), gradients, strict=True):
        torch.testing.assert_close(move, -gradient, rtol=1e-5, atol=1e-8)


@pytest.mark.row(90)
def test_off_the_axes_the_diagonal_holds_back_what_curves_little():
    # B = u uᵀ + a v vᵀ with u = (-1, 1), v = (1, 1): the diagonal is a + 1, the curvature along u only 2.
    a = 15.0
    model, batch = a_quadratic([-1.0, 1.0], [math.sqrt(a), math.sqrt(a)])
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[-1.0, 1.0]]))
    optimizer = DiagonalNewton(
        model, squared_error(half=True), lr=1.0, damping=0.0, exponent=1.0, source="gauss_newton"
    )
    errors = [1.0]
    for _ in range(3):
        optimizer.step(*batch)
        errors.append(model[0].weight[0, 1].item())

    assert errors == pytest.approx([(1 - 2 / (a + 1)) ** steps for steps in range(4)])


@pytest.mark.row(91)
@pytest.mark.parametrize("seed", range(5))
def test_with_absolute_values_every_step_descends_to_first_order(a_network, a_batch, moves_of, seed):
    model, batch = a_network(4, 5, 5, 3, seed=seed), a_batch(6, 4, 3, seed=seed)
    diagonal = becker_lecun(model, CrossEntropy(), *batch, of="hessian")
    assert any((entry < 0).any() for entry in diagonal.values())
    gradients = gradient_of(model, CrossEntropy(), *batch)
    optimizer = DiagonalNewton(model, CrossEntropy(), source="becker_lecun_hessian")
    moves = moves_of(model, lambda: optimizer.step(*batch))

    assert sum(float((g * move).sum()) for g, move in zip(gradients, moves, strict=True)) < 0


@pytest.mark.row(93)
def test_the_empirical_diagonal_is_averaged_over_batches(a_network, a_batch, moves_of):
    model = a_network(4, 3)
    optimizer = DiagonalNewton(
        model, CrossEntropy(), lr=0.1, exponent=0.5, source="empirical_fisher", decay=0.6
    )
    diagonals = []
    for seed in range(3):
        batch = a_batch(6, 4, 3, seed=seed)
        diagonals.append(empirical_fisher(Network(model, batch[0]), CrossEntropy(), batch[1])["0.weight"])
        gradient, _ = gradient_of(model, CrossEntropy(), *batch)
        move, _ = moves_of(model, lambda given=batch: optimizer.step(*given))

    expected = 0.6 * (diagonals[0] + diagonals[1]) / 2 + 0.4 * diagonals[2]
    torch.testing.assert_close(move, -0.1 * gradient / (expected + 0.1).sqrt())


def test_an_average_weighs_all_alike_until_the_past_weighs_its_most():
    running = {}
    for value in (1.0, 2.0, 6.0):
        running = averaged(running, {"p": torch.tensor(value)}, 0.9)
    running = averaged(running, {"q": torch.tensor(5.0)}, 0.9)

    assert {name: (float(mean), count) for name, (mean, count) in running.items()} == {
        "p": (pytest.approx(3.0), 3),
        "q": (5.0, 1),
    }


def test_the_signs_of_the_estimate_go_on_in_a_resumed_run(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = DiagonalNewton(model, CrossEntropy())
    optimizer.step(*a_batch(6, 4, 3))
    other_model, state = copy.deepcopy(model), copy.deepcopy(optimizer.state_dict())
    other = DiagonalNewton(other_model, CrossEntropy())
    other.load_state_dict(state)
    for each in (optimizer, other):
        each.step(*a_batch(6, 4, 3, seed=2))

    assert torch.equal(model[0].weight, other_model[0].weight)


@pytest.mark.parametrize("source", SOURCES)
def test_the_loss_falls_with_every_source(a_network, a_batch, source):
    optimizer = DiagonalNewton(a_network(4, 5, 3), CrossEntropy(), source=source)
    losses = [optimizer.step(*a_batch(20, 4, 3)).loss for _ in range(20)]

    assert losses[-1] < losses[0]


def test_the_recursion_is_refused_for_what_is_no_sequence():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, inputs):
            return self.layer(self.layer(inputs))

    with pytest.raises(UnsupportedModelError, match=r"is a Twice, .* Take source='chapelle_erhan'"):
        DiagonalNewton(Twice(), CrossEntropy(), source="becker_lecun")


def test_a_parameter_without_curvature_and_gradient_stays_without_damping():
    model = nn.Sequential(nn.Linear(2, 1, bias=False)).double()
    before = model[0].weight[0, 1].item()
    inputs = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    optimizer = DiagonalNewton(model, squared_error(), damping=0.0, source="gauss_newton")
    step = optimizer.step(inputs, torch.ones(1, 1, dtype=torch.float64))

    assert step.update_norm > 0
    assert model[0].weight[0, 1].item() == before


@pytest.mark.parametrize(
    "wrong", [{"exponent": 0.0}, {"exponent": 1.5}, {"source": "hessian"}, {"decay": 1.0}, {"lr": -1.0}]
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DiagonalNewton(a_network(4, 3), CrossEntropy(), **wrong)


class Constant(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = nn.Parameter(torch.tensor([[value]], dtype=torch.float64))

    def forward(self, inputs):
        return self.value.expand(len(inputs), 1)


def errors_on_a_half_square(source, exponent, *, lr=0.02, start=0.7, updates=400):
    """Distances from the minimum of h = ½ θ², whose curvature is 1 and whose empirical Fisher matrix θ²."""
    model, zero = Constant(start), torch.zeros(1, 1, dtype=torch.float64)
    kinds = {"source": source, "exponent": exponent, "damping": 0.0, "decay": 0.0}
    optimizer = DiagonalNewton(model, squared_error(half=True), lr=lr, **kinds)
    errors = []
    for _ in range(updates):
        optimizer.step(zero, zero)
        errors.append(abs(model.value.item()))
    return errors


@pytest.mark.row(112)
@pytest.mark.parametrize("exponent", [0.5, 0.75, 1.0])
def test_by_the_empirical_diagonal_no_constant_rate_comes_to_a_minimum_by_any_power(exponent):
    # θ - lr θ^(-2ξ) θ: the step does not shrink with the gradient
    by_fisher = errors_on_a_half_square("gauss_newton", exponent)
    by_empirical = errors_on_a_half_square("empirical_fisher", exponent)

    assert by_fisher[:3] == pytest.approx([0.7 * 0.98, 0.7 * 0.98**2, 0.7 * 0.98**3])
    assert max(by_empirical[-20:]) > 0.02 / 4
    assert max(by_empirical[-20:]) > 10 * by_fisher[-1]


@pytest.mark.row(112)
@pytest.mark.parametrize("start", [0.7, 0.705, 0.713])
def test_by_its_root_it_oscillates_by_about_the_rate(start):
    errors = errors_on_a_half_square("empirical_fisher", 0.5, start=start)[-20:]

    assert 0.01 - 1e-9 <= max(errors) <= 0.02 + 1e-9  # half of it to all of it
    assert errors[0::2] == pytest.approx(errors[:1] * 10)
