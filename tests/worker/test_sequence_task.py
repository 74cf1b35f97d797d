import pytest
import torch
from torch.nn.functional import cross_entropy

from worker.datasets.sequences import PROBLEMS
from worker.tasks import sequence
from worker.tasks.alone import Alone
from worker.tasks.sequence import Masked, Sequence, train

SHORT = {"updates": 30, "points": 1, "steps": 10, "examples": 100, "judged": 50, "lr": 0.02, "clip": 1.0}


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

    loss = Masked(problem, drawn.mask).loss(outputs, drawn.targets)

    sums = [
        cross_entropy(each, wanted, reduction="sum")
        for each, wanted in zip(outputs, drawn.targets, strict=True)
    ]
    assert loss.item() == pytest.approx(torch.stack(sums).mean().item())


def test_steps_that_do_not_count_change_no_loss():
    problem = PROBLEMS["addition"](10)
    drawn = problem.draw(3, torch.Generator().manual_seed(1))
    outputs, loss = torch.randn(3, 10, 1), Masked(problem, drawn.mask)
    other = torch.cat([torch.randn(3, 9, 1), outputs[:, 9:]], dim=1)

    assert loss.loss(outputs, drawn.targets) == loss.loss(other, drawn.targets)


def test_an_optimizer_that_cannot_see_through_time_is_refused():
    with pytest.raises(ValueError, match=r"'optimizer'.*'kfac'.*one of adam, nesterov"):
        train({"optimizer": "kfac"}, Alone())


def test_the_usual_start_is_sparse():
    assert Sequence().initialisation == "sparse_recurrent"


def test_its_defaults_learn():
    context = Alone(seed=3)

    loss = train({"updates": 60}, context)

    assert loss < context.curve[0][1]["validation_loss"]
