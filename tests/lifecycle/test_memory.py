from datetime import timedelta
from secrets import token_hex

import pytest

from app.domain.trial import TrialState
from app.lifecycle.memory import Behind, Known, Memory
from app.lifecycle.propose import newborn
from app.storage import DatabaseUnavailable, attempts, observations, studies
from app.storage.trials import NewLease
from tests.conftest import in_one_group
from tests.folds import check_study
from tests.lifecycle.conftest import a_runner


def test_a_server_that_knows_less_than_the_last_proposal_did_catches_up_first(desk):
    """Else what proposals know would fall from one number to the next, and none could be replayed."""
    study = desk.submit(max_trials=20)
    other = Memory()  # of another server
    catch_up(desk, study, other)
    desk.complete(desk.lease())
    desk.lease()  # knows that result

    with pytest.raises(Behind):
        propose(desk, study, other)
    catch_up(desk, study, other)
    propose(desk, study, other)

    desk.store.read(check_study)


def test_a_step_that_is_run_again_leaves_no_trace_in_memory(desk):
    study = desk.submit(max_trials=20)
    other = Memory()
    catch_up(desk, study, other)
    with pytest.raises(ZeroDivisionError):  # the server is cut off from the database before the commit
        desk.store.write(lambda tx: born(tx, study, other) and 1 / 0)
    desk.enqueue({"x": 0.25})  # another server was faster

    place = propose(desk, study, other)
    desk.complete(desk.lease(), 0.1)
    catch_up(desk, study, other)
    for _ in range(12):
        propose(desk, study, other)

    assert place.number == 1
    desk.store.read(check_study)


def test_servers_that_propose_in_turn_replay_also_when_a_failed_trial_is_tried_again(desk):
    desk.submit(max_trials=60, max_attempts=1)
    servers = [desk.memory, Memory(), Memory()]
    failed = []
    for turn in range(60):
        desk.memory = servers[turn % 3]
        leased = desk.lease()
        if turn % 7 == 3:
            desk.fail(leased)
            failed.append(leased.number)
        else:
            desk.complete(leased, leased.config["x"])
        if turn % 14 == 12:
            desk.retry(failed.pop(0))

    assert len(desk.observations()) > 60
    desk.store.read(check_study)


def test_what_was_learned_of_a_group_that_came_to_nothing_is_forgotten(desk):
    """A step sees what others of its group wrote; another observation may get that number instead."""
    study = desk.submit(max_trials=20)
    other = Memory()
    catch_up(desk, study, other)
    leased = desk.lease()

    runs = []

    def tell(tx):
        runs.append("told")
        if len(runs) > 1:  # PostgreSQL runs it again, alone
            raise ZeroDivisionError
        told = {"trial": leased.number, "attempt": 1, "outcome": TrialState.SUCCEEDED, "loss": 0.5}
        observations.append(tx, study.id, 1, **told)

    def learn(tx):
        if len(runs) == 1:
            runs.append(other.catch_up(tx, study.id, 1, 1))

    def fails(_):
        raise DatabaseUnavailable("It is gone.")

    outcomes = in_one_group(desk.store, tell, learn, fails)
    assert runs[:2] == ["told", Known.CURRENT]
    assert isinstance(outcomes[0], ZeroDivisionError | DatabaseUnavailable)
    desk.complete(leased, 0.9)  # the first observation after all

    with pytest.raises(Behind):
        propose(desk, study, other)
    catch_up(desk, study, other)
    propose(desk, study, other)
    desk.store.read(check_study)


def test_what_the_database_has_lost_is_forgotten_before_anything_is_proposed(desk):
    """As when a standby takes over that did not have the last commits."""
    study = desk.submit(max_trials=20)
    other = Memory()
    catch_up(desk, study, other)
    leased = desk.lease()

    def is_lost(tx):
        told = {"trial": leased.number, "attempt": 1, "outcome": TrialState.SUCCEEDED, "loss": 0.5}
        observations.append(tx, study.id, 1, **told)
        other.catch_up(tx, study.id, 1, 1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        desk.store.write(is_lost)

    with pytest.raises(Behind):
        propose(desk, study, other)
    catch_up(desk, study, other)
    propose(desk, study, other)
    desk.store.read(check_study)


def catch_up(desk, study, memory):
    def learn(tx):
        standing = studies.standing(tx, study.id)
        return memory.catch_up(tx, study.id, standing.trials, standing.observations)

    memory.load(desk.store, study.id)
    assert desk.store.read(learn) is Known.CURRENT


def propose(desk, study, memory):
    return desk.store.write(lambda tx: born(tx, study, memory))


def born(tx, study, memory):
    lease = NewLease(token_hex(16), timedelta(seconds=30), -1.0)
    standing = studies.lock(tx, study.id)
    place, _ = newborn(tx, memory, standing, lease, who="w", gpus=0, thought=None)
    attempts.begin(tx, place.id, 1, lease.id, a_runner(), place=0, task_version=None)
    return place


def test_a_search_is_remembered_beside_hundreds_of_others(desk):
    studies_there = [desk.submit(name=f"s{number}") for number in range(80)]
    other = Memory()
    for study in studies_there:
        catch_up(desk, study, other)

    assert other._of(studies_there[0].id) is not None


def test_of_many_trials_those_of_the_study_asked_last_stay_in_memory(desk):
    small = Memory(most_trials=3)
    found = []
    for name in ("one", "two"):
        study = desk.submit(name=name)
        for _ in range(2):
            desk.complete(desk.lease(studies=[name]))
        catch_up(desk, study, small)
        found.append(study)

    assert [small._of(study.id) is not None for study in found] == [False, True]
