"""What is handed out: the wheel and the source distribution, and what every extra of the wheel promises.

Each extra goes into an empty environment of its own with what pip is told of by its settings.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.conftest import address_of

pytestmark = pytest.mark.timeout(390)  # an empty environment gets torch or ray, or both

HOUSE = Path(__file__).parents[2]
PROMISES = Path(__file__).parent / "promises"
PROJECT = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]
EXTRAS = ("none", *(extra for extra in PROJECT["optional-dependencies"] if extra not in {"dev", "soak"}))
BESIDE = {
    "ray": "worker",
    "mlflow": "worker",
    "tensorboard": "worker",
    "parquet": "server",
}  # as the docs say
OUTSIDE = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "THIESSEN_"))}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, HOUSE], check=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    [wheel] = built.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def source(built):
    [source] = built.glob("*.tar.gz")
    return source


@pytest.fixture(scope="module", params=EXTRAS)
def installed(request, wheel, tmp_path_factory):
    """An extra, and an environment that holds the wheel with it and nothing else."""
    home = tmp_path_factory.mktemp(request.param) / "environment"
    venv.create(home, with_pip=True)
    wanted = "" if request.param == "none" else f"[{request.param}]"
    _install(home, f"{wheel}{wanted}")
    yield request.param, home
    shutil.rmtree(home)


def _install(home, *what):
    pip = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run(
        [*pip, *what], check=True, env=OUTSIDE | {"PIP_CONSTRAINT": str(HOUSE / "constraints.txt")}
    )


def test_the_wheel_of_the_source_distribution_is_that_of_the_clone(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, HOUSE], check=True)

    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_source_distribution_holds_what_builds_the_wheel_and_no_more(source):
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}

    assert {name.partition("/")[0] for name in inside} == {
        "thiessen", "app", "worker", "optimizers", "migrations", "pyproject.toml", "constraints.txt",
        ".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "PKG-INFO",
    }  # fmt: skip
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".db", ".jsonl"))]


def test_the_wheel_tells_of_its_licence_its_readme_and_its_types(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [told] = [archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA")]
        [licence] = [archive.read(name) for name in names if name.endswith(".dist-info/licenses/LICENSE")]

    assert licence == (HOUSE / "LICENSE").read_bytes()
    assert "\nLicense-Expression: Apache-2.0\n" in told
    assert (HOUSE / "README.md").read_text() in told
    assert {f"{room}/py.typed" for room in ("thiessen", "app", "worker", "optimizers")} <= set(names)


def test_every_file_of_the_four_rooms_is_in_the_wheel_and_nothing_that_git_does_not_know(wheel):
    known = subprocess.run(
        ["git", "ls-files", "thiessen", "app", "worker", "optimizers", "migrations"],
        cwd=HOUSE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert shipped == {f"app/{name}" if name.startswith("migrations/") else name for name in known}


def test_an_extra_keeps_its_promise_in_an_environment_of_its_own(wheel, installed, programs, tmp_path):
    extra, home = installed
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "check"], check=True)
    if extra in BESIDE:
        _install(home, f"{wheel}[{extra},{BESIDE[extra]}]")
    server = programs("serve", "--database", f"sqlite:///{tmp_path}/elsewhere.db", "--port", "0")

    ran = subprocess.run(
        [python, "-I", PROMISES / f"{extra}.py", address_of(server)],
        cwd=tmp_path,
        env=OUTSIDE | {"XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
