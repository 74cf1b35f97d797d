"""Whoever waits for trials is called after the commit, and only then."""

import asyncio
import queue

import pytest
from sqlalchemy import text

from app.storage import DatabaseUnavailable, bell, open_store
from tests.conftest import wait_until


class Heard(queue.Queue):
    """What a listener was called with, in order."""

    def next(self):
        return self.get(timeout=20)


@pytest.fixture
def heard(store):
    """Of a listener that listens already."""
    calls = Heard()
    stop = store.listen(calls.put)
    assert calls.next() is None
    yield calls
    stop()


def test_what_is_rung_in_a_step_is_heard_after_its_commit(store, heard):
    def step(tx):
        bell.ring(tx, 7)
        assert heard.empty()

    store.write(step)

    assert heard.next() == 7


def test_a_step_that_is_refused_rings_nobody(store, heard):
    def refused(tx):
        bell.ring(tx, 1)
        raise LookupError

    def fails(tx):
        bell.ring(tx, 2)
        raise DatabaseUnavailable

    for step, error in ((refused, LookupError), (fails, DatabaseUnavailable)):
        with pytest.raises(error):
            store.write(step)
    store.write(lambda tx: bell.ring(tx, 3))

    assert heard.next() == 3


def test_a_group_that_the_database_ends_rings_nobody(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    calls = Heard()
    store.listen(calls.put)

    async def main():
        one = store.written(lambda tx: bell.ring(tx, 1))
        other = store.written(lambda tx: tx.execute(text("SELECT * FROM nowhere")))
        return await asyncio.gather(one, other, return_exceptions=True)

    for refused in asyncio.run(main()):
        assert isinstance(refused, DatabaseUnavailable)
        assert "nowhere" in str(refused)
    store.write(lambda tx: bell.ring(tx, 2))

    assert [calls.next(), calls.next()] == [None, 2]
    store.close()


def test_a_listener_that_fails_or_stops_keeps_nobody_from_hearing(store, heard, caplog):
    def fails(_):
        raise LookupError("of this listener")

    stopped = Heard()
    store.listen(stopped.put)()
    stop = store.listen(lambda study_id: study_id and fails(study_id))
    store.write(lambda tx: bell.ring(tx, 1))

    assert heard.next() == 1
    wait_until(lambda: "of this listener" in caplog.text)
    assert stopped.get() is None
    assert stopped.empty()
    stop()
    store.write(lambda tx: bell.ring(tx, 2))
    assert heard.next() == 2


@pytest.fixture
def two_servers(postgres):
    address = postgres.new_database()
    stores = open_store(address), open_store(address)
    yield stores
    for store in stores:
        store.close()
    postgres.drop(address)


def test_a_ring_is_heard_by_every_server_on_the_database(two_servers):
    one, other = two_servers
    calls = Heard()
    other.listen(calls.put)
    assert calls.next() is None

    one.write(lambda tx: bell.ring(tx, 5))

    assert calls.next() == 5


def test_a_listener_whose_connection_died_is_told_that_it_may_have_missed_something(two_servers):
    one, other = two_servers
    calls = Heard()
    other.listen(calls.put)
    assert calls.next() is None

    listening = "query = 'LISTEN thiessen' AND datname = current_database()"
    kill = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {listening}")  # noqa: S608
    assert one.write(lambda tx: tx.execute(kill).scalars().all()) == [True]

    assert calls.next() is None
    one.write(lambda tx: bell.ring(tx, 6))
    assert calls.next() == 6
