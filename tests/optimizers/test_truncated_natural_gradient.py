import pytest
import torch
from torch import nn

from optimizers import (
    CrossEntropy,
    HessianFree,
    NaturalGradient,
    TruncatedNaturalGradient,
    squared_error,
)
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher

CONVERGED = {"iterations": 300, "tolerance": 0.0, "adapts": False}


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def move(model, optimizer, *batch, **more):
    before = weights(model)
    step = optimizer.step(*batch, **more)
    return weights(model) - before, step


@pytest.mark.row(113)
@pytest.mark.parametrize("solver", ["cg", "minres_qlp"])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_with_a_converged_solver_a_step_is_that_of_the_dense_natural_gradient(a_network, a_batch, solver, l2):
    batch, settings = a_batch(8, 4, 3), {"lr": 0.5, "damping": 0.3, "l2": l2}
    free, dense = a_network(4, 5, 3), a_network(4, 5, 3)
    optimizer = TruncatedNaturalGradient(
        free, CrossEntropy(), solver=solver, iterations=60, tolerance=1e-12, adapts=False, **settings
    )

    truth, _ = move(dense, NaturalGradient(dense, CrossEntropy(), **settings), *batch)

    torch.testing.assert_close(move(free, optimizer, *batch)[0], truth, rtol=1e-8, atol=1e-10)


@pytest.mark.row(79, 115)
@pytest.mark.parametrize("metric", ["different", "joined", "heldout"])
def test_the_metric_may_be_that_of_other_inputs(a_network, a_batch, metric):
    batch, (others, _) = a_batch(8, 4, 3), a_batch(5, 4, 3, seed=7)
    statistics = (
        torch.cat([batch[0], others]) if metric == "joined" else others[: 3 if metric == "heldout" else 5]
    )
    free, dense = a_network(4, 5, 3), a_network(4, 5, 3)
    settings = {"lr": 0.5, "damping": 0.3}

    found, _ = move(
        free,
        TruncatedNaturalGradient(free, CrossEntropy(), **settings, **CONVERGED),
        *batch,
        statistics=statistics,
    )
    truth, _ = move(dense, NaturalGradient(dense, CrossEntropy(), **settings), *batch, statistics=statistics)

    torch.testing.assert_close(found, truth, rtol=1e-8, atol=1e-10)
    jacobian = Jacobian(Network(a_network(4, 5, 3), statistics))
    gradient = -(fisher(jacobian, CrossEntropy(), found) + 0.3 * found) / 0.5
    model = a_network(4, 5, 3)
    by_torch = torch.autograd.grad(CrossEntropy().loss(model(batch[0]), batch[1]), list(model.parameters()))
    torch.testing.assert_close(
        gradient, torch.cat([part.flatten() for part in by_torch]), rtol=1e-8, atol=1e-10
    )


@pytest.mark.row(115)
def test_the_metric_of_the_batch_itself_is_the_usual_one_to_the_last_bit(a_network, a_batch):
    (inputs, targets), moves = a_batch(8, 4, 3), []
    for statistics in (None, inputs.clone()):
        model = a_network(4, 5, 3)
        moves.append(
            move(
                model, TruncatedNaturalGradient(model, CrossEntropy()), inputs, targets, statistics=statistics
            )[0]
        )

    assert torch.equal(*moves)


@pytest.mark.row(113)
def test_with_boundless_damping_it_is_gradient_descent(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(8, 4, 3)
    by_torch = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), list(model.parameters()))

    found, _ = move(
        model, TruncatedNaturalGradient(model, CrossEntropy(), damping=1e9, adapts=False), inputs, targets
    )

    torch.testing.assert_close(
        found * 1e9, -torch.cat([part.flatten() for part in by_torch]), rtol=1e-6, atol=1e-6
    )


@pytest.mark.row(113)
def test_on_the_same_batch_it_is_hessian_free_without_its_searches(a_network, a_batch):
    batch = a_batch(8, 4, 3)
    natural, free = a_network(4, 5, 3), a_network(4, 5, 3)
    found, step = move(
        natural,
        TruncatedNaturalGradient(
            natural, CrossEntropy(), damping=2.0, adapts=True, iterations=80, tolerance=0.0
        ),
        *batch,
    )
    other = HessianFree(free, CrossEntropy(), damping=2.0, cg_steps=80, progress=0.0, preconditioner="none")
    truth, searched = move(free, other, *batch)

    assert searched.scale == 1
    torch.testing.assert_close(found, truth, rtol=1e-7, atol=1e-9)
    assert step.reduction_ratio == pytest.approx(searched.reduction_ratio)


