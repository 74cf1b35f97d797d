"""The reference says what the code has, all of it."""

import doctest
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
import typer
from PIL import Image

from app.domain.errors import Conflict, NotFound, Refusal
from app.domain.trial import MOVES
from app.main import build as build_server
from app.settings import PREFIX, Settings
from chores.animation import TRIALS
from thiessen.cli.main import build as build_commands
from thiessen.contract import StudySpec
from thiessen.contract.studies import Stopping
from thiessen.integrations import KNOWN
from thiessen.space import KINDS
from worker.tasks import Checkpoint, Context

HOUSE = Path(__file__).parents[2]
DOCS = HOUSE / "docs"


def page(name):
    return (DOCS / name).read_text()


def commands():
    group = typer.main.get_command(build_commands())
    for name, command in group.commands.items():
        for sub, inner in getattr(command, "commands", {"": command}).items():
            yield f"{name} {sub}".strip(), inner


@pytest.mark.parametrize("field", [field.name for field in fields(Settings)])
def test_every_setting_is_documented(field):
    assert f"| `{field}` | `{PREFIX}{field.upper()}` |" in page("reference/settings.md")


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_and_option_is_documented(name, command):
    section = page("reference/commands.md").split(f"\n## thiessen {name}\n")[1].split("\n## ")[0]
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}

    documented = set(re.findall(r"^\| `(--[a-z-]+)", section, re.MULTILINE))
    assert documented == options - {"--help"}


def test_every_documented_command_is_one():
    documented = set(re.findall(r"^## thiessen (.+)$", page("reference/commands.md"), re.MULTILINE))

    assert documented == {name for name, _ in commands()}


def test_every_route_is_documented(tmp_path):
    app = build_server(Settings(database=f"sqlite:///{tmp_path}/x.db"))
    documented = set(re.findall(r"`(?:GET|POST|PUT|PATCH|DELETE) (/[^`?]*)", page("reference/http.md")))
    pages = {"/healthz", "/readyz", "/", "/studies/{name}", "/studies/{name}/trials/{number}", "/docs"}
    pages |= {
        "/studies/{name}/trials",
        "/studies/{name}/compare",
        "/openapi.json",
        "/static/{digest}/{name}",
        "/login",
        "/logout",
        "/metrics",
    }
    paths = {
        re.sub("/projects/{project}/(studies|comparisons|compare|profile|optuna)", r"/\1", path)
        for path in app.openapi()["paths"]
    }
    app.state.house.store.close()

    assert documented == paths | pages


def test_every_move_of_a_trial_is_documented_in_order():
    rows = re.findall(
        r"^\| (\w*) ?\| (\w+) \| (worker|server|person) \| (\w*)",
        page("explanation/trial-life.md"),
        re.MULTILINE,
    )

    assert rows == [(move.before or "", move.after, move.who, move.cause or "") for move in MOVES]


def test_every_environment_variable_is_documented():
    sources = [path for room in ("app", "thiessen", "worker") for path in (HOUSE / room).glob("**/*.py")]
    known = {name for path in sources for name in re.findall(r"\bTHIESSEN_[A-Z][A-Z_]+\b", path.read_text())}
    pages = "".join(path.read_text() for path in DOCS.glob("**/*.md"))

    assert "THIESSEN_SERVER" in known
    assert {name for name in known if f"`{name}" not in pages} == set()


@pytest.mark.parametrize("what", [Context, Checkpoint], ids=lambda what: what.__name__)
def test_all_that_a_task_is_given_is_documented(what):
    names = {name for name in vars(what).keys() | what.__annotations__.keys() if not name.startswith("_")}
    own_task = page("how-to/own-task.md")

    assert names
    assert {name for name in names if f".{name}" not in own_task and f"`{name}" not in own_task} == set()


def test_every_message_of_the_wire_says_what_it_is(tmp_path):
    app = build_server(Settings(database=f"sqlite:///{tmp_path}/x.db"))
    app.state.house.store.close()

    messages = app.openapi()["components"]["schemas"]
    assert {name for name, known in messages.items() if not known.get("description")} == {"JsonValue"}


