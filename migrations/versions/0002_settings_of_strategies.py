"""A study keeps the version and the settings of its strategy."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# What each strategy did before it had settings.
SETTINGS = {
    "biased_random": {
        "acceptance": {"name": "linear"},
        "neighbours": 1,
        "initial": 1,
        "explore": 0.0,
        "local": 0.0,
        "pending": "ignore",
    },
    "grid": {"levels": None, "order": "row_major"},
    "quasi_random": {},
    "random": {},
}


def upgrade() -> None:
    op.add_column("studies", sa.Column("strategy_settings", sa.JSON, nullable=False, server_default="{}"))
    studies = sa.table("studies", sa.column("strategy"), sa.column("strategy_settings", sa.JSON))
    for name, settings in SETTINGS.items():
        kept = {"version": 1, **settings}
        op.execute(studies.update().where(studies.c.strategy == name).values(strategy_settings=kept))
