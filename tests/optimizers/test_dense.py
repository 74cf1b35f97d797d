"""The dense matrices against what they are by definition, case by case, and what theory says of them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import jacrev

from optimizers import Bernoulli, CrossEntropy, Gaussian, squared_error
from optimizers.curvature.dense import (
    block_diagonal,
    covariance,
    gauss_newton,
    gradients_by_case,
    hessian,
    jacobian,
    lifted,
    output_curvature,
    output_hessian,
    second_moment,
    sizes_by_layer,
    without_negative,
)
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat, shaped
from optimizers.objectives import BernoulliOfProbabilities, CrossEntropyOfProbabilities

EXACT = {"rtol": 1e-10, "atol": 1e-13}
NARROW = {"rtol": 0.0, "atol": 1e-12}


def matrices(network, objective, targets):
    outputs, jacobians = network(network.params), jacobian(network)
    fisher = gauss_newton(jacobians, output_curvature(objective, outputs))
    by_loss = gauss_newton(jacobians, output_hessian(objective, outputs, targets))
    return fisher, by_loss, gradients_by_case(network, objective, targets)


def a_softmax_network(a_network, a_batch, cases=5, *widths):
    model, (inputs, targets) = a_network(*(widths or (4, 3, 3))), a_batch(cases, 4, (widths or (3,))[-1])
    return Network(model, inputs), targets


def rank(matrix):
    values = torch.linalg.eigvalsh(matrix)
    return int((values > 1e-10 * values.max()).sum())


def test_the_jacobian_has_every_output_of_every_case(a_network, a_batch):
    network, _ = a_softmax_network(a_network, a_batch)
    truth = jacrev(lambda theta: network(shaped(theta, network.params)))(flat(network.params))

    torch.testing.assert_close(jacobian(network), truth, **EXACT)


def test_the_hessian_is_the_derivative_of_the_gradient(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    theta, step = flat(network.params), 1e-5

    def gradient(vector):
        return jacrev(lambda t: CrossEntropy().loss(network(shaped(t, network.params)), targets))(vector)

    differences = [(gradient(theta + step * e) - gradient(theta - step * e)) / (2 * step) for e in eye(theta)]
    torch.testing.assert_close(
        hessian(network, CrossEntropy(), targets), torch.stack(differences), rtol=1e-6, atol=1e-9
    )


def eye(vector):
    return torch.eye(len(vector), dtype=torch.float64)


@pytest.mark.row(171)
@pytest.mark.parametrize("objective", [squared_error(), Gaussian(variance=0.3), Bernoulli(), CrossEntropy()])
def test_gauss_newton_is_fisher_for_exponential_families(a_network, a_batch, objective):
    network, _ = a_softmax_network(a_network, a_batch)
    targets = objective.sample(network(network.params), torch.Generator().manual_seed(0))

    fisher, by_loss, _ = matrices(network, objective, targets)
    torch.testing.assert_close(by_loss, fisher, **EXACT)


@pytest.mark.row(169)
def test_the_expected_hessian_is_fisher_and_the_expected_score_zero(a_network, a_batch):
    network, _ = a_softmax_network(a_network, a_batch, 1)
    predicted = network(network.params).softmax(dim=1)[0]
    by_class = [torch.tensor([number]) for number in range(3)]

    curvature = sum(p * hessian(network, CrossEntropy(), y) for p, y in zip(predicted, by_class, strict=True))
    score = sum(
        p * gradients_by_case(network, CrossEntropy(), y) for p, y in zip(predicted, by_class, strict=True)
    )
    torch.testing.assert_close(curvature, matrices(network, CrossEntropy(), by_class[0])[0], **EXACT)
    torch.testing.assert_close(score, torch.zeros_like(score), **NARROW)


@pytest.mark.row(110)
@pytest.mark.row(169)
def test_fisher_is_the_mean_square_of_the_scores_of_all_classes_by_their_probability(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    predicted = network(network.params).softmax(dim=1)
    truth = 0
    for number in range(3):
        scores = gradients_by_case(network, CrossEntropy(), torch.full_like(targets, number))
        truth = truth + (scores.T * predicted[:, number]) @ scores / len(targets)

    torch.testing.assert_close(matrices(network, CrossEntropy(), targets)[0], truth, **EXACT)


@pytest.mark.row(169)
def test_the_expected_score_of_a_gaussian_is_zero_and_its_expected_square_fisher(a_network, a_batch):
    # Targets at ± one standard deviation have the first two moments of the normal prediction exactly.
    network, _ = a_softmax_network(a_network, a_batch, 1, 4, 3, 1)
    objective, outputs = Gaussian(variance=0.3), network(network.params)
    scores = torch.cat([gradients_by_case(network, objective, outputs + s * 0.3**0.5) for s in (-1, 1)])

    torch.testing.assert_close(scores.mean(dim=0), torch.zeros_like(scores[0]), **NARROW)
    torch.testing.assert_close(
        second_moment(scores), matrices(network, objective, outputs)[0], rtol=1e-10, atol=1e-12
    )


@pytest.mark.row(182)
def test_the_expected_gradient_of_anything_between_is_zero_so_what_multiplies_it_does_not_matter(
    a_network, a_batch
):
    model, (inputs, _) = a_network(4, 5, 3), a_batch(1, 4, 3)
    hidden = model[:2](inputs).detach()
    predicted = model(inputs).softmax(dim=1)[0]

    def slope(number):
        return jacrev(lambda a: CrossEntropy().loss(model[2:](a), torch.tensor([number])))(hidden)

    expected = sum(p * hidden * slope(number) for number, p in enumerate(predicted))
    torch.testing.assert_close(expected, torch.zeros_like(expected), **NARROW)


@pytest.mark.row(188)
@settings(deadline=None, max_examples=15)
@given(cases=st.integers(2, 6), seed=st.integers(0, 1000))
def test_ranks_are_those_of_the_number_of_cases(cases, seed):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    network = Network(model, torch.randn(cases, 4, dtype=torch.float64))
    fisher, _, gradients = matrices(network, CrossEntropy(), torch.randint(3, (cases,)))

    assert rank(fisher) == 2 * cases  # one less than classes, for each case
    assert rank(second_moment(gradients)) == cases
    assert rank(covariance(gradients)) == cases - 1


def test_the_covariance_is_the_second_moment_less_the_square_of_the_mean(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    gradients = gradients_by_case(network, CrossEntropy(), targets)
    mean = gradients.mean(dim=0)

    torch.testing.assert_close(covariance(gradients), second_moment(gradients) - mean.outer(mean), **EXACT)


def at_probabilities(a_network, a_batch, link, classes):
    model, (inputs, _) = a_network(4, 3, classes), a_batch(5, 4, classes)
    return Network(model, inputs), Network(nn.Sequential(model, link), inputs)


@pytest.mark.row(40)
def test_fisher_split_at_the_probabilities_of_a_softmax_is_fisher_split_at_its_outputs(a_network, a_batch):
    plain, split = at_probabilities(a_network, a_batch, nn.Softmax(dim=1), 3)
    targets = torch.tensor([0, 1, 2, 1, 0])

    ours = matrices(split, CrossEntropyOfProbabilities(), targets)[0]
    torch.testing.assert_close(ours, matrices(plain, CrossEntropy(), targets)[0], **NARROW)


@pytest.mark.row(40)
def test_fisher_split_at_the_probabilities_of_sigmoids_is_fisher_split_at_their_outputs(a_network, a_batch):
    plain, split = at_probabilities(a_network, a_batch, nn.Sigmoid(), 3)
    targets = torch.zeros(5, 3, dtype=torch.float64)

    ours = matrices(split, BernoulliOfProbabilities(), targets)[0]
    torch.testing.assert_close(ours, matrices(plain, Bernoulli(), targets)[0], **NARROW)


@pytest.mark.row(235)
@pytest.mark.row(40)
def test_gauss_newton_split_at_the_probabilities_of_a_softmax_is_the_empirical_fisher(a_network, a_batch):
    plain, split = at_probabilities(a_network, a_batch, nn.Softmax(dim=1), 3)
    targets = torch.tensor([0, 1, 2, 1, 0])

    ours = matrices(split, CrossEntropyOfProbabilities(), targets)[1]
    empirical = second_moment(gradients_by_case(plain, CrossEntropy(), targets))
    torch.testing.assert_close(ours, empirical, **NARROW)


@pytest.mark.row(40)
def test_gauss_newton_split_at_several_sigmoids_sums_the_empirical_fisher_of_each_without_cross_terms(
    a_network, a_batch
):
    plain, split = at_probabilities(a_network, a_batch, nn.Sigmoid(), 2)
    targets = torch.tensor([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1]], dtype=torch.float64)
    slopes = torch.sigmoid(plain(plain.params)) - targets
    of_each = (slopes[:, :, None] * jacobian(plain)).transpose(0, 1)  # ∇L_k of each case, by output k

    ours = matrices(split, BernoulliOfProbabilities(), targets)[1]
    torch.testing.assert_close(ours, second_moment(of_each[0]) + second_moment(of_each[1]), **NARROW)
    empirical = second_moment(gradients_by_case(plain, Bernoulli(), targets))
    assert (ours - empirical).norm() > 0.1 * empirical.norm()


@pytest.mark.row(41)
@pytest.mark.parametrize("link", [torch.sigmoid, torch.tanh])
def test_with_the_nonlinearity_inside_gauss_newton_has_no_negative_eigenvalue_in_any_mode(
    a_network, a_batch, link
):
    network, _ = a_softmax_network(a_network, a_batch)
    outside, jacobians = squared_error(link=link), jacobian(network)
    outputs = network(network.params)
    blocks = output_hessian(outside, outputs, 3 * torch.ones_like(outputs))  # far targets: not convex
    modes = [output_curvature(outside, outputs), without_negative(blocks), lifted(blocks)]

    assert torch.linalg.eigvalsh(gauss_newton(jacobians, blocks))[0] < -1e-3
    for mode in modes:
        assert torch.linalg.eigvalsh(gauss_newton(jacobians, mode))[0] > -1e-12


@pytest.mark.row(41)
def test_a_link_in_the_objective_gives_the_fisher_matrix_of_the_same_link_in_the_model(a_network, a_batch):
    plain, split = at_probabilities(a_network, a_batch, nn.Tanh(), 3)
    targets = torch.zeros(5, 3, dtype=torch.float64)

    ours = matrices(plain, squared_error(link=torch.tanh), targets)[0]
    torch.testing.assert_close(ours, matrices(split, squared_error(), targets)[0], **EXACT)


@pytest.mark.row(41)
def test_repairs_leave_a_positive_definite_matrix_as_it_is():
    block = torch.tensor([[2.0, 1.0], [1.0, 2.0]])

    torch.testing.assert_close(without_negative(block), block)
    torch.testing.assert_close(lifted(block), block)


@pytest.mark.row(109)
def test_blocks_are_those_of_the_layers(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    sizes = sizes_by_layer(network.params)
    matrix = matrices(network, CrossEntropy(), targets)[0]
    blocks = block_diagonal(matrix, sizes)

    assert sizes == [15, 12]
    torch.testing.assert_close(blocks[:15, :15], matrix[:15, :15])
    torch.testing.assert_close(blocks[15:, 15:], matrix[15:, 15:])
    assert blocks[:15, 15:].count_nonzero() == blocks[15:, :15].count_nonzero() == 0


@pytest.mark.row(187)
def test_a_layers_block_of_gauss_newton_is_the_mean_kronecker_product_of_its_cases(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3, 3), a_batch(5, 4, 3)
    network = Network(model, inputs)
    outputs = model(inputs).detach()
    terms = []
    for row, z in zip(inputs, outputs, strict=True):
        back = jacrev(lambda s: model[1:](s[None])[0])((model[0](row)).detach())
        block = back.T @ (z.softmax(0).diag() - z.softmax(0).outer(z.softmax(0))) @ back
        terms.append(torch.kron(block, row.outer(row)))  # torch stores W row by row: (block ⊗ h hᵀ)
    truth = sum(terms) / 5

    ours = matrices(network, CrossEntropy(), targets)[0][:12, :12]
    torch.testing.assert_close(ours, truth.detach(), **EXACT)


@pytest.mark.row(186)
@settings(deadline=None, max_examples=20)
@given(rows=st.integers(1, 4), columns=st.integers(1, 4), seed=st.integers(0, 1000))
def test_kronecker_products_act_on_stacked_columns(rows, columns, seed):
    stream = torch.Generator().manual_seed(seed)
    left, right = (
        torch.rand(size, size, generator=stream, dtype=torch.float64) + 4 * torch.eye(size)
        for size in (rows, columns)
    )
    inner = torch.randn(rows, columns, generator=stream, dtype=torch.float64)

    def vec(matrix):
        return matrix.T.reshape(-1)

    def kron(first, second):
        return torch.kron(first.contiguous(), second.contiguous())

    product = kron(right.T, left)
    torch.testing.assert_close(vec(left @ inner @ right), product @ vec(inner), **EXACT)
    torch.testing.assert_close(product.inverse(), kron(right.T.inverse(), left.inverse()), **EXACT)
    torch.testing.assert_close(product @ product, kron(right.T @ right.T, left @ left), **EXACT)


@pytest.mark.row(172)
def test_gauss_newton_is_the_hessian_of_the_objective_of_the_linearised_network(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    outputs, jacobians = network(network.params), jacobian(network)

    def surrogate(step):
        return CrossEntropy().loss(outputs + jacobians @ step, targets)

    zero = torch.zeros(jacobians.shape[2], dtype=torch.float64)
    gradient = gradients_by_case(network, CrossEntropy(), targets).mean(dim=0)
    torch.testing.assert_close(jacrev(surrogate)(zero), gradient, **EXACT)
    torch.testing.assert_close(
        jacrev(jacrev(surrogate))(zero), matrices(network, CrossEntropy(), targets)[1], **EXACT
    )


def bends_of_the_outputs(network, outputs, slopes):
    """The mean over cases of Σ ∂L/∂z_j ∇² z_j."""

    def weighted(theta):
        return (network(shaped(theta, network.params)) * slopes).sum() / len(outputs)

    return jacrev(jacrev(weighted))(flat(network.params))


@pytest.mark.row(172)
def test_the_hessian_is_gauss_newton_and_the_bends_of_the_outputs_by_the_slopes_of_the_loss(
    a_network, a_batch
):
    network, targets = a_softmax_network(a_network, a_batch)
    outputs = network(network.params)
    slopes = objective_slopes(CrossEntropy(), outputs, targets)
    rest = bends_of_the_outputs(network, outputs, slopes)
    gauss_newton_matrix = matrices(network, CrossEntropy(), targets)[1]

    torch.testing.assert_close(
        hessian(network, CrossEntropy(), targets), gauss_newton_matrix + rest, rtol=1e-9, atol=1e-12
    )
    assert rest.norm() > 0.01 * gauss_newton_matrix.norm()


@pytest.mark.row(172)
def test_what_gauss_newton_leaves_out_vanishes_where_every_case_is_at_its_minimum_and_not_where_the_mean_is(
    a_network, a_batch
):
    network, _ = a_softmax_network(a_network, a_batch)
    outputs = network(network.params)

    def left_out(targets):
        whole = hessian(network, squared_error(), targets)
        return (whole - matrices(network, squared_error(), targets)[1]).norm()

    apart = torch.ones_like(outputs)
    apart[1::2] *= -1
    apart[-1] = 0  # five cases, with slopes that cancel in the mean
    assert left_out(outputs) <= 1e-12
    assert left_out(outputs + apart) > 1e-3


@pytest.mark.row(48)
def test_the_jacobian_of_a_linear_layer_has_its_inputs_by_the_identity_and_the_identity(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    eye3 = torch.eye(3, dtype=torch.float64)

    for found, row in zip(jacobian(Network(model, inputs)), inputs, strict=True):
        # torch stores W row by row, so it is I ⊗ hᵀ where vec(W) by columns has hᵀ ⊗ I
        torch.testing.assert_close(found, torch.cat([torch.kron(eye3, row[None]), eye3], dim=1), **EXACT)


@pytest.mark.row(235)
@pytest.mark.row(170)
@pytest.mark.row(110)
def test_the_divergence_of_predictions_is_half_the_square_under_fisher_in_both_orders(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    fisher = matrices(network, CrossEntropy(), targets)[0]
    theta = flat(network.params)
    direction = torch.randn(len(theta), generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def predicted(step):
        return network(shaped(theta + step * direction, network.params)).log_softmax(dim=1)

    def divergence(first, second):
        return (first.exp() * (first - second)).sum(dim=1).mean()

    half_square = direction @ fisher @ direction / 2
    for order in (lambda a, b: (a, b), lambda a, b: (b, a)):
        errors = [
            abs(divergence(*order(predicted(0), predicted(step))) / step**2 / half_square - 1)
            for step in (1e-2, 1e-3)
        ]
        assert errors[0] < 0.1  # a relative error of the order of the step
        assert errors[1] < 0.15 * errors[0]


@pytest.mark.row(173)
def test_the_steepest_direction_under_a_metric_is_minus_its_inverse_times_the_gradient(a_network, a_batch):
    network, targets = a_softmax_network(a_network, a_batch)
    theta = flat(network.params)
    metric = matrices(network, CrossEntropy(), targets)[0] + 0.1 * eye(theta)
    gradient = gradients_by_case(network, CrossEntropy(), targets).mean(dim=0)

    def loss(step):
        return CrossEntropy().loss(network(shaped(theta + step, network.params)), targets)

    best = -torch.linalg.solve(metric, gradient)
    stream = torch.Generator().manual_seed(0)
    others = torch.randn(200, len(theta), generator=stream, dtype=torch.float64) + 3 * best
    size = 1e-5
    gains = [
        loss(size * direction / (direction @ metric @ direction).sqrt()) - loss(0)
        for direction in (best, *others)
    ]

    assert min(gains) == gains[0]
    length = (gradient @ torch.linalg.solve(metric, gradient)).sqrt()  # of the gradient, in the dual norm
    torch.testing.assert_close(gains[0] / size, -length, rtol=1e-4, atol=0.0)


@pytest.mark.row(176)
@pytest.mark.row(108)
@pytest.mark.parametrize("objective", [squared_error(), Bernoulli()])
def test_no_step_gains_more_in_the_model_than_the_outputs_could_gain_by_themselves(
    a_network, a_batch, objective
):
    network, _ = a_softmax_network(a_network, a_batch)
    outputs = network(network.params)
    targets = objective.sample(outputs, torch.Generator().manual_seed(5))
    matrix, _, gradients = matrices(network, objective, targets)
    slopes = objective_slopes(objective, outputs, targets)
    blocks = output_curvature(objective, outputs)
    newton = torch.linalg.solve(blocks, slopes)  # H_L⁻¹ ∂L/∂z of each case
    bound = (slopes * newton).sum() / 2 / len(outputs)

    gradient = gradients.mean(dim=0)
    best = -torch.linalg.lstsq(matrix, gradient[:, None], driver="gelsd").solution[:, 0]
    model_change = gradient @ best + best @ matrix @ best / 2
    assert -bound * (1 + 1e-10) <= model_change < 0

    # In output space the model is a squared distance: ½ mean ‖J δ + H_L⁻¹ ∂L/∂z‖² in the norm of H_L.
    moved = jacobian(network) @ best + newton
    distance = (moved[:, None] @ blocks @ moved[:, :, None]).sum() / 2 / len(outputs)
    torch.testing.assert_close(model_change, distance - bound)


def objective_slopes(objective, outputs, targets):
    return jacrev(lambda z: len(z) * objective.loss(z, targets))(outputs)


class Unit(nn.Module):
    """One output of three weights, or of their logarithms."""

    def __init__(self, *, logarithms):
        super().__init__()
        weights = torch.tensor([[0.3, 1.2, 0.7]], dtype=torch.float64)
        self.logarithms, self.weights = logarithms, nn.Parameter(weights.log() if logarithms else weights)

    def forward(self, inputs):
        weights = self.weights.exp() if self.logarithms else self.weights
        return torch.tanh(inputs @ weights.T)


def gap_between_parameterisations(matrix_of, inputs, targets, *, lr):
    """How far apart one step of each leaves the outputs."""
    after = []
    for logarithms in (False, True):
        network = Network(Unit(logarithms=logarithms), inputs)
        gradient = gradients_by_case(network, Bernoulli(), targets).mean(dim=0)
        step = -lr * torch.linalg.solve(matrix_of(network, targets), gradient)
        after.append(network(shaped(flat(network.params) + step, network.params)))
    return (after[0] - after[1]).norm().item()


METRICS = {
    "fisher": lambda network, y: matrices(network, Bernoulli(), y)[0],
    "gauss-newton": lambda network, y: matrices(network, Bernoulli(), y)[1],
    "empirical fisher": lambda network, y: second_moment(gradients_by_case(network, Bernoulli(), y)),
}


@pytest.mark.row(174)
@pytest.mark.parametrize("metric", METRICS)
def test_natural_steps_of_two_parameterisations_differ_by_the_square_of_the_step(a_batch, metric):
    inputs, targets = a_batch(8, 3, 2)[0], a_batch(8, 3, 2)[1][:, None].double()
    gaps = [gap_between_parameterisations(METRICS[metric], inputs, targets, lr=lr) for lr in (1e-2, 1e-3)]

    assert gaps[1] == pytest.approx(gaps[0] / 100, rel=0.1)


@pytest.mark.row(175)
def test_newton_steps_of_two_parameterisations_differ_by_the_step_itself(a_batch):
    inputs, targets = a_batch(8, 3, 2)[0], a_batch(8, 3, 2)[1][:, None].double()
    gaps = [
        gap_between_parameterisations(
            lambda network, y: hessian(network, Bernoulli(), y), inputs, targets, lr=lr
        )
        for lr in (1e-2, 1e-3)
    ]

    assert gaps[1] == pytest.approx(gaps[0] / 10, rel=0.1)


@pytest.mark.row(174)
@pytest.mark.parametrize("name", ["fisher", "hessian"])
def test_under_an_affine_change_of_parameters_steps_agree_exactly(a_network, a_batch, name):
    network, targets = a_softmax_network(a_network, a_batch)
    theta = flat(network.params)
    change = torch.randn(
        len(theta), len(theta), generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )

    def curvature(jacobians, outputs, map_back):
        if name == "fisher":
            return gauss_newton(jacobians @ map_back, output_curvature(CrossEntropy(), outputs))
        return map_back.T @ hessian(network, CrossEntropy(), targets) @ map_back

    outputs, jacobians = network(network.params), jacobian(network)
    gradient = gradients_by_case(network, CrossEntropy(), targets).mean(dim=0)
    ridge = 1e-2 * eye(theta)  # a fixed part of the objective, ½ 0.01 ‖θ‖², so that an inverse exists
    ours = -torch.linalg.solve(curvature(jacobians, outputs, eye(theta)) + ridge, gradient)
    theirs = -torch.linalg.solve(
        curvature(jacobians, outputs, change) + change.T @ ridge @ change, change.T @ gradient
    )

    torch.testing.assert_close(change @ theirs, ours, rtol=1e-6, atol=1e-8)
