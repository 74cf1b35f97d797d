"""Does a database hold what it must? Asked on a connection that only reads, beside a running server."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.engine import URL

from app.storage import schema
from app.storage.open import parsed_address
from app.storage.sqlite import keep_private
from app.storage.store import DatabaseUnavailable, Transaction, explained

INVARIANTS: Final = {
    "A study's counter of trials is not their number": """
        SELECT s.name, s.trials, (SELECT count(*) FROM trials t WHERE t.study_id = s.id) FROM studies s
        WHERE s.trials <> (SELECT count(*) FROM trials t WHERE t.study_id = s.id)""",
    "A study's trials are not numbered from 0 without a gap": """
        SELECT s.name, count(*), max(t.number) FROM studies s JOIN trials t ON t.study_id = s.id
        GROUP BY s.id, s.name HAVING min(t.number) <> 0 OR max(t.number) <> count(*) - 1""",
    "A study's counter of observations is not the number of the last": """
        SELECT s.name, s.observations, coalesce(max(o.seq), 0)
        FROM studies s LEFT JOIN observations o ON o.study_id = s.id
        GROUP BY s.id, s.name, s.observations HAVING coalesce(max(o.seq), 0) <> s.observations""",
    "A study's observations are not numbered from 1 without a gap": """
        SELECT s.name, count(*), max(o.seq) FROM studies s JOIN observations o ON o.study_id = s.id
        GROUP BY s.id, s.name HAVING min(o.seq) <> 1 OR max(o.seq) <> count(*)""",
    "An observation is of no trial": """
        SELECT s.name, o.seq, o.trial FROM observations o JOIN studies s ON s.id = o.study_id
        WHERE NOT EXISTS (SELECT 1 FROM trials t WHERE t.study_id = o.study_id AND t.number = o.trial)""",
    "A trial's counter of attempts is not their number": """
        SELECT s.name, t.number, t.attempts FROM trials t JOIN studies s ON s.id = t.study_id
        WHERE t.attempts <> (SELECT count(*) FROM attempts a WHERE a.trial_id = t.id)""",
    "A study's counter of a state is not the number of its trials in it": """
        SELECT s.name, s.state, s.counted, count(t.id) FROM (
          SELECT id, name, 'queued' AS state, queued AS counted FROM studies
          UNION ALL SELECT id, name, 'running', running FROM studies
          UNION ALL SELECT id, name, 'succeeded', succeeded FROM studies
          UNION ALL SELECT id, name, 'diverged', diverged FROM studies
          UNION ALL SELECT id, name, 'pruned', pruned FROM studies
          UNION ALL SELECT id, name, 'failed', failed FROM studies
          UNION ALL SELECT id, name, 'cancelled', cancelled FROM studies
        ) s LEFT JOIN trials t ON t.study_id = s.id AND t.state = s.state
        GROUP BY s.id, s.name, s.state, s.counted HAVING s.counted <> count(t.id)""",
    "A study's counter of proposals is not their number": """
        SELECT s.name, s.turns, count(t.turn) FROM studies s LEFT JOIN trials t ON t.study_id = s.id
        GROUP BY s.id, s.name, s.turns HAVING s.turns <> count(t.turn)""",
    "A study's counter of events is not the number of the last": """
        SELECT s.name, s.events, coalesce(max(e.seq), s.events_removed)
        FROM studies s LEFT JOIN events e ON e.study_id = s.id
        GROUP BY s.id, s.name, s.events, s.events_removed
        HAVING coalesce(max(e.seq), s.events_removed) <> s.events""",
    "A study's events are not numbered from the first that is kept without a gap": """
        SELECT s.name, s.events_removed, count(*), min(e.seq), max(e.seq)
        FROM studies s JOIN events e ON e.study_id = s.id GROUP BY s.id, s.name, s.events_removed
        HAVING min(e.seq) <> s.events_removed + 1 OR max(e.seq) <> s.events_removed + count(*)""",
    "An event does not begin where the one before of its trial ended": """
        SELECT s.name, e.seq, e.trial, e.before, e.stood FROM (
          SELECT study_id, seq, trial, events.before,
            lag(events.after) OVER (PARTITION BY study_id, trial ORDER BY seq) AS stood
          FROM events WHERE events.after IS NOT NULL
        ) e JOIN studies s ON s.id = e.study_id WHERE coalesce(e.before, '') <> coalesce(e.stood, '')
          AND (e.stood IS NOT NULL OR s.events_removed = 0)""",
    "A trial's state is not the one after its last event": """
        SELECT s.name, t.number, t.state, e.after FROM trials t JOIN studies s ON s.id = t.study_id
        LEFT JOIN (
          SELECT study_id, trial, max(seq) AS seq FROM events WHERE events.after IS NOT NULL
          GROUP BY study_id, trial
        ) last ON last.study_id = t.study_id AND last.trial = t.number
        LEFT JOIN events e ON e.study_id = t.study_id AND e.seq = last.seq
        WHERE coalesce(e.after, '') <> t.state AND (e.seq IS NOT NULL OR s.events_removed = 0)""",
    "A trial's outcome is not its last observation": """
        SELECT s.name, t.number, t.state, t.loss, o.outcome, o.loss
        FROM trials t JOIN studies s ON s.id = t.study_id
        LEFT JOIN (
          SELECT study_id, trial, max(seq) AS seq FROM observations GROUP BY study_id, trial
        ) last ON last.study_id = t.study_id AND last.trial = t.number
        LEFT JOIN observations o ON o.study_id = t.study_id AND o.seq = last.seq
        WHERE CASE WHEN t.state IN ('queued', 'running') THEN coalesce(o.outcome, 'queued') <> 'queued'
          ELSE coalesce(o.outcome, '') <> t.state OR coalesce(o.loss, 0) <> coalesce(t.loss, 0) END""",
    "An attempt is under way whose trial does not run by its lease": """
        SELECT s.name, t.number, a.number, t.state
        FROM attempts a JOIN trials t ON t.id = a.trial_id JOIN studies s ON s.id = t.study_id
        WHERE a.ended_at IS NULL AND (t.state <> 'running' OR t.lease_id <> a.lease_id)""",
    "A trial runs without an attempt under way": """
        SELECT s.name, t.number, t.attempts FROM trials t JOIN studies s ON s.id = t.study_id
        WHERE t.state = 'running' AND NOT EXISTS (
          SELECT 1 FROM attempts a WHERE a.lease_id = t.lease_id AND a.ended_at IS NULL)""",
    "A study of Optuna does not number its trials from 0 without a gap": """
        SELECT s.name, s.trials, count(t.id), max(t.number)
        FROM optuna_studies s LEFT JOIN optuna_trials t ON t.study_id = s.id GROUP BY s.id, s.name, s.trials
        HAVING s.trials <> count(t.id) OR s.trials <> coalesce(max(t.number), -1) + 1""",
    "A study of Optuna has a trial that changed later than it": """
        SELECT s.name, s.seq, t.number, t.seq
        FROM optuna_studies s JOIN optuna_trials t ON t.study_id = s.id WHERE t.seq > s.seq""",
    "A trial of Optuna does not take what its entries take": """
        SELECT s.name, t.number, t.size, t.entries
        FROM optuna_studies s JOIN optuna_trials t ON t.study_id = s.id
        LEFT JOIN optuna_entries e ON e.trial_id = t.id GROUP BY s.name, t.id, t.number, t.size, t.entries
        HAVING t.size <> coalesce(sum(length(e.name) + length(e.value)), 0) OR t.entries <> count(e.name)""",
    "A mirror does not have as many trials as have finished in its study of Optuna": """
        SELECT o.name, s.trials, count(t.id) FROM studies s JOIN optuna_studies o ON o.id = s.mirrors
        LEFT JOIN optuna_trials t ON t.study_id = o.id AND t.state IN ('complete', 'pruned', 'fail')
        WHERE s.archived_at IS NULL GROUP BY o.name, s.id, s.trials HAVING s.trials <> count(t.id)""",
    "A comparison is complete before a study of it": """
        SELECT c.name, s.name, s.state FROM comparisons c JOIN studies s ON s.comparison_id = c.id
        WHERE c.state = 'completed' AND s.state <> 'completed'
          AND (s.around IS NULL OR s.around = c.around)""",
    "A comparison goes on with nothing left to do": """
        SELECT c.name FROM comparisons c
        WHERE c.state = 'active' AND c.archived_at IS NULL AND NOT EXISTS (
          SELECT 1 FROM studies s WHERE s.comparison_id = c.id
          AND (s.around IS NULL OR s.around = c.around) AND s.state <> 'completed')""",
}
"""Each must find nothing; what it finds begins with the name of the study, or of the comparison."""
MOST_EXAMPLES: Final = 3


def faults(url: str) -> list[str]:
    """Return a sentence for each thing that is wrong, all seen at one moment. Raises DatabaseUnavailable."""
    with _looking(parsed_address(url)) as tx:
        schema.must_fit(tx)
        damaged = list(_damaged(tx)) if tx.dialect.name == "sqlite" else []
        return damaged or [fault for what, query in INVARIANTS.items() for fault in _broken(tx, what, query)]


def must_be_usable(url: str) -> str:
    """Return the schema's revision of a database that answers. Raises DatabaseUnavailable."""
    with _looking(parsed_address(url)) as tx:
        return schema.must_fit(tx)


