import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call

from optimizers import CrossEntropy, GaussNewton, HessianFree, NaturalGradient, Newton, squared_error
from optimizers.curvature.dense import jacobian
from optimizers.curvature.diagonals import empirical_fisher
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher
from optimizers.curvature.structural import Penalised, Watched, hidden_layers
from optimizers.curvature.vectors import flat, shaped
from optimizers.height import Height
from optimizers.solvers.cg import conjugate_gradients
from optimizers.solvers.iterates import Heights, Worsening, back_tracked, is_kept

CONVERGED = {"cg_steps": 300, "progress": 0.0}


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def move(model, optimizer, batch):
    before = weights(model)
    step = optimizer.step(*batch)
    return weights(model) - before, step


@pytest.mark.row(129)
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("preconditioner", ["none", "empirical_fisher", "gauss_newton"])
def test_with_converged_cg_a_step_is_that_of_damped_gauss_newton(a_network, a_batch, preconditioner, l2):
    batch = a_batch(8, 4, 3)
    free, dense = a_network(4, 5, 3), a_network(4, 5, 3)
    settings = {"damping": 3.0, "l2": l2}

    found, step = move(
        free, HessianFree(free, CrossEntropy(), preconditioner=preconditioner, **settings, **CONVERGED), batch
    )
    truth, _ = move(dense, GaussNewton(dense, CrossEntropy(), **settings), batch)

    assert step.scale == 1.0
    torch.testing.assert_close(found, truth, rtol=1e-7, atol=1e-9)


@pytest.mark.row(132)
def test_with_the_hessian_it_is_that_of_damped_newton(a_network, a_batch):
    batch = a_batch(8, 4, 3)
    free, dense = a_network(4, 5, 3), a_network(4, 5, 3)

    found, _ = move(
        free, HessianFree(free, CrossEntropy(), damping=3.0, curvature="hessian", **CONVERGED), batch
    )
    truth, _ = move(dense, Newton(dense, CrossEntropy(), damping=3.0), batch)

    torch.testing.assert_close(found, truth, rtol=1e-7, atol=1e-9)


@pytest.mark.row(132)
def test_the_hessian_may_be_that_of_a_part_of_the_batch(a_network, a_batch):
    inputs, targets = a_batch(12, 4, 3)
    model = a_network(4, 5, 3)
    network = Network(model, inputs)
    part = torch.func.hessian(
        lambda flat_weights: CrossEntropy().loss(
            functional_call(model, shaped(flat_weights, network.params), (inputs[::3],)), targets[::3]
        )
    )(weights(model))
    truth = torch.linalg.solve(part + 3.0 * torch.eye(len(part)), -network_gradient(network, targets))
    optimizer = HessianFree(
        model, CrossEntropy(), damping=3.0, curvature="hessian", curvature_from_every=3, **CONVERGED
    )

    found, _ = move(model, optimizer, (inputs, targets))

    torch.testing.assert_close(found, truth, rtol=1e-7, atol=1e-9)


