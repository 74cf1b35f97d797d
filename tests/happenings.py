"""Events written straight into the database, as any server of it might."""

from sqlalchemy import create_engine, insert, select, update

from app.storage.tables import events, now, studies


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
