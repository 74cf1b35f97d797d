"""Blocks of code that are not followed by `test_pages_run`: each is looked at as what it is."""

import re
import shlex
import tomllib

import pytest
import typer
import yaml

from app.domain.errors import StudyExists
from experiments.catalogue import EXPERIMENTS
from tests.rooms.pages import HOUSE, blocks, how_many
from tests.rooms.test_pages_run import PAGES, REFERENCE
from thiessen.cli.main import build
from thiessen.contract import ComparisonSpec, StudySpec
from thiessen.contract.studies import EXAMPLE
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json
from thiessen.search.strategy import StrategyError
from thiessen.space import Space, SpaceError
from thiessen.study_text import WrongText, read

CHORE = re.compile(r"make [a-z-]+( [A-Z]+=\S+)?")
BENCHMARK = re.compile(r"\.venv/bin/python (benchmarks/[a-z_/]+)( --[a-z]+( [^-\s]\S*)?)*")
EXPERIMENT = re.compile(r"(?:\.venv/bin/)?python -m experiments run ([\w-]+)( --full)?")
OTHERS = sorted(
    str(page.relative_to(HOUSE))
    for page in (*HOUSE.glob("*.md"), *HOUSE.glob("docs/**/*.md"), *HOUSE.glob("migrations/*.md"))
    if how_many(page.read_text()) and str(page.relative_to(HOUSE)) not in PAGES
)
WRONGLY_USED = typer.BadParameter.__base__  # of the click that typer brings
IN_ANOTHER_TEST = {"python", "pycon"}  # of pages in REFERENCE; doctests of the study file


LR = "[space.lr]\ntype = 'float'\nlow = 0.001\nhigh = 1.0\n"
LR_AS_TEXT = LR.replace("0.001", "'0.001'")


def is_said(text):
    """Return whether every sentence is what somebody is told who does what the page is about."""
    told = [str(StudyExists("digits-by-hand", ["seed"]))]
    for wrong in (
        lambda: Space.declared({"lr": {"type": "float", "low": 0.0, "high": 1.0, "log": True}}),
        lambda: strategy_from_json({"name": "grid", "level": 3}, KNOWN),
        lambda: read("name = 's'\ntask = 't'\n\nmax_trial = 2\n" + LR, "toml", "digits.toml"),
        lambda: read("name = 's'\ntask = 't'\nmax_trials = 2\n\n\n\n" + LR_AS_TEXT, "toml", "digits.toml"),
    ):
        try:
            wrong()
        except (SpaceError, StrategyError, WrongText) as error:
            told.append(str(error))
    return all(any(line.endswith(words) for words in told) for line in text.splitlines())


def is_study(text):
    known = StudySpec.model_validate(EXAMPLE | tomllib.loads(text))
    return bool(Space.declared(known.model_dump(exclude_unset=True)["space"])) and bool(
        strategy_from_json(known.strategy, KNOWN)
    )


def is_comparison(text):
    return bool(ComparisonSpec.model_validate(yaml.safe_load(text)))


def is_command(text):
    """Return whether each line is a command that there is, with arguments that it takes."""
    lines = text.replace("\\\n", " ").splitlines()
    return all(is_ours(line) or is_chore(line) or is_benchmark(line) or is_experiment(line) for line in lines)


def is_ours(line):
    words = shlex.split(line.split(" > ")[0], comments=True)
    if words[:1] != ["thiessen"]:
        return False
    name, command = words.pop(0), typer.main.get_command(build())
    while words and words[0] in getattr(command, "commands", {}):
        name = words.pop(0)
        command = command.commands[name]
    try:
        with command.make_context(name, words):
            return name != "thiessen"  # which alone only helps
    except WRONGLY_USED:
        return False


def is_chore(line):
    chores = re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE)
    return bool(CHORE.fullmatch(line)) and line.split()[1] in chores


def is_benchmark(line):
    found = BENCHMARK.fullmatch(line)
    return bool(found) and (HOUSE / found[1]).is_file()


def is_experiment(line):
    found = EXPERIMENT.fullmatch(line)
    return bool(found) and found[1] in EXPERIMENTS


KINDS = {"sh": is_command, "text": is_said, "toml": is_study, "yaml": is_comparison}


@pytest.mark.parametrize("page", OTHERS)
def test_every_block_of_another_page_is_what_it_says(page):
    text = (HOUSE / page).read_text()
    found = blocks(text)

    assert len(found) == how_many(text)
    for block in found:
        if block.language in IN_ANOTHER_TEST:
            assert page in REFERENCE
        else:
            assert KINDS[block.language](block.text), block.text


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "make nothing",
        ".venv/bin/python benchmarks/none",
        "python -m experiments run nothing",
        "thiessen",
        "thiessen nothing",
        "thiessen best --nothing",
    ],
)
def test_a_command_that_there_is_not_is_none(line):
    assert not is_command(line)
