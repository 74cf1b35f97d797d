import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from optimizers import KFAC, CrossEntropy
from worker.training.batch_size import Gradients, batch_size_schedule, enough_examples, exponential
from worker.training.schedules import (
    RATES,
    on_then_off,
    rate_schedule,
    rising_momentum,
    set_scheduled,
    switched,
)

TIMES = (0, 200, 220, 2000)


@pytest.mark.row(74)
@pytest.mark.parametrize(
    ("name", "settings", "values"),
    [
        ("constant", {"rate": 0.5}, (0.5, 0.5, 0.5, 0.5)),
        ("inverse_after", {"rate": 1.0}, (1, 1, 1 / 2, 1 / 91)),
        ("inverse", {}, (1, 1 / 201, 1 / 221, 1 / 2001)),
        ("inverse", {"rate": 0.5}, (1 / 2, 1 / 402, 1 / 442, 1 / 4002)),
        ("search_then_converge", {"rate": 2.0, "turn": 100}, (2, 2 / 3, 2 / 3.2, 2 / 21)),
        ("final_annealing", {"rate": 1.0, "updates": 2000}, (1, 1, 1, 0)),
        ("final_annealing", {"rate": 1.0, "updates": 240}, (1, 1 / 3, 1 / 6, 0)),
        ("final_annealing", {"rate": 1.0, "updates": 400, "part": 1.0}, (1, 1 / 2, 0.45, 0)),
    ],
)
def test_a_learning_rate_follows_its_formula(name, settings, values):
    schedule = rate_schedule(name, **settings)

    assert [schedule(update) for update in TIMES] == pytest.approx(values, rel=1e-12)


@given(st.data())
def test_no_learning_rate_ever_rises(data):
    name = data.draw(st.sampled_from(sorted(RATES)))
    extra = {"search_then_converge": {"turn": 50}, "final_annealing": {"updates": 300}}.get(name, {})
    schedule = rate_schedule(name, rate=data.draw(st.floats(1e-6, 1e3)), **extra)
    update = data.draw(st.integers(0, 400))

    assert schedule(update + 1) <= schedule(update)


def test_annealing_reaches_zero_only_after_the_last_update():
    schedule = rate_schedule("final_annealing", rate=1.0, updates=10)

    assert schedule(9) > 0
    assert schedule(10) == 0


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("step", {"rate": 1.0}, "'step'.*'inverse_after'"),
        ("constant", {}, "'rate'"),
        ("constant", {"rate": -1.0}, r"rate is -1\.0"),
        ("search_then_converge", {"rate": 1.0, "turn": 0}, "turn is 0"),
        ("final_annealing", {"rate": 1.0, "updates": 10, "part": 0.0}, "part is 0"),
    ],
)
def test_a_wrong_schedule_or_setting_is_named(name, settings, said):
    with pytest.raises(ValueError, match=said):
        rate_schedule(name, **settings)


@pytest.mark.row(72)
def test_nesterov_momentum_rises_by_steps_to_its_limit_and_is_lowered_at_the_end():
    momentum = rising_momentum(limit=0.99, updates=20_000)

    assert [
        momentum(update) for update in (0, 249, 250, 500, 12_249, 12_500, 18_999, 19_000)
    ] == pytest.approx([1 / 2, 1 / 2, 3 / 4, 5 / 6, 1 - 1 / 98, 0.99, 0.99, 0.9], rel=1e-12)


@pytest.mark.row(72)
@pytest.mark.parametrize(("limit", "last"), [(0.0, 0.0), (0.999, 0.9)])
def test_a_low_limit_of_the_momentum_holds_at_the_end_too(limit, last):
    assert rising_momentum(limit=limit, updates=5000)(4999) == last


@pytest.mark.row(44)
def test_weight_decay_acts_until_it_is_switched_off():
    parameter = torch.nn.Parameter(torch.ones(1, dtype=torch.float64))
    optimizer = torch.optim.SGD([parameter], lr=0.1)
    path = []
    for update in range(4):
        set_scheduled(optimizer, update, {"weight_decay": on_then_off(0.5, until=2)})
        parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
        path.append(parameter.item())

    assert path == pytest.approx([0.95, 0.95**2, 0.95**2, 0.95**2], rel=1e-14)


@pytest.mark.row(77)
def test_a_switched_schedule_begins_its_second_phase_at_its_own_start():
    schedule = switched(
        rate_schedule("constant", rate=0.5), rate_schedule("search_then_converge", rate=0.2, turn=10), at=100
    )

    assert [schedule(update) for update in (0, 99, 100, 110)] == pytest.approx([0.5, 0.5, 0.2, 0.1])


