import math
import re

import pytest
import torch
from torch.func import grad, jacrev

from optimizers import Bernoulli, CrossEntropy, Gaussian, squared_error
from optimizers.curvature.dense import output_curvature, output_hessian
from optimizers.curvature.products import output_gradients
from optimizers.objectives import BernoulliOfProbabilities, CrossEntropyOfProbabilities
from optimizers.verification import verify_objective

LOGITS = torch.tensor([0.3, -1.2, 2.0, 0.0], dtype=torch.float64)
DRAWS = 20_000


@pytest.mark.row(38)
@pytest.mark.parametrize("target", range(4))
def test_the_gradient_is_prediction_minus_one_hot_and_the_hessian_its_covariance(target):
    def loss(outputs):
        return CrossEntropy().loss(outputs[None], torch.tensor([target]))

    predicted = LOGITS.exp() / LOGITS.exp().sum()
    one_hot = torch.eye(4, dtype=torch.float64)[target]

    torch.testing.assert_close(loss(LOGITS), -predicted[target].log())
    torch.testing.assert_close(grad(loss)(LOGITS), predicted - one_hot)
    torch.testing.assert_close(jacrev(grad(loss))(LOGITS), predicted.diag() - predicted.outer(predicted))


def test_the_loss_is_the_mean_over_the_batch():
    targets = torch.tensor([0, 3, 2])
    single = [CrossEntropy().loss(LOGITS[None], target[None]) for target in targets]

    torch.testing.assert_close(CrossEntropy().loss(LOGITS.expand(3, 4), targets), sum(single) / 3)


def test_outputs_of_a_thousand_stay_finite():
    outputs = torch.tensor([[1000.0, -1000.0]])

    assert CrossEntropy().loss(outputs, torch.tensor([1])) == 2000


def test_sampled_classes_have_the_predicted_frequencies():
    predicted = LOGITS.softmax(dim=0)
    drawn = CrossEntropy().sample(LOGITS.expand(DRAWS, 4), torch.Generator().manual_seed(0))

    error = drawn.bincount(minlength=4) / DRAWS - predicted
    standard_error = (predicted * (1 - predicted) / DRAWS).sqrt()
    assert (error.abs() < 4 * standard_error).all()


def test_the_gradient_vanishes_on_average_over_sampled_targets():
    outputs = LOGITS.repeat(DRAWS, 1).requires_grad_()
    drawn = CrossEntropy().sample(outputs.detach(), torch.Generator().manual_seed(0))
    (rows,) = torch.autograd.grad(CrossEntropy().loss(outputs, drawn) * DRAWS, outputs)

    assert (rows.mean(dim=0).abs() < 4 * rows.std(dim=0) / DRAWS**0.5).all()


@pytest.mark.parametrize("targets", [torch.eye(4), torch.zeros(4), torch.tensor([1]), torch.tensor(1)])
def test_targets_that_are_not_one_class_number_per_row_are_refused(targets):
    with pytest.raises(ValueError, match="an integer class for each of their rows"):
        CrossEntropy().loss(torch.zeros(4, 4), targets)


def test_a_class_number_that_torch_would_ignore_is_refused():
    with pytest.raises(ValueError, match=r"numbered 0 to 3, but 1 of the targets are others, as -100 is"):
        CrossEntropy().loss(torch.zeros(2, 4), torch.tensor([1, -100]))


@pytest.mark.row(236)
@pytest.mark.parametrize(
    ("outputs", "targets", "remedy"),
    [
        ((6, 3), torch.zeros(6, 3), "with targets.argmax(dim=-1)"),
        ((6, 2, 3), torch.zeros(6, 2, 3).long(), "with targets.argmax(dim=-1)"),
        ((6, 3), torch.zeros(6), "integers: targets.long()"),
        ((6, 3), torch.zeros(6, 1).long(), "targets.squeeze(-1)"),
        ((6, 3), torch.zeros(4).long(), "have the shape (6,)."),
        ((6, 3, 2), torch.zeros(6, 2).long(), "outputs.movedim(1, -1)"),
        ((6,), torch.zeros(6).long(), "take Bernoulli()"),
    ],
)
def test_what_to_do_about_targets_that_are_no_classes_is_said(outputs, targets, remedy):
    with pytest.raises(ValueError, match=re.escape(remedy)):
        CrossEntropy().loss(torch.zeros(outputs), targets)


EVERY = {
    "half squared error": squared_error(half=True),
    "squared error": squared_error(),
    "Gaussian": Gaussian(variance=0.3),
    "sigmoid inside": squared_error(link=torch.sigmoid),
    "tanh inside": Gaussian(variance=2.0, link=torch.tanh),
    "Bernoulli": Bernoulli(),
    "categorical": CrossEntropy(),
}
MATCHING = [name for name in EVERY if "inside" not in name]


def some_outputs(cases=3, size=4):
    return torch.randn(cases, size, generator=a_stream(), dtype=torch.float64)


