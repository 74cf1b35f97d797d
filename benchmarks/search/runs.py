"""Which searches to run, what has been run already, and whether it may be reported."""

import contextlib
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers.environment import environment
from benchmarks.search import tasks
from benchmarks.search.methods import PEERS, environment_of
from benchmarks.search.tasks import SPLIT

HOUSE = Path(__file__).parents[2]
CACHE = HOUSE / "benchmarks" / ".runs" / "search.jsonl"
SOURCES = (HOUSE / "thiessen" / "space.py", HOUSE / "thiessen" / "search")
BLOCK = 5  # repetitions of a task in a row; as many as there are BBOB instances

Cell = dict[str, Any]
Run = dict[str, Any]

CONDITIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "workers": {"workers": 8},
    "crashes": {"crashes": 0.1},
    "noise": {"noise": True},
    "cubed": {"crashes": 0.1, "told": "cubed"},
    "1e30": {"crashes": 0.1, "told": "1e30"},
    "inf": {"crashes": 0.1, "told": "inf"},
    "nan": {"crashes": 0.1, "told": "nan"},
}
"""What can be different from one worker, no crashes, no noise, and losses told as they are."""

RETOLD = ("cubed", "1e30", "inf", "nan")  # only compared, proposal by proposal: ours alone, seldom
RETOLD_REPETITIONS = 2
KEY = (
    "method", "version", "tasks", "task", "instance", "seed",
    "budget", "workers", "crashes", "noise", "told",
)  # fmt: skip


class DirtyTree(Exception):  # noqa: N818 - a state of the tree, which is told and not caught
    """The report half was asked for with changes that no commit holds."""


def refuse_dirty(half: str, house: Path = HOUSE) -> None:
    """Raise DirtyTree when the report half is wanted and the tree differs from its commit."""
    changes = _git(house, "status", "--porcelain")
    if half == "report" and changes:
        raise DirtyTree(
            f"The report half is judged on committed code only; these differ from the commit:\n{changes}\n"
            "Commit or remove them. To look while you work, use the tune half."
        )


def commit(house: Path = HOUSE) -> str:
    """Return the commit, marked when the tree differs from it."""
    return _git(house, "rev-parse", "--short=12", "HEAD") + (
        "+" if _git(house, "status", "--porcelain") else ""
    )


def cells(half: str, methods: Iterable[str], conditions: Iterable[str], repetitions: int) -> Iterator[Cell]:
    """Return every search that is wanted, all methods and tasks advancing together."""
    first, methods, conditions = SPLIT[half]["first_seed"], list(methods), list(conditions)
    versions = {method: version(method) for method in methods}
    for block in range(0, repetitions, BLOCK):
        for name in SPLIT[half]["tasks"]:
            for repetition in range(block, min(block + BLOCK, repetitions)):
                for condition in conditions:
                    for method in methods:
                        if _is_wanted(method, condition, repetition):
                            searched = {"method": method, "version": versions[method], "task": name}
                            yield _cell(searched, half, first + repetition, condition)


def key(cell: Cell) -> str:
    """Return what makes two searches the same search."""
    return json.dumps([cell[part] for part in KEY])


def version(method: str) -> str:
    """Return what a method's proposals depend on: the pins of its environment, for ours also the source."""
    pins = " ".join(sorted(_pins(f"{environment_of(method)}.txt")))
    return pins if method in PEERS else f"{_digest(SOURCES)} {pins}"


def load(cache: Path = CACHE) -> dict[str, Run]:
    """Return the runs of the cache by key; a line torn by a kill counts as not run."""
    runs = {}
    for line in cache.read_text().splitlines() if cache.exists() else ():
        try:
            run = json.loads(line)
        except ValueError:
            continue
        runs[key(run)] = run
    return runs


def keep(run: Run, cache: Path = CACHE) -> None:
    """Append one run to the cache, on a line of its own whatever was torn before."""
    cache.parent.mkdir(parents=True, exist_ok=True)
    with cache.open("a+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        torn = end > 0 and file.read() != b"\n"
        file.write(b"\n" * torn + json.dumps(run).encode() + b"\n")


class Environments:
    """One process for each environment that is needed, answering one cell at a time."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def run(self, cell: Cell) -> Run:
        """Return the result of a cell. Raises RuntimeError when its process dies; it has said why."""
        process = self._process(environment_of(cell["method"]))
        with contextlib.suppress(BrokenPipeError):  # then it does not answer either
            process.stdin.write(json.dumps(cell) + "\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the search stopped: {cell['method']} on {cell['task']}, seed {cell['seed']}")
        return json.loads(answer)

    def close(self) -> None:
        """Let each process end by itself."""
        for process in self._processes.values():
            process.communicate()

    def _process(self, name: str) -> subprocess.Popen[str]:
        if name not in self._processes:
            threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
            self._processes[name] = subprocess.Popen(
                [environment(name), "-m", "benchmarks.search.slice"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | threads | {"PYTHONPATH": str(HOUSE)},
            )
        return self._processes[name]


def advance(wanted: Iterable[Cell], minutes: float, cache: Path = CACHE) -> tuple[int, list[Cell]]:
    """Run what the cache lacks until the time is up; return how many were run and which remain."""
    known = load(cache)
    missing = [cell for cell in wanted if key(cell) not in known]
    until, done, environments = time.monotonic() + 60 * minutes, 0, Environments()
    try:
        while done < len(missing) and time.monotonic() < until:
            keep(environments.run(missing[done]), cache)
            done += 1
            if sys.stderr.isatty():
                print(f"\r{done} of {len(missing)}", end="", file=sys.stderr, flush=True)
    finally:
        environments.close()
    return done, missing[done:]


def seconds_left(remaining: Iterable[Cell], runs: Iterable[Run]) -> dict[str, float]:
    """Return the CPU seconds that the remaining cells should take, by method, from those that were run."""
    spent: dict[str, list[float]] = {}
    for run in runs:
        spent.setdefault(run["method"], []).append(run["cpu_seconds"])
    left: dict[str, float] = {}
    for cell in remaining:
        seen = spent.get(cell["method"], [math.nan])
        left[cell["method"]] = left.get(cell["method"], 0.0) + sum(seen) / len(seen)
    return left


def _is_wanted(method: str, condition: str, repetition: int) -> bool:
    if condition in RETOLD and (method in PEERS or repetition >= RETOLD_REPETITIONS):
        return False
    limits = SPLIT["repetitions"]
    return repetition < limits.get(method, limits["default"])


def _cell(searched: Cell, half: str, seed: int, condition: str) -> Cell:
    usual = {"workers": 1, "crashes": 0.0, "noise": False, "told": "plain"}
    return {
        **searched,
        "tasks": tasks.VERSION,
        "instance": tasks.instance_of(half, seed),
        "seed": seed,
        "budget": SPLIT["budget"],
        **usual,
        **CONDITIONS[condition],
    }


def _pins(requirements: str) -> set[str]:
    pins: set[str] = set()
    for line in (HOUSE / "benchmarks" / "peers" / requirements).read_text().splitlines():
        if line.startswith("--requirement "):
            pins |= _pins(line.split()[1])
        elif line and not line.startswith(("#", "-")):
            pins.add(line)
    return pins


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _git(house: Path, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", house, *arguments], capture_output=True, text=True, check=True)
    return ran.stdout.strip()
