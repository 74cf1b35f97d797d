"""A study so large that a statement which reads all of it is noticed, and what each statement reads."""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest
from psycopg import RawCursor
from sqlalchemy import Engine, create_engine, event, insert, select, text, update

from app.storage import prepared
from app.storage.tables import attempts, events, observations, reports, studies, trials

TRIALS = 20_000
LARGE = {"trials", "attempts", "observations", "events", "reports"}
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
STATES = {0: "failed", 1: "pruned", 2: "diverged"}  # of one trial in a hundred each
ORIGINS = {0: "imported", 1: "enqueued"}


@dataclass(frozen=True)
class Read:
    """What a statement reads of the large tables."""

    statement: str
    scans: list[str]  # of a whole table
    work: int  # SQLite's instructions, PostgreSQL's rows


@pytest.fixture
def own(database):
    """A connection of the test's own, beside those of the server."""
    engine = create_engine(database)
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def large(api, own):
    """The server with a study of 20,000 finished trials."""
    study = {
        "name": "s", "task": "t", "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 1_000_000, "strategy": "random",
    }  # fmt: skip
    assert api.post("/api/v1/studies", json=study).status_code == 201
    api.app.state.house.store.write(_fill)
    own.execute(text("ANALYZE"))
    own.commit()
    return api


@pytest.fixture
def reads(own):
    """Runs something and returns what each of its statements reads."""

    def run(act):
        with _caught() as statements:
            act()
        return [_read(own, statement, given) for statement, given in statements]

    return run


def _fill(tx):
    study_id = tx.execute(select(studies.c.id)).scalar_one()
    tx.execute(insert(trials), [_trial(study_id, number) for number in range(TRIALS)])
    of = dict(tx.execute(select(trials.c.number, trials.c.id)).all())
    tx.execute(insert(attempts), [_attempt(of[number], number) for number in range(TRIALS)])
    batch = {"attempt": 1, "first_step": 1, "points": [{"step": 1, "metrics": {"loss": 0.5}}]}
    tx.execute(insert(reports), [{"trial_id": of[number], **batch} for number in range(TRIALS)])
    numbered = [{"study_id": study_id, "seq": number + 1, "trial": number} for number in range(TRIALS)]
    ended = {"attempt": 1, "outcome": "succeeded", "loss": 0.5}
    tx.execute(insert(observations), [each | ended for each in numbered])
    told = {"at": BEGAN, "who": "w", "kind": "trial.moved"}
    tx.execute(insert(events), [{**each, "seq": each["seq"] + 1, **told} for each in numbered])
    counts = {"trials": TRIALS, "turns": TRIALS, "observations": TRIALS, "succeeded": TRIALS}
    tx.execute(update(studies).values(**counts, events=TRIALS + 1))


def _trial(study_id, number):
    state = STATES.get(number % 100, "succeeded")
    origin = ORIGINS.get(number % 200, "proposed")
    return {
        "study_id": study_id, "number": number, "origin": origin,
        "turn": number if origin == "proposed" else None, "watermark": 0,
        "config": {"x": number / TRIALS}, "config_key": str(number), "seed": number, "reasons": {},
        "state": state, "loss": (number * 7919 % TRIALS) / 100 if state == "succeeded" else None,
        "attempts": 1, "max_attempts": 3, "free_at": BEGAN, "lease_id": f"{number:032x}",
        "created_at": BEGAN, "finished_at": BEGAN + timedelta(seconds=number // 3),
    }  # fmt: skip


def _attempt(trial_id, number):
    return {
        "trial_id": trial_id, "number": 1, "lease_id": f"{number:032x}", "request_id": f"old{number}",
        "worker": "w", "incarnation": "i", "device": "cpu", "environment": {}, "last_step": 1,
        "started_at": BEGAN, "ended_at": BEGAN, "outcome": "succeeded",
    }  # fmt: skip


@contextmanager
def _caught():
    """Catch each statement with its values, run by SQLAlchemy or prepared."""
    statements = []

    def catch(*about):
        statements.append(about[2:4])

    def filled(compiled, values):
        given = filled_as_ever(compiled, values)
        statements.append((compiled.text, tuple(given)))
        return given

    filled_as_ever = prepared._Compiled.parameters
    event.listen(Engine, "before_cursor_execute", catch)
    try:
        with patch.object(prepared._Compiled, "parameters", filled):
            yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", catch)


def _read(connection, statement, given):
    if statement.startswith("INSERT"):  # of values: reads nothing
        return Read(statement, [], 0)
    read = _read_on_sqlite if connection.dialect.name == "sqlite" else _read_on_postgresql
    found = Read(statement, *read(connection, statement, given))
    connection.rollback()
    return found


def _read_on_sqlite(connection, statement, given):
    plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given).all()
    scans = [line for *_, line in plan if line.startswith("SCAN") and line.split()[1] in LARGE]
    instructions = 0

    def count():
        nonlocal instructions
        instructions += 100

    driver = connection.connection.driver_connection
    driver.set_progress_handler(count, 100)
    driver.execute(statement, given).fetchall()
    driver.set_progress_handler(None, 0)
    driver.rollback()
    return scans, instructions


def _read_on_postgresql(connection, statement, given):
    connection.begin()
    driver = connection.connection.driver_connection
    cursor = RawCursor(driver) if "$1" in statement else driver.cursor()
    (explained,) = cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", given).fetchone()
    nodes = list(_nodes(explained[0]["Plan"]))
    of_large = [node for node in nodes if node.get("Relation Name") in LARGE or "Index Name" in node]
    scans = [f"Seq Scan on {node['Relation Name']}" for node in of_large if node["Node Type"] == "Seq Scan"]
    rows = [
        node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
        for node in of_large
    ]
    return scans, max(rows, default=0)


def _nodes(node):
    yield node
    for inner in node.get("Plans", []):
        yield from _nodes(inner)