@pytest.mark.row(129)
def test_linear_least_squares_takes_one_step():
    inputs = torch.randn(20, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    targets = torch.randn(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    model = nn.Linear(4, 2).double()
    HessianFree(model, squared_error(), damping=1e-12, **CONVERGED).step(inputs, targets)

    with_ones = torch.hstack([inputs, torch.ones(20, 1, dtype=torch.float64)])
    truth = torch.linalg.lstsq(with_ones, targets).solution
    torch.testing.assert_close(model.weight, truth[:4].T, rtol=1e-8, atol=1e-9)
    torch.testing.assert_close(model.bias, truth[4], rtol=1e-8, atol=1e-9)


def test_one_step_of_cg_is_the_gradient_as_far_as_the_model_is_lowest(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(8, 4, 3)
    gradient = flat(
        dict(
            enumerate(
                torch.autograd.grad(CrossEntropy().loss(model(batch[0]), batch[1]), [*model.parameters()])
            )
        )
    )
    curved = fisher(Jacobian(Network(model, batch[0])), CrossEntropy(), gradient) + 2.0 * gradient
    optimizer = HessianFree(model, CrossEntropy(), damping=2.0, cg_steps=1, preconditioner="none")

    found, _ = move(model, optimizer, batch)

    torch.testing.assert_close(found, -(gradient @ gradient) / (gradient @ curved) * gradient)


@pytest.mark.parametrize("seed", range(4))
def test_the_loss_of_the_batch_never_rises(a_network, a_batch, seed):
    model, batch = a_network(4, 6, 3, seed=seed), a_batch(12, 4, 3, seed=seed)
    optimizer = HessianFree(model, CrossEntropy(), damping=1e-6, cg_steps=20)
    steps = [optimizer.step(*batch) for _ in range(25)]

    assert all(step.loss_after <= step.loss for step in steps)
    assert all(after.loss == pytest.approx(step.loss_after) for step, after in pairwise(steps))


@pytest.mark.parametrize("lr", [1.0, 0.5])
def test_the_loss_after_a_step_is_that_of_the_step_that_is_taken(a_network, a_batch, lr):
    model, batch = a_network(4, 6, 3), a_batch(12, 4, 3)
    optimizer = HessianFree(model, CrossEntropy(), lr=lr, damping=0.1, cg_steps=20)
    for _ in range(3):
        step = optimizer.step(*batch)
        assert step.loss_after == pytest.approx(CrossEntropy().loss(model(batch[0]), batch[1]).item())


def test_no_loss_is_computed_twice_in_an_update(a_network, a_batch, monkeypatch):
    looked_at, compute = [], Height.__call__

    def recorded(height, update):
        looked_at.append(tuple(update.tolist()))
        return compute(height, update)

    monkeypatch.setattr(Height, "__call__", recorded)
    model = a_network(4, 6, 3)
    with torch.no_grad():
        model[0].weight.mul_(8.0)
    optimizer, scales = HessianFree(model, CrossEntropy(), damping=1e-9, preconditioner="none"), []
    for seed in range(6):
        looked_at.clear()
        scales.append(optimizer.step(*a_batch(12, 4, 3, seed=seed)).scale)
        assert len(set(looked_at)) == len(looked_at)

    assert min(scales) < 1


def test_damping_falls_towards_zero_where_the_model_foresees_the_loss():
    inputs = torch.randn(30, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    model = nn.Linear(4, 2).double()
    optimizer = HessianFree(model, squared_error(), damping=1.0)
    steps = [optimizer.step(inputs, inputs[:, :2]) for _ in range(8)]

    assert all(step.reduction_ratio == pytest.approx(1.0, rel=1e-6) for step in steps)
    assert optimizer.param_groups[0]["damping"] == pytest.approx((2 / 3) ** 8)


def test_a_step_that_the_loss_refuses_raises_damping_and_is_shortened(a_batch):
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(8.0)
    optimizer = HessianFree(model, CrossEntropy(), damping=1e-9, preconditioner="none", **CONVERGED)
    steps = [optimizer.step(*a_batch(12, 4, 3, seed=seed)) for seed in range(6)]

    shortened = [step for step in steps if step.scale < 1]
    assert shortened
    assert all(step.reduction_ratio is None or step.reduction_ratio < 0.25 for step in shortened)


@pytest.mark.parametrize("way", ["none", "damped"])
def test_without_damping_steps_do_not_know_how_the_inputs_are_written(a_network, a_batch, way):
    """W x and (W A⁻¹)(A x) are one function; damping by I tells them apart."""
    inputs, targets = a_batch(12, 3, 3)
    change = torch.randn(
        3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(4)
    ) + 2 * torch.eye(3)
    plain, other = a_network(3, 3, bias=False), a_network(3, 3, bias=False)
    with torch.no_grad():
        other[0].weight.copy_(plain[0].weight @ change.inverse())
    damping = {"none": 0.0, "damped": 0.5}[way]
    for model, batch in ((plain, inputs), (other, inputs @ change.T)):
        HessianFree(model, squared_error(), damping=damping, preconditioner="none", **CONVERGED).step(
            batch, nn.functional.one_hot(targets, 3).double()
        )

    agree = torch.allclose(plain(inputs), other(inputs @ change.T), rtol=1e-6, atol=1e-8)
    assert agree == (way == "none")


@pytest.mark.row(150)
def test_cg_begins_with_a_part_of_what_it_ended_with(a_network, a_batch):
    batch, iterations = a_batch(12, 4, 3), {}
    for warm_start in (0.0, 1.0):
        model = a_network(4, 5, 3)
        optimizer = HessianFree(model, CrossEntropy(), lr=0.0, damping=0.3, warm_start=warm_start)
        optimizer.step(*batch)
        optimizer.param_groups[0]["damping"] = 0.3
        iterations[warm_start] = optimizer.step(*batch).iterations

    assert iterations[1.0] < iterations[0.0]


@pytest.mark.row(79)
def test_curvature_may_be_that_of_a_part_of_the_batch(a_network, a_batch):
    inputs, targets = a_batch(12, 4, 3)
    model, dense = a_network(4, 5, 3), a_network(4, 5, 3)
    network = Network(dense, inputs)
    gradient = network_gradient(network, targets)
    part = Jacobian(Network(dense, inputs[::3]))
    columns = [fisher(part, CrossEntropy(), row) for row in torch.eye(len(gradient), dtype=torch.float64)]
    truth = torch.linalg.solve(torch.stack(columns) + 3.0 * torch.eye(len(gradient)), -gradient)
    optimizer = HessianFree(model, CrossEntropy(), damping=3.0, curvature_from_every=3, **CONVERGED)

    found, _ = move(model, optimizer, (inputs, targets))

    torch.testing.assert_close(found, truth, rtol=1e-7, atol=1e-9)


@pytest.mark.row(79)
def test_curvature_may_be_that_of_other_inputs(a_network, a_batch):
    (inputs, targets), (others, _) = a_batch(12, 4, 3), a_batch(5, 4, 3, seed=7)
    model, dense = a_network(4, 5, 3), a_network(4, 5, 3)
    optimizer = HessianFree(model, CrossEntropy(), damping=3.0, **CONVERGED)
    before = weights(model)

    step = optimizer.step(inputs, targets, statistics=others)

    truth = NaturalGradient(dense, CrossEntropy(), damping=3.0)
    truth.step(inputs, targets, statistics=others)
    torch.testing.assert_close(weights(model) - before, weights(dense) - before, rtol=1e-7, atol=1e-9)
    assert step.scale == 1.0


def network_gradient(network, targets):
    params = {name: tensor.clone().requires_grad_() for name, tensor in network.params.items()}
    loss = CrossEntropy().loss(network(params), targets)
    return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(params.values()))])


@pytest.mark.row(148)
@pytest.mark.parametrize(
    ("heights", "taken"),
    [
        ([5, 4, 3, 2], 4),
        ([5, 4, 3, 3], 3),
        ([5, 2, 3, 4], 2),
        ([1, 4, 3, 4], 3),
        ([5, 4, math.inf, math.inf], 2),
    ],
)
def test_the_iterate_is_taken_from_which_on_backwards_the_loss_rises(heights, taken):
    iterates = {number: torch.tensor([float(number)]) for number in range(1, 5)}
    of_iterates = Heights(lambda update: [9, *heights][int(update)], iterates[1])

    assert back_tracked(iterates, of_iterates) == taken


@pytest.mark.row(148)
def test_iterates_are_kept_at_distances_that_grow_by_the_same_factor():
    assert [number for number in range(1, 60) if is_kept(number)] == [
        1,
        2,
        3,
        4,
        5,
        7,
        9,
        11,
        14,
        18,
        24,
        31,
        40,
        52,
    ]


@pytest.mark.row(151)
@pytest.mark.parametrize("limit", [{"exponent": 0.0}, {"damping": 1e9}])
def test_a_preconditioner_without_differences_changes_no_iterate(a_network, a_batch, limit):
    batch, moves = a_batch(12, 4, 3), []
    for preconditioner in ("none", "empirical_fisher"):
        model = a_network(4, 5, 3)
        settings = {"damping": 0.1, "cg_steps": 4, "preconditioner": preconditioner, **limit}
        moves.append(move(model, HessianFree(model, CrossEntropy(), **settings), batch)[0])

    torch.testing.assert_close(*moves, rtol=1e-6, atol=1e-14)


@pytest.mark.row(151)
def test_the_preconditioner_is_a_power_of_the_damped_diagonal(a_network, a_batch):
    """One step of CG from 0 goes along P⁻¹ ∇h."""
    model, batch = a_network(4, 5, 3), a_batch(12, 4, 3)
    network = Network(model, batch[0])
    diagonal = flat(empirical_fisher(network, CrossEntropy(), batch[1])) + 0.3
    along = diagonal.pow(-0.75) * network_gradient(network, batch[1])

    found, _ = move(model, HessianFree(model, CrossEntropy(), damping=0.3, cg_steps=1), batch)

    assert torch.cosine_similarity(found, -along, dim=0).item() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.row(131, 147)
def test_no_more_steps_of_cg_are_taken_than_were_asked_for(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = HessianFree(model, CrossEntropy(), damping=1e-3, cg_steps=7, progress=0.0)

    assert [optimizer.step(*a_batch(12, 4, 3, seed=seed)).iterations for seed in range(3)] == [7, 7, 7]


# When conjugate gradients stop by the loss, and which iterate is taken


def stopped_at(reductions, reference):
    """The first looked-at step at which the rule says to stop, as it is published."""
    for number, found in reductions.items():
        so_far = {each: gain for each, gain in reductions.items() if each <= number}
        most, before = max(so_far.values()), reference(so_far, number)
        if most > 0 and before is not None and found < before - 0.1 * most:
            return number
    return None


def the_best(so_far, number):
    del number
    return max(so_far.values())


def ten_steps_ago(so_far, number):
    return so_far[max(each for each in so_far if each <= number - 10)] if number > 10 else None


RULES = {"best": the_best, "ten_steps_ago": ten_steps_ago}
KEPT = [number for number in range(1, 60) if is_kept(number)]


@pytest.mark.row(130, 149)
@settings(deadline=None)
@given(
    reductions=st.lists(st.floats(-2, 3), min_size=len(KEPT), max_size=len(KEPT)),
    above=st.sampled_from([*RULES]),
)
def test_the_rule_stops_where_the_loss_has_risen_by_a_tenth_of_what_it_had_fallen(reductions, above):
    by_number = dict(zip(KEPT, reductions, strict=True))
    heights = Heights(lambda update: -by_number.get(int(update), 0.0), torch.zeros(()))
    worsening = Worsening(heights, above)

    found = next((n for n in range(1, 60) if worsening(n, torch.tensor(float(n)))), None)

    assert found == stopped_at(by_number, RULES[above])


@pytest.mark.row(149)
def test_a_start_that_is_worse_than_nothing_stops_nothing():
    heights = Heights(float, torch.zeros(()))
    worsening = Worsening(heights, "best")

    assert not any(worsening(number, torch.tensor(10.0 + number)) for number in range(1, 60))


def far_from_linear(a_network):
    model = a_network(4, 6, 3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4.0)
    return model


def dense_iterates(model, batch, damping, every=1, steps=60):
    """Iterates from 0 with matrix and gradient written out, and the loss θ + x gives a part of some batch."""
    network, start = Network(model, batch[0]), weights(model)
    part = Jacobian(Network(model, batch[0][::every]))
    rows = torch.eye(len(start), dtype=torch.float64)
    matrix = torch.stack([fisher(part, CrossEntropy(), row) for row in rows]) + damping * rows
    gradient = network_gradient(network, batch[1])
    solved = conjugate_gradients(
        lambda v: matrix @ v, -gradient, max_iterations=steps, progress=0.0, keep=lambda _: True
    )

    def loss(update, inputs, targets):
        moved = shaped(start + update, network.params)
        return CrossEntropy().loss(functional_call(model, moved, (inputs,)), targets).item()

    return solved.iterates, loss


BY_LOSS = {"damping": 1e-2, "cg_steps": 60, "progress": 0.0, "preconditioner": "none"}


@pytest.mark.row(130, 149)
@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("above", [*RULES])
def test_conjugate_gradients_stop_by_the_loss_of_the_cases_of_the_curvature(a_network, a_batch, above, every):
    model, batch = far_from_linear(a_network), a_batch(12, 4, 3, seed=8)
    iterates, loss = dense_iterates(model, batch, 1e-2, every)
    part = [tensor[::every] for tensor in batch]
    gains = {number: loss(0 * iterates[1], *part) - loss(iterates[number], *part) for number in KEPT}
    expected = stopped_at(gains, RULES[above])
    best = max((number for number in KEPT if number <= expected), key=gains.get)
    kept = {"ten_steps_ago": best, "best": expected}[above]  # to begin with the next time
    optimizer = HessianFree(
        model, CrossEntropy(), stop_if_worse_than=above, curvature_from_every=every, **BY_LOSS
    )

    step = optimizer.step(*batch)

    assert step.iterations == expected < 60
    assert best != expected
    torch.testing.assert_close(flat(optimizer.state_dict()["last"]), iterates[kept], rtol=1e-4, atol=1e-6)


@pytest.mark.row(130)
def test_of_the_iterates_the_best_for_other_cases_is_taken(a_network, a_batch):
    taken = set()
    for seed in range(6):
        model, batch, others = far_from_linear(a_network), a_batch(12, 4, 3), a_batch(9, 4, 3, seed=seed + 20)
        iterates, loss = dense_iterates(model, batch, 1e-2, steps=24)
        candidates = [0, *[number for number in KEPT if number <= 24]]
        best = min(candidates, key=lambda number: loss(iterates[number], *others))
        optimizer = HessianFree(model, CrossEntropy(), **BY_LOSS | {"cg_steps": 24})
        before = weights(model)

        step = optimizer.step(*batch, search=others)

        torch.testing.assert_close(weights(model) - before, step.scale * iterates[best], rtol=1e-4, atol=1e-6)
        taken.add(best)

    assert len(taken) > 2


@pytest.mark.row(130)
def test_where_no_iterate_helps_other_cases_nothing_moves_and_damping_rises(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3), a_batch(12, 4, 3)
    model[0].weight.data.zero_()
    model[0].bias.data.zero_()
    opposite = inputs.repeat(2, 1), torch.cat([(targets + 1) % 3, (targets + 2) % 3])
    optimizer, before = HessianFree(model, CrossEntropy(), damping=2.0), weights(model)

    step = optimizer.step(inputs, targets, search=opposite)

    assert step.iterations > 0
    assert torch.equal(weights(model), before)
    assert optimizer.param_groups[0]["damping"] == 3.0


@pytest.mark.row(130)
@pytest.mark.parametrize("warm_start", [0.0, 0.95])
@pytest.mark.parametrize("seed", range(8))
def test_no_iterate_is_taken_that_is_worse_for_other_cases_than_the_start(
    a_network, a_batch, seed, warm_start
):
    model, batch, others = (
        far_from_linear(a_network),
        a_batch(12, 4, 3, seed=seed),
        a_batch(5, 4, 3, seed=seed + 50),
    )
    optimizer = HessianFree(model, CrossEntropy(), damping=1e-3, warm_start=warm_start, cg_steps=20)
    for _ in range(4):
        last = optimizer.state_dict()["last"]
        start = weights(model) + (warm_start * flat(last) if last else 0.0)
        step = optimizer.step(*batch, search=others)
        if step.scale == 1:
            at_start = shaped(start, dict(model.named_parameters()))
            outputs = functional_call(model, at_start, (others[0],))
            after = CrossEntropy().loss(model(others[0]), others[1])
            assert after <= CrossEntropy().loss(outputs, others[1]) + 1e-12


@pytest.mark.row(130)
def test_other_cases_that_are_those_of_the_batch_change_no_step(a_network, a_batch):
    moves = []
    for same in (False, True):
        model, batch = a_network(4, 6, 3), a_batch(12, 4, 3)
        optimizer, before = HessianFree(model, CrossEntropy(), damping=10.0, cg_steps=2), weights(model)
        for _ in range(4):
            optimizer.step(*batch, **({"search": batch} if same else {}))
        moves.append(weights(model) - before)

    assert torch.equal(*moves)


@pytest.mark.row(132)
def test_where_the_first_curvature_is_negative_damping_rises_until_there_is_a_step():
    """Of (a b x - 1)² the Hessian near a = b = 0 bends down along the gradient."""
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)).double()
    for layer in model:
        nn.init.constant_(layer.weight, 0.1)
    batch = torch.ones(4, 1).double(), torch.ones(4, 1).double()
    optimizer = HessianFree(model, squared_error(), damping=0.1, curvature="hessian", preconditioner="none")
    first, *_, last = [optimizer.step(*batch) for _ in range(12)]

    assert first.iterations == first.update_norm == 0
    assert first.damping < last.damping
    assert last.loss_after < first.loss / 2


