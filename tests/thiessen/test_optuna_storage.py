"""ThiessenStorage, judged by Optuna's own suite for storages and by programs, on a real server."""

import inspect
import itertools
import json
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from wsgiref.util import setup_testing_defaults

import httpx
import optuna
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    check_distribution_compatibility,
    distribution_to_json,
)
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import InMemoryStorage
from optuna.study import StudyDirection
from optuna.testing import pytest_storages
from optuna.testing.pytest_storages import StorageTestCase
from optuna.trial import TrialState

from app.domain.errors import DistributionDiffers
from app.domain.optuna import must_be_compatible
from tests.conftest import BACKENDS, _programs, a_database, address_of
from thiessen.contract import OptunaTrialSpec
from thiessen.errors import InvalidRequest, ProjectNotFound, ServerUnreachable, Unauthorized
from thiessen.integrations.optuna_client import OptunaClient
from thiessen.integrations.optuna_storage import ThiessenStorage

HOUSE = Path(__file__).parents[2]

optuna.logging.set_verbosity(optuna.logging.ERROR)

numbers = itertools.count()


@pytest.fixture(scope="module", params=BACKENDS)
def database(request, tmp_path_factory):
    """The address of an empty database, here one for all tests of this file."""
    with a_database(request, request.param, tmp_path_factory.mktemp("optuna")) as address:
        yield address


@pytest.fixture(scope="module")
def servers(database, tmp_path_factory):
    """The addresses of real server processes: of two that share PostgreSQL, of one that has SQLite."""
    with _programs(tmp_path_factory.mktemp("server")) as start:
        command = ("serve", "--database", database, "--port", "0")
        count = 2 if database.startswith("postgresql") else 1
        processes = [start(*command, THIESSEN_REQUESTS_PER_SECOND="0") for _ in range(count)]
        yield [address_of(each) for each in processes]
        assert [each.poll() for each in processes] == [None] * count
        assert not any("Failed at" in each.log.read_text() for each in processes)  # clients would ask again


@pytest.fixture
def storage(servers):
    """An empty storage: a project of its own."""
    project = f"test-{next(numbers)}"
    httpx.post(f"{servers[0]}/api/v1/projects", json={"name": project}).raise_for_status()
    opened = ThiessenStorage(servers[0], project=project)
    yield opened
    opened.close()


class TestThiessenStorage(StorageTestCase):
    """Every case that Optuna has for a storage, none overridden."""

    @pytest.fixture
    def storage(self, storage):
        return storage


CHOICES = ("a", 1, float("nan"), None)
DISTRIBUTIONS = (
    FloatDistribution(0, 1),
    FloatDistribution(-3, 9, step=0.5),
    FloatDistribution(0.1, 10, log=True),
    IntDistribution(0, 9),
    IntDistribution(1, 9, log=True),
    CategoricalDistribution(CHOICES),
    CategoricalDistribution(CHOICES[::-1]),
    CategoricalDistribution(("a", True, float("nan"), None)),
    CategoricalDistribution(("a",)),
)


@given(st.sampled_from(DISTRIBUTIONS), st.sampled_from(DISTRIBUTIONS))
def test_distributions_go_together_where_optuna_says_so(known, told):
    def verdict(check, *both):
        try:
            check(*both)
        except (ValueError, DistributionDiffers):
            return False
        return True

    theirs = verdict(check_distribution_compatibility, known, told)
    assert verdict(must_be_compatible, "x", *map(distribution_to_json, (known, told))) == theirs


TRIALS = st.integers(0, 2)
BEGINNINGS = st.sampled_from([None, TrialState.WAITING, TrialState.FAIL])
MOVES = st.sampled_from(
    [each for each in TrialState if each is not TrialState.WAITING]
)  # none goes back there
STEPS = st.one_of(
    st.tuples(st.just("create_new_trial"), BEGINNINGS),
    st.tuples(st.just("set_trial_param"), TRIALS, st.sampled_from("xy"), st.sampled_from(DISTRIBUTIONS)),
    st.tuples(st.just("set_trial_state_values"), TRIALS, MOVES),
    st.tuples(st.just("set_trial_intermediate_value"), TRIALS, st.integers(-3, 3), st.floats()),
    st.tuples(st.sampled_from(["set_trial_user_attr", "set_trial_system_attr"]), TRIALS, st.text(max_size=3)),
)


def done(storage, study_id, ids, step):
    """Do a step; return what came of it, or which error."""
    verb, *told = step
    if verb == "create_new_trial":
        [state] = told
        template = None if state is None else optuna.trial.create_trial(state=state)
        ids.append(storage.create_new_trial(study_id, template))
        return len(ids)
    if told[0] >= len(ids):
        return None
    trial_id, *others = ids[told[0]], *told[1:]
    if verb == "set_trial_param":
        others.insert(1, 0.0)
    elif verb == "set_trial_state_values":
        others.append([0.5] if others[0] is TrialState.COMPLETE else None)
    elif verb.endswith("_attr"):
        others.append({"\0": [others[0]]})
    try:
        return getattr(storage, verb)(trial_id, *others)
    except (ValueError, UpdateFinishedTrialError) as error:
        return type(error)


