"""Which servers may go on with this database: those that know this schema, or a later one.

A later migration that only adds leaves `oldest` as it is, so that servers of the version before work on
while they are replaced one by one. One that changes what they rely on sets it to its own revision.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    table = op.create_table(
        "schema_range",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("oldest", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="schema_range_pk"),
        sa.CheckConstraint("id = 1", name="schema_range_single_row_check"),
    )
    op.bulk_insert(table, [{"id": 1, "oldest": revision}])
