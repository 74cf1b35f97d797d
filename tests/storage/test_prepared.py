import json
from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import (
    BigInteger,
    Float,
    bindparam,
    create_engine,
    delete,
    func,
    insert,
    literal,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

from app.storage import libpq, open_store
from app.storage.documents import read, written
from app.storage.prepared import Prepared
from app.storage.schema import prepare
from app.storage.tables import now, projects, trials, workers
from tests.conftest import in_one_group

REGISTER = Prepared(
    insert(workers).values(registered_at=now(), seen_at=now()),
    "name", "who", "incarnation", "devices", "slots", "labels", "tasks", "is_draining",
)  # fmt: skip
WHOLE = select(workers).where(workers.c.name == bindparam("of"))


texts = st.text() | st.sampled_from(["\ud800", "a\udfffb"])  # what JSON may say and UTF-8 cannot
numbers = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False)
documents = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


def a_worker(name):
    return {
        "name": name, "who": "me", "incarnation": "i", "devices": [{"name": "cpu", "gpus": 0}], "slots": 1,
        "labels": {"site": "zürich %s ' ?"}, "tasks": [], "is_draining": True,
    }  # fmt: skip


def test_a_prepared_statement_takes_and_gives_the_values_that_sqlalchemy_does(store):
    store.write(lambda tx: REGISTER.run(tx, a_worker("w")))

    prepared = store.read(lambda tx: Prepared(WHOLE).one(tx, {"of": "w"}))
    plain = store.read(lambda tx: tx.execute(WHOLE, {"of": "w"}).one())
    assert prepared == tuple(plain)
    assert plain.labels == a_worker("w")["labels"]
    assert plain.is_draining is True


def test_one_statement_runs_with_many_values_and_tells_of_none_first_and_every_row(store):
    store.write(lambda tx: [REGISTER.run(tx, a_worker(name)) for name in "abc"])
    names = Prepared(select(workers.c.name).where(workers.c.name >= bindparam("least")).order_by("name"))

    assert store.read(lambda tx: names.every(tx, {"least": "b"})) == [("b",), ("c",)]
    assert store.read(lambda tx: names.first(tx, {"least": "b"})) == ("b",)
    assert store.read(lambda tx: names.first(tx, {"least": "d"})) is None


def test_one_statement_takes_numbers_of_every_size_and_none(store):
    """PostgreSQL prepares it once, for kinds that must not depend on the first values."""
    keep = Prepared(update(trials).where(trials.c.seed > bindparam("least")).values(loss=bindparam("with")))
    sizes = [1, 40_000, 2**31, 2**53, -(2**53)]
    losses = [None, 1, 0.5, -1e308, 5e-324]
    echo = Prepared(
        select(
            bindparam("whole", type_=BigInteger), bindparam("real", type_=Float), 1.5 * projects.c.id
        ).where(projects.c.id == 1)
    )

    def step(tx):
        for size, loss in product(sizes, losses):
            keep.run(tx, {"least": size, "with": loss})
            assert echo.one(tx, {"whole": size, "real": loss}) == (size, loss, 1.5)

    store.write(step)


def test_a_text_that_postgresql_cannot_keep_is_refused_and_not_cut_short(postgres):
    address = postgres.new_database()
    store = open_store(address)
    prepare(store)
    named = Prepared(select(workers.c.name).where(workers.c.name == bindparam("of")))

    def step(tx):
        assert named.every(tx, {"of": "a"}) == []
        with pytest.raises(DataError, match="NUL"):
            named.every(tx, {"of": "a\0b"})

    store.read(step)
    store.close()
    postgres.drop(address)


def test_what_is_prepared_outlives_a_step_that_is_refused(store):
    """psycopg lets go of all that is prepared on a connection, also of ours, after a rollback."""
    named = Prepared(select(projects.c.name).where(projects.c.id == bindparam("of")))

    def step(tx):
        for _ in range(7):  # so often that psycopg would prepare it
            tx.execute(select(projects.c.id)).all()
        return named.one(tx, {"of": 1})

    def refused(_):
        raise LookupError

    found = in_one_group(store, step, refused, step, step)

    assert found[0] == found[2] == found[3] == ("default",)
    assert in_one_group(store, step, refused, step)[2] == ("default",)


def test_a_value_that_is_missing_is_never_taken_for_null(store):
    without = {name: value for name, value in a_worker("w").items() if name != "incarnation"}

    with pytest.raises((KeyError, ProgrammingError), match="of"):
        store.read(lambda tx: Prepared(WHOLE).first(tx, {}))
    with pytest.raises((KeyError, ProgrammingError), match="incarnation"):
        store.write(lambda tx: REGISTER.run(tx, without))


def test_what_the_database_refuses_is_raised_as_sqlalchemy_raises_it(store):
    def twice(tx):
        REGISTER.run(tx, a_worker("w"))
        REGISTER.run(tx, a_worker("w"))

    with pytest.raises(IntegrityError):
        store.write(twice)


def test_what_a_step_writes_last_is_committed_with_it(store):
    store.write(lambda tx: REGISTER.run(tx, a_worker("alone")))
    in_one_group(store, *[lambda tx, n=n: REGISTER.run(tx, a_worker(n)) for n in "abc"])

    names = select(workers.c.name).order_by("name")
    assert store.read(lambda tx: tx.execute(names).scalars().all()) == ["a", "alone", "b", "c"]


