"""What a storage of Optuna keeps: studies, attributes, trials and their entries."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

Identity = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Milliseconds = sa.BigInteger()  # since 1970, UTC
Microseconds = sa.BigInteger()
NEVER_AGAIN = {"sqlite_autoincrement": True}
BY_KEY = {"sqlite_with_rowid": False}
NONE = {"nullable": False, "server_default": "0"}


def upgrade() -> None:
    _studies()
    _trials()


def _studies() -> None:
    op.create_table(
        "optuna_studies",
        sa.Column("id", Identity, nullable=False),
        sa.Column("project_id", Identity, nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("directions", sa.JSON, nullable=False),
        sa.Column("trials", sa.Integer, **NONE),
        sa.Column("seq", sa.BigInteger, **NONE),
        sa.Column("size", sa.Integer, **NONE),
        sa.Column("created_at", Milliseconds, nullable=False),
        sa.PrimaryKeyConstraint("id", name="optuna_studies_pk"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="optuna_studies_project_id_fk"),
        sa.UniqueConstraint("project_id", "name", name="optuna_studies_project_id_name_unique"),
        **NEVER_AGAIN,
    )
    op.create_table(
        "optuna_attributes",
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_id", "kind", "name", name="optuna_attributes_pk"),
        sa.ForeignKeyConstraint(["study_id"], ["optuna_studies.id"], name="optuna_attributes_study_id_fk"),
        **BY_KEY,
    )
    op.create_table(
        "optuna_dimensions",
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("distribution", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("study_id", "name", name="optuna_dimensions_pk"),
        sa.ForeignKeyConstraint(["study_id"], ["optuna_studies.id"], name="optuna_dimensions_study_id_fk"),
        **BY_KEY,
    )


def _trials() -> None:
    op.create_table(
        "optuna_trials",
        sa.Column("id", Identity, nullable=False),
        sa.Column("study_id", Identity, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("results", sa.JSON(none_as_null=True)),
        sa.Column("started_at", Microseconds),
        sa.Column("completed_at", Microseconds),
        sa.Column("heard_at", Milliseconds),
        sa.Column("size", sa.Integer, **NONE),
        sa.Column("entries", sa.Integer, **NONE),
        sa.PrimaryKeyConstraint("id", name="optuna_trials_pk"),
        sa.ForeignKeyConstraint(["study_id"], ["optuna_studies.id"], name="optuna_trials_study_id_fk"),
        sa.UniqueConstraint("study_id", "number", name="optuna_trials_study_id_number_unique"),
        **NEVER_AGAIN,
    )
    op.create_index("optuna_trials_by_change", "optuna_trials", ["study_id", "seq"], unique=True)
    heard = sa.text("heard_at IS NOT NULL")
    op.create_index(
        "optuna_trials_heard",
        "optuna_trials",
        ["study_id", "heard_at"],
        sqlite_where=heard,
        postgresql_where=heard,
    )
    op.create_table(
        "optuna_entries",
        sa.Column("trial_id", Identity, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("trial_id", "kind", "name", name="optuna_entries_pk"),
        sa.ForeignKeyConstraint(["trial_id"], ["optuna_trials.id"], name="optuna_entries_trial_id_fk"),
        **BY_KEY,
    )
