"""Strategies of other packages may be slow or broken; nobody else notices."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import pytest
from sqlalchemy import update

from app.domain.errors import StrategyUnavailable
from app.lifecycle.borrow import Thinkers, Unready
from app.storage.tables import studies
from thiessen.integrations import KNOWN
from thiessen.search import Random
from thiessen.search.strategy import Strategy

A_WHILE = 30  # seconds; nothing here takes any of them unless it is broken


def never():
    raise AssertionError("there was a thought already")


def ended():
    """Wait until nobody thinks any more."""
    for thread in threading.enumerate():
        if thread.name == "borrowed-strategy":
            thread.join(A_WHILE)


def test_what_is_thought_of_is_returned_and_thought_of_anew_the_next_time():
    thinkers = Thinkers(most=1, patience_seconds=A_WHILE)
    assert [thinkers.ask("s", 0, lambda n=n: n) for n in range(3)] == [0, 1, 2]


def test_what_is_thought_of_when_nobody_waits_any_more_is_for_the_next_request_of_that_turn():
    thinkers, gate = Thinkers(most=1, patience_seconds=0), threading.Event()
    with pytest.raises(Unready, match="thought for 0 seconds and goes on"):
        thinkers.ask("s", 4, lambda: gate.wait(A_WHILE) and "late")
    with pytest.raises(Unready, match="goes on"):
        thinkers.ask("s", 4, never)

    gate.set()
    ended()

    assert thinkers.ask("s", 4, never) == "late"


def test_a_thought_of_an_earlier_turn_is_of_no_use():
    thinkers = Thinkers(most=2, patience_seconds=0)
    with pytest.raises(Unready):
        thinkers.ask("s", 4, lambda: threading.Event().wait(0.01))
    ended()
    patient = Thinkers(most=2, patience_seconds=A_WHILE)
    patient._thoughts = thinkers._thoughts

    assert patient.ask("s", 5, lambda: "new") == "new"


def test_no_more_think_at_once_than_may():
    thinkers, gate = Thinkers(most=2, patience_seconds=0), threading.Event()
    for study in ("a", "b"):
        with pytest.raises(Unready, match="goes on"):
            thinkers.ask(study, 0, lambda: gate.wait(A_WHILE))
    with pytest.raises(Unready, match="others think already"):
        thinkers.ask("c", 0, never)

    gate.set()
    ended()

    with pytest.raises(Unready, match="goes on"):
        thinkers.ask("c", 0, lambda: threading.Event().wait(0.01))


def test_no_more_requests_wait_than_may():
    thinkers, gate = Thinkers(most=2, patience_seconds=A_WHILE), threading.Event()

    def think():
        gate.wait(A_WHILE)
        return "thought"

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(thinkers.ask, study, 0, think) for study in ("a", "b")]
        while thinkers._seats._value:
            threading.Event().wait(0.001)
        with pytest.raises(Unready, match="enough requests wait"):
            thinkers.ask("other", 0, never)
        gate.set()
        assert [each.result(A_WHILE) for each in asked] == ["thought", "thought"]


def test_requests_of_one_turn_share_a_thought():
    thinkers, gate, thoughts = Thinkers(most=2, patience_seconds=0), threading.Event(), []

    def think():
        thoughts.append(gate.wait(A_WHILE))
        return "shared"

    for _ in range(2):
        with pytest.raises(Unready, match="goes on"):
            thinkers.ask("s", 0, think)
    gate.set()
    ended()

    assert thinkers.ask("s", 0, never) == "shared"
    assert len(thoughts) == 1


def test_what_thinking_raises_reaches_who_asked_and_the_next_one_thinks_again():
    thinkers = Thinkers(most=1, patience_seconds=A_WHILE)
    with pytest.raises(ZeroDivisionError):
        thinkers.ask("s", 0, lambda: 1 / 0)
    assert thinkers.ask("s", 0, lambda: "well") == "well"


@dataclass(frozen=True)
class Borrowed(Strategy):
    """Random search that waits for a gate, or breaks."""

    breaks: bool = False
    name: ClassVar[str] = "borrowed"
    version: ClassVar[int] = 1
    replayable: ClassVar[bool] = False
    gate: ClassVar[threading.Event]

    def propose(self, space, landscape, turn, rng):
        if self.breaks:
            raise ArithmeticError("no positive definite matrix")
        self.gate.wait(A_WHILE)
        return Random().propose(space, landscape, turn, rng)


@pytest.fixture
def gate(monkeypatch):
    Borrowed.gate = threading.Event()
    monkeypatch.setitem(KNOWN, "borrowed", Borrowed())
    monkeypatch.setattr("app.lifecycle.propose.THINKERS", Thinkers(most=2, patience_seconds=0))
    yield Borrowed.gate
    Borrowed.gate.set()
    ended()


@pytest.mark.row(277)
def test_a_slow_strategy_is_waited_for_by_nobody_but_its_own_study(desk, gate):
    desk.submit(name="slow", strategy="borrowed")
    desk.submit(name="quick")

    assert desk.lease().study == "quick"
    with pytest.raises(StrategyUnavailable, match="study 'slow' has no proposal yet: it has thought for"):
        desk.lease(studies=["slow"])
    gate.set()
    ended()

    leased = desk.lease()
    assert (leased.study, leased.number) == ("slow", 0)
    assert desk.trial(0, "slow").reasons["strategy"] == "random"


def test_a_strategy_that_breaks_says_so_and_its_queued_trials_are_leased_all_the_same(desk, gate, clock):
    gate.set()
    desk.submit(name="broken", strategy="borrowed")
    monkeyed = {"breaks": True, "version": 1}
    thinkers = Thinkers(most=2, patience_seconds=A_WHILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.lifecycle.propose.THINKERS", thinkers)
        first = desk.lease()
        desk.store.write(lambda tx: tx.execute(update(studies).values(strategy_settings=monkeyed)).rowcount)
        with pytest.raises(
            StrategyUnavailable, match="'broken' failed: ArithmeticError: no positive definite"
        ):
            desk.lease()

        clock.advance(desk.lease_for)

        assert desk.lease().number == first.number


def test_a_strategy_of_another_version_is_left_to_the_servers_that_know_it(desk):
    desk.submit(name="later")
    desk.store.write(lambda tx: tx.execute(update(studies).values(strategy="invented_later")).rowcount)
    with pytest.raises(StrategyUnavailable, match="'later' is not known to this server"):
        desk.lease()

    desk.submit(name="now")

    assert desk.lease().study == "now"