def test_what_a_step_writes_is_seen_by_all_that_it_asks_for_behind_it(store):
    def step(tx):
        REGISTER.run(tx, a_worker("a"))
        plain = tx.execute(select(workers.c.name)).scalars().all()
        REGISTER.run(tx, a_worker("b"))
        return plain, Prepared(select(workers.c.name).order_by("name")).every(tx, {})

    assert store.write(step) == (["a"], [("a",), ("b",)])
    store.write(lambda tx: tx.execute(delete(workers)).rowcount)
    assert in_one_group(store, lambda _: None, step)[1] == (["a"], [("a",), ("b",)])


def test_a_statement_that_is_refused_at_the_end_of_a_step_undoes_that_step_alone(store):
    def register(name):
        return lambda tx: REGISTER.run(tx, a_worker(name))

    def twice(tx):
        register("c")(tx)
        register("a")(tx)  # which is refused when the step is over, where waiting costs

    told = in_one_group(store, register("a"), twice, register("b"))

    assert [type(each) for each in told] == [type(None), IntegrityError, type(None)]
    names = select(workers.c.name).order_by("name")
    assert store.read(lambda tx: tx.execute(names).scalars().all()) == ["a", "b"]


def test_a_step_that_breaks_behind_a_refused_statement_raises_its_own_error(store):
    def breaks(tx):
        REGISTER.run(tx, a_worker("a"))
        raise LookupError("mine")

    told = in_one_group(store, lambda tx: REGISTER.run(tx, a_worker("a")), breaks, lambda _: "served")

    assert isinstance(told[1], LookupError | IntegrityError)  # SQLite refuses at once
    assert told[2] == "served"
    assert store.read(lambda tx: tx.execute(select(workers.c.name)).scalars().all()) == ["a"]


def test_what_a_step_alone_wrote_before_it_broke_is_forgotten(store):
    def breaks(tx):
        REGISTER.run(tx, a_worker("gone"))
        raise LookupError("mine")

    with pytest.raises(LookupError):
        store.write(breaks)
    store.write(lambda tx: REGISTER.run(tx, a_worker("stays")))

    assert store.read(lambda tx: tx.execute(select(workers.c.name)).scalars().all()) == ["stays"]


def test_a_connection_that_is_cut_with_statements_kept_back_costs_nobody_an_error(postgres):
    address = postgres.new_database()
    store, other = open_store(address), open_store(address)
    prepare(store)
    runs = []

    def step(tx):
        runs.append(Prepared(select(func.pg_backend_pid())).one(tx, {})[0])
        REGISTER.run(tx, a_worker("a"))
        if len(runs) == 1:
            kill = text(f"SELECT pg_terminate_backend({runs[0]}, 5000)")
            assert other.write(lambda tx: tx.execute(kill).scalar())
        REGISTER.run(tx, a_worker("b"))

    assert in_one_group(store, lambda _: None, step, lambda _: "served") == [None, None, "served"]
    assert len(runs) == 2
    assert store.read(lambda tx: tx.execute(select(func.count()).select_from(workers)).scalar()) == 2
    store.close()
    other.close()
    postgres.drop(address)


def test_a_commit_that_would_lose_what_is_kept_back_is_refused(postgres):
    address = postgres.new_database()
    store = open_store(address)
    prepare(store)
    engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"))
    libpq.watch(engine, flush=lambda _: None)

    def committed():
        with engine.begin() as tx:
            REGISTER.run(tx, a_worker("a"))

    with pytest.raises(AssertionError, match="kept back"):
        committed()
    engine.dispose()
    store.close()
    postgres.drop(address)


def test_more_is_kept_back_than_the_line_to_the_database_holds(store):
    """Both sides would wait for each other if nobody read while it writes."""
    large = "x" * 2_000_000

    def step(tx):
        for number in range(20):
            REGISTER.run(tx, {**a_worker(f"w{number}"), "labels": {"site": large}})
        return Prepared(select(workers.c.labels)).every(tx, {})

    assert [labels["site"] == large for (labels,) in store.write(step)] == [True] * 20


def test_a_constant_of_a_statement_stays(store):
    named = Prepared(select(projects.c.name).where(projects.c.name == "default"))

    assert store.read(lambda tx: named.every(tx, {})) == [("default",)]


def test_a_step_whose_connection_is_cut_is_run_again(postgres):
    """On PostgreSQL alone: nobody cuts the connection to a file."""
    address = postgres.new_database()
    store, other = open_store(address), open_store(address)
    cut = text("SELECT pg_terminate_backend(:pid)")
    prepared, runs = Prepared(select(literal(1))), []

    def step(tx):
        runs.append(tx.execute(text("SELECT pg_backend_pid()")).scalar_one())
        if len(runs) == 1:
            other.write(lambda tx: tx.execute(cut, {"pid": runs[0]}).scalar_one())
        return tx.execute(text("SELECT 1")).scalar_one() if len(runs) > 1 else prepared.one(tx, {})

    assert store.write(step) == 1
    assert len(runs) == 2
    store.close()
    other.close()
    postgres.drop(address)


@given(documents)
def test_a_document_reads_as_it_was_written(document):
    assert read(written(document)) == document
    assert read(json.dumps(document)) == document  # as earlier versions wrote it


def test_a_statement_has_its_constants_in_its_text_so_that_planners_see_them(store):
    running = Prepared(
        select(trials.c.id).where(trials.c.state == "running", trials.c.free_at <= bindparam("at"))
    )

    assert "= 'running'" in store.read(lambda tx: running._compile(tx.dialect).text)
    assert store.read(lambda tx: running.every(tx, {"at": datetime.now(UTC)})) == []
