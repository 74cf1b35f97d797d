"""What a version of a task accepts is kept once, however many workers offer it."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "offers",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="offers_pk"),
        sqlite_with_rowid=False,
    )
