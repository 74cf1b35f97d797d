import io
import json
import logging
import sys

import pytest
from rich.console import Console

from worker import logs


@pytest.fixture
def said(monkeypatch):
    """Returns what is said after the log was configured in a form."""
    root, ours = logging.getLogger(), logging.getLogger("thiessen")
    before = root.handlers[:], root.level, ours.level

    def say(form, *about, is_terminal=False, **extra):
        text = io.StringIO()
        monkeypatch.setattr(sys, "stderr", text)
        logs.configure(form, Console(file=text, force_terminal=is_terminal, width=20))
        logging.getLogger("thiessen.worker").info(*about, extra=extra)
        return text.getvalue()

    yield say
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])
    logging.captureWarnings(capture=False)


def test_elsewhere_than_on_a_terminal_each_line_is_an_object_with_what_it_is_about(said):
    line = json.loads(said("auto", "begins on %s", "cpu", study="s", trial=3, attempt=1))

    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "logger": "thiessen.worker",
        "message": "begins on cpu",
        "study": "s",
        "trial": 3,
        "attempt": 1,
    }


@pytest.mark.parametrize("how", [{"form": "auto", "is_terminal": True}, {"form": "human"}])
def test_people_read_a_line_that_is_not_wrapped(said, how):
    line = said(how.pop("form"), "a line of more than twenty characters [bold]", **how)

    assert line.endswith("info    a line of more than twenty characters [bold]\n")


@pytest.mark.row(262)
@pytest.mark.parametrize("form", ["json", "human"])
def test_no_secret_is_in_a_line(said, form):
    token = "thiessen_" + "a1B2" * 8

    line = said(
        form, "POST /leases/%s/complete with %s at http://me:pass@host", "0123456789abcdef" * 2, token
    )

    assert "01234567…/complete" in json.loads(line)["message"] if form == "json" else line
    assert not any(secret in line for secret in ("89abcdef", "a1B2a1B2", "pass@"))
