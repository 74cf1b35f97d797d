"""What the server says of its work: lines for people on a terminal, one JSON object a line elsewhere.

Whatever is logged, no secret gets out: every text is redacted on its way into a line.
"""

import json
import logging
import re
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from pydantic_core import to_json

from thiessen.terminal import harmless

FORMATS: Final = ("auto", "human", "json")
LEVELS: Final = ("debug", "info", "warning", "error")
NAMED: Final = ("study", "trial", "attempt", "worker", "method", "route", "status", "milliseconds", "who")
"""The fields that a line may carry beside its message: `log.info("...", extra={"study": name})`."""

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered, wherever it is being answered."""

_SECRET: Final = re.compile(
    r"([0-9a-fA-F]{8})[0-9a-fA-F]{24,}"  # a lease id, or something longer
    r"|([Bb][Ee][Aa][Rr][Ee][Rr]\s+)[^\s\"',;]+"
    r"|(://[^:@/\s]*:)[^@/\s]+(?=@)"  # the password of an address
)


def configure(form: str, level: str) -> None:
    """Send the log of this process to standard error, at `level` for what is ours and uvicorn's.

    Other packages only warn: at their info level some of them tell addresses.
    """
    is_for_people = form == "human" or (form == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler()
    handler.setFormatter(ForPeople() if is_for_people else ForMachines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.captureWarnings(capture=True)
    # no line tells the place in the code, the thread or the process: each costs as much as the line
    logging._srcfile = None  # noqa: SLF001 - the way that the manual of logging names
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    for name in ("thiessen", "uvicorn"):
        logging.getLogger(name).setLevel(level.upper())


def redacted(text: str) -> str:
    """Return the text with lease ids cut to 8 characters, and without tokens and passwords."""
    return _SECRET.sub(lambda found: f"{found[found.lastindex or 0]}…", text)


_redacted_name = lru_cache(1024)(redacted)  # of methods, routes, studies, workers: the same again and again


class ForPeople(logging.Formatter):
    """Time, level, message, and what it is about."""

    def format(self, record: logging.LogRecord) -> str:
        about = {name: value for name, value in _fields(record).items() if name not in _IN_THE_MESSAGE}
        told = "".join(f"  {name}={value}" for name, value in about.items())
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        line = f"{time} {record.levelname.lower():<7} {redacted(record.getMessage())}{told}"
        return _indented(line + (f"\n{trace}" if (trace := _trace(record)) else ""))


class ForMachines(logging.Formatter):
    """One JSON object: time, level, logger, message, and the fields that are known."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
            **_fields(record),
        }
        if trace := _trace(record):
            line["exception"] = trace
        try:
            return to_json(line).decode()
        except ValueError:  # half of a surrogate pair: UTF-8 has no bytes for it
            return json.dumps(line)


_IN_THE_MESSAGE: Final = {"method", "route", "status", "milliseconds", "who"}


def _fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what is known of the record beside its message; request ids are no secret and stay whole."""
    current = request_id.get()
    fields: dict[str, object] = {} if current is None else {"request_id": current}
    for name in NAMED:
        value = getattr(record, name, None)
        if value is not None:
            fields[name] = value if isinstance(value, int | float) else _redacted_name(str(value))
    return fields


def _indented(line: str) -> str:
    """Return a line of which nothing that it repeats can be taken for another one, or steers a terminal."""
    return harmless(line).replace("\n", "\n  ")


def _trace(record: logging.LogRecord) -> str:
    if not record.exc_info or record.exc_info[0] is None:
        return ""
    return redacted("".join(traceback.format_exception(*record.exc_info)).rstrip())
