import io
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from optimizers import CrossEntropy
from worker.datasets import Part
from worker.models.perceptron import perceptron
from worker.tasks import Diverged, Released
from worker.tasks.alone import Alone
from worker.training.batches import Batches
from worker.training.driven import Surroundings
from worker.training.optimizers import OPTIMIZERS
from worker.training.plan import Plan
from worker.training.second_order import SECOND_ORDER
from worker.training.streams import Streams
from worker.training.trainer import Job, Trainer, measures

QUIET = {"updates": 12, "points": 4, "batch_size": 8}
CALM = {"krylov_subspace_descent": {"lr": 0.1}}  # at 1 it follows a batch of eight to anywhere


def a_part(seed, cases=30):
    stream = torch.Generator().manual_seed(seed)
    inputs = torch.randn(cases, 4, generator=stream)
    return Part(inputs, (inputs[:, 0] + 0.5 * torch.randn(cases, generator=stream) > 0).long())


def is_wrong(outputs, targets):
    return (outputs.argmax(dim=1) != targets).double()


def a_job(optimizer="nesterov", seed=1, updates=12, parts=("train", "validation", "test"), **told):
    model = perceptron([4, 6, 2], Streams(seed)("weights"))
    row = OPTIMIZERS[optimizer]
    own = {name: each.default for name, each in row.settings.items()} | told
    surroundings = Surroundings(streams=Streams(seed), updates=updates, device=torch.device("cpu"))
    return Job(
        model=model,
        optimizer=row.build(model, CrossEntropy(), own, surroundings),
        objective=CrossEntropy(),
        error=is_wrong,
        parts={name: a_part(number) for number, name in enumerate(parts)},
    )


def curve(plan, *, clock=None, checkpoint=None, optimizer="nesterov", **told):
    """Train; return what it is judged by, and the curve."""
    context = Alone(seed=1) if checkpoint is None else Alone(seed=1, checkpoint=checkpoint)
    clocked = {} if clock is None else {"clock": clock}
    value = Trainer(a_job(optimizer, **told), plan, context, **clocked).run()
    return value, context.curve


class Clock:
    """Reads are in pairs, before and after an update: so many seconds lie in a pair, an hour between two."""

    def __init__(self, seconds):
        self.seconds, self.now, self.inside = seconds, 0.0, True

    def __call__(self):
        self.inside = not self.inside
        self.now += self.seconds if self.inside else 3600.0
        return self.now


