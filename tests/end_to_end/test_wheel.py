import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from thiessen.client import Client

HOUSE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", folder, HOUSE], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    home = tmp_path_factory.mktemp("empty") / "environment"
    venv.create(home, with_pip=True)
    subprocess.run(
        [home / "bin" / "pip", "install", "-q", "-c", HOUSE / "constraints.txt", f"{wheel}[server]"],
        check=True,
    )
    return home / "bin" / "thiessen"


@pytest.fixture
def foreign(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise RuntimeError('the foreign app was imported')")
    return tmp_path


@pytest.mark.row(281)
def test_the_wheel_holds_the_four_rooms_with_the_migrations_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {
        "thiessen", "app", "worker", "optimizers",
    }  # fmt: skip
    assert any(name.startswith("app/migrations/versions/0001") for name in names)
    assert {
        "thiessen/py.typed", "app/dashboard/templates/home.html", "app/dashboard/static/style.css",
    } <= set(names)  # fmt: skip


def test_an_installed_server_serves_an_empty_database_where_a_foreign_app_lies(installed, foreign):
    process = subprocess.Popen(
        [installed, "serve", "--port", "0"],
        cwd=foreign,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said = process.stdout.readline()
        assert "Serving at" in said, said + process.stdout.read()
        with Client(said.split()[2]) as client:
            assert client.is_ready()
        assert (foreign / "thiessen.db").exists()
    finally:
        process.terminate()
        process.wait(120)
        process.stdout.close()


@pytest.mark.row(281)
@pytest.mark.parametrize("command", [("serve", "--port", "1"), ("db", "upgrade"), ("serve", "--help")])
def test_a_foreign_app_on_the_path_is_named_and_never_imported(installed, foreign, command):
    ran = subprocess.run(
        [installed, *command],
        cwd=foreign,
        env=os.environ | {"PYTHONPATH": str(foreign)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert f"the package 'app' found at {foreign / 'app'} is not Thiessen's" in ran.stderr


@pytest.mark.row(281)
def test_a_missing_extra_is_named(installed):
    ran = subprocess.run([installed, "worker"], capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert "pip install 'thiessen[worker]'" in ran.stderr
