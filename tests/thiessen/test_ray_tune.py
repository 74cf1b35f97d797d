"""ThiessenSearch: told what to do by this file, as Ray Tune would, and by Ray Tune itself."""

import copy
import json
import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ray import cloudpickle, tune
from ray.tune.search import ConcurrencyLimiter, Searcher
from scipy import stats

from thiessen import Boolean, Categorical, Float, Int, Ordinal, Space, open_study
from thiessen.contract import StudySpec
from thiessen.errors import JournalDiffers, JournalError
from thiessen.integrations.ray import ThiessenSearch
from thiessen.space import SpaceError

PROGRAM = Path(__file__).with_name("ray_program.py")
SPACE = {"lr": tune.loguniform(1e-4, 1.0), "model": {"layers": tune.randint(1, 9)}}
OURS = Space(lr=Float(1e-4, 1.0, log=True), **{"model/layers": Int(1, 8)})


def loss(config):
    return (math.log10(config["lr"]) + 2) ** 2 + abs(config["model"]["layers"] - 3)


def searching(space=SPACE, **said):
    """Return a search that has been told what Ray Tune tells it before the first trial."""
    search = ThiessenSearch(**said)
    assert search.set_search_properties("loss", "min", space, num_samples=50)
    return search


def tried(search, numbers, train=loss):
    """Try trials one after the other; return their configs."""
    configs = []
    for number in numbers:
        configs.append(search.suggest(f"t{number}"))
        search.on_trial_complete(f"t{number}", {"loss": train(configs[-1])})
    return configs


@pytest.mark.row(279)
def test_its_proposals_are_those_of_a_study_told_the_same():
    study = open_study(None, OURS, trials=50)
    for config in tried(searching(), range(30)):
        with study.ask() as trial:
            assert trial.config == {"lr": config["lr"], "model/layers": config["model"]["layers"]}
            trial.tell(loss(config))


def test_max_is_the_min_of_the_negative():
    search = ThiessenSearch(SPACE, "loss", "max")
    assert tried(search, range(20), lambda config: -loss(config)) == tried(searching(), range(20))
    assert search.study.best.value == max(each.value for each in search.study.results())


def test_seed_and_strategy_are_those_of_a_study():
    assert tried(searching(seed=1), range(3)) != tried(searching(), range(3))
    search = searching({"a": tune.choice(["x", "y"]), "b": tune.randint(0, 3)}, strategy="grid")
    assert len({json.dumps(each) for each in tried(search, range(6), lambda _: 0.0)}) == 6
    assert search.suggest("more") == Searcher.FINISHED


@pytest.mark.parametrize(
    "domain",
    [
        tune.uniform(-2.0, 3.0),
        tune.loguniform(1e-4, 10.0),
        tune.randn(3.0, 2.0),
        tune.randint(-2, 7),
        tune.choice([3, 0.5, 2]),
        tune.choice(["relu", None, True, 1]),
    ],
)
def test_a_domain_of_rays_is_drawn_from_as_ray_draws(domain):
    search = ThiessenSearch({"x": domain}, strategy="random")
    axes, rng = search._axes, np.random.default_rng(0)
    ours = [axes.params(axes.space.decode([unit]))["x"] for unit in rng.random(4000)]
    theirs = [domain.cast(each) for each in domain.sample(size=4000, random_state=0)]
    assert {type(each) for each in ours} == {type(each) for each in theirs}
    if isinstance(ours[0], float) and len(set(ours)) > 100:
        assert stats.ks_2samp(ours, theirs).pvalue > 1e-3
    else:
        found, expected = Counter(map(repr, ours)), Counter(map(repr, theirs))
        assert found.keys() == expected.keys()
        assert max(abs(found[each] - expected[each]) for each in found) < 200


@pytest.mark.parametrize(
    "domain",
    [
        tune.quniform(0.0, 1.0, 0.1),
        tune.quniform(-0.3, 0.3, 0.1),
        tune.qloguniform(0.1, 10.0, 0.1),
        tune.lograndint(1, 30),
        tune.qrandint(4, 20, 4),
        tune.qrandint(3, 20, 4),
        tune.qrandint(3, 9, 1),
        tune.qlograndint(2, 20, 2),
        tune.qrandn(0.0, 1.0, 0.5),
    ],
)
def test_what_ray_rounds_has_the_values_that_it_has_there(domain):
    axes = ThiessenSearch({"x": domain})._axes
    ours = {axes.params(axes.space.decode([unit]))["x"] for unit in np.linspace(0, 1, 20_000, endpoint=False)}
    theirs = {domain.cast(each) for each in domain.sample(size=20_000, random_state=0)}
    assert theirs <= ours
    assert all(-5 <= each <= 5 for each in ours - theirs)  # what Ray draws too seldom to be seen here
    assert {type(each) for each in ours} == {type(each) for each in theirs}


