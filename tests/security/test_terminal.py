"""What others wrote, on the terminal of who reads it: shown, and nothing more."""

import io
import logging
import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import logs as server_logs
from tests.conftest import _programs, address_of, wait_until
from thiessen.cli.tables import offered, ranking
from thiessen.client import Client
from thiessen.console import Terminal
from thiessen.contract import (
    BestConfig,
    Failure,
    LeaseRequest,
    NewTrial,
    OfferedTask,
    StudySpec,
    TaskAnswer,
    TrialChanges,
    WorkerSpec,
)
from thiessen.space import Categorical, Space
from thiessen.terminal import STEERING, harmless
from worker import logs as worker_logs
from worker.standing import Standing, lines

EVIL = (
    "[red]red[/red] [link=http://evil.example]a link[/link] [/nothing] :skull: "
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil.example\x1b\\hidden\x1b]8;;\x1b\\ "
    "\x9b31m\rover \x7f\u202eback"
)
SHOWN = "[red]red[/red] [link=http://evil.example]a link[/link] [/nothing] :skull:"
STEERS = ("\x1b]", "\x1b[2J", "\x1b\\", "\x07", "\x9b", "\r", "\x7f", "\u202e")


def printed(thing, width=1000):
    """Return what reaches a terminal."""
    stream = io.StringIO()
    Terminal(file=stream, force_terminal=True, width=width, color_system="truecolor").print(thing)
    return stream.getvalue()


def is_only_shown(text):
    assert not [each for each in STEERS if each in text.replace("\r\n", "\n")]
    assert SHOWN in text
    return True


@given(st.text() | st.text("\x1b[31m\r\n\t\x9b\u202e"))
def test_nothing_of_a_text_steers_a_terminal_and_nothing_else_is_changed(text):
    kept = harmless(text)

    assert not [
        each for each in kept if each not in "\n\t" and not each.isprintable() and ord(each) in STEERING
    ]
    assert not {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))} & set(kept)
    assert kept == text or set(text) & set(map(chr, STEERING))
    assert harmless(kept) == kept


def test_a_table_shows_what_others_wrote():
    best = BestConfig(
        study="s", rank=1, loss=0.5, value=0.5, trial=0, config={EVIL: EVIL, "b": "[/b]"}, seed=1
    )
    task = TaskAnswer(name="t", versions=[EVIL], workers=1, description=EVIL)

    assert is_only_shown(printed(ranking([best], None)))
    assert is_only_shown(printed(offered([task])))


def test_the_lines_of_a_worker_show_what_a_training_reports():
    standing = Standing(slot="cpu", study="s", step=1, metric=f"{EVIL} 0.5")

    assert is_only_shown(printed(lines([standing])))


@pytest.mark.parametrize("of", [server_logs, worker_logs])
def test_a_line_of_the_log_forges_no_other_and_steers_nothing(of):
    forged = "boom\n12:00:00 info    all is well\x1b[1A\x1b[2K"
    error = ValueError(forged)
    record = logging.LogRecord(
        "thiessen.server", logging.ERROR, __file__, 1, "%s", (forged,), (ValueError, error, None)
    )

    line = of.ForPeople().format(record)

    assert "\x1b" not in line
    first, *rest = line.splitlines()
    assert first.endswith("boom")
    assert len(rest) >= 3
    assert all(each.startswith("  ") for each in rest)


SPACE = Space(x=Categorical([EVIL, "plain"]))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A client of a server on which whatever may hold any text does."""
    folder = tmp_path_factory.mktemp("hostile")
    with _programs(folder) as start:
        process = start("serve", "--database", f"sqlite:///{folder}/test.db", "--port", "0")
        with Client(address_of(process)) as server:
            wait_until(server.is_ready)
            fill(server)
            yield server


def fill(server):
    offer = OfferedTask(name="t", version="1", description=EVIL)
    server.register("w", WorkerSpec(incarnation="i", tasks=[offer]))
    server.create_study(StudySpec(name="s", task="t", space=SPACE.declaration, max_trials=9))
    server.add_trials("s", [NewTrial(config={"x": EVIL})])
    wish = LeaseRequest(worker="w", incarnation="i", request_id="r", tasks=["t"])
    [lease] = server.lease(wish)
    server.fail(lease.lease_id, Failure(kind="error", message=EVIL, traceback=EVIL, retry=False))
    server.change_trial("s", 0, TrialChanges(notes=EVIL))
    server.add_trials("s", [NewTrial(config={"x": EVIL}, notes=EVIL, outcome={"value": 0.5})])


@pytest.mark.parametrize(
    "command",
    [
        ["trial", "show", "s", "0"],
        ["best", "s"],
        ["task", "list"],
        ["best", "s", "-o", "csv"],
        ["study", "export", "s", "--format", "csv"],
    ],
    ids=" ".join,
)
def test_a_command_on_a_terminal_shows_what_others_wrote(hostile, command):
    assert is_only_shown(on_a_terminal(hostile, *command))


def on_a_terminal(server, *command):
    """Run a command on a terminal of its own; return all that it prints."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "thiessen.cli", *command],
        stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"COLUMNS": "2000", "TERM": "xterm", "THIESSEN_SERVER": server.url},
    )  # fmt: skip
    os.close(theirs)
    said = bytearray()
    with suppress(OSError):  # nobody has the other end any more
        while some := os.read(ours, 65_536):
            said += some
    os.close(ours)
    assert process.wait() == 0, said
    return said.decode()
