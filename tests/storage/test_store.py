import asyncio
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import func, insert, select, text, update

from app.storage import DatabaseUnavailable, ReadTooLong, open_store
from app.storage.prepared import Prepared
from app.storage.schema import prepare
from app.storage.tables import clock as clock_table
from app.storage.tables import now, observations, studies
from tests.conftest import in_one_group, wait_until


def add_study(tx, name):
    row = {
        "name": name, "task": "t", "space": {}, "strategy": "random", "seed": 0, "max_trials": 1,
        "max_attempts": 1, "state": "active", "trials": 0, "observations": 0, "created_at": now(),
    }  # fmt: skip
    return tx.execute(insert(studies).values(row).returning(studies.c.name)).scalar_one()


def count(store, table):
    return store.read(lambda tx: tx.execute(select(func.count()).select_from(table)).scalar_one())


def test_what_a_step_raises_reaches_its_caller_and_undoes_only_that_step(store):
    def breaks(tx):
        add_study(tx, "gone")
        raise LookupError("mine")

    good, bad = in_one_group(store, lambda tx: add_study(tx, "s"), breaks)
    assert good == "s"
    assert isinstance(bad, LookupError)
    assert count(store, studies) == 1


@pytest.mark.row(250)
def test_an_answer_is_given_only_after_the_commit(store):
    name = store.write(lambda tx: add_study(tx, "s"))

    assert store.read(lambda tx: tx.execute(select(studies.c.name)).scalar_one()) == name


@pytest.mark.row(250)
def test_many_writers_lose_nothing(store):
    def add(number):
        return store.write(lambda tx: add_study(tx, f"s{number}"))

    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(add, range(200)))) == 200
    assert count(store, studies) == 200


def test_foreign_keys_are_enforced(store):
    orphan = insert(observations).values(study_id=99, seq=1, trial=0, attempt=1, outcome="succeeded")
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        store.write(lambda tx: tx.execute(orphan).rowcount)


def test_times_are_read_from_the_databases_clock_in_utc(store):
    before = datetime.now(UTC) - timedelta(seconds=1)

    seen = store.read(lambda tx: tx.execute(select(now())).scalar_one())

    assert before <= seen <= datetime.now(UTC) + timedelta(seconds=1)


def test_a_moved_clock_moves_every_now(store, clock):
    clock.advance(timedelta(hours=5))

    seen = store.read(lambda tx: tx.execute(select(now())).scalar_one())
    assert seen > datetime.now(UTC) + timedelta(hours=4)
    assert count(store, clock_table) == 1


@pytest.mark.row(250)
def test_a_second_owner_of_a_sqlite_file_is_told_the_remedy(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/one.db")
    with pytest.raises(DatabaseUnavailable, match=r"Another server owns .*one\.db.*PostgreSQL"):
        open_store(f"sqlite:///{tmp_path}/one.db")
    store.close()

    open_store(f"sqlite:///{tmp_path}/one.db").close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite://", "needs a file"),
        ("mysql://root:hunter2@host/db", "not a database address"),
        ("nonsense", "not a database address"),
        ("sqlite:////no/such/folder/x.db", "No such file or directory"),
        ("postgresql://user:hunter2@127.0.0.1:9/none", "Cannot open postgresql"),
    ],
)
def test_a_wrong_address_is_explained_without_its_password(address, said):
    with pytest.raises(DatabaseUnavailable, match=said) as refused:
        open_store(address)
    assert "hunter2" not in str(refused.value)