def test_each_config_comes_back_from_its_parameters():
    space = {
        "lr": tune.loguniform(1e-4, 1.0),
        "net": {"depth": tune.qrandint(2, 8, 2), "act": tune.choice([(1, 2), None, "x"])},
        "momentum": tune.quniform(0.0, 1.0, 0.1),
        "noise": tune.randn(),
        "kept": Boolean(),
    }
    axes = ThiessenSearch(space)._axes
    rng = np.random.default_rng(0)
    for _ in range(200):
        config = axes.space.decode(rng.random(6))
        back = axes.config({**axes.params(config), "a constant": 1})
        assert back.pop("noise") == pytest.approx(config.pop("noise"), rel=1e-9)
        assert back == config


def test_numbers_to_choose_from_are_searched_in_their_order():
    space = {"a": tune.choice([3, 0.5, 2]), "b": tune.choice(["3", 0.5])}
    assert ThiessenSearch(space)._axes.space == Space(a=Ordinal([0.5, 2, 3]), b=Categorical(["3", 0.5]))


def test_a_space_with_conditions_gives_what_is_active():
    space = Space(
        **{
            "optimizer/name": Categorical(["sgd", "adam"]),
            "optimizer/momentum": Float(0.0, 0.99, when={"optimizer/name": ["sgd"]}),
            "layers": Ordinal([1, 2, 4]),
        }
    )
    search = ThiessenSearch(space, "loss", "min")
    configs = tried(search, range(20), lambda config: config["layers"])
    assert {config["optimizer"]["name"] for config in configs} == {"sgd", "adam"}
    for config in configs:
        assert ("momentum" in config["optimizer"]) == (config["optimizer"]["name"] == "sgd")


@pytest.mark.parametrize(
    ("ending", "state", "value"),
    [
        ({"result": {"loss": 0.5}}, "succeeded", 0.5),
        ({"result": {"loss": np.float32(0.5)}}, "succeeded", 0.5),
        ({"result": {"loss": math.nan}}, "diverged", None),
        ({"result": {"loss": -math.inf}}, "diverged", None),
        ({"result": {"other": 0.5}}, "failed", None),
        ({}, "failed", None),
        ({"error": True}, "failed", None),
        ({"result": {"loss": 0.5}, "error": True}, "failed", None),
    ],
)
def test_what_a_trial_ended_with_is_what_the_study_is_told(ending, state, value):
    search = searching()
    search.suggest("t")
    search.on_trial_complete("t", **ending)
    [result] = search.study.results()
    assert (result.state, result.value) == (state, value)
    search.on_trial_complete("t", {"loss": 0.1})  # Tune tries again what failed, by the same id
    search.on_trial_complete("another", {"loss": 0.1})
    assert search.study.results() == [result]


@pytest.mark.parametrize(("last", "state"), [(0.5, "pruned"), (math.nan, "diverged")])
def test_a_trial_that_is_paused_and_ended_later_counts_with_what_it_reported(last, state, tmp_path):
    search = searching()
    search.suggest("t")
    search.on_trial_result("t", {"other": 1.0})
    search.on_trial_result("t", {"loss": 0.7})
    search.on_trial_result("t", {"loss": last})
    search.save(str(tmp_path / "saved"))
    again = searching()
    again.restore(str(tmp_path / "saved"))
    for each in (search, again):
        each.on_trial_complete("t")
        [result] = each.study.results()
        assert (result.state, result.value) == (state, 0.5 if state == "pruned" else None)


def restored(search, folder):
    search.save(str(folder / "saved"))
    again = searching()
    again.restore(str(folder / "saved"))
    return again


def pickled(search, folder):
    del folder
    return cloudpickle.loads(cloudpickle.dumps(search))


def untouched(search, folder):
    del folder
    return search


