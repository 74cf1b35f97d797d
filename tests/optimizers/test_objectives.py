import pytest
import torch
from torch.func import grad, jacrev

from optimizers import Bernoulli, CrossEntropy, SquaredError

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
    with pytest.raises(ValueError, match="one integer class per row"):
        CrossEntropy().loss(torch.zeros(4, 4), targets)


def test_a_class_number_that_torch_would_ignore_is_refused():
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        CrossEntropy().loss(torch.zeros(2, 4), torch.tensor([1, -100]))


@pytest.mark.parametrize(
    ("objective", "curvature"),
    [
        (SquaredError(), torch.ones_like),
        (Bernoulli(), lambda outputs: outputs.sigmoid() * (1 - outputs.sigmoid())),
    ],
    ids=["squared", "bernoulli"],
)
def test_the_gradients_of_sampled_targets_have_the_curvature_as_their_variance(objective, curvature):
    outputs = torch.tensor([[0.3, -1.2, 2.0]], dtype=torch.float64, requires_grad=True)
    stream = torch.Generator().manual_seed(1)

    draws = [
        torch.autograd.grad(objective.loss(outputs, objective.sample(outputs.detach(), stream)), outputs)[0]
        for _ in range(4000)
    ]

    gradients = torch.cat(draws)
    assert gradients.mean(dim=0).abs().max() < 4 / 4000**0.5
    assert torch.allclose(gradients.var(dim=0), curvature(outputs.detach())[0], rtol=0.12)


def test_the_squared_error_is_half_the_squared_distance_of_a_mean_case():
    outputs, targets = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 0.0], [2.0, 0.0]])

    assert SquaredError().loss(outputs, targets).item() == (5 + 4) / 2 / 2


def test_the_bernoulli_loss_is_the_sum_of_its_bits_and_finite_for_any_logit():
    outputs, targets = torch.tensor([[0.0, 1000.0, -1000.0]]), torch.tensor([[1.0, 1.0, 0.0]])

    assert Bernoulli().loss(outputs, targets).item() == pytest.approx(torch.log(torch.tensor(2.0)).item())


@pytest.mark.parametrize("objective", [SquaredError(), Bernoulli()])
def test_outputs_and_targets_of_other_shapes_are_refused(objective):
    with pytest.raises(ValueError, match=r"outputs \(2, 3\) and targets \(2,\)"):
        objective.loss(torch.zeros(2, 3), torch.zeros(2))