# Remedies against a step that fits its batch alone


def others_after(examples=20, lr=1.0, **settings):
    """The loss of other cases after three updates on so many noisy ones."""
    torch.manual_seed(0)
    truth = torch.randn(10, 3, dtype=torch.float64)
    model = nn.Sequential(nn.Linear(10, 12), nn.Tanh(), nn.Linear(12, 3)).double()
    inputs, noise = torch.randn(2, 2400, 10, generator=torch.Generator().manual_seed(1)).double()
    targets = (inputs @ truth + 2.0 * (noise @ truth)).argmax(dim=1)
    optimizer = HessianFree(model, CrossEntropy(), lr=lr, damping=1e-3, **settings)
    for update in range(3):
        cases = slice(update * examples, (update + 1) * examples)
        optimizer.step(inputs[cases], targets[cases])
    return CrossEntropy().loss(model(inputs[-600:]), targets[-600:]).item()


@pytest.mark.row(168)
@pytest.mark.parametrize(
    "remedy",
    [{"cg_steps": 3}, {"examples": 200, "curvature_from_every": 10}, {"lr": 0.3}],
    ids=["few steps of conjugate gradients", "a larger batch for the gradient", "a small rate"],
)
def test_each_remedy_against_a_step_that_fits_its_batch_alone_leaves_other_cases_better(remedy):
    assert others_after(**remedy) < others_after()


