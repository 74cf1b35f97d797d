"""Databases of ours that hold a long history already.

One real trial is run over HTTP; then its rows are repeated under new numbers, with configs and losses of
their own. What a trial leaves behind is thereby learned from the service itself.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from random import Random
from secrets import token_hex
from typing import Any

from sqlalchemy import Connection, Integer, Numeric, Table, create_engine, insert, select, update

from app.storage.schema import revisions
from app.storage.tables import metadata
from benchmarks.service.servers import HOUSE, RUNS, PostgreSQL, thiessen
from benchmarks.service.space import drawn, loss
from benchmarks.service.wire import Wire, complete, lease_request, leases_of, study_spec
from thiessen.space import Config, config_key

STUDY = "bench"
BATCH = 5_000
COUNTING = {  # the tables that a trial leaves rows in; in each copy these columns are further by one
    "trials": ("number", "turn", "watermark"),
    "attempts": ("trial_id",),
    "observations": ("seq", "trial"),
    "events": ("seq", "trial"),
}

Row = Mapping[str, Any]


@contextmanager
def on_sqlite(trials: int, strategy: str) -> Iterator[str]:
    """Give the address of a SQLite database whose one study has so many finished trials."""
    kept = _kept(trials, strategy)
    used = RUNS / f"used-{token_hex(4)}.db"
    if trials:
        _copied_to_disk(kept, used)
    address = f"sqlite:///{used}"
    if not trials:
        _begun(address, strategy)
    try:
        yield address
    finally:
        _remove(used)


@contextmanager
def on_postgresql(server: PostgreSQL, trials: int, strategy: str) -> Iterator[Callable[[], str]]:
    """Give what makes databases of PostgreSQL whose one study has so many finished trials."""
    model = server.new_database()
    fill(model, trials, strategy)
    made: list[str] = []

    def make() -> str:
        made.append(server.new_database(like=model))
        return made[-1]

    yield make
    for address in (*made, model):
        server.drop(address)


def fill(address: str, trials: int, strategy: str) -> None:
    """Let the one study of an empty database have so many finished trials."""
    _begun(address, strategy)
    if trials:
        _lengthen(address, trials)


def _kept(trials: int, strategy: str) -> Path:
    """Return the file with the history, made when first asked for; a new schema or commit makes it again."""
    RUNS.mkdir(parents=True, exist_ok=True)
    kept = RUNS / f"{revisions()[-1]}-{_code()}-{strategy}-{trials}.db"
    if trials and not kept.exists():
        making = RUNS / "making.db"
        _remove(making)
        fill(f"sqlite:///{making}", trials, strategy)
        making.rename(kept)
        _remove(making)
    return kept


def _copied_to_disk(kept: Path, used: Path) -> None:
    """Copy a file and wait for the disk: what it still has to write would hold up whoever is measured."""
    shutil.copyfile(kept, used)
    with used.open("rb+") as file:
        os.fsync(file.fileno())


def _code() -> str:
    """Return a digest of what decides which rows a trial leaves."""
    command = ["git", "rev-parse", "HEAD:app/storage", "HEAD:app/lifecycle"]
    ran = subprocess.run(command, cwd=HOUSE, capture_output=True, check=True)
    return sha256(ran.stdout).hexdigest()[:8]


def _remove(database: Path) -> None:
    for ending in ("", "-wal", "-shm", ".lock"):
        with suppress(FileNotFoundError):
            Path(f"{database}{ending}").unlink()


def _begun(address: str, strategy: str) -> None:
    """Create the study of an empty database."""
    with thiessen(address) as server, Wire(server.port) as wire:
        wire.send("POST", "/api/v1/studies", study_spec(STUDY, strategy))


def _lengthen(address: str, trials: int) -> None:
    """Run one trial, and repeat what it left in every table."""
    engine = create_engine(address)
    with engine.connect() as connection:
        before = _study(connection)
    with thiessen(address) as server, Wire(server.port) as wire:
        lease = leases_of(wire.send("POST", "/api/v1/leases", lease_request("model", 0)))[0]
        wire.send(*complete(lease, loss(lease["config"])))
    with engine.begin() as connection:
        _repeat(connection, trials)
        _count(connection, before, trials)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()


def _study(connection: Connection) -> dict[str, Any]:
    studies = metadata.tables["studies"]
    return dict(connection.execute(select(studies).where(studies.c.name == STUDY)).mappings().one())


def _repeat(connection: Connection, trials: int) -> None:
    """Write every row of the one trial again for each of the others."""
    tables = [table for table in metadata.sorted_tables if table.name in COUNTING]
    models = {table: _of_the_trial(connection, table) for table in tables}
    random = Random(1)
    for first in range(1, trials, BATCH):
        configs = [(copy, drawn(random)) for copy in range(first, min(first + BATCH, trials))]
        for table, rows in models.items():
            if rows:
                copies = [_copy(table.name, rows, row, *each) for each in configs for row in rows]
                connection.execute(insert(table), copies)


def _of_the_trial(connection: Connection, table: Table) -> list[Row]:
    """Return its rows, without those that the study left there by itself."""
    rows = connection.execute(select(table)).mappings()
    return [row for row in rows if row.get("trial", 0) is not None]


def _copy(table: str, rows: Sequence[Row], row: Row, number: int, config: Config) -> dict[str, Any]:
    """Return a row of the trial `number` like that of the one trial."""
    copy = dict(row)
    for column in COUNTING[table]:
        if copy.get(column) is not None:
            copy[column] += number * (len(rows) if column == "seq" else 1)
    if copy.get("loss") is not None:
        copy["loss"] = loss(config)
    if table == "trials":
        del copy["id"]  # the database counts on, and the attempts count with it
        copy["config"], copy["config_key"] = config, sha256(config_key(config).encode()).hexdigest()
    if "lease_id" in copy:
        copy["lease_id"] = f"{number:032x}"
    if "request_id" in copy:
        copy["request_id"] = f"copy-{number}"
    return copy


def _count(connection: Connection, before: Row, trials: int) -> None:
    """Add to the study's row what the one trial has added, once for each of the others."""
    studies = metadata.tables["studies"]
    after = _study(connection)
    numbers = [column.name for column in studies.c if isinstance(column.type, Integer | Numeric)]
    values = {
        name: after[name] + (after[name] - before[name]) * (trials - 1) for name in numbers if after[name]
    }
    connection.execute(update(studies).where(studies.c.name == STUDY).values(values))