class Kept:
    """Saves once, after an update, as a file would; a second training goes on from there."""

    def __init__(self, after=None):
        self.after, self.file, self.asked = after, None, 0

    @property
    def is_due(self):
        self.asked += 1
        return self.asked == self.after

    def save(self, step, **parts):
        self.file = io.BytesIO()
        torch.save({"step": step} | {name: part.state_dict() for name, part in parts.items()}, self.file)
        raise Released

    def restore(self, **parts):
        if self.file is None:
            return 0
        self.file.seek(0)
        state = torch.load(self.file, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(state[name])
        return state["step"]


def without_time(points):
    return [
        (step, {name: value for name, value in told.items() if name != "seconds"}) for step, told in points
    ]


@pytest.mark.row(14)
def test_a_budget_of_updates_is_kept_to_the_update():
    _, points = curve(Plan(updates=12, points=3))

    assert [step for step, _ in points] == [0, 4, 8, 12]


def test_a_budget_of_epochs_sees_each_example_so_often():
    _, points = curve(Plan(epochs=4, batch_size=10, points=1))

    assert points[-1][0] == 4 * 30 / 10


@pytest.mark.row(15)
def test_training_ends_when_its_seconds_are_used_up_whatever_happens_between_updates():
    _, points = curve(Plan(seconds=5.0, points=5), clock=Clock(0.5))

    assert [step for step, _ in points] == [0, 2, 4, 6, 8, 10]
    assert [told["seconds"] for _, told in points] == [0, 1, 2, 3, 4, 5]


def test_of_two_budgets_the_one_that_ends_first_counts():
    assert curve(Plan(seconds=5.0, updates=7), clock=Clock(0.5))[1][-1][0] == 7
    assert curve(Plan(seconds=5.0, updates=70), clock=Clock(0.5))[1][-1][0] == 10


@pytest.mark.parametrize("part", ["train", "validation"])
@pytest.mark.parametrize("measure", ["loss", "error"])
def test_the_final_and_the_best_of_train_and_validation_can_be_the_criterion(part, measure):
    plan = Plan(updates=43, points=43, batch_size=4, measure=measure)

    final, points = curve(replace(plan, criterion=f"final_{part}"), lr=1.0)
    best, _ = curve(replace(plan, criterion=f"best_{part}"), lr=1.0)

    values = [told[f"{part}_{measure}"] for _, told in points]
    assert (final, best) == (values[-1], min(values))
    assert best < final


@pytest.mark.row(15)
def test_the_training_loss_at_a_time_can_be_the_criterion():
    plan = Plan(updates=20, points=1, criterion="train_at_time", at_seconds=2.5)

    value, points = curve(plan, clock=Clock(0.5))

    at = {told["seconds"]: told["train_loss"] for _, told in points}
    assert value == at[2.5] != at[10.0]


def test_the_time_of_a_criterion_is_the_end_of_the_budget_unless_told():
    value, points = curve(Plan(seconds=3.0, criterion="train_at_time"), clock=Clock(0.5))

    assert value == points[-1][1]["train_loss"]


@pytest.mark.row(18)
@pytest.mark.parametrize("criterion", ["final_validation", "best_validation", "final_train", "best_train"])
def test_the_test_cases_change_nothing_that_a_trial_is_judged_by(criterion):
    plan = Plan(**QUIET, criterion=criterion)
    job = a_job()
    other = replace(job, parts=job.parts | {"test": a_part(99)})

    assert Trainer(a_job(), plan, Alone(seed=1)).run() == Trainer(other, plan, Alone(seed=1)).run()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(criterion="train_at_time"), "'criterion'.*`at_seconds`"),
        (Plan(criterion="best_validation"), "'criterion'.*no validation cases"),
        (
            Plan(seconds=1.0, criterion="final_train", lr_schedule="final_annealing"),
            "'lr_schedule'.*`updates`",
        ),
        (
            Plan(seconds=1.0, criterion="final_train", weight_decay_until=0.5),
            "'weight_decay_until'.*`updates`",
        ),
        (Plan(criterion="final_train", batch_schedule="exponential"), "'batch_schedule'.*`updates`"),
    ],
)
def test_a_plan_that_lacks_something_is_refused_with_what_it_lacks(plan, said):
    with pytest.raises(ValueError, match=said):
        Trainer(a_job(parts=("train",)), plan, Alone())


def test_the_curve_tells_losses_errors_seconds_and_settings():
    _, points = curve(Plan(**QUIET), optimizer="acp", clock=Clock(0.5))

    assert points[-1][1].keys() == {
        "train_loss", "train_error", "validation_loss", "validation_error", "test_loss", "test_error",
        "seconds", "lr", "batch_size", "damping", "gradient_norm", "update_norm",
    }  # fmt: skip


@pytest.mark.row(39)
@pytest.mark.row(54)
def test_losses_and_errors_are_means_over_all_cases_of_a_part():
    job = a_job()
    part = job.parts["validation"]

    found = measures(job, job.model)

    outputs = job.model(part.inputs)
    assert found["validation_loss"] == pytest.approx(
        nn.functional.cross_entropy(outputs, part.targets).item()
    )
    assert found["validation_error"] == (outputs.argmax(1) != part.targets).double().mean().item()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_same_seed_trains_alike_to_the_last_bit(optimizer):
    first = curve(Plan(**QUIET), optimizer=optimizer, **CALM.get(optimizer, {}))
    second = curve(Plan(**QUIET), optimizer=optimizer, **CALM.get(optimizer, {}))

    assert first[0] == second[0]
    assert without_time(first[1]) == without_time(second[1])


