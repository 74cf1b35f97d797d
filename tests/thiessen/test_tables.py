"""Tables as they are on terminals of several widths."""

import io

import pytest
from rich.console import Console

from thiessen.cli import tables
from thiessen.contract import BestConfig

BEST = BestConfig(
    rank=1,
    project="default",
    study="digits-sgd",
    trial=33,
    loss=0.0529442,
    value=0.0529442,
    config={"lr": 0.355402719561, "momentum": 0.753491056917, "hidden": 93, "batch_size": 32},
    seed=1904361447773727,
)


@pytest.fixture
def printed(monkeypatch):
    """What the table of the best configs is on a terminal so wide."""

    def on(width):
        console = Console(width=width, file=io.StringIO())
        monkeypatch.setattr(tables, "terminal", lambda: console)
        console.print(tables.ranking([BEST], "digits-sgd"))
        return console.file.getvalue()

    return on


def test_on_a_usual_terminal_the_best_configs_are_a_line_each_without_seeds(printed):
    table = printed(80)

    assert "│    1 │ 0.0529442 │    33 │ 0.3554 │   0.7535 │     93 │         32 │\n" in table
    assert "seed" not in table


def test_on_a_wide_terminal_the_best_configs_have_their_seeds(printed):
    assert "│         32 │ 1904361447773727 │\n" in printed(100)