def stands(storage, study_id):
    """Return all that the trials have, and those that a look at one state tells."""
    numbers = [
        [each.number for each in storage.get_all_trials(study_id, states=(state,))] for state in TrialState
    ]
    return numbers + [
        (each.number, each.state, each.values, str(each.params), each.distributions, each.user_attrs,
         each.system_attrs, str(each.intermediate_values), each.datetime_start is None,
         each.datetime_complete is None)
        for each in storage.get_all_trials(study_id)
    ]  # fmt: skip


@pytest.mark.row(277)
@settings(
    max_examples=15,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.booleans(), STEPS), min_size=4, max_size=25))
def test_two_programs_see_at_any_time_what_a_storage_in_memory_has(storage, steps):
    other, theirs = pickle.loads(pickle.dumps(storage)), InMemoryStorage()  # noqa: S301 - ours
    mine = storage.create_new_study([StudyDirection.MINIMIZE])
    study = theirs.create_new_study([StudyDirection.MINIMIZE])
    ids, their_ids = [], []
    begun = [(True, ("create_new_trial", state)) for state in (None, TrialState.WAITING)]
    for is_mine, step in begun + steps:
        came = done(storage if is_mine else other, mine, ids, step)
        assert came == done(theirs, study, their_ids, step)
        assert stands(other if is_mine else storage, mine) == stands(theirs, study)
    assert stands(storage, mine) == stands(theirs, study)


def raced(servers, storage, verb):
    """Let four processes begin at once, by all servers; return what each printed."""
    program = Path(__file__).with_name("optuna_racer.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    commands = [
        [sys.executable, program, url, storage._project, verb, str(each)]
        for each, url in zip(range(4), itertools.cycle(servers), strict=False)
    ]
    started = [subprocess.Popen(command, **pipes) for command in commands]
    try:
        for each in started:
            assert each.stdout.readline() == "ready\n"
        for each in started:
            print(file=each.stdin, flush=True)
        return [each.communicate(timeout=120)[0].split() for each in started]
    finally:
        for each in started:
            each.kill()
            each.wait()
            each.stdin.close()
            each.stdout.close()


def test_processes_that_race_for_waiting_trials_get_each_of_them_once(servers, storage):
    study = optuna.create_study(study_name="race", storage=storage)
    for _ in range(20):
        study.enqueue_trial({})

    won = raced(servers, storage, "claim")

    assert sorted(int(each) for mine in won for each in mine) == [each._trial_id for each in study.trials]


def test_processes_that_race_to_add_trials_number_them_without_a_gap(servers, storage):
    study = optuna.create_study(study_name="race", storage=storage)

    added = raced(servers, storage, "add")

    assert sorted(int(each) for mine in added for each in mine) == list(range(80))
    assert [each.number for each in study.trials] == list(range(80))


def test_of_incompatible_distributions_that_race_one_is_stored_for_all(servers, storage):
    study = optuna.create_study(study_name="race", storage=storage)

    raced(servers, storage, "suggest")

    for name in (f"p{number}" for number in range(20)):
        found = {str(each.distributions[name]) for each in study.trials if name in each.distributions}
        assert len(found) == 1, found


class Forgetful(httpx.HTTPTransport):
    """Loses the first answer to every request, though the server has done what it was asked."""

    def __init__(self):
        super().__init__()
        self.lost = set()

    def handle_request(self, request):
        answer = super().handle_request(request)
        if id(request) in self.lost:
            return answer
        answer.read()
        self.lost.add(id(request))
        self.requests = [*getattr(self, "requests", []), request]  # so that no id comes again
        raise httpx.ReadError("the answer was lost", request=request)


def test_what_is_sent_again_after_a_lost_answer_happens_once(storage):
    client = storage._here.client._http
    client._transport.close()
    transport = client._transport = Forgetful()
    study = optuna.create_study(study_name="lost", storage=storage)
    study.enqueue_trial({"x": 0.5})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    first = storage.create_new_trial(study._study_id, optuna.trial.create_trial(state=TrialState.WAITING))

    assert storage.set_trial_state_values(first, TrialState.RUNNING)
    assert not storage.set_trial_state_values(first, TrialState.RUNNING)
    assert [each.state.name for each in study.trials] == ["COMPLETE", "COMPLETE", "RUNNING"]
    optuna.delete_study(study_name="lost", storage=storage)
    assert storage.get_all_studies() == []
    assert len(transport.lost) > 20


def test_a_program_that_knows_a_study_asks_only_for_what_changed(storage, monkeypatch):
    study = optuna.create_study(storage=storage)
    storage.add_trials(study._study_id, [OptunaTrialSpec(state="fail")] * 900)
    told = []
    plain = OptunaClient.optuna_trials

    def counted(self, study_id, *, since):
        page = plain(self, study_id, since=since)
        told.append(len(page.trials))
        return page

    monkeypatch.setattr(OptunaClient, "optuna_trials", counted)
    assert len(study.trials) == 900
    assert told == [500, 400]
    del told[:]
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=5)
    assert max(told) == 1