def test_sqlite_is_durable_and_lets_readers_read_while_it_writes(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/safe.db")

    def pragma(name):
        return store.read(lambda tx: tx.execute(text(f"PRAGMA {name}")).scalar_one())

    assert (pragma("journal_mode"), pragma("synchronous"), pragma("foreign_keys")) == ("wal", 2, 1)
    store.close()


def test_without_waiting_for_the_disk_too_an_answer_is_given_only_after_the_commit(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/fast.db", sqlite_synchronous="normal")
    prepare(store)

    def names():
        return set(store.read(lambda tx: tx.execute(select(studies.c.name)).scalars().all()))

    async def add(number):
        step = partial(add_study, name=f"loop {number}")
        name = await store.written(step)
        return name in names()

    async def add_all():
        from_threads = (asyncio.to_thread(store.write, partial(add_study, name=f"t{n}")) for n in range(20))
        return await asyncio.gather(*map(add, range(20)), *from_threads)

    seen = asyncio.run(add_all())

    assert all(seen)
    assert len(names()) == 40
    store.close()


def test_a_step_that_dies_badly_leaves_the_writer_alive(store):
    def exits(_):
        raise SystemExit

    with pytest.raises(SystemExit):
        store.write(exits)

    assert store.write(lambda tx: add_study(tx, "s")) == "s"


def test_slow_readers_do_not_keep_the_writer_waiting(store):
    gate = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(store.read, lambda _: gate.wait(30))
        try:
            assert store.write(lambda tx: add_study(tx, "s")) == "s"
        finally:
            gate.set()


def test_a_closed_sqlite_store_refuses_to_write(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    store.close()

    with pytest.raises(DatabaseUnavailable, match="stopping"):
        store.write(lambda tx: add_study(tx, "s"))


def test_a_closed_store_refuses_those_who_would_await_it(database):
    store = open_store(database)
    store.close()

    for verb in (store.written, store.seen):
        with pytest.raises(DatabaseUnavailable, match="stopping"):
            asyncio.run(verb(lambda tx: tx.execute(text("SELECT 1"))))


def test_closing_waits_for_who_is_reading_or_writing_and_leaves_nothing_open(database):
    """A connection that is still open when it is forgotten warns, and a warning is an error here."""
    store = open_store(database)
    inside, gate = threading.Barrier(3), threading.Event()

    def step(tx):
        inside.wait(20)
        gate.wait(20)
        return tx.execute(text("SELECT 1")).scalar_one()

    with ThreadPoolExecutor(3) as pool:
        under_way = [pool.submit(verb, step) for verb in (store.read, store.write)]
        inside.wait(20)
        closing = pool.submit(store.close)
        wait_until(lambda: _refuses(store))
        gate.set()
        assert [step.result() for step in under_way] == [1, 1]
        closing.result()


def test_a_write_that_came_just_before_the_store_closed_is_refused_and_not_left_waiting(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    came, closed = threading.Event(), threading.Event()
    insist_as_ever = store._insist_on_being_open

    def insist():
        insist_as_ever()
        came.set()
        closed.wait(20)

    store._insist_on_being_open = insist
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(store.write, lambda tx: tx.execute(text("SELECT 1")))
        came.wait(20)
        store.close()
        closed.set()
        with pytest.raises(DatabaseUnavailable, match="stopping"):
            late.result(20)


def _refuses(store):
    try:
        store.write(lambda tx: tx.execute(text("SELECT 1")))
    except DatabaseUnavailable:
        return True
    return False


def test_an_event_loop_awaits_many_steps_and_each_gets_its_own_answer(store):
    async def main():
        names = await asyncio.gather(
            *(store.written(lambda tx, n=n: add_study(tx, f"s{n}")) for n in range(100))
        )
        seen = await store.seen(lambda tx: tx.execute(select(studies.c.name)).scalars().all())
        return names, set(seen)

    names, seen = asyncio.run(main())
    assert names == [f"s{n}" for n in range(100)]
    assert seen == set(names)


def test_slow_steps_wait_for_quick_ones_and_are_served_all_the_same(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    order = []

    async def main():
        slow = [store.written(lambda _, n=n: order.append(f"slow {n}"), is_slow=True) for n in range(3)]
        quick = [store.written(lambda _, n=n: order.append(f"quick {n}")) for n in range(200)]
        await asyncio.gather(*slow, *quick)

    asyncio.run(main())
    store.close()
    assert order[:2] == ["quick 0", "quick 1"]  # although the slow ones came before
    assert [each for each in order if "slow" in each] == ["slow 0", "slow 1", "slow 2"]
    assert order.index("slow 0") < 199  # they did not wait for every quick one


def test_what_an_awaited_step_raises_reaches_who_awaits(store):
    def breaks(_):
        raise LookupError("mine")

    for verb in (store.written, store.seen):
        with pytest.raises(LookupError, match="mine"):
            asyncio.run(verb(breaks))


def test_who_stops_waiting_disturbs_nobody_and_undoes_nothing(store):
    async def main():
        given_up = asyncio.create_task(store.written(lambda tx: add_study(tx, "given up")))
        patient = asyncio.create_task(store.written(lambda tx: add_study(tx, "s")))
        await asyncio.sleep(0)  # both wait in the store now
        given_up.cancel()
        return await patient

    assert asyncio.run(main()) == "s"
    wait_until(lambda: count(store, studies) == 2)


def test_an_event_loop_that_ends_does_not_take_the_writer_with_it(store):
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(store.written(lambda tx: add_study(tx, "left")))
    loop.run_until_complete(asyncio.sleep(0))
    waiting.cancel()
    loop.run_until_complete(asyncio.gather(waiting, return_exceptions=True))
    loop.close()

    assert store.write(lambda tx: add_study(tx, "s")) == "s"


def test_steps_whose_event_loop_has_ended_are_taken_before_the_store_closes(database):
    store = open_store(database)
    prepare(store)
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(store.written(lambda tx: add_study(tx, "left")))
    loop.call_soon(loop.stop)  # the loop ends in the round in which it is asked for
    loop.run_forever()
    store.close()
    waiting.cancel()
    loop.run_until_complete(asyncio.gather(waiting, return_exceptions=True))
    loop.close()

    store = open_store(database)
    assert count(store, studies) == 1
    store.close()


def test_steps_from_threads_and_from_an_event_loop_take_turns(store):
    """Each kind waits for the other to commit; none is lost, none waits for ever."""

    async def main():
        threads = (asyncio.to_thread(store.write, lambda tx, n=n: add_study(tx, f"t{n}")) for n in range(50))
        steps = (store.written(lambda tx, n=n: add_study(tx, f"s{n}")) for n in range(150))
        return await asyncio.gather(*threads, *steps)

    assert asyncio.run(main()) == [f"t{n}" for n in range(50)] + [f"s{n}" for n in range(150)]
    assert count(store, studies) == 200


SLOW = {  # some ten seconds
    "sqlite": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000000) SELECT max(i) FROM n"
    ),
    "postgresql": "SELECT pg_sleep(10)",
}


def test_a_read_is_stopped_at_its_time_limit_and_says_so(database):
    store = open_store(database, read_seconds=0.05)

    with pytest.raises(ReadTooLong, match=r"longer than 0\.05 seconds.*Ask for less"):
        store.read(lambda tx: tx.execute(text(SLOW[tx.dialect.name])))

    assert store.read(lambda tx: tx.execute(text("SELECT 1")).scalar_one()) == 1
    store.close()


def test_a_step_that_reads_cannot_write(store):
    with pytest.raises(DatabaseUnavailable, match=r"read-?only"):
        store.read(lambda tx: add_study(tx, "s"))


def test_all_that_a_step_reads_is_of_one_moment(store):
    def step(tx):
        before = tx.execute(select(func.count()).select_from(studies)).scalar_one()
        store.write(lambda tx: add_study(tx, "s"))
        return before, tx.execute(select(func.count()).select_from(studies)).scalar_one()

    assert store.read(step) == (0, 0)
    assert count(store, studies) == 1


def test_steps_that_block_each_other_are_run_again_until_all_are_kept(store):
    """Two rows, locked in opposite order: PostgreSQL ends one of the two, SQLite runs one after the other."""
    for name in ("a", "b"):
        store.write(lambda tx, name=name: add_study(tx, name))
    met = threading.Barrier(2)

    def both(first, second):
        def step(tx):
            for name in (first, second):
                tx.execute(update(studies).where(studies.c.name == name).values(seed=studies.c.seed + 1))
                if tx.dialect.name == "postgresql" and not met.broken:
                    with suppress(threading.BrokenBarrierError):
                        met.wait(5)
                    met.abort()

        store.write(step)

    with ThreadPoolExecutor(2) as pool:
        for ended in (pool.submit(both, "a", "b"), pool.submit(both, "b", "a")):
            ended.result()

    assert store.read(lambda tx: tx.execute(select(studies.c.seed)).scalars().all()) == [2, 2]


@pytest.fixture
def two_servers(postgres):
    address = postgres.new_database()
    stores = open_store(address), open_store(address)
    prepare(stores[0])
    yield stores
    for store in stores:
        store.close()
    postgres.drop(address)


def test_a_database_that_was_restarted_costs_nobody_an_error(two_servers):
    one, other = two_servers
    others = "pid <> pg_backend_pid() AND datname = current_database()"
    cut = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")  # noqa: S608
    assert all(other.write(lambda tx: tx.execute(cut).scalars().all()))

    assert count(one, studies) == 0
    assert one.write(lambda tx: add_study(tx, "s")) == "s"


def test_postgresql_too_commits_together_what_waits(two_servers):
    store, _ = two_servers

    commits = in_one_group(store, *[lambda tx: tx.execute(text("SELECT txid_current()")).scalar_one()] * 20)

    assert len(set(commits)) == 1


def test_a_group_waits_for_nobody_and_who_must_wait_is_served_later(two_servers):
    store, other = two_servers
    store.write(lambda tx: add_study(tx, "held"))
    holding, gate = threading.Event(), threading.Event()

    def touch(tx):
        return tx.execute(update(studies).where(studies.c.name == "held").values(seed=studies.c.seed + 1))

    def hold(tx):
        touch(tx)
        holding.set()
        gate.wait(20)

    async def main():
        patient = asyncio.create_task(store.written(lambda tx: touch(tx).rowcount))
        await asyncio.gather(*(store.written(lambda tx, n=n: add_study(tx, f"s{n}")) for n in range(3)))
        assert not patient.done()
        gate.set()
        return await patient

    with ThreadPoolExecutor(1) as pool:
        pool.submit(other.write, hold)
        holding.wait(20)
        try:
            assert asyncio.run(main()) == 1
        finally:
            gate.set()
    assert (
        store.read(lambda tx: tx.execute(select(studies.c.seed).order_by(studies.c.id)).scalars().first())
        == 2
    )


def test_a_connection_that_is_cut_within_a_group_costs_nobody_an_error(two_servers):
    store, other = two_servers
    runs = []

    def cut(tx):
        runs.append(tx.execute(text("SELECT pg_backend_pid()")).scalar_one())
        if len(runs) == 1:
            kill = text(f"SELECT pg_terminate_backend({runs[0]}, 5000)")
            assert other.write(lambda tx: tx.execute(kill).scalar())
        return add_study(tx, "cut")

    added = in_one_group(store, lambda tx: add_study(tx, "a"), cut, lambda tx: add_study(tx, "b"))

    assert added == ["a", "cut", "b"]
    assert len(runs) == 2
    assert count(store, studies) == 3


def test_a_connection_that_ends_without_a_word_costs_nobody_an_error(two_servers):
    store, _ = two_servers
    asked = Prepared(select(func.count()).select_from(studies))
    runs = []

    def cut(tx):
        asked.one(tx, {})
        runs.append(tx.connection.driver_connection.fileno())
        if len(runs) == 1:
            with socket.socket(fileno=os.dup(runs[0])) as line:
                line.shutdown(socket.SHUT_RDWR)
        return asked.one(tx, {})

    assert asyncio.run(store.written(cut)) == (0,)
    assert len(runs) == 2


def test_a_step_that_is_cut_off_at_its_commit_is_told_and_not_run_again(two_servers):
    one, other = two_servers
    runs = []

    def step(tx):
        runs.append(add_study(tx, f"s{len(runs)}"))
        mine = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
        assert other.write(lambda tx: tx.execute(text(f"SELECT pg_terminate_backend({mine}, 5000)")).scalar())

    with pytest.raises(DatabaseUnavailable, match=r"terminating connection"):
        one.write(step)
    assert runs == ["s0"]


@pytest.mark.parametrize(("told", "level"), [("full", 2), ("normal", 1)])
def test_the_writer_of_a_sqlite_file_waits_for_the_disk_as_it_is_told(tmp_path, told, level):
    store = open_store(f"sqlite:///{tmp_path}/x.db", sqlite_synchronous=told)

    assert store.write(lambda tx: tx.execute(text("PRAGMA synchronous")).scalar_one()) == level

    store.close()
