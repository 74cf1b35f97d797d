"""Checks that every strategy proposes the same under the oldest and the newest numpy.

    python chores/numpy_versions.py

Makes an environment with nothing but numpy and scipy for each, and throws it away. Both compute the proposals
of tests/search/proposals.py, with the features of this processor that numpy knows and without them.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOUSE = Path(__file__).parents[1]
PROPOSALS = HOUSE / "tests" / "search" / "proposals.py"
VERSIONS = (  # the oldest of pyproject.toml, with their fixes, and the newest
    ("numpy==1.26.*", "scipy==1.11.*"),
    ("numpy", "scipy"),
)


def main() -> int:
    """Print what each numpy makes of the same history; return 1 when they differ."""
    history = computed(sys.executable, "history")
    found = set()
    for wanted in VERSIONS:
        with tempfile.TemporaryDirectory(prefix="thiessen-numpy-") as folder:
            python = environment(Path(folder), wanted)
            told = json.loads(computed(python, given=history))
            off = " ".join(told["features"])
            bare = json.loads(computed(python, given=history, NPY_DISABLE_CPU_FEATURES=off))
        if bare["features"]:
            sys.exit(f"Error: numpy {bare['numpy']} uses {bare['features']} although it was told not to.")
        for answer in (told, bare):
            found.add(json.dumps(answer["digests"]))
            print(line(answer))
    print("The proposals are the same." if len(found) == 1 else "The proposals differ.")
    return 0 if len(found) == 1 else 1


def environment(folder: Path, wanted: Sequence[str]) -> str:
    """Return the Python of a new environment with these packages in it, or give up."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    ran = subprocess.run(
        [*install, "--only-binary=:all:", *wanted], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        version = sys.version.split()[0]
        sys.exit(
            f"Error: pip could not install {wanted} for Python {version}: {ran.stderr.strip()[-300:]}\n"
            "numpy 1.26 has wheels for Python 3.11 and 3.12 only: run this chore with one of them."
        )
    return python


def computed(python: str, *arguments: str, given: str = "", **variables: str) -> str:
    """Return what the program prints, in an environment where only this repository is on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NPY_", "PYTHON"))}
    return subprocess.run(
        [python, PROPOSALS, *arguments],
        input=given,
        env=kept | {"PYTHONPATH": str(HOUSE)} | variables,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def line(answer: dict[str, Any]) -> str:
    """Return one row of the table."""
    digests = "  ".join(f"{name} {digest[:16]}" for name, digest in answer["digests"].items())
    return f"numpy {answer['numpy']:8}{digests}  with {' '.join(answer['features']) or 'no features'}"


if __name__ == "__main__":
    sys.exit(main())
