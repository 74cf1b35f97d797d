"""Projects, budgets and counters of studies, events, workers, tokens, webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

Identity = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Milliseconds = sa.BigInteger()  # since 1970, UTC
NEVER_AGAIN = {"sqlite_autoincrement": True}  # is an id given, as on PostgreSQL: not the last deleted one's
BY_KEY = {"sqlite_with_rowid": False}  # one tree to write instead of two
COUNTERS = ("turns", "imported", "events", "events_removed", "curves_removed", "gpus_running")
STATES = ("queued", "running", "succeeded", "diverged", "pruned", "failed", "cancelled")


def upgrade() -> None:
    _projects()
    _studies()
    _trials()
    _attempts()
    _observations()
    _events()
    _workers()
    _access()
    _webhooks()


def _projects() -> None:
    projects = op.create_table(
        "projects",
        sa.Column("id", Identity, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("max_running", sa.Integer),
        sa.Column("max_studies", sa.Integer),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.PrimaryKeyConstraint("id", name="projects_pk"),
        sa.UniqueConstraint("name", name="projects_name_unique"),
    )
    op.bulk_insert(projects, [{"name": "default", "created_at": 0}])


def _studies() -> None:
    empty, none = {"nullable": False, "server_default": "{}"}, {"nullable": False, "server_default": "0"}
    with op.batch_alter_table("studies", table_kwargs=NEVER_AGAIN) as studies:
        studies.add_column(sa.Column("project_id", Identity, nullable=False, server_default="1"))
        studies.add_column(sa.Column("direction", sa.String(10), nullable=False, server_default="minimize"))
        studies.add_column(sa.Column("max_running", sa.Integer))
        studies.add_column(sa.Column("max_gpu_hours", sa.Float))
        studies.add_column(sa.Column("deadline", Milliseconds))
        studies.add_column(sa.Column("target", sa.Float))
        studies.add_column(sa.Column("stopping", sa.JSON(none_as_null=True)))
        studies.add_column(
            sa.Column(
                "retry",
                sa.JSON,
                nullable=False,
                server_default='["error", "out_of_memory", "stalled", "lost"]',
            )
        )
        studies.add_column(
            sa.Column("failures_repel", sa.Boolean, nullable=False, server_default=sa.text("true"))
        )
        studies.add_column(sa.Column("duplicates", sa.String(10), nullable=False, server_default="forbid"))
        studies.add_column(
            sa.Column("allow_versions", sa.Boolean, nullable=False, server_default=sa.text("false"))
        )
        studies.add_column(sa.Column("task_version", sa.String(200)))
        studies.add_column(sa.Column("requires", sa.JSON, **empty))
        studies.add_column(sa.Column("priority", sa.Integer, nullable=False, server_default="10"))
        studies.add_column(sa.Column("served", sa.Float, **none))
        studies.add_column(sa.Column("tags", sa.JSON, nullable=False, server_default="[]"))
        studies.add_column(sa.Column("notes", sa.Text, nullable=False, server_default=""))
        studies.add_column(sa.Column("attributes", sa.JSON, **empty))
        studies.add_column(sa.Column("submitted", sa.JSON, **empty))
        studies.add_column(sa.Column("archived_at", Milliseconds))
        studies.add_column(sa.Column("completed_at", Milliseconds))
        for counter in (*COUNTERS, *STATES):
            studies.add_column(sa.Column(counter, sa.Integer, **none))
        studies.add_column(sa.Column("gpu_milliseconds", sa.BigInteger, **none))
        studies.drop_constraint("studies_name_unique", type_="unique")
        studies.create_unique_constraint("studies_project_id_name_unique", ["project_id", "name"])
        studies.create_foreign_key("studies_project_id_fk", "projects", ["project_id"], ["id"])
    op.create_index("studies_by_state", "studies", ["state"])
    counts = ", ".join(
        f"{state} = (SELECT count(*) FROM trials WHERE study_id = studies.id AND state = '{state}')"  # noqa: S608
        for state in STATES
    )
    op.execute(f"UPDATE studies SET turns = trials, {counts}")  # noqa: S608 - no text from outside
    submitted = "'{\"max_trials\": ' || max_trials || '}'"
    if op.get_bind().dialect.name == "postgresql":
        submitted = f"({submitted})::json"
    op.execute(f"UPDATE studies SET submitted = {submitted}")  # noqa: S608 - no text from outside


def _trials() -> None:
    op.add_column("trials", sa.Column("origin", sa.String(20), nullable=False, server_default="proposed"))
    op.add_column("trials", sa.Column("turn", sa.Integer))
    op.add_column("trials", sa.Column("watermark", sa.Integer))
    op.add_column("trials", sa.Column("lease_milliseconds", sa.BigInteger))
    op.add_column("trials", sa.Column("notes", sa.Text, nullable=False, server_default=""))
    op.add_column("trials", sa.Column("attributes", sa.JSON, nullable=False, server_default="{}"))
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    watermark = "json_extract(reasons, '$.watermark')" if on_sqlite else "(reasons->>'watermark')::integer"
    op.execute(f"UPDATE trials SET turn = number, watermark = {watermark}")  # noqa: S608
    op.drop_index("trials_to_lease", "trials")
    _partial_index("trials_to_lease", ["study_id", "free_at", "id"], "state = 'queued'")
    _partial_index("trials_overdue", ["free_at", "id"], "state = 'running'")
    _partial_index("trials_by_turn", ["study_id", "turn"], "turn IS NOT NULL", unique=True)
    op.create_index("trials_by_state", "trials", ["study_id", "state", "number"])
    _partial_index("trials_of_people", ["study_id", "origin", "number"], "origin <> 'proposed'")
    _partial_index("trials_by_end", ["study_id", "state", "finished_at", "number"], "finished_at IS NOT NULL")


def _attempts() -> None:
    with op.batch_alter_table("attempts") as attempts:
        attempts.add_column(sa.Column("place", sa.Integer, nullable=False, server_default="0"))
        attempts.add_column(sa.Column("who", sa.String(100), nullable=False, server_default="anonymous"))
        attempts.add_column(sa.Column("task_version", sa.String(200)))
        attempts.add_column(sa.Column("gpus", sa.Integer, nullable=False, server_default="0"))
        attempts.add_column(sa.Column("cause", sa.String(30)))
        attempts.add_column(sa.Column("log_tail", sa.Text))
        attempts.add_column(sa.Column("points", sa.Integer, nullable=False, server_default="0"))
        attempts.add_column(sa.Column("kept_every", sa.Integer, nullable=False, server_default="1"))
        attempts.add_column(sa.Column("late", sa.JSON(none_as_null=True)))
        attempts.drop_constraint("attempts_worker_incarnation_request_id_unique", type_="unique")
        attempts.create_unique_constraint(
            "attempts_who_worker_incarnation_request_id_place_unique",
            ["who", "worker", "incarnation", "request_id", "place"],
        )
    op.create_index(
        "attempts_under_way",
        "attempts",
        ["worker", "trial_id"],
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )


def _observations() -> None:
    if op.get_bind().dialect.name == "sqlite":
        with op.batch_alter_table("observations", table_kwargs=BY_KEY, recreate="always"):
            pass


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("at", Milliseconds, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("trial", sa.Integer),
        sa.Column("attempt", sa.Integer),
        sa.Column("before", sa.String(20)),
        sa.Column("after", sa.String(20)),
        sa.Column("cause", sa.String(30)),
        sa.Column("data", sa.JSON(none_as_null=True)),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="events_study_id_fk"),
        sa.PrimaryKeyConstraint("study_id", "seq", name="events_pk"),
        **BY_KEY,
    )
    # What has happened before there were events is told as one birth a trial, in its present state.
    op.execute(
        "INSERT INTO events (study_id, seq, at, who, kind)"
        " SELECT id, 1, created_at, 'server', 'study.created' FROM studies"
    )
    op.execute(
        "INSERT INTO events (study_id, seq, at, who, kind, trial, after, cause)"
        " SELECT study_id, number + 2, created_at, 'server', 'trial.created', number, state, cause"
        " FROM trials"
    )
    op.execute("UPDATE studies SET events = trials + 1")


def _workers() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("incarnation", sa.String(100), nullable=False),
        sa.Column("devices", sa.JSON, nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("tasks", sa.JSON, nullable=False),
        sa.Column("is_draining", sa.Boolean, nullable=False),
        sa.Column("registered_at", Milliseconds, nullable=False),
        sa.Column("seen_at", Milliseconds, nullable=False),
        sa.PrimaryKeyConstraint("name", name="workers_pk"),
    )


def _access() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", Identity, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("project_id", Identity),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.Column("created_by", sa.String(100), nullable=False),
        sa.Column("expires_at", Milliseconds),
        sa.Column("revoked_at", Milliseconds),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="tokens_project_id_fk"),
        sa.PrimaryKeyConstraint("id", name="tokens_pk"),
        sa.UniqueConstraint("name", name="tokens_name_unique"),
        sa.UniqueConstraint("digest", name="tokens_digest_unique"),
    )
    op.create_table(
        "audit",
        sa.Column("id", Identity, nullable=False),
        sa.Column("at", Milliseconds, nullable=False),
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("action", sa.String(50), nullable=False),
        sa.Column("subject", sa.String(300), nullable=False),
        sa.Column("data", sa.JSON(none_as_null=True)),
        sa.PrimaryKeyConstraint("id", name="audit_pk"),
    )
    op.create_table(
        "replies",
        sa.Column("who", sa.String(100), nullable=False),
        sa.Column("idempotency_key", sa.String(200), nullable=False),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.PrimaryKeyConstraint("who", "idempotency_key", name="replies_pk"),
    )
    op.create_index("replies_by_age", "replies", ["created_at"])


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", Identity, nullable=False),
        sa.Column("project_id", Identity, nullable=False),
        sa.Column("study", sa.String(100)),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("secret", sa.String(100), nullable=False),
        sa.Column("kinds", sa.JSON, nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("due_at", Milliseconds, nullable=False),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.Column("created_by", sa.String(100), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="webhooks_project_id_fk"),
        sa.PrimaryKeyConstraint("id", name="webhooks_pk"),
        **NEVER_AGAIN,
    )
    op.create_table(
        "webhook_cursors",
        sa.Column("webhook_id", Identity, nullable=False),
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("sending", sa.Integer),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name="webhook_cursors_webhook_id_fk", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="webhook_cursors_study_id_fk", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("webhook_id", "study_id", name="webhook_cursors_pk"),
    )


def _partial_index(name: str, columns: list[str], condition: str, *, unique: bool = False) -> None:
    where = sa.text(condition)
    op.create_index(name, "trials", columns, unique=unique, sqlite_where=where, postgresql_where=where)