@pytest.mark.row(168)
def test_rate_and_steps_of_conjugate_gradients_may_fall_towards_the_end(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = HessianFree(model, CrossEntropy(), damping=1.0, progress=0.0)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / 4)
    norms, iterations = [], []
    for cg_steps in (9, 6, 3, 1):
        optimizer.param_groups[0]["cg_steps"] = cg_steps
        step = optimizer.step(*a_batch(12, 4, 3))
        norms.append(step.update_norm)
        iterations.append(step.iterations)
        falling.step()

    assert iterations == [9, 6, 3, 1]
    assert norms == sorted(norms, reverse=True)


# Structural damping


class Steps(nn.Module):
    """h(t) = tanh(W x(t) + V h(t - 1)), from (cases, steps) to three outputs at the end."""

    def __init__(self):
        super().__init__()
        self.below, self.before, self.head = nn.Linear(1, 3), nn.Linear(3, 3, bias=False), nn.Linear(3, 3)
        self.activation = nn.Tanh()

    def forward(self, inputs):
        state = torch.zeros(len(inputs), 3, dtype=inputs.dtype)
        for value in inputs.unbind(dim=1):
            state = self.activation(self.below(value[:, None]) + self.before(state))
        return self.head(state)


def a_recurrent_network(seed=0):
    torch.manual_seed(seed)
    return Steps().double()


