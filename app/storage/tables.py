"""The tables as the code sees them. The migrations create them; a test compares both."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
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
from sqlalchemy.schema import CreateIndex
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnElement
from sqlalchemy.sql.functions import FunctionElement

EPOCH: Final = datetime.fromtimestamp(0, UTC)


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


class FineInstant(TypeDecorator[datetime]):
    """An aware UTC time as whole microseconds since 1970, for times that others give to compare again."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        del dialect
        return None if value is None else (value - EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        del dialect
        return None if value is None else EPOCH + timedelta(microseconds=value)


class now(FunctionElement[datetime]):  # noqa: N801 - reads as SQL, like sqlalchemy's func.now
    """The database's clock, read in the statement, plus an offset that only tests write."""

    inherit_cache = True
    type = Instant()


def later(span: timedelta) -> ColumnElement[int]:
    """Return the database's clock plus a span."""
    return milliseconds() + round(span.total_seconds() * 1000)


def milliseconds() -> ColumnElement[int]:
    """Return the database's clock as a number to calculate with."""
    return type_coerce(now(), BigInteger)


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

# An id of which something may be remembered is given once, also when its row was the last and is deleted.
# SQLite keeps such a table by its key alone: one tree to write instead of two.
BY_KEY: Final[dict[str, Any]] = {"sqlite_with_rowid": False}

NEVER_AGAIN: Final[dict[str, Any]] = {"sqlite_autoincrement": True}


def _where(condition: str) -> dict[str, Any]:
    """Limit an index to some rows, on both databases: to tell SQLAlchemy of both would load both dialects."""
    return {"sqlite_where": text(condition)}


@compiles(CreateIndex, "postgresql")
def _index_on_postgresql(element: CreateIndex, compiler: Any, **options: Any) -> str:
    created: str = compiler.visit_create_index(element, **options)
    told = element.element.dialect_kwargs
    if told.get("sqlite_where") is None or told.get("postgresql_where") is not None:  # migrations tell both
        return created
    return f"{created} WHERE {told['sqlite_where']}"


clock = Table(
    "clock",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("offset_milliseconds", BigInteger, nullable=False),
    CheckConstraint("id = 1", name="single_row"),
)

schema_range = Table(
    "schema_range",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("oldest", String(32), nullable=False),  # that a server must know to go on with this database
    CheckConstraint("id = 1", name="single_row"),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("max_running", Integer),
    Column("max_studies", Integer),
    Column("created_at", Instant, nullable=False),
)


def _counter(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


studies = Table(
    "studies",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id), nullable=False, server_default="1"),
    Column("name", String(100), nullable=False),
    Column("task", String(100), nullable=False),
    Column("space", JSON, nullable=False),
    Column("is_open", Boolean, nullable=False, server_default=text("false")),  # the space
    Column("strategy", String(100), nullable=False),  # its name
    Column("strategy_settings", JSON, nullable=False, server_default="{}"),  # with the version of its rule
    Column("direction", String(10), nullable=False, server_default="minimize"),
    Column("seed", BigInteger, nullable=False),
    Column("max_trials", Integer, nullable=False),
    Column("max_running", Integer),
    Column("max_attempts", Integer, nullable=False),
    Column("max_gpu_hours", Float),
    Column("max_updates", BigInteger),
    Column("max_seconds", Float),
    Column("deadline", Instant),
    Column("target", Float),  # a loss
    Column("stopping", JSON(none_as_null=True)),  # the early stopping rule
    Column("retry", JSON, nullable=False, server_default='["error", "out_of_memory", "stalled", "lost"]'),
    Column("failures_repel", Boolean, nullable=False, server_default=text("true")),
    Column("duplicates", String(10), nullable=False, server_default="forbid"),
    Column("allow_versions", Boolean, nullable=False, server_default=text("false")),
    Column("task_version", String(200)),  # the first one leased, unless others are allowed
    Column("requires", JSON, nullable=False, server_default="{}"),
    Column("state", String(20), nullable=False),
    Column("reason", String(30)),
    Column("priority", Integer, nullable=False, server_default="10"),
    Column("served", Float, nullable=False, server_default="0"),  # rises by 1/priority with each lease
    Column("tags", JSON, nullable=False, server_default="[]"),
    Column("notes", Text, nullable=False, server_default=""),
    Column("attributes", JSON, nullable=False, server_default="{}"),
    Column("trials", Integer, nullable=False),  # the next trial's number
    Column("observations", Integer, nullable=False),  # the last observation's number
    _counter("turns"),  # proposals so far
    _counter("imported"),
    _counter("events"),  # the last event's number
    _counter("events_removed"),  # the last one that is not kept any more
    _counter("curves_removed"),  # trials, from the first on, whose learning curves are not kept any more
    _counter("queued"),
    _counter("running"),
    _counter("succeeded"),
    _counter("diverged"),
    _counter("pruned"),
    _counter("failed"),
    _counter("cancelled"),
    _counter("gpus_running"),
    # Each start subtracts its time, each end adds it, so with `gpus_running` times now it is what was used.
    Column("gpu_milliseconds", BigInteger, nullable=False, server_default="0"),
    Column("updates", BigInteger, nullable=False, server_default="0"),  # of the trials that have ended
    Column("trained_milliseconds", BigInteger, nullable=False, server_default="0"),  # as well
    Column("submitted", JSON, nullable=False, server_default="{}"),  # the budget as it was at first
    Column("created_at", Instant, nullable=False),
    Column("completed_at", Instant),
    Column("archived_at", Instant),
    Column("mirrors", BigInteger),  # a study of Optuna, by its id, which may be gone
    Column("comparison_id", BigInteger),  # the comparison that it is a part of
    Column("arm", String(40)),  # of that, by its label
    Column("replicate", Integer),  # of that; none confirms
    Column("around", Integer),  # which round of confirmation; none searches
    Column("confirms", JSON(none_as_null=True)),  # of each config: replicate, trial, loss
    UniqueConstraint("project_id", "name"),
    Index("studies_by_state", "state"),
    Index("mirrors", "mirrors", unique=True),
    Index("studies_listed", "project_id", "id", **_where("comparison_id IS NULL")),
    Index("studies_compared", "comparison_id", "around", "state", **_where("comparison_id IS NOT NULL")),
    **NEVER_AGAIN,
)


