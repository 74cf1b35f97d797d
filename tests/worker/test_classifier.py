import math
from dataclasses import dataclass, field

import pytest
import torch

from worker.tasks.classifier import Settings, settings, train


@dataclass
class Context:
    seed: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    curve: list = field(default_factory=list)

    def report(self, step, **metrics):
        self.curve.append((step, metrics))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"learning_rate": 0.1}, "'learning_rate'.*'lr'"),
        ({"lr": "fast"}, "'lr'.*float"),
        ({"lr": 0}, "'lr'.*above 0"),
        ({"lr": True}, "'lr'.*float"),
        ({"damping": -1.0}, "'damping'.*above 0"),
        ({"momentum": 1.0}, "'momentum'.*below 1"),
        ({"hidden": 2.5}, "'hidden'.*int"),
        ({"hidden": 0}, "'hidden'.*from 1"),
        ({"batch_size": 5000}, "'batch_size'.*1438"),
        ({"optimizer": "newton"}, "'optimizer'.*kfac"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(config, said):
    with pytest.raises(ValueError, match=said):
        settings(config)


def test_what_a_config_leaves_out_has_a_default():
    assert settings({"lr": 1}) == Settings(lr=1)


@pytest.mark.parametrize(
    "config",
    [
        {"optimizer": "sgd", "lr": 0.3},
        {"optimizer": "adam", "lr": 0.01},
        {"optimizer": "kfac", "lr": 0.3, "damping": 0.1},
    ],
)
def test_every_optimizer_learns_the_digits(config):
    context = Context()

    loss = train(config | {"epochs": 6}, context)

    assert loss < 0.4  # guessing gives ln 10 = 2.3
    assert [step for step, _ in context.curve] == [1, 2, 3, 4, 5, 6]
    assert context.curve[-1][1]["validation_loss"] == loss


@pytest.mark.parametrize("optimizer", ["sgd", "kfac"])
def test_the_same_seed_gives_the_same_loss_and_another_seed_another(optimizer):
    config = {"optimizer": optimizer, "epochs": 1}

    assert train(config, Context(seed=3)) == train(config, Context(seed=3)) != train(config, Context(seed=4))


def test_training_that_blows_up_stops_and_says_so():
    context = Context()

    loss = train({"lr": 1e38, "momentum": 0.0, "epochs": 50}, context)

    assert not math.isfinite(loss)
    assert len(context.curve) < 50
