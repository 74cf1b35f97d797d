"""Looks for what the tests do not see, in slices: whoever runs it goes on where the last one stopped.

    python chores/soak.py mutants thiessen/search/draws.py   breaks a module in many ways, ten minutes at most
    python chores/soak.py orders --runs 2                    runs every test in two further random orders
    python chores/soak.py                                    prints what is known so far

What was found is kept in tests/soak/record.json; why a survivor is none, in tests/soak/explained.toml.
"""

import argparse
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

HOUSE: Final = Path(__file__).parents[1]
PYTHON: Final = HOUSE / ".venv" / "bin" / "python"
CLONE: Final = HOUSE / ".soak"
RECORD: Final = HOUSE / "tests" / "soak" / "record.json"
EXPLAINED: Final = HOUSE / "tests" / "soak" / "explained.toml"
TESTS_OF: Final = {
    "thiessen/search": ("tests/search",),
    "app/lifecycle": ("tests/lifecycle",),
    "optimizers/damping": tuple(
        f"tests/optimizers/test_{name}.py"
        for name in (
            "damping",
            "factored",
            "hessian_free",
            "kfac_adaptive",
            "nonlinear_conjugate_gradients",
            "scale_of_the_loss",
            "trust_region",
        )
    ),
}
ORDERS: Final = 20
MOST_TEXT: Final = 100_000  # of what a run of tests that failed has printed
KILLED: Final = {"killed", "timeout", "segfault", "suspicious"}
ALIVE: Final = {"survived", "no tests"}
COPIED: Final = (
    "thiessen", "app", "worker", "optimizers", "migrations", "benchmarks", "chores", "experiments", "docs",
    "CHANGELOG.md", "README.md", "LICENSE", "constraints.txt",
)  # fmt: skip


