"""No text that others write makes a regular expression of ours slow.

What tries again and again needs 10 ** 11 steps here, which are minutes; what does not
needs a second.
"""

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest

import app
import thiessen
import worker
from app import logs as server_logs
from app.api.quick import JSON
from app.api.requests import _ID
from app.dashboard.study_form import _WORD
from app.dashboard.summaries.filters import _BOUND
from thiessen.cli.command_line import _PLACE
from thiessen.cli.dimensions import _BEGINNING, _PIECES
from thiessen.cli.outcome import COLOUR, USUAL
from thiessen.cli.own_checks import _REQUIREMENT
from thiessen.client import TOKEN
from thiessen.contract.words import _WRITTEN_OUT
from thiessen.integrations.sklearn import ALL_FAILED
from thiessen.study_text import WITHOUT_A_DOT
from worker import logs as worker_logs

LONG = 400_000
USED = {  # as the code uses them, and how a text begins of which they read more than that
    JSON: ("match", "application/"),
    _ID: ("fullmatch", ""),
    _WORD: ("fullmatch", "a"),
    _BOUND: ("fullmatch", "a"),
    _PLACE: ("findall", ""),
    _BEGINNING: ("match", ""),
    _PIECES: ("findall", '"'),
    USUAL: ("findall", "loss: "),
    COLOUR: ("findall", "\x1b["),
    TOKEN: ("fullmatch", "thiessen_"),
    _WRITTEN_OUT: ("match", ""),
    ALL_FAILED: ("match", ""),
    WITHOUT_A_DOT: ("match", "1"),
    server_logs._SECRET: ("findall", "bearer"),
    worker_logs._SECRET: ("findall", "://a:"),
}
OUR_OWN = {_REQUIREMENT}  # reads what our own package requires
PIECES = (
    "a", "1", " ", "\t", "\n", "-", "+", ".", "<", "{", "[", '"', "\\", "'", "=", "f", "1.", "1e", "a.",
    "+a", "://", "://a:", "a:", "bearer ", "Bearer", "a@", "thiessen_", "{a", "loss:", "loss: ",
    "application/", "\x1b[",
)  # fmt: skip


def patterns_of(*packages):
    """Yield what is compiled at the top of a module, whatever its name."""
    for package in packages:
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                for each in vars(import_module(found.name)).values():
                    if isinstance(each, re.Pattern):
                        yield each


def test_every_expression_is_looked_at_here():
    assert set(patterns_of(app, thiessen, worker)) == USED.keys() | OUR_OWN


@pytest.mark.timeout(60)
@pytest.mark.parametrize("pattern", USED, ids=lambda pattern: pattern.pattern[:40])
def test_a_long_text_is_read_in_one_go(pattern):
    how, head = USED[pattern]
    for piece in PIECES:
        getattr(pattern, how)(head + piece * (LONG // len(piece)) + "!")