def test_schedules_reach_every_group_of_any_optimizer():
    model = torch.nn.Linear(2, 2)
    grouped = torch.optim.SGD([{"params": [model.weight]}, {"params": [model.bias]}], lr=1.0)
    second_order = KFAC(model, CrossEntropy())
    set_scheduled(grouped, 220, {"lr": rate_schedule("inverse_after", rate=1.0)})
    set_scheduled(second_order, 1, {"damping": lambda update: 3.0 - update})

    assert [group["lr"] for group in grouped.param_groups] == [0.5, 0.5]
    assert second_order.param_groups[0]["damping"] == 2.0


def test_what_an_optimizer_does_not_have_cannot_be_scheduled():
    optimizer = torch.optim.Adagrad([torch.nn.Parameter(torch.ones(1))])

    with pytest.raises(ValueError, match=r"Adagrad has no setting 'momentum'.*'lr'"):
        set_scheduled(optimizer, 0, {"momentum": lambda _: 0.9})


@pytest.mark.row(76)
@pytest.mark.parametrize(("examples", "constant"), [(60_000, 121.9), (20_000, 166.6), (103_500, 107.6)])
def test_an_exponential_batch_grows_by_its_constant_and_is_full_at_update_500(examples, constant):
    sizes = [exponential(examples=examples)(update) for update in range(600)]

    assert (sizes[0], sizes[499], max(sizes)) == (1000, examples, examples)
    assert sizes[498] < examples
    assert sizes[122] == pytest.approx(1000 * math.exp(122 / constant), rel=1e-3)


@pytest.mark.row(76)
def test_a_batch_that_begins_with_all_examples_stays_there():
    assert exponential(examples=800)(0) == 800


@pytest.mark.row(76)
def test_a_fixed_batch_keeps_its_size():
    schedule = batch_size_schedule("fixed", size=200)

    assert {schedule(update) for update in TIMES} == {200}


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("growing", {}, "'growing'.*'exponential', 'fixed'"),
        ("fixed", {"size": 0}, "size is 0"),
        ("exponential", {"examples": 10, "full_at": 1}, "full_at is 1"),
    ],
)
def test_a_wrong_batch_size_is_named(name, settings, said):
    with pytest.raises(ValueError, match=said):
        batch_size_schedule(name, **settings)


def gradients(*, noise, examples=100, coordinates=50):
    """Of rows whose mean is 3 and whose variance is 9 noise² in every coordinate."""
    return Gradients(examples=examples, noise=9 * coordinates * noise**2, signal=9 * coordinates)


@pytest.mark.row(76)
@pytest.mark.parametrize(
    ("noise", "size"),
    [
        pytest.param(4.9, 100, id="quiet enough"),  # 4.9²/0.5² = 96 examples would do
        pytest.param(10.0, 400, id="too loud"),  # 10² · 50 / (0.5² · 50)
        pytest.param(100.0, 1000, id="louder than all examples can cure"),
    ],
)
def test_a_batch_grows_to_where_the_variance_of_its_mean_is_tolerable(noise, size):
    assert enough_examples(gradients(noise=noise), tolerance=0.5, at_most=1000) == size


@pytest.mark.row(76)
@given(noise=st.floats(0, 1e4), tolerance=st.floats(1e-3, 10), at_most=st.integers(100, 10_000))
def test_a_batch_neither_shrinks_nor_exceeds_the_examples(noise, tolerance, at_most):
    assert 100 <= enough_examples(gradients(noise=noise), tolerance=tolerance, at_most=at_most) <= at_most


def test_gradients_that_cancel_ask_for_all_examples():
    cancelling = Gradients(examples=2, noise=2.0, signal=0.0)

    assert enough_examples(cancelling, tolerance=0.5, at_most=70) == 70


def test_one_example_tells_no_variance():
    with pytest.raises(ValueError, match="two or more"):
        enough_examples(Gradients(examples=1, noise=0.0, signal=1.0), tolerance=0.5, at_most=10)


@pytest.mark.row(76)
@pytest.mark.parametrize("examples", [1, 2, 12])
def test_noise_and_signal_are_those_of_the_gradients_of_the_examples(examples):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    inputs, targets = torch.randn(examples, 3).double(), torch.randint(2, (examples,))
    rows = []
    for each in range(examples):
        loss = CrossEntropy().loss(model(inputs[each : each + 1]), targets[each : each + 1])
        parts = torch.autograd.grad(loss, list(model.parameters()))
        rows.append(torch.nn.utils.parameters_to_vector(parts))
    rows = torch.stack(rows)

    found = Gradients.of(model, CrossEntropy(), inputs, targets)

    assert found.examples == examples
    assert found.noise == pytest.approx(rows.var(dim=0).sum().item() if examples > 1 else 0.0, abs=1e-12)
    assert found.signal == pytest.approx(rows.mean(dim=0).square().sum().item())
