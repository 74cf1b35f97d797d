"""Open spaces on a server: what a trial asked for is learned with its end, and replays."""

from dataclasses import replace
from functools import partial

import pytest

from app.domain.errors import InvalidRequest, LeaseLost
from app.domain.trial import Cause, Result, TrialState
from app.lifecycle.columns import Histories
from app.lifecycle.enqueue import Candidate
from app.lifecycle.memory import Memory
from app.storage import asked as stored
from app.storage import observations, studies
from tests.folds import check_study
from thiessen.search.asking import Asking
from thiessen.space import AskedFor, Boolean, Categorical, Float, Int, OpenSpace

LR = Float(1e-5, 1, log=True)


@pytest.fixture
def desk(desk):
    """Has a study whose space is open."""
    desk.study = desk.submit(space=OpenSpace(), max_trials=60, max_attempts=2)
    return desk


def ask(leased, **dimensions):
    """Return what the program of a trial asks for."""
    asking = Asking(leased.config, leased.seed, leased.space)
    for name, dimension in dimensions.items():
        asking.value(name, dimension)
    return asking.asked


def tell(desk, leased, loss=0.5, **dimensions):
    desk.end(leased, Result(state=TrialState.SUCCEEDED, loss=loss, asked=ask(leased, **dimensions)))


def lease(desk):
    return desk.lease(studies=("s",))


def known(desk):
    return desk.progress().space


def test_the_space_is_what_trials_asked_for(desk):
    first = lease(desk)
    assert (first.config, first.space) == ({}, OpenSpace())
    tell(desk, first, lr=LR, deep=Boolean())
    second = lease(desk)
    assert set(second.config) == {"lr", "deep"}
    assert second.space == known(desk) == OpenSpace({"lr": LR, "deep": Boolean()}, ["lr", "deep"])
    tell(desk, second, lr=replace(LR, high=10.0), layers=Int(2, 8))
    assert known(desk).dimensions == {"lr": replace(LR, high=10.0), "deep": Boolean(), "layers": Int(2, 8)}
    assert known(desk).always == {"lr"}
    assert set(desk.trial(1).config) == {"lr", "layers"}
    desk.store.read(check_study)


def test_only_what_changes_the_space_is_stored_as_a_space(desk):
    for _ in range(5):
        tell(desk, lease(desk), lr=LR)
    told = desk.store.read(lambda tx: dict(stored.since(tx, desk.study.id, 0, 5)))
    assert [bool(each.dimensions) for each in told.values()] == [True, False, False, False, False]
    assert [desk.store.read(lambda tx, at=at: stored.space(tx, desk.study.id, at)) for at in (0, 1, 5)] == [
        OpenSpace(),
        known(desk),
        known(desk),
    ]


@pytest.mark.parametrize("state", [TrialState.SUCCEEDED, TrialState.DIVERGED, TrialState.PRUNED])
def test_an_outcome_says_what_was_asked_for(desk, state):
    leased = lease(desk)
    result = Result(state=state, loss=0.5 if state is TrialState.SUCCEEDED else None)
    with pytest.raises(InvalidRequest, match="is open; say what the trial asked for"):
        desk.end(leased, result)
    desk.end(leased, replace(result, asked=ask(leased, lr=LR)))
    assert desk.trial().state is state
    assert len(desk.landscape()) == 1


def test_where_the_space_was_declared_nothing_is_asked_for(desk):
    desk.submit(name="declared")
    asked = AskedFor(config={"x": 0.5}, dimensions={})
    leased = desk.lease()
    with pytest.raises(InvalidRequest, match="was declared; leave out"):
        desk.end(leased, Result(state=TrialState.SUCCEEDED, loss=0.5, asked=asked))
    with pytest.raises(InvalidRequest, match="was declared; leave out"):
        desk.fail(leased, asked=asked)
    with pytest.raises(InvalidRequest, match=r"trials\.0\.dimensions: only a finished trial of an open"):
        desk.enqueue(Candidate(config={"x": 0.5}, dimensions={"x": LR}), name="declared")


