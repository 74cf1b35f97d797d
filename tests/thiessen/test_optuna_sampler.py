"""ThiessenSampler, judged by Optuna's own suite for samplers."""

import math
from collections.abc import Callable
from statistics import median

import optuna
import pytest
from optuna.samplers import BaseSampler, RandomSampler
from optuna.testing import pytest_samplers
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)

from thiessen import Categorical, Float, Int, Space, open_study
from thiessen.integrations.optuna_sampler import ThiessenSampler
from thiessen.search import STRATEGIES

optuna.logging.set_verbosity(optuna.logging.ERROR)


class TestThiessenSampler(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """Every case that Optuna has for a sampler of one objective, none overridden."""

    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return ThiessenSampler


class TestTheirRandomSampler(BasicSamplerTestCase):
    """What the library runs for its own random sampler."""

    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return RandomSampler


def cases(kind):
    return {name for name in dir(kind) if name.startswith("test_")}


def test_no_case_of_theirs_is_left_out():
    classes = [each for each in vars(pytest_samplers).values() if isinstance(each, type) and cases(each)]
    for_one_objective = set().union(
        *(cases(each) for each in classes if "MultiObjective" not in each.__name__)
    )
    assert cases(TestThiessenSampler) == for_one_objective
    assert cases(TestTheirRandomSampler) <= cases(TestThiessenSampler)


@pytest.mark.row(277)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_searches(strategy):
    study = optuna.create_study(sampler=ThiessenSampler(strategy, seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 0, 3), n_trials=15)
    assert len({tuple(trial.params.items()) for trial in study.trials}) == 15


def test_its_trials_are_those_of_our_own_study_once_the_space_is_known():
    space = Space(lr=Float(1e-4, 1.0, log=True), n=Int(1, 8), opt=Categorical([0, 1]))

    def value(lr, n, opt):
        return (math.log10(lr) + 2) ** 2 + abs(n - 3) + opt

    study = optuna.create_study(sampler=ThiessenSampler(seed=3))

    def objective(trial):
        return value(
            trial.suggest_float("lr", 1e-4, 1.0, log=True),
            trial.suggest_int("n", 1, 8),
            trial.suggest_categorical("opt", ["sgd", "adam"]) == "adam",
        )

    study.optimize(objective, n_trials=30)
    # Ours knows the space from the start; it is told the first trial, which Optuna drew without one.
    ours = open_study(None, space, trials=31, seed=3)
    for trial in study.trials:
        config = {"lr": trial.params["lr"], "n": trial.params["n"], "opt": int(trial.params["opt"] == "adam")}
        if trial.number == 0:
            ours.enqueue(config)
        mine = ours.ask()
        assert mine.number == trial.number
        assert mine.config == config
        mine.tell(trial.value)


def test_large_values_are_good_where_the_study_maximises():
    def best(direction, sign):
        study = optuna.create_study(direction=direction, sampler=ThiessenSampler(seed=1))
        study.optimize(lambda trial: sign * (trial.suggest_float("x", -5, 5) - 1) ** 2, n_trials=40)
        return [trial.params["x"] for trial in study.trials]

    assert best("minimize", 1) == best("maximize", -1)


def test_it_finds_what_random_search_does_not():
    def objective(trial):
        x = [trial.suggest_float(f"x{axis}", 0, 1) for axis in range(3)]
        return sum((each - 0.3) ** 2 for each in x)

    def mean(kind):
        found = []
        for seed in range(8):
            study = optuna.create_study(sampler=kind(seed=seed))
            study.optimize(objective, n_trials=50)
            found.append(study.best_value)
        return sum(found) / len(found)

    assert mean(ThiessenSampler) < mean(RandomSampler) / 4


def test_branches_are_searched_each_along_its_own_parameters():
    def objective(trial):
        if trial.suggest_categorical("kind", ["left", "right"]) == "left":
            return 1 + (trial.suggest_float("a", 0, 1) - 0.2) ** 2
        return (trial.suggest_float("b", 0, 1) - 0.7) ** 2 + abs(trial.suggest_int("c", 0, 5) - 2)

    def usual_best(kind):
        found = []
        for seed in range(9):
            study = optuna.create_study(sampler=kind(seed=seed))
            study.optimize(objective, n_trials=60)
            found.append(study.best_value)
        return median(found)

    assert usual_best(ThiessenSampler) < usual_best(RandomSampler) / 4


def test_steps_choices_of_any_kind_and_changing_ranges():
    choices = (None, 1, 1.5, "x", True)

    def objective(trial):
        step = trial.suggest_float("step", 0.0, 1.0, step=0.25)
        assert step in {0.0, 0.25, 0.5, 0.75, 1.0}
        chosen = trial.suggest_categorical("choice", choices)
        assert chosen in choices
        width = 1 + trial.number % 3
        return step + trial.suggest_float("moving", 0, width) + trial.suggest_int("n", 2, 10, step=4)

    study = optuna.create_study(sampler=ThiessenSampler(seed=0))
    study.optimize(objective, n_trials=60)
    assert study.best_params["step"] == 0.0
    assert study.best_params["n"] == 2


def test_pruned_and_failed_trials_teach():
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.5:
            raise ValueError("too large")
        trial.report(x, 1)
        if x > 0.3:
            raise optuna.TrialPruned
        return x

    study = optuna.create_study(sampler=ThiessenSampler(seed=0))
    study.optimize(objective, n_trials=60, catch=ValueError)
    states = [trial.state.name for trial in study.trials]
    assert states[30:].count("FAIL") < states[:30].count("FAIL")
    assert study.best_value < 0.01


def test_a_space_of_few_configs_is_tried_once_each_and_then_again():
    study = optuna.create_study(sampler=ThiessenSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_int("n", 0, 5), n_trials=20)
    assert sorted({trial.params["n"] for trial in study.trials[:8]}) == list(range(6))
    assert len(study.trials) == 20


def test_a_seed_gives_the_same_study_and_threads_share_a_sampler():
    def params(seed):
        study = optuna.create_study(sampler=ThiessenSampler(seed=seed))
        study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=12)
        return [trial.params for trial in study.trials]

    assert params(1) == params(1) != params(2)
    study = optuna.create_study(sampler=ThiessenSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=30, n_jobs=3)
    assert len({trial.params["x"] for trial in study.trials}) == 30