def test_a_search_that_is_restored_goes_on_with_the_proposals_of_one_that_nobody_disturbed(tmp_path):
    """Up to three trials at a time, which end in any order, and a new search after every call."""

    def course(renewed):
        search, chance, begun, told = (
            searching(points_to_evaluate=[copy.deepcopy(POINT)]),
            random.Random(0),
            {},
            [],
        )
        for number in range(40):
            while len(begun) > chance.randrange(3):
                ray_id = chance.choice(sorted(begun))
                value = chance.choice([loss(begun[ray_id]), math.nan])
                search.on_trial_complete(ray_id, {"loss": value}, error=chance.random() < 0.1)
                del begun[ray_id]
                search = renewed(search, tmp_path)
            begun[f"t{number}"] = search.suggest(f"t{number}")
            told.append(begun[f"t{number}"])
            search = renewed(search, tmp_path)
        return told

    expected = course(untouched)
    assert expected[0] == POINT
    assert course(restored) == expected
    assert course(pickled) == expected


POINT = {"lr": 0.5, "model": {"layers": 2}}


def test_what_is_saved_is_a_journal_and_a_journal_can_be_gone_on_with(tmp_path):
    search = searching(seed=5)
    configs = tried(search, range(5))
    search.suggest("running")
    search.save(str(tmp_path / "runs.jsonl"))
    with open_study(tmp_path / "runs.jsonl") as study:
        assert study.results() == search.study.results()
        assert study.space == OURS
        study.ask().tell(1.0)  # the one that had begun
    again = searching()
    again.restore(str(tmp_path / "runs.jsonl"))
    assert tried(again, [6])[0] not in configs
    assert [each.number for each in again.study.results()] == list(range(7))


def test_what_cannot_be_gone_on_with_is_told(tmp_path):
    search = searching()
    with pytest.raises(JournalError, match="there is no saved search at"):
        search.restore(str(tmp_path / "nothing"))
    tried(search, range(2))
    search.save(str(tmp_path / "saved"))
    other = searching({"lr": tune.uniform(0.0, 1.0)})
    other.restore(str(tmp_path / "saved"))
    with pytest.raises(JournalDiffers, match="whose space is"):
        other.suggest("t")


def test_points_to_evaluate_come_first_and_points_evaluated_teach():
    points = [POINT, {"lr": 0.25, "model": {"layers": 1}, "epochs": 5}]
    search = searching(points_to_evaluate=points)
    search.add_evaluated_point({"lr": 0.01, "model": {"layers": 3}}, 0.0)
    search.add_evaluated_point({"lr": 0.02, "model": {"layers": 8}}, 9.0, error=True)
    assert search.suggest("a") == points[0]
    assert search.suggest("b") == {"lr": 0.25, "model": {"layers": 1}}
    assert search.suggest("c") not in points
    assert [each.state for each in search.study.results()] == ["succeeded", "diverged"]
    assert search.study.best.config == {"lr": 0.01, "model/layers": 3}
    with pytest.raises(SpaceError, match="'model/layers' is missing"):
        searching(points_to_evaluate=[{"lr": 0.5}]).suggest("t")
    with pytest.raises(SpaceError, match="'a' cannot be 7"):
        searching({"a": tune.choice([(1,), (2,)])}).add_evaluated_point({"a": 7}, 0.0)


def test_a_concurrency_limiter_holds_back_and_hands_on(tmp_path):
    inner = ThiessenSearch()
    limited = ConcurrencyLimiter(inner, max_concurrent=2)
    assert limited.set_search_properties("loss", "min", SPACE)
    assert limited.suggest("a")
    assert limited.suggest("b")
    assert limited.suggest("c") is None
    limited.on_trial_complete("a", {"loss": 1.0})
    limited.save(str(tmp_path / "saved"))
    expected = limited.suggest("c")
    again = ConcurrencyLimiter(searching(), max_concurrent=2)
    again.restore(str(tmp_path / "saved"))
    assert again.suggest("c") == expected


def test_a_second_tuner_goes_on_with_the_search_but_not_in_another_space():
    search = searching()
    assert search.set_search_properties(None, None, SPACE)
    assert search.set_search_properties(None, None, {"a constant": 1})
    assert not search.set_search_properties(None, None, {"lr": tune.uniform(0.0, 1.0)})


