import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, HessianFree, KrylovSubspaceDescent, squared_error
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher
from optimizers.solvers.cg import conjugate_gradients


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def a_quadratic(seed=0):
    """A linear model, whose squared error is quadratic, with inputs of very different size."""
    torch.manual_seed(seed)
    stream = torch.Generator().manual_seed(seed + 1)
    inputs = torch.randn(40, 8, dtype=torch.float64, generator=stream) * torch.logspace(0, 1.5, 8)
    return nn.Linear(8, 2).double(), inputs, torch.randn(40, 2, dtype=torch.float64, generator=stream)


def gradient_of(model, objective, inputs, targets):
    parts = torch.autograd.grad(objective.loss(model(inputs), targets), list(model.parameters()))
    return torch.cat([part.flatten() for part in parts])


def product_of(model, objective, inputs):
    jacobian = Jacobian(Network(model, inputs))
    return lambda vector: fisher(jacobian, objective, vector)


@pytest.mark.row(135)
@pytest.mark.parametrize("dimensions", [1, 3, 6])
def test_on_a_quadratic_it_goes_as_far_as_so_many_steps_of_conjugate_gradients(dimensions):
    model, inputs, targets = a_quadratic()
    gradient = gradient_of(model, squared_error(), inputs, targets)
    product = product_of(model, squared_error(), inputs)
    truth = conjugate_gradients(product, -gradient, max_iterations=dimensions, progress=0.0).solution
    before = weights(model)
    optimizer = KrylovSubspaceDescent(
        model, squared_error(), dimensions=dimensions, searches=100, preconditions=False
    )

    optimizer.step(inputs, targets)

    torch.testing.assert_close(weights(model) - before, truth, rtol=1e-5, atol=1e-8)


@pytest.mark.row(135)
def test_the_last_step_makes_it_go_further():
    model, inputs, targets = a_quadratic()
    optimizer = KrylovSubspaceDescent(model, squared_error(), dimensions=3, searches=100, preconditions=False)
    optimizer.step(inputs, targets)
    gradient = gradient_of(model, squared_error(), inputs, targets)
    product = product_of(model, squared_error(), inputs)
    alone = conjugate_gradients(product, -gradient, max_iterations=3, progress=0.0).solution

    step = optimizer.step(inputs, targets)

    foreseen = float(gradient @ alone + alone @ product(alone) / 2)
    assert step.loss_after - step.loss < foreseen
    assert step.iterations == 4


@pytest.mark.row(135)
@pytest.mark.parametrize("damping", [1e-3, 1.0, 100.0])
def test_the_subspace_has_every_solution_of_conjugate_gradients_with_any_damping(a_network, a_batch, damping):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(8, 4, 3)
    gradient = gradient_of(model, CrossEntropy(), inputs, targets)
    product = product_of(model, CrossEntropy(), inputs)
    solved = conjugate_gradients(
        lambda vector: product(vector) + damping * vector, -gradient, max_iterations=4, progress=0.0
    ).solution
    spans = [gradient]
    for _ in range(3):
        spans.append(product(spans[-1]))
    span = torch.stack(spans, dim=1)
    moved = weights(model)
    optimizer = KrylovSubspaceDescent(model, CrossEntropy(), dimensions=4, preconditions=False)
    optimizer.step(inputs, targets)

    for vector in (solved, weights(model) - moved):
        nearest = span @ torch.linalg.lstsq(span / span.norm(dim=0), vector[:, None]).solution[:, 0].div(
            span.norm(dim=0)
        )
        torch.testing.assert_close(nearest, vector, rtol=1e-5, atol=1e-7)


@pytest.mark.row(135)
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_it_searches_on_never_rises(a_network, a_batch, seed):
    model = a_network(4, 6, 3, seed=seed)
    optimizer = KrylovSubspaceDescent(model, CrossEntropy(), dimensions=5)
    for number in range(8):
        others = a_batch(20, 4, 3, seed=100 + number)
        before = CrossEntropy().loss(model(others[0]), others[1]).item()
        batch, statistics = a_batch(12, 4, 3, seed=number), a_batch(9, 4, 3, seed=50 + number)[0]
        step = optimizer.step(*batch, statistics=statistics, search=others)
        after = CrossEntropy().loss(model(others[0]), others[1]).item()

        assert after <= before
        of_batch = CrossEntropy().loss(model(batch[0]), batch[1]).item()
        assert step.loss_after is None or step.loss_after == pytest.approx(of_batch)


@pytest.mark.row(79, 135)
def test_gradient_curvature_and_search_may_be_of_three_batches(a_network, a_batch):
    """With one dimension the step is along the first batch's gradient, as far as the third is lowest."""
    model, (inputs, targets), search = a_network(4, 5, 3), a_batch(8, 4, 3), a_batch(20, 4, 3, seed=5)
    gradient, before = gradient_of(model, CrossEntropy(), inputs, targets), weights(model)
    optimizer = KrylovSubspaceDescent(model, CrossEntropy(), dimensions=1, searches=60, preconditions=False)

    optimizer.step(inputs, targets, statistics=a_batch(5, 4, 3, seed=9)[0], search=search)

    moved = weights(model) - before
    assert torch.cosine_similarity(moved, gradient, dim=0).abs().item() == pytest.approx(1.0)
    assert float(gradient_of(model, CrossEntropy(), *search) @ gradient) == pytest.approx(0.0, abs=1e-6)


def test_it_starts_where_hessian_free_does_on_a_network_that_is_nearly_linear(a_network, a_batch):
    batch, moves = a_batch(30, 4, 3), []
    for make in (
        lambda model: KrylovSubspaceDescent(model, CrossEntropy(), dimensions=40, searches=200),
        lambda model: HessianFree(model, CrossEntropy(), damping=1e-10, cg_steps=200, progress=0.0),
    ):
        model = a_network(4, 3)  # no hidden layer: the loss is convex, and nearly quadratic near its minimum
        optimizer = make(model)
        for _ in range(6):
            optimizer.step(*batch)
        moves.append(CrossEntropy().loss(model(batch[0]), batch[1]).item())

    assert moves[0] == pytest.approx(moves[1], rel=1e-6)


@pytest.mark.parametrize("setting", ["dimensions", "searches"])
def test_a_count_below_one_is_named(a_network, setting):
    with pytest.raises(ValueError, match=setting):
        KrylovSubspaceDescent(a_network(4, 5, 3), CrossEntropy(), **{setting: 0})
