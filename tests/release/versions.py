"""The version before this one, out of the history; and one after it, made up with a schema of its own."""

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

from app.storage.schema import OLDEST, revisions

HOUSE = Path(__file__).parents[2]
ROOMS = ("app", "migrations", "optimizers", "thiessen", "worker")
MADE_UP = "9000"
MIGRATION = f'''
"""What a next version may add: a table, columns, an index."""

import sqlalchemy as sa
from alembic import op

revision = "{MADE_UP}"
down_revision = "{revisions()[-1]}"


def upgrade() -> None:
    op.create_table("made_up", sa.Column("id", sa.Integer, primary_key=True), sa.Column("told", sa.Text))
    op.add_column("studies", sa.Column("made_up", sa.String(20)))
    for table in ("trials", "attempts", "observations", "events", "workers"):
        op.add_column(table, sa.Column("made_up", sa.Integer, nullable=False, server_default="7"))
    op.create_index("attempts_made_up", "attempts", ["made_up"])
'''
TABLES = """

Table("made_up", metadata, Column("id", Integer, primary_key=True), Column("told", Text))
studies.append_column(Column("made_up", String(20)))
for _changed in (trials, attempts, observations, events, workers):
    _changed.append_column(Column("made_up", Integer, nullable=False, server_default="7"))
"""


def before(folder):
    """Write the code that the newest migration found; return its folder."""
    newest = f"migrations/versions/{revisions()[-1]}_*.py"
    brought = git("log", "--diff-filter=A", "--format=%H", "--", newest).decode().split()
    assert brought, f"no commit brought {newest}: this needs the history of the repository"
    with tarfile.open(fileobj=io.BytesIO(git("archive", f"{brought[-1]}^", *ROOMS))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def after(folder):
    """Write the code of a version with one more migration, which only adds; return its folder."""
    folder.mkdir()
    for room in ("app", "migrations"):
        shutil.copytree(HOUSE / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ("optimizers", "thiessen", "worker"):
        (folder / room).symlink_to(HOUSE / room)
    (folder / "migrations" / "versions" / f"{MADE_UP}_made_up.py").write_text(MIGRATION)
    with (folder / "app" / "storage" / "tables.py").open("a") as tables:
        tables.write(TABLES)
    assert OLDEST in (folder / "app" / "storage" / "schema.py").read_text()
    return folder


def git(*command):
    ran = subprocess.run(["git", "-C", HOUSE, *command], check=True, capture_output=True, timeout=60)
    return ran.stdout
