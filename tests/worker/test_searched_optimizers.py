import math

import pytest

from thiessen import Space, open_study
from worker.tasks.alone import Alone
from worker.tasks.classifier import TASK, train

OF_NATURAL_GRADIENT = ("lr", "damping", "adapts")
SHORT = {"optimizer": "truncated_natural_gradient", "updates": 2, "points": 1, "hidden": 4, "iterations": 2}
STRATEGIES = (
    "grid",
    "random",
    "quasi_random",
    "biased_random",
    {"name": "biased_random", "preset": "thesis"},
)


@pytest.mark.row(17)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_rate_damping_and_its_strategy_of_the_natural_gradient_are_searched_by_every_strategy(
    strategy, tmp_path
):
    offered = TASK.spaces["truncated_natural_gradient"]
    space = Space.declared({name: offered[name] for name in OF_NATURAL_GRADIENT})
    path = tmp_path / "searched.jsonl"

    with open_study(path, space, trials=8, strategy=strategy, seed=1) as study:
        results = study.optimize(lambda trial: train(SHORT | dict(trial.config), Alone(seed=1))).results()

    tried = [each.config for each in results]
    assert len(tried) == len({tuple(config.values()) for config in tried}) == 8
    assert {config["adapts"] for config in tried} == {False, True}
    assert all(0.01 <= config["lr"] <= 5.0 and 0.001 <= config["damping"] <= 10.0 for config in tried)
    assert all(math.isfinite(each.value) for each in results if each.state == "succeeded")
    assert sum(each.state == "succeeded" for each in results) >= 4
    if strategy == "grid":
        assert {config["lr"] for config in tried} == {0.01, 5.0}
        assert {config["damping"] for config in tried} == {0.001, 10.0}
