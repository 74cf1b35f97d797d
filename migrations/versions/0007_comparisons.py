"""Comparisons: what they are, and which studies are a part of one. Budgets of what trials spend."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

Identity = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Milliseconds = sa.BigInteger()


def upgrade() -> None:
    op.create_table(
        "comparisons",
        sa.Column("id", Identity, nullable=False),
        sa.Column("project_id", Identity, nullable=False),
        sa.Column("name", sa.String(50), nullable=False),
        sa.Column("submitted", sa.JSON, nullable=False),
        sa.Column("spec", sa.JSON, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("around", sa.Integer, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.Column("completed_at", Milliseconds),
        sa.Column("archived_at", Milliseconds),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="comparisons_project_id_fk"),
        sa.PrimaryKeyConstraint("id", name="comparisons_pk"),
        sa.UniqueConstraint("project_id", "name", name="comparisons_project_id_name_unique"),
        sqlite_autoincrement=True,
    )
    _of_studies()
    _spent()


def _of_studies() -> None:
    for column in (
        sa.Column("max_updates", sa.BigInteger),
        sa.Column("max_seconds", sa.Float),
        sa.Column("updates", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("trained_milliseconds", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("comparison_id", sa.BigInteger),
        sa.Column("arm", sa.String(40)),
        sa.Column("replicate", sa.Integer),
        sa.Column("around", sa.Integer),
        sa.Column("confirms", sa.JSON(none_as_null=True)),
    ):
        op.add_column("studies", column)
    _partial_index("studies_listed", ["project_id", "id"], "comparison_id IS NULL")
    _partial_index("studies_compared", ["comparison_id", "around", "state"], "comparison_id IS NOT NULL")


def _spent() -> None:
    """Count what the trials that have ended had spent, each in its last attempt."""
    ended = (
        "FROM trials t JOIN attempts a ON a.trial_id = t.id AND a.number = t.attempts"
        " WHERE t.study_id = studies.id AND t.state NOT IN ('queued', 'running')"
    )
    steps = "CASE WHEN a.last_step < 0 THEN 0 WHEN a.last_step > 1000000000000 THEN 1000000000000"
    op.execute(
        f"UPDATE studies SET updates = (SELECT coalesce(sum({steps} ELSE a.last_step END), 0) {ended}),"  # noqa: S608 - no text from outside
        f" trained_milliseconds = (SELECT coalesce(sum(a.ended_at - a.started_at), 0) {ended})"
    )


def _partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, "studies", columns, sqlite_where=where, postgresql_where=where)
