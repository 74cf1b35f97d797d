"""Events written straight into the database, as any server of it might."""

from contextlib import contextmanager

from sqlalchemy import create_engine, event, insert, select, update
from sqlalchemy.pool import Pool

from app.storage.tables import events, now, studies


def begin(tx, study="s"):
    """Store a study to which nothing has happened; return its id."""
    row = {
        "name": study, "task": "t", "space": {}, "strategy": "random", "seed": 0, "max_trials": 1,
        "max_attempts": 1, "state": "active", "trials": 0, "observations": 0, "created_at": now(),
    }  # fmt: skip
    return tx.execute(insert(studies).values(row).returning(studies.c.id)).scalar_one()


@contextmanager
def connections_in_use():
    """Count the connections that any store has taken out of its pool since."""
    in_use = set()
    watched = {
        "checkout": lambda driver, record, proxy: in_use.add(record),  # noqa: ARG005
        "checkin": lambda driver, record: in_use.discard(record),  # noqa: ARG005
    }
    for name, watch in watched.items():
        event.listen(Pool, name, watch)
    yield in_use
    for name, watch in watched.items():
        event.remove(Pool, name, watch)


def happen(tx, times=1, study="s", **changed):
    """Append so many events to the study; return their numbers."""
    return [_append(tx, study, changed) for _ in range(times)]


def _append(tx, study, changed):
    seq = tx.execute(
        update(studies)
        .where(studies.c.name == study)
        .values(events=studies.c.events + 1)
        .returning(studies.c.events)
    ).scalar_one()
    study_id = tx.execute(select(studies.c.id).where(studies.c.name == study)).scalar_one()
    event = {"who": "server", "kind": "trial.created", "after": "queued", "trial": seq, "at": now()} | changed
    tx.execute(insert(events).values(study_id=study_id, seq=seq, **event))
    return seq


def happen_elsewhere(database, times=1):
    """The same from outside of every server, each in a transaction of its own."""
    engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://"))
    try:
        for _ in range(times):
            with engine.begin() as tx:
                happen(tx)
    finally:
        engine.dispose()