def file_of(url: str) -> Path | None:
    """Return the file of a SQLite database; other kinds have none. Raises DatabaseUnavailable."""
    parsed = parsed_address(url)
    return Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None


def back_up(url: str, target: Path) -> None:
    """Copy a SQLite database as it is at one moment, whoever writes to it. Raises DatabaseUnavailable."""
    parsed = parsed_address(url)
    if parsed.get_backend_name() != "sqlite":
        shown = parsed.set(drivername="postgresql").render_as_string(hide_password=True)
        raise DatabaseUnavailable(
            f"PostgreSQL has its own way: pg_dump --format=custom --file={target} '{shown}'"
        )
    if target.exists():
        raise DatabaseUnavailable(f"{target} exists already. Name a new file.")
    unfinished = target.with_name(f"{target.name}.unfinished")
    with _looking(parsed) as tx:
        _copy(tx, unfinished)
    unfinished.rename(target)


@contextmanager
def _looking(url: URL) -> Iterator[Transaction]:
    """One transaction on a connection that cannot write, beside whoever owns the database."""
    engine = _sqlite(url) if url.get_backend_name() == "sqlite" else _postgresql(url)
    try:
        with explained(), engine.begin() as tx:
            if tx.dialect.name == "sqlite":
                tx.exec_driver_sql("BEGIN")
            yield tx
    finally:
        engine.dispose()


