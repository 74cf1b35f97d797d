import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

from optimizers.curvature.products import gauss_newton_product, hessian_product
from optimizers.solvers.power_iteration import largest_eigenvalue
from tests import dense
from worker.models.perceptron import perceptron
from worker.training.curvature_rate import curvature_rate


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_problem():
    model = perceptron([4, 5, 3], a_generator()).double()
    inputs = torch.randn(20, 4, generator=a_generator(1), dtype=torch.float64)
    return model, lambda outputs: cross_entropy(outputs, torch.arange(20) % 3), inputs


def a_start(size):
    return torch.randn(size, generator=a_generator(2), dtype=torch.float64)


@pytest.mark.row(75)
@pytest.mark.parametrize(
    ("product", "truth"),
    [(hessian_product, dense.hessian_of), (gauss_newton_product, dense.gauss_newton_of)],
    ids=["hessian", "gauss-newton"],
)
def test_the_rate_is_one_over_the_largest_eigenvalue_of_the_dense_matrix(product, truth):
    problem = a_problem()
    eigenvalues = torch.linalg.eigvalsh(truth(*problem))

    rate = curvature_rate(product(*problem), a_start(len(eigenvalues)), iterations=500)
    assert rate == pytest.approx(1 / eigenvalues.abs().max().item(), rel=1e-8)


@pytest.mark.row(75)
def test_the_direction_found_is_the_eigenvector():
    problem = a_problem()
    truth = dense.gauss_newton_of(*problem)

    eigenvalue, direction = largest_eigenvalue(
        gauss_newton_product(*problem), a_start(len(truth)), iterations=500
    )
    torch.testing.assert_close(truth @ direction, eigenvalue * direction, rtol=1e-5, atol=1e-7)


@pytest.mark.row(75)
def test_one_parameter_is_trained_in_one_step():
    model = nn.Linear(1, 1, bias=False).double()
    inputs, targets = torch.tensor([[1.0], [2.0]]).double(), torch.tensor([[3.0], [6.0]]).double()

    def loss(outputs):
        return mse_loss(outputs, targets)

    rate = curvature_rate(hessian_product(model, loss, inputs), torch.ones(1, dtype=torch.float64))
    loss(model(inputs)).backward()
    torch.testing.assert_close(model.weight - rate * model.weight.grad, torch.full((1, 1), 3.0).double())


@pytest.mark.row(75)
def test_the_rate_of_a_negative_curvature_is_one_over_its_size():
    matrix = torch.diag(torch.tensor([-4.0, 1.0], dtype=torch.float64))

    assert curvature_rate(lambda v: matrix @ v, a_start(2), iterations=100) == pytest.approx(1 / 4)


def test_a_start_from_the_last_direction_needs_few_products():
    problem = a_problem()
    product = gauss_newton_product(*problem)
    truth, direction = largest_eigenvalue(product, a_start(43), iterations=500)

    assert largest_eigenvalue(product, direction, iterations=1)[0] == pytest.approx(truth, rel=1e-8)


def test_a_flat_direction_has_no_rate():
    with pytest.raises(ValueError, match="no curvature"):
        curvature_rate(torch.zeros_like, a_start(3))