def main() -> int:
    """Run a slice, or print the figures. Return 1 if something is open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    slices = parser.add_subparsers(dest="slice")
    mutants = slices.add_parser("mutants", help="break modules, and see which breaks no test notices")
    mutants.add_argument("modules", nargs="+", help="files below " + ", ".join(TESTS_OF))
    mutants.add_argument("--minutes", type=float, default=10, help="at most so long for a module (10)")
    orders = slices.add_parser("orders", help="run every test in a random order")
    orders.add_argument("--runs", type=int, default=1, help="how many orders (1)")
    asked = parser.parse_args()
    record = json.loads(RECORD.read_text())
    if asked.slice == "mutants":
        for module in asked.modules:
            found = record["mutants"].get(module)
            if found and not found["left"]:  # all was tried: a run now is one after other tests
                (CLONE / "mutants" / f"{module}.meta").unlink(missing_ok=True)
            record["mutants"][module] = _break(module, asked.minutes * 60)
            _keep(record)
    elif asked.slice == "orders":
        for _ in range(asked.runs):
            record["orders"].append(_shuffle(seed=1 + len(record["orders"])))
            _keep(record)
    return _print(record)


def _keep(record: dict[str, Any]) -> None:
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


# Mutants


def _break(module: str, seconds: float) -> dict[str, Any]:
    """Return what became of each mutant of a module, as far as the time was enough."""
    room = str(Path(module).parent)
    commit = _clone(room)
    name = module.removesuffix(".py").replace("/", ".")
    began = time.monotonic()
    _interruptibly([PYTHON, "-m", "mutmut", "run", f"{name}.*"], seconds)
    listed = _mutmut("results", "--all", "true")
    became = dict(re.findall(rf"^ +({re.escape(name)}\.\S+): (.+)$", listed, re.MULTILINE))
    counts = Counter(
        "killed" if now in KILLED else "survived" if now in ALIVE else "left" for now in became.values()
    )
    return {
        "commit": commit,
        "date": _today(),
        "digest": _digest(module),
        "seconds": round(time.monotonic() - began),
        **{kind: counts[kind] for kind in ("killed", "survived", "left")},
        "survivors": [_difference(mutant) for mutant, now in became.items() if now in ALIVE],
    }


def _clone(room: str) -> str:
    """Have what is committed in a place where it may be broken; return its commit."""
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", HOUSE, CLONE], check=True)
    before = _commit(CLONE)
    for command in (["fetch", "--quiet", "origin", "HEAD"], ["reset", "--quiet", "--hard", "FETCH_HEAD"]):
        subprocess.run(["git", "-C", CLONE, *command], check=True)
    if _commit(CLONE) != before:  # other tests may enter other functions
        (CLONE / "mutants" / "mutmut-stats.json").unlink(missing_ok=True)
    settings = {
        "source_paths": room.partition("/")[0],
        "only_mutate": f"{room}/*.py",
        "pytest_add_cli_args_test_selection": "\n".join(TESTS_OF[room]),
        "pytest_add_cli_args": "-p\nno:cacheprovider",
        "also_copy": "\n".join(COPIED),
    }
    lines = (f"{name} = {value}".replace("\n", "\n    ") for name, value in settings.items())
    (CLONE / "setup.cfg").write_text("\n".join(["[mutmut]", *lines]) + "\n")
    return _commit(CLONE)


def _commit(clone: Path) -> str:
    return subprocess.check_output(["git", "-C", clone, "rev-parse", "--short", "HEAD"], text=True).strip()


def _interruptibly(command: list[Any], seconds: float) -> None:
    """Run it for so long at most; what it had found by then it has kept."""
    with (
        (CLONE / "mutmut.log").open("w") as log,
        subprocess.Popen(
            command, cwd=CLONE, env=_alone(), stdout=log, stderr=log, start_new_session=True
        ) as run,
    ):
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGINT)


def _difference(mutant: str) -> str:
    """Return the lines that differ, under the name of their function: what a survivor is known by."""
    lines = _mutmut("show", mutant).splitlines()
    changed = [line for line in lines if re.match(r"[-+](?![-+]{2} )", line)]
    return "\n".join([re.sub(r"(?<=\.)x[ǁ_]|__mutmut_\d+$", "", mutant).replace("ǁ", "."), *changed])


def _mutmut(*command: str) -> str:
    return subprocess.check_output([PYTHON, "-m", "mutmut", *command], cwd=CLONE, env=_alone(), text=True)


def _alone() -> dict[str, str]:
    return os.environ | {"OMP_NUM_THREADS": "1"}


# Orders


def _shuffle(seed: int) -> dict[str, Any]:
    """Return what became of every test in the order of this seed."""
    command = [
        *("-m", "pytest", "-q", "-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"),
        *("--max-worker-restart", "1", "-p", "tests.shuffled", f"--shuffled={seed}"),
    ]
    began = time.monotonic()
    run = subprocess.run(
        [PYTHON, *command],
        cwd=HOUSE, env=_alone(), check=False, text=True, capture_output=True,
    )  # fmt: skip
    if run.returncode:
        print(run.stdout[-MOST_TEXT:])
    passed = re.search(r"(\d+) passed", run.stdout)
    return {
        "seed": seed,
        "commit": _commit(HOUSE),
        "date": _today(),
        "seconds": round(time.monotonic() - began),
        "passed": int(passed[1]) if passed else 0,
        "failed": re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", run.stdout, re.MULTILINE),
        "exit_code": run.returncode,
    }


# What is known


def _print(record: dict[str, Any]) -> int:
    """Print the figures. Return 1 if a survivor is not explained, or something was not run."""
    explained = {each["survivor"].strip() for each in tomllib.loads(EXPLAINED.read_text())["explained"]}
    modules = [f"{room}/{file.name}" for room in TESTS_OF for file in sorted((HOUSE / room).glob("[!_]*.py"))]
    print(f"{'module':<45}{'killed':>7}{'explained':>10}{'open':>6}{'left':>6}  commit")
    survivors, left = 0, 0
    for module in modules:
        found = record["mutants"].get(module)
        if not found or found["digest"] != _digest(module):
            left += 1
            print(f"{module:<45}{'changed since it was run' if found else 'never run':>29}")
            continue
        unexplained = sum(each not in explained for each in found["survivors"])
        survivors, left = survivors + unexplained, left + (found["left"] > 0)
        figures = (found["killed"], len(found["survivors"]) - unexplained, unexplained, found["left"])
        print(f"{module:<45}{'{:>7}{:>10}{:>6}{:>6}'.format(*figures)}  {found['commit']}")
    clean = sum(run["exit_code"] == 0 for run in record["orders"])
    print(f"{clean} of {len(record['orders'])} random orders without a failure, of {ORDERS} that are wanted.")
    print(f"{survivors} survivors are open; {left} of {len(modules)} modules are not done.")
    return 1 if survivors or left or clean < max(ORDERS, len(record["orders"])) else 0


def _digest(module: str) -> str:
    return hashlib.sha256((HOUSE / module).read_bytes()).hexdigest()[:12]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


if __name__ == "__main__":
    sys.exit(main())
