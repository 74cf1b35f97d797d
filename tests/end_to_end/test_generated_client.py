"""Anybody's client will do: one is generated from the OpenAPI document, and completes a study."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from app.main import build
from app.settings import Settings

HERE = Path(__file__).parent
GENERATOR = "openapi-python-client==0.29.1"  # apart: it wants an older typer than ours


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The Python of an environment with the generator."""
    home = tmp_path_factory.mktemp("generator") / "environment"
    venv.create(home, with_pip=True)
    subprocess.run([home / "bin" / "pip", "install", "-q", GENERATOR], check=True)
    return home / "bin" / "python"


@pytest.fixture(scope="module")
def package(python, tmp_path_factory):
    """The folder of a package `made`, generated without a warning."""
    folder = tmp_path_factory.mktemp("package")
    app = build(Settings(database=f"sqlite:///{folder}/empty.db"))
    (folder / "openapi.json").write_text(json.dumps(app.openapi()))
    app.state.house.store.close()
    said = subprocess.run(
        [
            python.with_name("openapi-python-client"), "generate", "--path", "openapi.json",
            "--output-path", "made", "--meta", "none", "--fail-on-warning",
        ],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},  # ruff tidies
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stdout + said.stderr
    return folder


@pytest.mark.row(254)
def test_a_generated_client_completes_a_study(python, package, server):
    program = [python, HERE / "generated_client.py", package, "made", server.url]
    said = subprocess.run(program, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr
    assert [float(line) for line in said.stdout.split()] == server.history("made").columns.value