def test_what_is_missing_is_asked_for_in_rays_words():
    with pytest.raises(RuntimeError, match="no search space has been defined"):
        ThiessenSearch(metric="loss", mode="min").suggest("t")
    with pytest.raises(RuntimeError, match=r"`mode` \(None\) parameters have not been set"):
        ThiessenSearch(SPACE, "loss").suggest("t")


@pytest.mark.parametrize(
    ("space", "why"),
    [
        ({"a": tune.grid_search([1, 2])}, "'a' is a grid of Ray's"),
        ({"a": {"b": tune.sample_from(lambda _: 1)}}, "'a/b' draws its values itself"),
        ({"a": [tune.uniform(0, 1)]}, "'a/0' cannot be searched in a list"),
        ({"a/b": tune.uniform(0, 1)}, "'a/b' cannot be searched in a list, or by a key that has a slash"),
        ({"a": tune.uniform(0, 1), "b": 5}, "'b' is 5, which is no dimension: give it in param_space"),
    ],
)
def test_what_cannot_be_searched_is_named(space, why):
    with pytest.raises(TypeError, match=why):
        ThiessenSearch(space)


def test_one_metric_leads():
    with pytest.raises(TypeError, match="one metric and one mode"):
        ThiessenSearch(SPACE, ["a", "b"], ["min", "max"])


def ray_tune(*arguments, status=0):
    """Run the program beside this file; return what it printed last."""
    program = [sys.executable, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return None if status else json.loads(done.stdout.splitlines()[-1])


def test_searches_share_a_study_of_a_server_and_wait_for_nobody(server):
    study = {"name": "s", "task": "program", "space": OURS.to_json(), "max_trials": 3, "max_running": 1}
    server.create_study(StudySpec.model_validate(study))
    points = [{"lr": 0.5, "model": {"layers": 7}}]
    ours, theirs = (
        ThiessenSearch(study=server.open_study("s"), metric="loss", mode="min", points_to_evaluate=each)
        for each in (points, [])
    )

    assert ours.suggest("a") == points[0]
    assert theirs.suggest("b") is None, "one runs, and more may not"
    ours.on_trial_complete("a", {"loss": 2.5})
    assert theirs.suggest("b")["model"]["layers"] in range(1, 9)
    theirs.on_trial_complete("b", {"loss": math.nan})
    assert ours.suggest("c") is not None
    ours.on_trial_complete("c", error=True)

    assert ours.suggest("d") == theirs.suggest("d") == Searcher.FINISHED
    assert [(each.state, each.value) for each in ours.study.results()] == [
        ("succeeded", 2.5), ("diverged", None), ("failed", None),
    ]  # fmt: skip


def test_what_a_study_of_a_server_has_is_not_given_twice_and_not_restored(server):
    study = server.open_study("s", OURS, trials=3)
    search = ThiessenSearch(study=study, metric="loss", mode="max")

    with pytest.raises(TypeError, match="s has a space, a strategy and a seed"):
        ThiessenSearch(SPACE, study=study)
    with pytest.raises(ValueError, match="s is to minimize; the mode here is 'max'"):
        search.suggest("a")
    with pytest.raises(RuntimeError, match=r"client.open_study\('s'\)"):
        cloudpickle.loads(cloudpickle.dumps(search)).suggest("a")


def test_ray_tune_goes_on_until_the_study_of_the_server_has_all_its_trials(server, tmp_path):
    tried = ray_tune("served", tmp_path, server.url)

    states = [each[:2] for each in tried]
    assert dict(states) == dict.fromkeys((4, 5, 6), "succeeded") | {1: "diverged", 2: "failed", 3: "failed"}
    assert len(states) == 6
    assert server.study("s").best.config == {"number": 4}


def test_ray_tune_runs_it_to_the_end_and_after_a_power_cut_as_if_there_had_been_none(tmp_path):
    undisturbed = ray_tune("whole", tmp_path)
    states = [each[:2] for each in undisturbed["tried"]]
    assert dict(states) == {1: "diverged", 2: "failed", 3: "failed", 4: "succeeded", 5: "succeeded"}
    assert len(states) == 5, "then every config has its trial, and it ends"
    assert undisturbed["best"] == {"number": 4, "a constant": "kept"}

    ray_tune("cut", tmp_path, status=9)
    assert ray_tune("restored", tmp_path)["tried"] == undisturbed["tried"]