comparisons = Table(
    "comparisons",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id), nullable=False),
    Column("name", String(50), nullable=False),
    Column("submitted", JSON, nullable=False),  # as it was at first
    Column("spec", JSON, nullable=False),  # as it was changed since
    Column("state", String(20), nullable=False),
    Column("around", Integer, nullable=False),  # which round of confirmation comes, or is the last
    Column("priority", Integer, nullable=False),
    Column("tags", JSON, nullable=False),
    Column("notes", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("completed_at", Instant),
    Column("archived_at", Instant),
    UniqueConstraint("project_id", "name"),
    **NEVER_AGAIN,
)

trials = Table(
    "trials",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("study_id", ForeignKey(studies.c.id), nullable=False),
    Column("number", Integer, nullable=False),
    Column("origin", String(20), nullable=False, server_default="proposed"),
    Column("turn", Integer),  # of its proposal
    Column("watermark", Integer),  # of its proposal
    Column("config", JSON, nullable=False),
    Column("start", JSON(none_as_null=True)),  # the config it begins with, where the space is open
    Column("config_key", String(64), nullable=False),  # a digest: equal for configs that may not be repeated
    Column("seed", BigInteger, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("cause", String(30)),
    Column("loss", Float),
    Column("attempts", Integer, nullable=False),  # executions so far
    Column("max_attempts", Integer, nullable=False),  # raised by one when an attempt is given back unused
    Column("lease_id", String(64)),  # of the current attempt
    Column("lease_milliseconds", BigInteger),  # how long a heartbeat renews it for
    Column("free_at", Instant, nullable=False),  # when it may be leased: at once, or when the lease expires
    Column("notes", Text, nullable=False, server_default=""),
    Column("attributes", JSON, nullable=False, server_default="{}"),
    Column("created_at", Instant, nullable=False),
    Column("finished_at", Instant),
    UniqueConstraint("study_id", "number"),
    UniqueConstraint("study_id", "config_key"),
    Index("trials_to_lease", "study_id", "free_at", "id", **_where("state = 'queued'")),
    Index("trials_overdue", "free_at", "id", **_where("state = 'running'")),
    Index("trials_by_turn", "study_id", "turn", unique=True, **_where("turn IS NOT NULL")),
    Index("trials_by_state", "study_id", "state", "number"),
    Index("trials_of_people", "study_id", "origin", "number", **_where("origin <> 'proposed'")),
    Index("trials_by_end", "study_id", "state", "finished_at", "number", **_where("finished_at IS NOT NULL")),
    Index("trials_by_loss", "study_id", "loss", "number", **_where("state = 'succeeded'")),
)

attempts = Table(
    "attempts",
    metadata,
    Column("trial_id", ForeignKey(trials.c.id), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("lease_id", String(64), nullable=False, unique=True),
    Column("request_id", String(100), nullable=False),
    Column("place", Integer, nullable=False, server_default="0"),  # among the leases of its request
    Column("who", String(100), nullable=False, server_default="anonymous"),  # took the lease, as in events
    Column("worker", String(100), nullable=False),
    Column("incarnation", String(100), nullable=False),
    Column("device", String(100), nullable=False),
    Column("gpus", Integer, nullable=False, server_default="0"),
    Column("task_version", String(200)),
    Column("environment", JSON, nullable=False),
    Column("last_step", BigInteger, nullable=False),  # of its reports so far; -1 before the first
    Column("points", Integer, nullable=False, server_default="0"),  # of its reports so far
    Column("kept_every", Integer, nullable=False, server_default="1"),  # of which one in so many is kept
    Column("log_tail", Text),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("outcome", String(20)),
    Column("cause", String(30)),
    Column("loss", Float),
    Column("message", Text),
    Column("traceback", Text),
    Column("late", JSON(none_as_null=True)),  # a result that came when the lease was lost
    UniqueConstraint("who", "worker", "incarnation", "request_id", "place"),
    Index("attempts_under_way", "worker", "trial_id", **_where("ended_at IS NULL")),
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
    **BY_KEY,
)

asked = Table(  # by the trials of open studies
    "asked",
    metadata,
    Column("study_id", ForeignKey(studies.c.id), primary_key=True),
    Column("seq", Integer, primary_key=True),  # of the observation
    Column("config", JSON, nullable=False),
    Column("dimensions", JSON, nullable=False),  # not asked for as they were known
    Column("space", JSON(none_as_null=True)),  # from then on, where it changed
    Index("spaces_asked", "study_id", "seq", **_where("space IS NOT NULL")),
    **BY_KEY,
)

events = Table(
    "events",
    metadata,
    Column("study_id", ForeignKey(studies.c.id), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("who", String(100), nullable=False),  # the name of a token, `anonymous`, or `server`
    Column("kind", String(30), nullable=False),
    Column("trial", Integer),
    Column("attempt", Integer),
    Column("before", String(20)),  # the trial's states around its move
    Column("after", String(20)),
    Column("cause", String(30)),
    Column("data", JSON(none_as_null=True)),
    **BY_KEY,
)

workers = Table(
    "workers",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("who", String(100), nullable=False),  # registered it, as in events
    Column("incarnation", String(100), nullable=False),
    Column("devices", JSON, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("labels", JSON, nullable=False),
    Column("tasks", JSON, nullable=False),
    Column("is_draining", Boolean, nullable=False),
    Column("registered_at", Instant, nullable=False),
    Column("seen_at", Instant, nullable=False),
)

offers = Table(
    "offers",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("document", JSON, nullable=False),  # schema and spaces of a version of a task
    **BY_KEY,
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("digest", String(64), nullable=False, unique=True),  # of the token, which is not kept
    Column("scopes", JSON, nullable=False),
    Column("project_id", ForeignKey(projects.c.id)),  # none: every project
    Column("created_at", Instant, nullable=False),
    Column("created_by", String(100), nullable=False),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("who", String(100), nullable=False),
    Column("action", String(50), nullable=False),
    Column("subject", String(300), nullable=False),
    Column("data", JSON(none_as_null=True)),
)

replies = Table(
    "replies",
    metadata,
    Column("who", String(100), primary_key=True),
    Column("idempotency_key", String(200), primary_key=True),
    Column("request", String(64), nullable=False),  # a digest of method, path and body
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Index("replies_by_age", "created_at"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id), nullable=False),
    Column("study", String(100)),  # none: every study of the project
    Column("url", String(2000), nullable=False),
    Column("secret", String(100), nullable=False),  # signs what is sent, so it must be known here
    Column("kinds", JSON, nullable=False),  # of events; none: all
    Column("is_active", Boolean, nullable=False),
    Column("failures", Integer, nullable=False),  # in a row
    Column("last_error", Text),
    Column("due_at", Instant, nullable=False),  # when to send next, or when a sender may be taken for dead
    Column("created_at", Instant, nullable=False),
    Column("created_by", String(100), nullable=False),
    **NEVER_AGAIN,
)

webhook_cursors = Table(
    "webhook_cursors",
    metadata,
    Column("webhook_id", ForeignKey(webhooks.c.id, ondelete="CASCADE"), primary_key=True),
    Column("study_id", ForeignKey(studies.c.id, ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, nullable=False),  # the last event delivered
    Column("sending", Integer),  # the last of those under way: tried again they are the same ones
)

optuna_studies = Table(
    "optuna_studies",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("project_id", ForeignKey(projects.c.id), nullable=False),
    Column("name", String(500), nullable=False),
    Column("directions", JSON, nullable=False),
    _counter("trials"),  # the next trial's number
    Column("seq", BigInteger, nullable=False, server_default="0"),  # of the last change of a trial
    _counter("size"),  # of its attributes, in characters
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("project_id", "name"),
    **NEVER_AGAIN,
)

optuna_attributes = Table(
    "optuna_attributes",
    metadata,
    Column("study_id", ForeignKey(optuna_studies.c.id), primary_key=True),
    Column("kind", String(10), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("value", Text, nullable=False),
    **BY_KEY,
)

optuna_dimensions = Table(
    "optuna_dimensions",
    metadata,
    Column("study_id", ForeignKey(optuna_studies.c.id), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("distribution", Text, nullable=False),  # the first one: every other must be compatible
    **BY_KEY,
)

optuna_trials = Table(
    "optuna_trials",
    metadata,
    Column("id", Identity, primary_key=True),
    Column("study_id", ForeignKey(optuna_studies.c.id), nullable=False),
    Column("number", Integer, nullable=False),
    Column("seq", BigInteger, nullable=False),  # of its last change, in its study
    Column("state", String(10), nullable=False),
    Column("results", JSON(none_as_null=True)),  # a value for each objective
    Column("started_at", FineInstant),
    Column("completed_at", FineInstant),
    Column("heard_at", Instant),  # the last heartbeat, if it sends any
    _counter("size"),  # of its entries, in characters
    _counter("entries"),  # the place of the next entry
    UniqueConstraint("study_id", "number"),
    Index("optuna_trials_by_change", "study_id", "seq", unique=True),
    Index("optuna_trials_heard", "study_id", "heard_at", **_where("heard_at IS NOT NULL")),
    **NEVER_AGAIN,
)

optuna_entries = Table(
    "optuna_entries",
    metadata,
    Column("trial_id", ForeignKey(optuna_trials.c.id), primary_key=True),
    Column("kind", String(10), primary_key=True),
    Column("name", String(500), primary_key=True),
    Column("place", Integer, nullable=False),  # in the order in which they came
    Column("value", Text, nullable=False),
    **BY_KEY,
)