@pytest.mark.parametrize(
    ("config", "dimensions", "said"),
    [
        ({"lr": 0.1}, {"lr": Float(0, 1)}, "'lr' is Float"),
        ({"new": 0.1}, {}, r"no dimension is known for \['new'\]"),
        ({"new": 7.0}, {"new": Float(0, 1)}, r"'new' cannot be 7\.0"),
        ({"new": 0.5}, {"new": Float(2, 1)}, "low 2 is above high 1"),
        ({f"x{at}": 0 for at in range(256)}, {f"x{at}": Int(0, 1) for at in range(256)}, "256 dimensions"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_has_happened(desk, config, dimensions, said):
    tell(desk, lease(desk), lr=LR)
    leased = lease(desk)
    asked = AskedFor(config=config, dimensions=dimensions)
    with pytest.raises(InvalidRequest, match=said):
        desk.end(leased, Result(state=TrialState.SUCCEEDED, loss=0.5, asked=asked))
    assert desk.trial(1).state is TrialState.RUNNING
    assert known(desk).dimensions == {"lr": LR}
    tell(desk, leased, lr=LR)
    desk.store.read(check_study)


def test_an_attempt_that_failed_begins_again_where_it_began(desk):
    tell(desk, lease(desk), lr=LR)
    leased = lease(desk)
    desk.fail(leased, asked=ask(leased, n=Int(1, 4)))
    again = lease(desk)
    assert (again.number, again.config, again.space) == (1, leased.config, leased.space)
    desk.fail(again, asked=ask(again, deep=Boolean()))
    assert set(desk.trial(1).config) == {"deep"}
    assert set(known(desk).dimensions) == {"lr", "deep"}
    assert len(desk.landscape()) == 2  # it repels from what it asked for


def test_what_was_asked_for_in_each_attempt_is_kept(desk):
    tell(desk, lease(desk), lr=LR)
    leased = lease(desk)
    desk.fail(leased, retry=False, asked=ask(leased, lr=LR, n=Int(1, 4)))
    desk.retry(1)
    again = lease(desk)
    assert again.config == leased.config
    tell(desk, again, lr=LR, deep=Boolean())
    read = partial(observations.with_configs, study_id=desk.study.id, after=0, last=4, is_open=True)
    assert [set(each.config) for each in desk.store.read(read)] == [
        {"lr"},
        {"lr", "n"},
        {"lr", "deep"},  # the one that tells that it is tried again has none of its own
        {"lr", "deep"},
    ]
    assert [each.is_asked for each in desk.store.read(read)] == [True, True, False, True]


def test_who_is_tried_again_is_pending_where_it_begins(desk):
    tell(desk, lease(desk), lr=LR, n=Int(1, 4))
    leased = lease(desk)
    desk.fail(leased, retry=False, asked=ask(leased, lr=replace(LR, low=0.9), n=Int(1, 4)))
    desk.retry(1)
    assert desk.trial(1).config != leased.config
    assert desk.landscape().pending == {1: leased.config}


def test_a_failure_that_says_nothing_teaches_nothing(desk):
    for _ in range(2):
        desk.fail(lease(desk))
    assert desk.trial().state is TrialState.FAILED
    tell(desk, lease(desk), lr=LR)
    assert len(desk.landscape()) == 1
    desk.store.read(check_study)


def test_each_proposal_knows_what_was_asked_for_by_then(desk):
    """A failed trial is tried again and asks for something else; both are in the past of some proposals."""
    servers = [desk.memory, Memory(), Memory()]
    for turn in range(40):
        desk.memory = servers[turn % 3]
        leased = lease(desk)
        asked = {"lr": replace(LR, high=1.0 + turn // 15), "n": Int(1, 1 + turn % 7)}
        if leased.config.get("n", 0) % 2:
            asked["kind"] = Categorical(("a", "b"))
        if turn % 7 == 3:
            desk.fail(leased, retry=False, asked=ask(leased, **asked))
            failed = leased.number
        else:
            tell(desk, leased, (turn * 37 % 11) / 11, **asked)
        if turn % 7 == 5:
            desk.retry(failed)
    assert len(desk.observations()) > 40
    assert desk.store.read(check_study)["proposed"] > 30


def test_a_result_that_comes_late_brings_what_it_asked_for(desk, clock):
    silent = lease(desk)
    clock.advance(2 * desk.lease_for)
    again = lease(desk)
    with pytest.raises(LeaseLost):
        tell(desk, silent, 0.25, lr=LR)
    with pytest.raises(LeaseLost):
        tell(desk, silent, 0.25, lr=LR)  # again, word for word
    desk.fail(again)
    assert (desk.trial().state, desk.trial().loss, desk.trial().cause) == ("succeeded", 0.25, Cause.LATE)
    assert set(desk.trial().config) == {"lr"}
    assert known(desk).dimensions == {"lr": LR}
    desk.store.read(check_study)


def test_a_late_result_that_does_not_fit_any_more_ends_its_trial_all_the_same(desk, clock):
    silent = lease(desk)
    clock.advance(2 * desk.lease_for)
    again, other = lease(desk), lease(desk)
    with pytest.raises(LeaseLost):
        tell(desk, silent, 0.25, lr=LR)
    tell(desk, other, 0.5, lr=Int(1, 8))
    desk.fail(again)
    assert (desk.trial().state, desk.trial().loss, set(desk.trial().config)) == ("succeeded", 0.25, {"lr"})
    assert known(desk).dimensions == {"lr": Int(1, 8)}
    assert len(desk.landscape()) == 1
    desk.store.read(check_study)


def test_who_names_no_study_is_given_nothing_of_an_open_one(desk, clock):
    assert desk.lease() is None
    assert lease(desk) is not None
    clock.advance(2 * desk.lease_for)
    assert desk.lease() is None
    assert lease(desk) is not None


def test_configs_are_enqueued_as_they_are_and_finished_trials_bring_their_dimensions(desk):
    finished = Result(state=TrialState.SUCCEEDED, loss=0.5)
    with pytest.raises(InvalidRequest, match="no dimension is known"):
        desk.enqueue(Candidate(config={"lr": 0.1}, result=finished))
    desk.enqueue(
        Candidate(config={"lr": 0.1}, dimensions={"lr": LR}, result=finished),
        Candidate(config={"lr": 0.2}, result=replace(finished, loss=0.4)),
        {"lr": 0.2, "unheard of": "x"},
    )
    assert [desk.trial(number).config for number in range(3)] == [
        {"lr": 0.1},
        {"lr": 0.2},
        {"lr": 0.2, "unheard of": "x"},
    ]
    leased = lease(desk)
    assert (leased.number, leased.config["lr"], known(desk).dimensions) == (2, 0.2, {"lr": LR})
    tell(desk, leased, 0.3, lr=LR)
    assert [each.config for each in desk.best()] == [{"lr": 0.2}, {"lr": 0.2}, {"lr": 0.1}]
    asked = AskedFor(config={"lr": 0.2}, dimensions={})
    with pytest.raises(InvalidRequest, match=r"outcome\.asked"):
        desk.enqueue(Candidate(config={"lr": 0.2}, result=replace(finished, asked=asked)))
    desk.store.read(check_study)


def test_columns_are_those_of_the_space_as_it_is_by_now(desk):
    histories = Histories()

    def shown():
        _, found = histories.shown(desk.store.read, "default", "s", None)
        return list(found.space.dimensions), found.codes.tolist()

    tell(desk, lease(desk), lr=LR)
    [lr] = desk.trial().config.values()
    assert shown() == (["lr"], [[lr]])
    desk.fail(lease(desk), retry=False)
    leased = lease(desk)
    tell(desk, leased, n=Int(3, 3))
    names, codes = shown()
    assert (names, codes[0][0], codes[1][2]) == (["lr", "n"], lr, 3.0)


def test_nothing_is_left_of_what_is_purged(desk):
    tell(desk, lease(desk), lr=LR)
    desk.store.write(lambda tx: studies.remove(tx, desk.study.id))
    assert desk.store.read(lambda tx: dict(stored.since(tx, desk.study.id, 0, 9))) == {}


def test_a_borrowed_strategy_is_asked_for_what_is_known(desk):
    desk.submit(name="borrowed", space=OpenSpace(), strategy={"name": "optuna:random", "version": 1})
    tell(desk, desk.lease(studies=("borrowed",)), lr=LR)
    assert set(desk.lease(studies=("borrowed",)).config) == {"lr"}
