"""The tables as the code sees them. The migrations create them; a test compares both."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
    type_coerce,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnElement


class Instant(TypeDecorator[datetime]):
    """An aware UTC time, stored as whole milliseconds since 1970: exact and ordered on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        del dialect
        return None if value is None else round(value.timestamp() * 1000)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        del dialect
        return None if value is None else datetime.fromtimestamp(value / 1000, UTC)


class now(ColumnElement[datetime]):  # noqa: N801 - reads as SQL, like sqlalchemy's func.now
    """The database's clock, read in the statement, plus an offset that only tests write."""

    inherit_cache = True
    type = Instant()


def later(span: timedelta) -> ColumnElement[int]:
    """Return the database's clock plus a span."""
    return type_coerce(now(), BigInteger) + round(span.total_seconds() * 1000)


@compiles(now, "sqlite")
def _now_on_sqlite(element: now, compiler: SQLCompiler, **options: Any) -> str:
    del element, compiler, options
    return (
        "(CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
        " + (SELECT offset_milliseconds FROM clock))"
    )


@compiles(now, "postgresql")
def _now_on_postgresql(element: now, compiler: SQLCompiler, **options: Any) -> str:
    del element, compiler, options
    return (
        "(CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
        " + (SELECT offset_milliseconds FROM clock))"
    )


metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pk",
        "fk": "%(table_name)s_%(column_0_N_name)s_fk",
        "uq": "%(table_name)s_%(column_0_N_name)s_unique",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_N_name)s_index",
    }
)
Identity = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up only plain INTEGER keys

clock = Table(
    "clock",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("offset_milliseconds", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="single_row"),
)

studies = Table(
    "studies",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("task", String(100), nullable=False),
    Column("space", JSON, nullable=False),
    Column("strategy", String(100), nullable=False),  # its name
    Column("seed", BigInteger, nullable=False),
    Column("max_trials", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reason", String(30)),
    Column("trials", Integer, nullable=False),  # the next trial's number
    Column("observations", Integer, nullable=False),  # the last observation's number
    Column("created_at", Instant, nullable=False),
    Column("strategy_settings", JSON, nullable=False, server_default="{}"),  # with the version of its rule
)

trials = Table(
    "trials",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("study_id", ForeignKey(studies.c.id), nullable=False),
    Column("number", Integer, nullable=False),
    Column("config", JSON, nullable=False),
    Column("config_key", String(64), nullable=False),  # a digest: equal for equal configs
    Column("seed", BigInteger, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("cause", String(30)),
    Column("loss", Float),
    Column("attempts", Integer, nullable=False),  # executions so far
    Column("max_attempts", Integer, nullable=False),  # raised by one when an attempt is given back unused
    Column("lease_id", String(64)),  # of the current attempt
    Column("free_at", Instant, nullable=False),  # when it may be leased: at once, or when the lease expires
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant),
    UniqueConstraint("study_id", "number"),
    UniqueConstraint("study_id", "config_key"),
    Index(
        "trials_to_lease",
        "free_at",
        "id",
        sqlite_where=text("state IN ('queued', 'running')"),
        postgresql_where=text("state IN ('queued', 'running')"),
    ),
    Index(
        "trials_by_loss",
        "study_id",
        "loss",
        "number",
        sqlite_where=text("state = 'succeeded'"),
        postgresql_where=text("state = 'succeeded'"),
    ),
)

attempts = Table(
    "attempts",
    metadata,
    Column("trial_id", ForeignKey(trials.c.id), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("lease_id", String(64), nullable=False, unique=True),
    Column("request_id", String(100), nullable=False),
    Column("worker", String(100), nullable=False),
    Column("incarnation", String(100), nullable=False),
    Column("device", String(100), nullable=False),
    Column("environment", JSON, nullable=False),
    Column("last_step", BigInteger, nullable=False),  # of its reports so far; -1 before the first
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("outcome", String(20)),
    Column("loss", Float),
    Column("message", Text),
    Column("traceback", Text),
    UniqueConstraint("worker", "incarnation", "request_id"),
)

reports = Table(
    "reports",
    metadata,
    Column("trial_id", ForeignKey(trials.c.id), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("first_step", BigInteger, primary_key=True),
    Column("points", JSON, nullable=False),  # one delivered batch a row
)

observations = Table(
    "observations",
    metadata,
    Column("study_id", ForeignKey(studies.c.id), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("trial", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("outcome", String(20), nullable=False),
    Column("loss", Float),
    Column("cause", String(30)),
)
