import math

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, HessianFree, TrustRegion, squared_error
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def move(model, optimizer, batch):
    before = weights(model)
    step = optimizer.step(*batch)
    return weights(model) - before, step


def written_out(model, batch, l2, every=1):
    """The gradient and the Gauss-Newton matrix, with the L2 term."""
    start = weights(model)
    loss = CrossEntropy().loss(model(batch[0]), batch[1])
    gradient = nn.utils.parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))
    part = Jacobian(Network(model, batch[0][::every]))
    rows = torch.eye(len(start), dtype=torch.float64)
    matrix = torch.stack([fisher(part, CrossEntropy(), row) for row in rows])
    return gradient + l2 * start, matrix + l2 * rows


def best_within(matrix, gradient, radius):
    """The exact solution, by bisection for the damping that gives the radius."""
    values, vectors = torch.linalg.eigh(matrix)
    low, high = 0.0, float(gradient.norm()) / radius
    for _ in range(200):
        middle = (low + high) / 2
        found = -vectors @ ((vectors.T @ gradient) / (values + middle))
        low, high = (middle, high) if found.norm() > radius else (low, middle)
    return found


def model_change(matrix, gradient, step):
    return float(gradient @ step + step @ matrix @ step / 2)


@pytest.mark.row(133)
@pytest.mark.parametrize("every", [1, 3])
def test_within_a_large_radius_it_is_the_solution(a_network, a_batch, every):
    model, batch = a_network(4, 5, 3), a_batch(12, 4, 3)
    gradient, matrix = written_out(model, batch, 0.5, every)
    optimizer = TrustRegion(
        model, CrossEntropy(), radius=100.0, l2=0.5, tolerance=1e-10, curvature_from_every=every
    )

    found, step = move(model, optimizer, batch)

    assert step.scale == 1
    torch.testing.assert_close(found, -torch.linalg.solve(matrix, gradient), rtol=1e-7, atol=1e-9)


@pytest.mark.row(133)
@pytest.mark.parametrize("radius", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_at_the_boundary_it_gains_at_least_half_of_the_best(a_network, a_batch, radius, seed):
    model, batch = a_network(4, 5, 3), a_batch(12, 4, 3, seed=seed)
    gradient, matrix = written_out(model, batch, 1e-3)

    found, step = move(model, TrustRegion(model, CrossEntropy(), radius=radius, l2=1e-3), batch)

    best = model_change(matrix, gradient, best_within(matrix, gradient, radius))
    assert found.norm().item() == pytest.approx(step.scale * radius, rel=1e-9)
    assert step.model_change <= best / 2
    assert step.model_change == pytest.approx(model_change(matrix, gradient, found / step.scale), rel=1e-9)


@pytest.mark.row(133)
@pytest.mark.parametrize("radius", [0.05, 0.3])
def test_with_equal_curvature_everywhere_it_is_hessian_free_with_the_damping_of_that_length(radius):
    """Of orthogonal inputs the curvature is the same c in each direction, the damped step -∇h / (c + λ)."""
    torch.manual_seed(0)
    inputs = torch.linalg.qr(torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).double())[0]
    batch = inputs, torch.randn(6, 2, generator=torch.Generator().manual_seed(1)).double()
    bounded, damped = (nn.Linear(3, 2, bias=False).double() for _ in range(2))
    damped.load_state_dict(bounded.state_dict())
    loss = squared_error().loss(bounded(inputs), batch[1])
    (gradient,) = torch.autograd.grad(loss, [bounded.weight])
    jacobian = Jacobian(Network(bounded, inputs))
    curvature = float(fisher(jacobian, squared_error(), torch.eye(6).double()[0])[0])
    damping = float(gradient.norm()) / radius - curvature

    found, _ = move(bounded, TrustRegion(bounded, squared_error(), radius=radius), batch)
    truth, _ = move(
        damped, HessianFree(damped, squared_error(), damping=damping, preconditioner="none"), batch
    )

    assert damping > 0
    torch.testing.assert_close(found, truth, rtol=1e-9, atol=1e-12)


@pytest.mark.row(133)
def test_no_step_is_longer_than_the_radius_which_follows_what_came(a_network, a_batch):
    model = a_network(4, 6, 3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3.0)
    optimizer, changes = TrustRegion(model, CrossEntropy(), radius=0.7), set()
    for seed in range(40):
        found, step = move(model, optimizer, a_batch(12, 4, 3, seed=seed))
        length = found.norm().item() / (step.scale or math.inf)
        assert length <= step.radius * (1 + 1e-9)
        change = optimizer.param_groups[0]["radius"] / step.radius
        if step.scale:
            held_back = length == pytest.approx(step.radius, rel=1e-6)
            was_foreseen, was_not = step.reduction_ratio > 3 / 4, step.reduction_ratio < 1 / 4
            assert change == pytest.approx(2 / 3 if was_not else 3 / 2 if was_foreseen and held_back else 1)
        changes.add(round(change, 3))

    assert changes == {0.667, 1.0, 1.5}


@pytest.mark.row(133)
def test_by_the_hessian_it_leaves_a_saddle_along_negative_curvature():
    """Of (a b x - 1)² the Hessian at a = b = 0 has the eigenvalues 2 and -2, and a slope there is none."""
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).double()
    for layer, value in zip(model, (0.02, 0.01), strict=True):
        nn.init.constant_(layer.weight, value)
    batch = torch.ones(4, 1).double(), torch.ones(4, 1).double()

    def loss(place):
        return squared_error().loss(batch[0] * place.prod(), batch[1])

    start = weights(model)
    gradient, matrix = torch.func.grad(loss)(start), torch.func.hessian(loss)(start)

    found, step = move(model, TrustRegion(model, squared_error(), radius=0.5, curvature="hessian"), batch)

    assert found.norm().item() == pytest.approx(0.5)
    assert (found > 0.2).all()
    assert step.model_change == pytest.approx(model_change(matrix, gradient, found))
    assert step.loss_after < step.loss


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"radius": 0.0}, "radius"),
        ({"radius": math.inf}, "radius"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"cg_steps": 0}, "cg_steps"),
        ({"curvature_from_every": 0}, "curvature_from_every"),
        ({"curvature": "fisher"}, "curvature is"),
        ({"lr": -1.0}, "lr"),
    ],
)
def test_a_wrong_setting_is_named(a_network, settings, said):
    with pytest.raises(ValueError, match=said):
        TrustRegion(a_network(4, 5, 3), CrossEntropy(), **settings)


def test_the_hessian_of_other_inputs_is_refused(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    with pytest.raises(ValueError, match="asks for targets"):
        TrustRegion(model, CrossEntropy(), curvature="hessian").step(inputs, targets, statistics=inputs)