def states(network, params):
    """All hidden activities, written out again."""
    state, found = torch.zeros(len(network.inputs), 3, dtype=torch.float64), []
    for value in network.inputs.unbind(dim=1):
        sums = (
            value[:, None] @ params["below.weight"].T
            + params["below.bias"]
            + state @ params["before.weight"].T
        )
        state = torch.tanh(sums)
        found.append(state)
    return torch.cat(found, dim=1)


def of_states(network):
    """J_c of every case."""
    derivative = torch.func.jacrev(lambda params: states(network, params))(network.params)
    return torch.cat([part.flatten(start_dim=2) for part in derivative.values()], dim=2)


@pytest.mark.row(155)
def test_structural_damping_adds_the_curvature_of_hidden_states(a_batch):
    model, (inputs, _) = a_recurrent_network(), a_batch(6, 4, 3)
    network, watched = Network(model, inputs), Network(Watched(model, ["activation"]), inputs)
    penalised = Penalised(objective=CrossEntropy(), strength=0.7, outputs=torch.Size([3]))
    vector = torch.randn(sum(p.numel() for p in model.parameters()), dtype=torch.float64)
    outputs = network(network.params)
    rows = jacobian(network)
    curved = torch.stack(
        [CrossEntropy().curvature(outputs, rows[:, :, at]) for at in range(rows.shape[2])], dim=2
    )
    of_hidden = of_states(network)
    dense = (rows.transpose(1, 2) @ curved + 0.7 * of_hidden.transpose(1, 2) @ of_hidden).mean(dim=0)

    found = fisher(Jacobian(watched), penalised, vector)

    torch.testing.assert_close(found, dense @ vector, rtol=1e-10, atol=1e-12)


