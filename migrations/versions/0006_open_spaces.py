"""Open spaces: what trials asked for, and what they began with. Mirrors of what Optuna keeps."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column(
        "studies", sa.Column("is_open", sa.Boolean, nullable=False, server_default=sa.text("false"))
    )
    op.add_column("trials", sa.Column("start", sa.JSON(none_as_null=True)))
    op.create_table(
        "asked",
        sa.Column("study_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("config", sa.JSON, nullable=False),
        sa.Column("dimensions", sa.JSON, nullable=False),
        sa.Column("space", sa.JSON(none_as_null=True)),
        sa.PrimaryKeyConstraint("study_id", "seq", name="asked_pk"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="asked_study_id_fk"),
        sqlite_with_rowid=False,
    )
    op.add_column("studies", sa.Column("mirrors", sa.BigInteger))
    op.create_index("mirrors", "studies", ["mirrors"], unique=True)
    changed = sa.text("space IS NOT NULL")
    op.create_index(
        "spaces_asked", "asked", ["study_id", "seq"], sqlite_where=changed, postgresql_where=changed
    )
