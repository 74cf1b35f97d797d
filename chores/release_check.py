"""Does everything that a release needs, in a fresh clone of what is committed, and prints what came of it.

A step that fails keeps no other from being tried: who releases wants to know all that is missing. What each
step printed stays in the folder that the first line names.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOUSE: Final = Path(__file__).parents[1]
COUNTS: Final = r"=+ (.*(?:passed|failed|error).*) in .* =+"
LAST_LINES: Final = 20


@dataclass(frozen=True)
class Step:
    """A command that has to succeed, and the line of what it prints that says how well."""

    name: str
    command: str
    figure: str


STEPS: Final = (
    Step("demo", "make demo PORT=0", r"(Best: loss \S+)"),
    Step("checks", "make check", r"(Success: .*)"),
    Step("tests", "make test", COUNTS),
    Step("rows", "make rows", r"(\d+ of \d+ listed rows .*)"),
    Step("crashes", "make proof", COUNTS),
    Step(
        "machines and time", ".venv/bin/python -m pytest tests/release -o faulthandler_timeout=3600", COUNTS
    ),
    Step("soak", "make soak", r"(.*open.*)"),
)


def main() -> int:
    """Take every step and print a line for each. Return 1 if one failed."""
    folder = Path(tempfile.mkdtemp(prefix="thiessen-release-"))
    clone = folder / "thiessen"
    subprocess.run(["git", "clone", "--quiet", HOUSE, clone], check=True)
    commit = subprocess.check_output(["git", "-C", clone, "rev-parse", "--short", "HEAD"], text=True).strip()
    print(f"Commit {commit} in {clone}; what each step prints is in {folder}", flush=True)
    failed = [step.name for step in STEPS if not _take(step, clone, folder / f"{step.name}.log")]
    print(f"Not ready: {', '.join(failed)}." if failed else f"Commit {commit} is ready for a release.")
    return 1 if failed else 0


def _take(step: Step, clone: Path, log: Path) -> bool:
    print(f"{step.name:<18} {step.command}", end="", flush=True)
    began = time.monotonic()
    with log.open("w") as output:
        code = subprocess.call(
            shlex.split(step.command), cwd=clone, env=_environment(), stdout=output, stderr=subprocess.STDOUT
        )
    seconds = time.monotonic() - began
    printed = log.read_text(errors="replace")
    found = re.findall(step.figure, printed)
    verdict = "ok" if code == 0 else f"FAILED with exit code {code}"
    print(f"\n{'':<18} {verdict} after {seconds:,.0f} s{': ' + found[-1] if found else ''}", flush=True)
    if code != 0:
        print("\n".join(f"{'':<18} | {line}" for line in printed.splitlines()[-LAST_LINES:]), flush=True)
    return code == 0


def _environment() -> dict[str, str]:
    """Return ours without what would lead a command out of the clone."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("THIESSEN_", "MAKE"))}
    return {name: value for name, value in ours.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}


if __name__ == "__main__":
    sys.exit(main())
