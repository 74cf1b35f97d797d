import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
ROOMS = ("thiessen", "app", "worker", "optimizers", "experiments")

PURE = "The search is pure"
DRAWN = "Figures are pure"
JUDGED = "What is said of a comparison is computed"
LIGHT = "What users import stays light"
SERVER = "The server neither trains nor calls itself"
WORKER = "The worker speaks HTTP only"
ALONE = "The optimizers stand alone"
EXPERIMENTS = "Experiments are made of the rest"
SQL = "Only storage speaks SQL"
LAYERS = "The rooms of the server stand on each other"


@pytest.fixture
def house(tmp_path):
    for room in ROOMS:
        shutil.copytree(HOUSE / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", tmp_path)
    return tmp_path


def lint(house):
    linter = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [linter, "--no-cache"],
        cwd=house,
        env={"PYTHONPATH": str(house), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def broken(output):
    return {line.partition(" BROKEN")[0] for line in output.splitlines() if " BROKEN" in line}


@pytest.mark.row(282)
def test_the_rules_hold(house):
    ran = lint(house)

    assert ran.returncode == 0, ran.stdout
    assert "10 kept, 0 broken" in ran.stdout


@pytest.mark.row(282)
@pytest.mark.parametrize(
    ("file", "statement", "rule"),
    [
        ("thiessen/space.py", "import time", PURE),
        ("thiessen/search/landscape.py", "import sqlite3", PURE),
        ("thiessen/numbers.py", "from pathlib import Path", PURE),
        ("thiessen/search/biased.py", "from thiessen.contract.leases import Lease", PURE),
        ("thiessen/search/random.py", "import thiessen.integrations", PURE),
        ("thiessen/figures/history.py", "import plotly.graph_objects", DRAWN),
        ("thiessen/figures/sources.py", "from pathlib import Path", DRAWN),
        ("thiessen/comparison/bands.py", "import random", JUDGED),
        ("thiessen/comparison/report.py", "from thiessen.client import Client", JUDGED),
        ("thiessen/comparison/written.py", "from pathlib import Path", JUDGED),
        ("thiessen/contract/words.py", "import app.domain.trial", LIGHT),
        ("thiessen/cli/tables.py", "import torch", LIGHT),
        ("thiessen/opening.py", "import ray", LIGHT),
        ("thiessen/client.py", "from worker.devices import threads", LIGHT),
        ("thiessen/cli/demo.py", "from optimizers import KFAC", LIGHT),
        ("app/domain/study.py", "from worker.devices import threads", SERVER),
        ("app/lifecycle/rank.py", "from thiessen.client import Client", SERVER),
        ("app/wire.py", "import torch", SERVER),
        ("app/dashboard/summaries/home.py", "import optimizers", SERVER),
        ("worker/tasks/task.py", "from app.domain.trial import Trial", WORKER),
        ("worker/daemon.py", "import sqlalchemy", WORKER),
        ("optimizers/curvature/factor.py", "from thiessen.space import Space", ALONE),
        ("optimizers/solvers/cholesky.py", "import numpy", ALONE),
        ("worker/tasks/network.py", "from experiments.spread import spread", EXPERIMENTS),
        ("app/lifecycle/lease.py", "from sqlalchemy import text", SQL),
        ("app/main.py", "import alembic", SQL),
        ("app/domain/errors.py", "import sqlalchemy.orm", SQL),
        ("app/storage/trials.py", "from app.lifecycle import rank", LAYERS),
        ("app/domain/trial.py", "from app.storage import Store", LAYERS),
        ("app/lifecycle/submit.py", "from app import wire", LAYERS),
        ("app/api/leases.py", "from app.dashboard import summaries", LAYERS),
        ("app/dashboard/pages/home.py", "from app.api import problems", LAYERS),
        ("app/api/studies.py", "from app.settings import Settings", LAYERS),
        ("app/helpers.py", "", LAYERS),
    ],
)
def test_each_rule_turns_red_when_it_is_broken(house, file, statement, rule):
    with (house / file).open("a") as source:
        source.write(f"\n\ndef _late():\n    {statement or 'return'}\n")

    ran = lint(house)

    assert ran.returncode != 0
    if file == "app/helpers.py":  # a room that no rule names is refused before any rule is checked
        assert "app.helpers" in ran.stdout + ran.stderr
    else:
        assert any(name.startswith(rule) for name in broken(ran.stdout)), ran.stdout