def test_every_kind_of_refusal_is_documented():
    kinds = {kind.type for family in (Refusal, NotFound, Conflict) for kind in family.__subclasses__()} - {
        "refused"
    }

    assert all(f"| `urn:thiessen:{kind}` |" in page("reference/http.md") for kind in kinds), kinds


def test_every_field_of_a_study_is_documented():
    fields_of_a_study = page("reference/study-file.md").split("## Fields")[1].split("\n## ")[0]

    assert re.findall(r"^\| `(\w+)` \|", fields_of_a_study, re.MULTILINE) == list(StudySpec.model_fields)


@pytest.mark.parametrize("rule", get_args(get_args(Stopping)[0]), ids=lambda rule: rule.__name__)
def test_every_rule_of_early_stopping_is_documented_with_its_settings(rule):
    name, *settings = (get_args(rule.model_fields["rule"].annotation)[0], *list(rule.model_fields)[1:])
    row = re.search(rf"^\| `{name}` \| ([^|]*) \|", page("reference/study-file.md"), re.MULTILINE)[1]

    assert re.findall(r"`(\w+)`", row) == settings


@pytest.mark.parametrize("name", [*KNOWN, *KINDS])
def test_every_strategy_and_kind_of_dimension_is_documented(name):
    assert f"\n| `{name}` |" in page("reference/study-file.md")


@pytest.mark.parametrize("strategy", KNOWN.values(), ids=KNOWN)
def test_every_setting_of_a_strategy_is_documented_in_its_rows(strategy):
    rows = page("reference/study-file.md").split(f"\n| `{strategy.name}` |")[1].split("\n\n")[0]
    documented = re.match(r"[^\n]*(\n\| \| [^\n]*)*", rows)[0]

    assert re.findall(r"(?:^|\n\| \|) `(\w+)` \|", documented) == [field.name for field in fields(strategy)]


def test_the_examples_of_the_study_file_give_what_they_show():
    blocks = re.findall(r"^```pycon\n(.*?)^```", page("reference/study-file.md"), re.MULTILINE | re.DOTALL)
    examples = "\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(examples, {}, "study-file.md", None, 0)

    assert test.examples
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_readme_names_every_room_and_how_to_run_the_tests():
    readme = (HOUSE / "README.md").read_text()

    assert "The tests run with `make test`" in readme
    for room in (
        "thiessen",
        "app",
        "worker",
        "optimizers",
        "migrations",
        "tests",
        "experiments",
        "benchmarks",
        "chores",
        "docs",
    ):
        assert f"| `{room}/` |" in readme


def test_make_prints_every_chore():
    targets = re.findall(r"^([a-z-]+):.*## ", (HOUSE / "Makefile").read_text(), re.MULTILINE)
    phony = re.search(r"\.PHONY: help (.*)", (HOUSE / "Makefile").read_text())[1].split()

    assert set(phony) | {"help"} == set(targets)
    assert {"demo", "test", "check", "proof", "bench", "rows", "docs", "serve", "worker"} <= set(targets)


def test_the_extras_are_those_that_are_promised():
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text())["project"]

    assert set(project["optional-dependencies"]) == {
        "server", "worker", "optimizers", "figures", "ray", "mlflow", "optuna", "pandas", "parquet",
        "sklearn", "tensorboard", "tune", "all", "dev", "soak",
    }  # fmt: skip


def test_every_opt_out_of_the_linter_says_why():
    linting = re.search(r"\nignore = \[\n(.*?)\n\]", (HOUSE / "pyproject.toml").read_text(), re.DOTALL)[1]

    assert all("  # " in line for line in linting.splitlines())


def test_the_animation_of_a_landscape_has_a_picture_for_each_trial_and_is_soon_there():
    path = DOCS / "images" / "landscape.gif"

    with Image.open(path) as animation:
        assert animation.n_frames == TRIALS
    assert path.stat().st_size < 1_500_000
    assert "](docs/images/landscape.gif)" in (HOUSE / "README.md").read_text()
