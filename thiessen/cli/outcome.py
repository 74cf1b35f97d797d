"""What a program told of a trial: its exit code, a file that it wrote, and what it printed.

The rules are published in docs/how-to/any-program.md.
"""

import json
import re
import signal
from collections import deque
from pathlib import Path
from typing import Final

DIVERGED: Final = 80  # exit codes, beyond those that sysexits.h has and below those of shells
PRUNED: Final = 81
TAIL_LINES: Final = 20
LONGEST_TAIL: Final = 4000  # characters
LONGEST_OUTPUT: Final = 2**20  # bytes at its end, in which the value is looked for

COLOUR: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|nan|inf|infinity)"
USUAL: Final = re.compile(
    rf"^[ \t]*(?:(?:loss|value)[ \t]*[:=][ \t]*)?({_NUMBER})[ \t]*$", re.IGNORECASE | re.MULTILINE
)


class ProgramFailed(Exception):  # noqa: N818 - says what happened
    """A program told no value of its trial."""


def value(result: Path, output: Path, pattern: re.Pattern[str]) -> float | None:
    """Return the number that a program wrote, else the last that it printed. Raises ProgramFailed."""
    if result.exists():
        return _written(result)
    last = deque(pattern.finditer(_end(output)), maxlen=1)
    if not last:
        return None
    text = last[0][min(pattern.groups, 1)]
    try:
        return float(text)
    except (TypeError, ValueError):
        raise ProgramFailed(f"--loss-from found {text!r}, which is no number") from None


def tail(*files: Path) -> str:
    """Return the last lines of the first file that has any, as the end of a sentence."""
    for file in files:
        if lines := COLOUR.sub("", _end(file)).strip().splitlines()[-TAIL_LINES:]:
            return ":\n" + "\n".join(lines)[-LONGEST_TAIL:]
    return ""


def in_words(code: int) -> str:
    """Say how a process ended."""
    return f"exited with {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def _written(result: Path) -> float:
    """Return a number, or the `loss` or `value` of a JSON object. Raises ProgramFailed."""
    text = result.read_text(encoding="utf-8", errors="replace").strip()
    try:
        found = json.loads(text) if text.startswith("{") else text
        if isinstance(found, dict):
            [found] = [found[name] for name in ("loss", "value") if name in found]
        return float(found)
    except (TypeError, ValueError):
        raise ProgramFailed(
            "what it wrote to THIESSEN_RESULT is no number, and no JSON object with a loss or a value: "
            f"{text[:200]!r}"
        ) from None


def _end(file: Path) -> str:
    """Return the end of a file; what a bar writes over itself are lines too."""
    with file.open("rb") as content:
        content.seek(max(file.stat().st_size - LONGEST_OUTPUT, 0))
        return re.sub(r"\r\n?", "\n", content.read().decode(errors="replace"))