def test_another_seed_trains_otherwise():
    assert (
        Trainer(a_job(), Plan(**QUIET), Alone(seed=1)).run()
        != Trainer(a_job(), Plan(**QUIET), Alone(seed=2)).run()
    )


@pytest.mark.parametrize(
    "plan",
    [
        Plan(**QUIET),
        Plan(**QUIET, averaging="exponential", criterion="best_train"),
        Plan(**QUIET, switch="detected", switch_threshold=0.9, averaging="uniform"),
        Plan(**QUIET, lr_schedule="final_annealing", batch_schedule="exponential", batch_full_at=10),
        Plan(**QUIET, batch_schedule="by_variance", batch_tolerance=1.0),
    ],
    ids=["plain", "averaged", "switched", "scheduled", "growing"],
)
@pytest.mark.parametrize("optimizer", [name for name, row in OPTIMIZERS.items() if row.is_first_order])
def test_a_training_that_was_interrupted_ends_as_one_that_was_not(optimizer, plan):
    kept = Kept(after=5)
    with pytest.raises(Released):
        curve(plan, optimizer=optimizer, checkpoint=kept)

    value, points = curve(plan, optimizer=optimizer, checkpoint=kept)

    whole, all_points = curve(plan, optimizer=optimizer)
    assert value == whole
    assert without_time(points) == without_time(all_points)[-len(points) :]
    assert len(points) < len(all_points)


@pytest.mark.parametrize("optimizer", SECOND_ORDER)
def test_an_interrupted_training_of_second_order_ends_as_one_that_was_not(optimizer):
    kept, told = Kept(after=5), {"optimizer": optimizer, **CALM.get(optimizer, {})}
    with pytest.raises(Released):
        curve(Plan(**QUIET), checkpoint=kept, **told)

    resumed, _ = curve(Plan(**QUIET), checkpoint=kept, **told)

    assert resumed == curve(Plan(**QUIET), **told)[0]


@pytest.mark.row(44)
@pytest.mark.parametrize("optimizer", ["sgd", "kfac", "newton"])
def test_weight_decay_ends_where_the_plan_says(optimizer):
    seen, job = [], a_job(optimizer, weight_decay=0.25)
    group, step = job.optimizer.param_groups[0], job.optimizer.step
    job.optimizer.step = lambda *batch: (
        seen.append(group.get("l2", group.get("weight_decay"))) or step(*batch)
    )

    Trainer(job, Plan(**QUIET, weight_decay_until=0.5), Alone(seed=1)).run()

    assert seen == [0.25] * 6 + [0.0] * 6


def test_curvature_that_cannot_be_inverted_is_divergence_and_no_error():
    job = a_job("acp", ridge=1e-300)
    part = job.parts["train"]
    part.inputs[:, 1] = 0.0  # so that a pivot is the ridge, however sums are rounded

    with pytest.raises(Diverged, match=r"Update 1 could not be computed.*no finite inverse"):
        Trainer(job, Plan(**QUIET), Alone(seed=1)).run()


def test_the_seconds_of_an_interrupted_training_go_on():
    kept = Kept(after=5)
    with pytest.raises(Released):
        curve(Plan(seconds=5.0), clock=Clock(0.5), checkpoint=kept)

    assert curve(Plan(seconds=5.0), clock=Clock(0.5), checkpoint=kept)[1][-1][0] == 10


def test_what_is_to_be_done_first_is_not_done_again_after_an_interruption():
    kept, done = Kept(after=5), []
    with pytest.raises(Released):
        Trainer(a_job(), Plan(**QUIET), Alone(checkpoint=kept)).run(lambda: done.append(1))

    Trainer(a_job(), Plan(**QUIET), Alone(checkpoint=kept)).run(lambda: done.append(2))

    assert done == [1]


def test_a_loss_that_is_not_finite_ends_the_training_and_is_its_result():
    value, points = curve(Plan(updates=50, points=50), lr=1e38, momentum=0.0)

    assert not math.isfinite(value)
    assert len(points) < 51


def test_a_loss_a_thousand_times_that_at_the_start_has_diverged():
    with pytest.raises(Diverged, match=r"after \d updates"):
        curve(Plan(updates=50), lr=3e4, momentum=0.0)