def test_a_study_of_two_objectives_is_searched_by_processes_and_shown_on_the_dashboard(storage):
    study = optuna.create_study(study_name="two", directions=["minimize", "maximize"], storage=storage)
    fork = multiprocessing.get_context("fork")
    with fork.Pool(2) as pool:
        pool.map(partial(tried, study), range(2))
    tried(study, 2)

    assert [each.number for each in study.trials] == list(range(9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import optuna_dashboard

        application = optuna_dashboard.wsgi(storage)
        listed = asked(application, "/api/studies")
        shown = asked(application, f"/api/studies/{study._study_id}")
    assert [each["study_name"] for each in listed["study_summaries"]] == ["two"]
    assert [each["number"] for each in shown["trials"]] == list(range(9))
    assert {each["state"] for each in shown["trials"]} == {"Complete"}


def tried(study, seed):
    sampler = optuna.samplers.NSGAIISampler(seed=seed)
    again = optuna.load_study(study_name=study.study_name, storage=study._storage, sampler=sampler)
    again.optimize(lambda trial: (trial.suggest_float("x", 0, 1), trial.suggest_int("n", 0, 9)), n_trials=3)


def test_a_forked_process_shares_no_connection(storage):
    study = optuna.create_study(study_name="forked", directions=["minimize"] * 2, storage=storage)
    theirs = storage._here.client

    def forked():
        tried(study, 1)
        os._exit(0 if storage._here.client is not theirs else 1)

    process = multiprocessing.get_context("fork").Process(target=forked)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert len(study.trials) == 3


def asked(application, path):
    environ = {"PATH_INFO": path}
    setup_testing_defaults(environ)
    said = []
    body = b"".join(application(environ, lambda status, *_: said.append(status)))
    assert said == ["200 OK"], body
    return json.loads(body)


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_heartbeats_are_told_and_a_program_that_goes_on_is_not_stale(storage):
    beating = ThiessenStorage(storage._url, project=storage._project, heartbeat_interval=60)
    study = optuna.create_study(storage=beating)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    trial_id = beating.create_new_trial(study._study_id)
    beating.record_heartbeat(trial_id)

    assert beating._get_stale_trial_ids(study._study_id) == []
    with pytest.raises(KeyError, match="no trial of Optuna"):
        beating.record_heartbeat(trial_id + 1)
    with pytest.raises(ValueError, match=r"grace_period .* not 0"):
        ThiessenStorage(storage._url, grace_period=0)


def test_what_is_wrong_is_said_at_once(storage, monkeypatch):
    with pytest.raises(ServerUnreachable):
        ThiessenStorage("http://127.0.0.1:9")
    with pytest.raises(ProjectNotFound):
        ThiessenStorage(storage._url, project="nobodys").create_new_study([StudyDirection.MINIMIZE])
    monkeypatch.setenv("THIESSEN_TOKEN", "thiessen_wrong")
    with pytest.raises(Unauthorized):
        ThiessenStorage(storage._url)


def test_what_is_too_large_is_refused_with_the_limit(storage):
    study = optuna.create_study(storage=storage)
    trial = study.ask()
    trial.set_user_attr("half", "x" * 500_000)
    with pytest.raises(InvalidRequest, match=r"What trial 0 has would take .* of 900,000 at most"):
        trial.set_user_attr("other half", "x" * 500_000)
    trial.set_user_attr("half", "x" * 600_000)  # in the place of the other

    with pytest.raises(InvalidRequest, match="at most 500 characters"):
        trial.set_user_attr("k" * 501, 1)
    with pytest.raises(InvalidRequest, match="at most 900000 characters"):
        study.set_user_attr("k", "x" * 900_000)
    assert [len(each) for each in study.trials[0].user_attrs.values()] == [600_000]


def test_the_cases_collected_are_those_of_their_own_proxy_on_both_databases():
    theirs = Path(__file__).with_name("their_storages.py")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    said = subprocess.run(
        [*command, __file__, theirs], capture_output=True, text=True, check=True, cwd=HOUSE
    ).stdout
    cases = {"sqlite": set(), "postgresql": set(), "theirs": set()}
    for line in said.splitlines():
        _, _, case = line.partition("::Test")
        kind, _, name = case.partition("::")
        if kind == "TheirGrpcProxy":
            cases["theirs"].add(name)
        elif kind == "ThiessenStorage":
            backend = re.search(r"\b(sqlite|postgresql)\b", name)[0]
            cases[backend].add(re.sub(rf"\[{backend}\]|(?<=\[){backend}-|-{backend}(?=\])", "", name))
    assert len(cases["theirs"]) > 50
    assert cases["sqlite"] == cases["postgresql"] == cases["theirs"]


def test_no_case_of_theirs_is_overridden():
    ours = {name for name in vars(TestThiessenStorage) if name.startswith("test_")}
    kinds = [each for each in vars(pytest_storages).values() if inspect.isclass(each)]
    others = [each for each in kinds if each.__module__ == pytest_storages.__name__]

    assert not ours
    assert others == [StorageTestCase]