@pytest.mark.row(114)
def test_without_damping_minres_takes_the_shortest_solution(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 6, 3), a_batch(3, 4, 3)
    network = Network(model, inputs)
    size = len(weights(model))
    columns = [fisher(Jacobian(network), CrossEntropy(), row) for row in torch.eye(size, dtype=torch.float64)]
    by_torch = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), list(model.parameters()))
    truth = -torch.linalg.pinv(torch.stack(columns), rtol=1e-10) @ torch.cat(
        [part.flatten() for part in by_torch]
    )
    optimizer = TruncatedNaturalGradient(
        model, CrossEntropy(), damping=0.0, solver="minres_qlp", iterations=40, tolerance=1e-12, adapts=False
    )

    found, _ = move(model, optimizer, inputs, targets)

    torch.testing.assert_close(found, truth, rtol=1e-6, atol=1e-8)


def softmax_regression():
    stream = torch.Generator().manual_seed(0)
    inputs = torch.randn(200, 6, generator=stream, dtype=torch.float64)
    model = nn.Linear(6, 4).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    return model, inputs, (inputs[:, :4] + 0.8 * torch.randn(200, 4, generator=stream)).argmax(dim=1)


@pytest.mark.row(116)
def test_long_steps_with_damping_that_adapts_are_not_all_rejected():
    model, inputs, targets = softmax_regression()
    optimizer = TruncatedNaturalGradient(model, CrossEntropy(), lr=5.0, damping=2.0, adapts=True)
    steps = [optimizer.step(inputs, targets) for _ in range(60)]

    assert sum(step.update_norm > 0 for step in steps) > 50
    assert steps[-1].loss < 0.6 * steps[0].loss


@pytest.mark.row(116)
@pytest.mark.parametrize("lr", [0.5, 1.0, 1.5])
def test_the_damped_model_foresees_a_known_share_of_the_slope(a_network, a_batch, lr):
    """With exact solves ½ δᵀ(F + λI)δ + ∇hᵀδ is 1 - lr/2 of ∇hᵀδ: so are the thresholds of the rule."""
    batch, model = a_batch(8, 4, 3), a_network(4, 5, 3)
    jacobian = Jacobian(Network(a_network(4, 5, 3), batch[0]))
    found, step = move(
        model,
        TruncatedNaturalGradient(
            model,
            CrossEntropy(),
            lr=lr,
            damping=0.3,
            ratio="first_order",
            adapts=True,
            iterations=80,
            tolerance=0.0,
        ),
        *batch,
    )

    damped = fisher(jacobian, CrossEntropy(), found) + 0.3 * found
    assert step.model_change + float(found @ damped) / 2 == pytest.approx(
        (1 - lr / 2) * step.model_change, rel=1e-8
    )


@pytest.mark.row(116)
def test_constant_damping_stays(a_network, a_batch):
    optimizer = TruncatedNaturalGradient(a_network(4, 5, 3), CrossEntropy(), damping=0.3, adapts=False)
    for seed in range(3):
        optimizer.step(*a_batch(8, 4, 3, seed=seed))

    assert optimizer.param_groups[0]["damping"] == 0.3


def test_a_quadratic_loss_is_foreseen_exactly():
    inputs = torch.randn(30, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = nn.Linear(4, 2).double()
    optimizer = TruncatedNaturalGradient(model, squared_error(), damping=1.0, adapts=True)
    steps = [optimizer.step(inputs, inputs[:, :2]) for _ in range(5)]

    assert all(step.reduction_ratio == pytest.approx(1.0, rel=1e-6) for step in steps)
    assert optimizer.param_groups[0]["damping"] == pytest.approx((2 / 3) ** 5)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"iterations": 0}, "iterations"),
        ({"solver": "qr"}, "solver is"),
        ({"ratio": "cubic"}, "ratio is"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"damping": -1.0}, "damping"),
    ],
)
def test_a_wrong_setting_is_named(a_network, settings, said):
    with pytest.raises(ValueError, match=said):
        TruncatedNaturalGradient(a_network(4, 5, 3), CrossEntropy(), **settings)


def test_after_a_step_that_is_not_taken_the_loss_is_that_of_before(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(8, 4, 3)
    optimizer = TruncatedNaturalGradient(
        model, CrossEntropy(), lr=5.0, damping=1e-4, adapts=True, ratio="quadratic"
    )
    steps = [optimizer.step(inputs, targets) for _ in range(5)]

    rejected = [step for step in steps if step.update_norm == 0]
    assert rejected
    assert all(step.loss_after == pytest.approx(step.loss, rel=1e-12) for step in rejected)