def test_a_weight_that_is_not_finite_ends_the_training_though_the_loss_is():
    job = a_job()
    job.model.register_parameter("unused", nn.Parameter(torch.tensor(math.nan)))

    assert math.isnan(Trainer(job, Plan(**QUIET), Alone(seed=1)).run())


@pytest.mark.parametrize(
    ("plan", "rates"),
    [
        (Plan(**QUIET), [0.1] * 4),
        (Plan(**QUIET, lr_schedule="final_annealing"), [0.1, 0.1, 0.1 * 4 / 6, 0.1 / 6]),
        (Plan(**QUIET, lr_schedule="inverse_after", lr_after=5, lr_scale=3.0), [0.1, 0.1, 0.05, 0.1 / 3]),
        (Plan(**QUIET, lr_schedule="search_then_converge", lr_turn=2.0), [0.05, 0.1 / 3.5, 0.02, 0.1 / 6.5]),
        (Plan(**QUIET, switch="at_update", switch_at=6, switch_lr=0.5), [0.1, 0.1, 0.05, 0.05]),
    ],
    ids=["constant", "final_annealing", "inverse_after", "search_then_converge", "switched"],
)
def test_the_learning_rate_keeps_to_its_schedule(plan, rates):
    _, points = curve(plan)

    assert [told["lr"] for _, told in points[1:]] == pytest.approx(rates)


def test_weight_decay_can_end_before_the_training_does():
    _, points = curve(Plan(**QUIET, weight_decay_until=0.5), weight_decay=0.1)

    assert [told.get("weight_decay") for _, told in points[1:]] == [0.1, 0.1, None, None]


def test_batches_can_grow_to_all_examples():
    _, points = curve(Plan(**QUIET, batch_schedule="exponential", batch_full_at=7))

    assert [told["batch_size"] for _, told in points] == [8, 15, 30, 30, 30]


@pytest.mark.row(76, 134)
def test_batches_grow_when_their_gradients_vary_too_much():
    plan = Plan(**QUIET, batch_schedule="by_variance", batch_tolerance=1.0)
    sizes = {
        tolerance: [told["batch_size"] for _, told in curve(replace(plan, batch_tolerance=tolerance))[1]]
        for tolerance in (0.3, 1.0, 1000.0)
    }

    assert sizes[1000.0] == [8] * 5
    assert sizes[0.3][-1] == 30
    assert sizes[1.0] == sorted(sizes[1.0])
    assert 8 < sizes[1.0][-1] < 30


def test_one_example_is_too_few_to_grow_by_variance():
    with pytest.raises(ValueError, match=r"'batch_size'.*two or more"):
        curve(Plan(**QUIET | {"batch_size": 1}, batch_schedule="by_variance"))


def test_the_better_of_the_weights_and_their_mean_is_judged():
    plan = Plan(updates=60, points=1, batch_size=4)
    plain, _ = curve(plan, lr=1.0)
    averaged, points = curve(replace(plan, averaging="exponential"), lr=1.0)

    assert averaged < plain
    assert points[-1][1]["validation_loss"] == averaged


def test_averaging_begins_with_the_second_phase():
    plan = Plan(updates=60, points=1, batch_size=4, switch="at_update", switch_lr=1.0)
    never, late, early = (replace(plan, averaging="uniform", switch_at=at) for at in (1000, 40, 1))

    values = [curve(each, lr=1.0)[0] for each in (plan, never, late, early)]

    assert values[0] == values[1] > values[2] != values[3]


def test_every_example_comes_once_before_any_comes_again():
    batches = Batches(10, torch.Generator().manual_seed(1))

    taken = torch.cat([batches.take(3) for _ in range(10)])

    assert [sorted(order.tolist()) for order in taken.split(10)] == [list(range(10))] * 3


def test_streams_of_other_names_and_seeds_differ():
    seeds = [Streams(seed).seed_of(name) for seed in (1, 2) for name in ("weights", "batches")]

    assert len(set(seeds)) == 4