def hidden_change(structural, batch):
    model = a_recurrent_network()
    network = Network(model, batch[0])
    before, head = states(network, network.params), model.head.weight.detach().clone()
    HessianFree(model, CrossEntropy(), damping=1.0, structural=structural, **CONVERGED).step(*batch)
    after = states(network, dict(model.named_parameters()))
    return (after - before).norm().item(), (model.head.weight - head).norm().item()


@pytest.mark.row(155)
def test_without_end_structural_damping_freezes_the_hidden_states_and_nothing_else(a_batch):
    batch = a_batch(12, 4, 3)
    (free, _), (frozen, head) = hidden_change(0.0, batch), hidden_change(1e9, batch)

    assert frozen < 1e-5 * free
    assert head > 0.01


@pytest.mark.row(155)
def test_what_is_foreseen_knows_of_no_damping(a_batch):
    batch = a_batch(12, 4, 3)
    for structural in (0.0, 0.5):
        model = a_recurrent_network()
        network = Network(model, batch[0])
        gradient = network_gradient(network, batch[1])
        optimizer = HessianFree(model, CrossEntropy(), damping=0.7, structural=structural)
        jacobians = Jacobian(Network(a_recurrent_network(), batch[0]))

        found, step = move(model, optimizer, batch)

        curved = fisher(jacobians, CrossEntropy(), found / step.scale)
        foreseen = (gradient + curved / 2) @ found / step.scale
        assert step.model_change == pytest.approx(foreseen.item(), rel=1e-9)


def test_activations_and_recurrent_layers_are_the_hidden_ones():
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.GRU(2, 2), nn.Linear(2, 2), nn.Identity())

    assert hidden_layers(model) == ["1", "2"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"cg_steps": 0}, "cg_steps"),
        ({"curvature_from_every": 0}, "curvature_from_every"),
        ({"preconditioner": "diagonal"}, "preconditioner is one of"),
        ({"curvature": "fisher"}, "curvature is"),
        ({"structural": -1.0}, "structural"),
        ({"structural": 1.0, "hidden": ["7"]}, "no layer '7'; its layers are '0', '1', '2'."),
        ({"structural": 1.0, "hidden": []}, "none is known"),
        ({"structural": 1.0, "curvature": "hessian"}, "Gauss-Newton"),
        ({"stop_if_worse_than": "ever"}, "stop_if_worse_than is one of"),
        ({"damping": math.nan}, "damping"),
        ({"lr": -1.0}, "lr"),
    ],
)
def test_a_wrong_setting_is_named(a_network, settings, said):
    with pytest.raises(ValueError, match=said):
        HessianFree(a_network(4, 5, 3), CrossEntropy(), **settings)
