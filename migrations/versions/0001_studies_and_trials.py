"""Studies, trials, attempts, reports and observations."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

Identity = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Milliseconds = sa.BigInteger()  # since 1970, UTC


def upgrade() -> None:
    clock = op.create_table(
        "clock",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("offset_milliseconds", sa.BigInteger, nullable=False),
        sa.CheckConstraint("id = 1", name="clock_single_row_check"),
        sa.PrimaryKeyConstraint("id", name="clock_pk"),
    )
    op.bulk_insert(clock, [{"id": 1, "offset_milliseconds": 0}])
    op.create_table(
        "studies",
        sa.Column("id", Identity, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("task", sa.String(100), nullable=False),
        sa.Column("space", sa.JSON, nullable=False),
        sa.Column("strategy", sa.String(100), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("max_trials", sa.Integer, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("reason", sa.String(30)),
        sa.Column("trials", sa.Integer, nullable=False),
        sa.Column("observations", sa.Integer, nullable=False),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.PrimaryKeyConstraint("id", name="studies_pk"),
        sa.UniqueConstraint("name", name="studies_name_unique"),
    )
    op.create_table(
        "trials",
        sa.Column("id", Identity, nullable=False),
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("config_key", sa.String(64), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("cause", sa.String(30)),
        sa.Column("loss", sa.Float),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("max_attempts", sa.Integer, nullable=False),
        sa.Column("lease_id", sa.String(64)),
        sa.Column("free_at", Milliseconds, nullable=False),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.Column("finished_at", Milliseconds),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="trials_study_id_fk"),
        sa.PrimaryKeyConstraint("id", name="trials_pk"),
        sa.UniqueConstraint("study_id", "number", name="trials_study_id_number_unique"),
        sa.UniqueConstraint("study_id", "config_key", name="trials_study_id_config_key_unique"),
    )
    _partial_index("trials_to_lease", ["free_at", "id"], "state IN ('queued', 'running')")
    _partial_index("trials_by_loss", ["study_id", "loss", "number"], "state = 'succeeded'")
    op.create_table(
        "attempts",
        sa.Column("trial_id", Identity, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("lease_id", sa.String(64), nullable=False),
        sa.Column("request_id", sa.String(100), nullable=False),
        sa.Column("worker", sa.String(100), nullable=False),
        sa.Column("incarnation", sa.String(100), nullable=False),
        sa.Column("device", sa.String(100), nullable=False),
        sa.Column("environment", sa.JSON, nullable=False),
        sa.Column("last_step", sa.BigInteger, nullable=False),
        sa.Column("started_at", Milliseconds, nullable=False),
        sa.Column("ended_at", Milliseconds),
        sa.Column("outcome", sa.String(20)),
        sa.Column("loss", sa.Float),
        sa.Column("message", sa.Text),
        sa.Column("traceback", sa.Text),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name="attempts_trial_id_fk"),
        sa.PrimaryKeyConstraint("trial_id", "number", name="attempts_pk"),
        sa.UniqueConstraint("lease_id", name="attempts_lease_id_unique"),
        sa.UniqueConstraint(
            "worker", "incarnation", "request_id", name="attempts_worker_incarnation_request_id_unique"
        ),
    )
    op.create_table(
        "reports",
        sa.Column("trial_id", Identity, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("first_step", sa.BigInteger, nullable=False),
        sa.Column("points", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["trial_id"], ["trials.id"], name="reports_trial_id_fk"),
        sa.PrimaryKeyConstraint("trial_id", "attempt", "first_step", name="reports_pk"),
    )
    op.create_table(
        "observations",
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("trial", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("outcome", sa.String(20), nullable=False),
        sa.Column("loss", sa.Float),
        sa.Column("cause", sa.String(30)),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="observations_study_id_fk"),
        sa.PrimaryKeyConstraint("study_id", "seq", name="observations_pk"),
    )


def _partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "trials", columns, sqlite_where=where, postgresql_where=where)