def a_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def closed_curvature(name, row):
    eye = torch.eye(len(row), dtype=torch.float64)
    predicted, slope = row.softmax(dim=0), 1 - row.tanh() ** 2
    chances = torch.sigmoid(row)
    return {
        "half squared error": eye,
        "squared error": 2 * eye,
        "Gaussian": eye / 0.3,
        "sigmoid inside": 2 * (chances * (1 - chances)).square().diag(),
        "tanh inside": slope.square().diag() / 2,
        "Bernoulli": (chances * (1 - chances)).diag(),
        "categorical": predicted.diag() - predicted.outer(predicted),
    }[name]


@pytest.mark.row(35)
@pytest.mark.row(36)
@pytest.mark.row(37)
@pytest.mark.row(38)
@pytest.mark.parametrize("name", EVERY)
def test_the_curvature_of_every_objective_is_its_closed_form(name):
    outputs = some_outputs()

    ours = output_curvature(EVERY[name], outputs)
    truth = torch.stack([closed_curvature(name, row) for row in outputs])
    torch.testing.assert_close(ours, truth, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", MATCHING)
def test_where_outputs_are_natural_parameters_the_curvature_is_the_hessian_at_any_targets(name):
    outputs, objective = some_outputs(), EVERY[name]
    for seed in range(3):
        targets = objective.sample(outputs, a_stream(seed))
        torch.testing.assert_close(
            output_hessian(objective, outputs, targets),
            output_curvature(objective, outputs),
            rtol=1e-12,
            atol=1e-14,
        )


@pytest.mark.row(235)
@pytest.mark.row(42)
@pytest.mark.parametrize("name", EVERY)
def test_the_four_methods_of_every_objective_agree(name):
    verify_objective(EVERY[name], some_outputs())


@pytest.mark.parametrize("name", EVERY)
def test_of_outputs_at_positions_the_loss_is_the_sum_and_the_four_methods_agree(name):
    objective, outputs = EVERY[name], torch.stack([some_outputs(), some_outputs().flip(0)], dim=1)
    targets = objective.sample(outputs, a_stream(0))

    verify_objective(objective, outputs)
    losses = [objective.loss(outputs[:, place], targets[:, place]) for place in range(2)]
    torch.testing.assert_close(objective.loss(outputs, targets), sum(losses))


@pytest.mark.parametrize("objective", [CrossEntropyOfProbabilities(), BernoulliOfProbabilities()])
def test_on_probabilities_the_factor_applied_twice_is_the_curvature(objective):
    outputs = torch.tensor([[0.2, 0.5, 0.3]], dtype=torch.float64)

    twice = objective.factor(outputs, objective.factor(outputs, outputs))
    torch.testing.assert_close(twice, objective.curvature(outputs, outputs))


@pytest.mark.row(235)
@pytest.mark.row(35)
def test_squared_error_is_the_plain_sum_of_squares_or_half_of_it():
    outputs, targets = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.zeros(2, 2)

    assert squared_error().loss(outputs, targets) == (1 + 4 + 9 + 16) / 2
    assert squared_error(half=True).loss(outputs, targets) == (1 + 4 + 9 + 16) / 4


@pytest.mark.row(235)
@pytest.mark.row(36)
def test_the_gaussian_score_points_from_the_output_to_the_target():
    # The mean of the scores' squares then gives the Fisher block I / variance.
    outputs, targets = some_outputs(), some_outputs() + 1
    score = -output_gradients(Gaussian(variance=0.3), outputs, targets)

    torch.testing.assert_close(score, (targets - outputs) / 0.3)


@pytest.mark.row(37)
@pytest.mark.parametrize("output", [-100.0, 100.0])
@pytest.mark.parametrize("target", [0.0, 1.0])
def test_the_bernoulli_loss_and_its_gradient_are_exact_at_log_odds_of_a_hundred(output, target):
    z, y = torch.tensor([[output]], dtype=torch.float64), torch.tensor([[target]], dtype=torch.float64)
    truth = max(output, 0) - target * output + math.log1p(math.exp(-abs(output)))

    assert Bernoulli().loss(z, y).item() == pytest.approx(truth, rel=1e-14, abs=1e-43)
    assert output_gradients(Bernoulli(), z, y).item() == pytest.approx(torch.sigmoid(z).item() - target)


def test_the_bernoulli_loss_is_the_sum_of_its_bits_and_finite_at_log_odds_of_a_thousand():
    outputs, targets = torch.tensor([[0.0, 1000.0, -1000.0]]), torch.tensor([[1.0, 1.0, 0.0]])

    assert Bernoulli().loss(outputs, targets).item() == pytest.approx(math.log(2))


def test_the_bernoulli_curvature_keeps_its_digits_where_one_minus_the_probability_rounds_to_zero():
    z = torch.tensor([[50.0]], dtype=torch.float64)

    assert Bernoulli().curvature(z, torch.ones_like(z)).item() == pytest.approx(
        math.exp(-50), rel=1e-12, abs=0
    )


@pytest.mark.parametrize("name", ["half squared error", "Bernoulli"])
def test_targets_of_another_shape_are_refused_rather_than_broadcast(name):
    with pytest.raises(ValueError, match="one target per output"):
        EVERY[name].loss(torch.zeros(4, 1), torch.zeros(4))


@pytest.mark.parametrize("variance", [0.0, -1.0, math.inf, math.nan])
def test_a_variance_that_is_none_is_refused(variance):
    with pytest.raises(ValueError, match="variance"):
        Gaussian(variance=variance)
