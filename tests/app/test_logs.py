import json
import logging
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import logs

SECRETS = st.one_of(
    st.text("0123456789abcdef", min_size=32, max_size=80),
    st.from_regex(r"[Bb]earer [A-Za-z0-9_.~+/-]{20,60}", fullmatch=True),
    st.from_regex(r"postgresql://me:[A-Za-z0-9!?]{12,30}@host/name", fullmatch=True),
)
SECRET = re.compile(r"[0-9a-f]{32}|[Bb]earer [A-Za-z0-9_.~+/-]{20}|://me:[A-Za-z0-9!?]{12}")
TEXTS = st.tuples(st.text(max_size=20), SECRETS, st.text(max_size=20)).map("".join)
BOTH = pytest.mark.parametrize("form", [logs.ForPeople(), logs.ForMachines()])


def said(form, level, statement, *, on_a_terminal=False):
    """Return what a process of its own writes to standard error: the log of this one is pytest's."""
    script = f"import logging; from app import logs; logs.configure({form!r}, {level!r}); {statement}"
    ours, theirs = os.openpty() if on_a_terminal else os.pipe()
    subprocess.run([sys.executable, "-c", script], stderr=theirs, check=True)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        return stream.readline() if on_a_terminal else stream.read()


def record(message, *args, exc_info=None, **fields):
    made = logging.LogRecord("thiessen.server", logging.WARNING, __file__, 1, message, args, exc_info)
    made.__dict__.update(fields)
    return made


def fault(text):
    error = ValueError(text)
    return type(error), error, None


@pytest.mark.row(262)
@BOTH
@given(TEXTS)
def test_no_secret_gets_into_a_line_wherever_it_stands(form, text):
    lines = [
        form.format(record("%s", text)),
        form.format(record("of %(study)s", {"study": text}, study=text, worker=text, who=text)),
        form.format(record("failed", exc_info=fault(text))),
    ]

    assert not [line for line in lines if SECRET.search(line)]


def test_a_lease_id_is_cut_to_what_tells_leases_apart():
    assert logs.redacted(f"lease {'0123456789abcdef' * 2}.") == "lease 01234567…."


def test_a_line_for_machines_is_one_json_object_with_what_is_known():
    named = logs.request_id.set("f" * 32)

    line = logs.ForMachines().format(record("two\nlines", study="s", trial=3, attempt=1, worker="w"))

    logs.request_id.reset(named)
    told = json.loads(line)
    assert "\n" not in line
    assert told.pop("time").endswith("+00:00")
    assert told == {
        "level": "warning", "logger": "thiessen.server", "message": "two\nlines", "request_id": "f" * 32,
        "study": "s", "trial": 3, "attempt": 1, "worker": "w",
    }  # fmt: skip


def test_a_line_for_people_ends_with_what_it_is_about():
    line = logs.ForPeople().format(record("lost", study="s", trial=0))

    assert re.fullmatch(r"\d\d:\d\d:\d\d warning lost  study=s  trial=0", line)


@pytest.mark.parametrize(
    ("form", "on_a_terminal", "is_json"),
    [("auto", True, False), ("auto", False, True), ("human", False, False), ("json", True, True)],
)
def test_people_read_lines_on_a_terminal_and_machines_read_json(form, on_a_terminal, is_json):
    hello = "logging.getLogger('thiessen.server').info('hello')"

    assert said(form, "info", hello, on_a_terminal=on_a_terminal).startswith("{") == is_json


def test_the_level_is_that_of_ours_and_of_uvicorn_and_others_only_warn():
    statement = (
        "[logging.getLogger(n).debug('of ' + n) for n in ('thiessen.access', 'uvicorn.error', 'httpx')]"
    )

    assert re.findall(r"of (\S+)", said("human", "debug", statement)) == ["thiessen.access", "uvicorn.error"]


def test_warnings_of_python_are_lines_of_the_log():
    assert json.loads(said("json", "info", "import warnings; warnings.warn('old')"))["level"] == "warning"