def _sqlite(url: URL) -> Engine:
    address = f"{Path(url.database or '').absolute().as_uri()}?mode=ro"
    return create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True, isolation_level=None)
    )


def _postgresql(url: URL) -> Engine:
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return create_engine(url.set(drivername="postgresql+psycopg"), execution_options=options)


def _copy(tx: Transaction, target: Path) -> None:
    source: Any = tx.connection.driver_connection
    keep_private(target)
    try:
        with closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise DatabaseUnavailable(
            f"Cannot write {target}: {error}. Name a file where there is room."
        ) from error


def _damaged(tx: Transaction) -> Iterator[str]:
    said = tx.exec_driver_sql("PRAGMA integrity_check").scalars().all()
    if said != ["ok"]:
        yield f"The file is damaged: {'; '.join(said[:MOST_EXAMPLES])}."
    for table, row, parent, _ in tx.exec_driver_sql("PRAGMA foreign_key_check").all():
        which = "A row" if row is None else f"Row {row}"  # a table kept by its key alone has no numbers
        yield f"{which} of {table} belongs to a row of {parent} that is not there."


def _broken(tx: Transaction, what: str, query: str) -> Iterator[str]:
    found = tx.execute(text(query)).all()
    if found:
        examples = "; ".join(", ".join(map(str, row)) for row in found[:MOST_EXAMPLES])
        yield f"{what}: {len(found)} times, such as {examples}."
