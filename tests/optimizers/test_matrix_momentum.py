import pytest
import torch
from torch import nn

from optimizers import MatrixMomentum, squared_error
from optimizers.solvers.cg import conjugate_gradients

H = [[2.0, 0.6, 0.1, 0.0], [0.6, 1.0, -0.2, 0.1], [0.1, -0.2, 0.5, 0.0], [0.0, 0.1, 0.0, 0.2]]
START = [1.0, -2.0, 3.0, 0.5]
CURVATURES = ["gauss_newton", "hessian", "fisher"]


def made(quadratic, **settings):
    return MatrixMomentum(quadratic.model, quadratic.objective, **settings)


def velocity(optimizer):
    return optimizer.state_dict()["kept"]["velocity"]["weight"][0]


@pytest.mark.row(100)
@pytest.mark.parametrize("curvature", CURVATURES)
def test_on_a_quadratic_it_is_the_heavy_ball_that_loses_nothing(a_quadratic, curvature):
    quadratic = a_quadratic(H, START)
    ours = quadratic.path(made(quadratic, lr=1.0, velocity_lr=0.2, curvature=curvature), 12)
    point = quadratic.start.clone().requires_grad_()
    ball = torch.optim.SGD([point], lr=0.2, momentum=1.0)
    for iterate in ours[1:]:
        point.grad = quadratic.hessian @ point.detach()
        ball.step()
        torch.testing.assert_close(iterate, point.detach())


@pytest.mark.row(100)
@pytest.mark.parametrize(("share", "diverges"), [(1.9, False), (2.1, True)])
def test_where_the_parameters_rest_it_comes_to_newtons_step_below_two_over_the_largest_curvature(
    a_quadratic, share, diverges
):
    quadratic = a_quadratic(H, START)
    largest = torch.linalg.eigvalsh(quadratic.hessian)[-1].item()
    optimizer = made(quadratic, lr=0.0, velocity_lr=share / largest)
    quadratic.path(optimizer, 150)

    assert ((velocity(optimizer) + quadratic.start).norm() > 1e3).item() == diverges
    if not diverges:
        torch.testing.assert_close(velocity(optimizer), -quadratic.start, rtol=1e-6, atol=1e-6)


@pytest.mark.row(100)
@pytest.mark.parametrize("updates", [1, 2])
def test_where_the_parameters_rest_it_is_in_the_krylov_space_and_no_better_than_conjugate_gradients(
    a_quadratic, updates
):
    quadratic = a_quadratic(H, START)
    hessian, gradient = quadratic.hessian, quadratic.hessian @ quadratic.start
    optimizer = made(quadratic, lr=0.0, velocity_lr=0.4)
    quadratic.path(optimizer, updates)
    u, steps = velocity(optimizer), updates + 1
    space = torch.stack([hessian.matrix_power(k) @ gradient for k in range(steps)], dim=1)
    best = conjugate_gradients(lambda v: hessian @ v, -gradient, max_iterations=steps).solution

    def model(v):
        return (gradient @ v + v @ hessian @ v / 2).item()

    torch.testing.assert_close(space @ torch.linalg.lstsq(space, u[:, None]).solution[:, 0], u)
    assert model(u) > model(best)


@pytest.mark.parametrize("wrong", [{"velocity_lr": -0.1}, {"curvature": "none"}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MatrixMomentum(nn.Linear(2, 1), squared_error(), **wrong)
