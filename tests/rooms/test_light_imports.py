import subprocess
import sys

import pytest

HEAVY = (
    "fastapi",
    "httpx",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "torch",
    "uvicorn",
)


def loaded_by(statement):
    script = f"import sys; sys.argv = ['thiessen', '--help']\n{statement}\nprint('loaded:', *sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split("loaded:")[1].split())


@pytest.mark.row(282)
def test_importing_thiessen_brings_nothing_heavy():
    assert not loaded_by("import thiessen") & set(HEAVY)


def test_a_space_brings_nothing_heavy():
    assert not loaded_by("import thiessen.space") & set(HEAVY)


def test_the_help_of_the_command_line_brings_nothing_heavy():
    help_page = "from thiessen.cli import main\ntry: main()\nexcept SystemExit: pass"
    assert not loaded_by(help_page) & set(HEAVY)


@pytest.mark.parametrize("package", ["torch", "sklearn", "scipy", "pandas"])
def test_the_server_brings_no_training(package):
    assert package not in loaded_by("import app.main")


def test_a_server_starts_on_an_empty_and_on_a_current_database_without_what_it_needs_later(tmp_path):
    start = f"""
from app.main import build
from app.settings import Settings
build(Settings(database='sqlite:///{tmp_path}/x.db')).state.house.store.close()
"""
    for loaded in (loaded_by(start), loaded_by(start)):
        assert not loaded & {"alembic", "jinja2", "plotly", "scipy", "sklearn"}


def test_the_optimizers_bring_nothing_of_the_service():
    loaded = loaded_by("import optimizers")

    assert not loaded & {"thiessen", "app", "worker", "sqlalchemy", "fastapi"}


def test_a_worker_knows_its_tasks_without_what_few_of_them_need():
    known = "from worker.tasks import installed\ninstalled()"

    assert not loaded_by(known) & {"sklearn", "scipy", "pandas"}
