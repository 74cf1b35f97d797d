import pytest
import torch
from torch.nn.functional import cross_entropy

from optimizers import CrossEntropy, Gaussian
from optimizers.verification import verify_objective
from worker.datasets.sequences import PROBLEMS
from worker.tasks import sequence
from worker.tasks.alone import Alone
from worker.tasks.sequence import OF_STEP, Masked, Sequence, train

SHORT = {"updates": 30, "points": 1, "steps": 10, "examples": 100, "judged": 50, "lr": 0.02, "clip": 1.0}
FEW = {"updates": 15, "points": 1, "steps": 10, "examples": 100, "judged": 50, "hidden": 10}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_network_learns_of_every_problem(problem):
    context = Alone(seed=1)

    loss = train(SHORT | {"problem": problem, "criterion": "final_train"}, context)

    assert loss < context.curve[0][1]["train_loss"]


def test_trials_train_on_sequences_of_their_own_and_are_judged_by_the_same(monkeypatch):
    seen = []
    monkeypatch.setattr(sequence, "trained", lambda *given: seen.append(given[4]))
    for seed in (1, 2):
        train(SHORT, Alone(seed=seed))

    alike = {name: torch.equal(seen[0][name].inputs, seen[1][name].inputs) for name in seen[0]}
    assert alike == {"train": False, "validation": True, "test": True}


def test_the_loss_is_the_sum_over_the_steps_that_count_and_the_mean_over_the_sequences():
    problem = PROBLEMS["memorisation_5_bit"](4)
    drawn = problem.draw(3, torch.Generator().manual_seed(1))
    outputs = torch.randn(3, problem.steps, problem.outputs)

    loss = Masked(CrossEntropy(), drawn.mask).loss(outputs, drawn.targets)

    sums = [
        cross_entropy(each, wanted, reduction="sum")
        for each, wanted in zip(outputs, drawn.targets, strict=True)
    ]
    assert loss.item() == pytest.approx(torch.stack(sums).mean().item())


def test_steps_that_do_not_count_change_no_loss():
    problem = PROBLEMS["addition"](10)
    drawn = problem.draw(3, torch.Generator().manual_seed(1))
    outputs, loss = torch.randn(3, 10, 1), Masked(Gaussian(), drawn.mask)
    other = torch.cat([torch.randn(3, 9, 1), outputs[:, 9:]], dim=1)

    assert loss.loss(outputs, drawn.targets) == loss.loss(other, drawn.targets)


@pytest.mark.parametrize("problem", ["addition", "exclusive_or", "temporal_order"])
def test_its_loss_its_targets_and_its_curvature_agree(problem):
    problem = PROBLEMS[problem](10)
    objective = Masked(OF_STEP[problem.loss], problem.draw(1, torch.Generator().manual_seed(1)).mask)
    outputs = torch.randn(4, 10, problem.outputs, generator=torch.Generator().manual_seed(2))

    verify_objective(objective, outputs.double())


@pytest.mark.parametrize(
    "optimizer",
    ["kfac", "ekfac", "acp", "diagonal_newton", "lecun_rate", "hessian_free", "tonga", "full_adagrad"],
)
def test_methods_of_second_order_see_through_time(optimizer):
    context = Alone(seed=1)

    loss = train({"optimizer": optimizer, "criterion": "final_train", **FEW}, context)

    assert loss < context.curve[0][1]["train_loss"]


def test_an_optimizer_that_cannot_train_this_network_is_refused_with_the_reason():
    with pytest.raises(ValueError, match=r"'optimizer'.*'updated_backpropagation'.*nn\.Sequential"):
        train({"optimizer": "updated_backpropagation"} | FEW, Alone())


def test_the_usual_start_is_sparse():
    assert Sequence().initialisation == "sparse_recurrent"


def test_its_defaults_learn():
    context = Alone(seed=3)

    loss = train({"updates": 60}, context)

    assert loss < context.curve[0][1]["validation_loss"]
