import pytest

from app.lifecycle.memory import Behind, Memory
from app.lifecycle.propose import newborn
from app.storage import studies
from tests.folds import check_study


def test_a_server_that_knows_less_than_the_last_proposal_did_catches_up_first(desk):
    """Else what proposals know would fall from one number to the next, and none could be replayed."""
    study = desk.submit(max_trials=20)
    other = Memory()  # of another server
    desk.store.read(lambda tx: other.catch_up(tx, study.id))
    desk.complete(desk.lease())
    desk.lease()  # knows that result

    with pytest.raises(Behind):
        propose(desk, study, other)
    desk.store.read(lambda tx: other.catch_up(tx, study.id))
    propose(desk, study, other)

    desk.store.read(check_study)


def test_a_step_that_is_run_again_leaves_no_trace_in_memory(desk):
    study = desk.submit(max_trials=20)
    other = Memory()
    desk.store.read(lambda tx: other.catch_up(tx, study.id))
    with pytest.raises(ZeroDivisionError):  # the server is cut off from the database before the commit
        desk.store.write(lambda tx: born(tx, study, other) and 1 / 0)
    desk.enqueue({"x": 0.25})  # another server was faster

    place = propose(desk, study, other)
    desk.complete(desk.lease(), 0.1)
    desk.store.read(lambda tx: other.catch_up(tx, study.id))
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


def propose(desk, study, memory):
    return desk.store.write(lambda tx: born(tx, study, memory))


def born(tx, study, memory):
    return newborn(tx, memory, studies.lock(tx, study.id), "w", None)
