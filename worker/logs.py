"""What the worker says of its work: lines for people on a terminal, one JSON object a line elsewhere.

Lease ids are cut and tokens left out on the way into a line, whoever wrote it.
"""

import json
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from typing import Final

from thiessen.console import Terminal
from thiessen.terminal import harmless

FORMATS: Final = ("auto", "human", "json")
NAMED: Final = ("study", "trial", "attempt", "worker", "slot")
"""The fields that a line may carry beside its message: `log.info("...", extra={"study": name})`."""

PRINTED: Final = "thiessen.printed"
"""The logger of what trainings print, so that every line says whose it is."""

_SECRET: Final = re.compile(
    r"([0-9a-fA-F]{8})[0-9a-fA-F]{24,}"  # a lease id, or something longer
    r"|(thiessen_[A-Za-z0-9]{4})[A-Za-z0-9_-]{8,}"  # a token
    r"|([Bb][Ee][Aa][Rr][Ee][Rr]\s+)[^\s\"',;]+"
    r"|(://[^:@/\s]*:)[^@/\s]+(?=@)"  # the password of an address
)


def configure(form: str, console: Terminal) -> None:
    """Send the log of this process to standard error, through the console where people look at it."""
    is_for_people = form == "human" or (form == "auto" and console.is_terminal)
    handler = _Above(console) if is_for_people else logging.StreamHandler(sys.stderr)
    handler.setFormatter(ForPeople() if is_for_people else ForMachines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    logging.getLogger("thiessen").setLevel(logging.INFO)


def redacted(text: str) -> str:
    """Return the text with lease ids cut to 8 characters, and without tokens and passwords."""
    return _SECRET.sub(lambda found: f"{found[found.lastindex or 0]}…", text)


class ForPeople(logging.Formatter):
    """Time, level and message; what a training prints after the name of its slot."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        word = record.levelname.lower()
        if record.name == PRINTED:
            word = str(getattr(record, "slot", ""))
        line = f"{time} {word:<7} {redacted(record.getMessage())}"
        return _indented(line + (f"\n{trace}" if (trace := _trace(record)) else ""))


class ForMachines(logging.Formatter):
    """One JSON object: time, level, logger, message, and the fields that are known."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
        }
        known = {name: getattr(record, name, None) for name in NAMED}
        line |= {name: value for name, value in known.items() if value is not None}
        if trace := _trace(record):
            line["exception"] = trace
        return json.dumps(line)


class _Above(logging.Handler):
    """Prints above what is live on the terminal, each line as it is."""

    def __init__(self, console: Terminal) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(self.format(record), markup=False, highlight=False, soft_wrap=True)


def _indented(line: str) -> str:
    """Return a line of which nothing that it repeats can be taken for another one, or steers a terminal."""
    return harmless(line).replace("\n", "\n  ")


def _trace(record: logging.LogRecord) -> str:
    if not record.exc_info or record.exc_info[0] is None:
        return ""
    return redacted("".join(traceback.format_exception(*record.exc_info)).rstrip())
