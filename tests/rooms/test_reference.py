import inspect
import runpy
from pathlib import Path

import pytest

import optimizers
import thiessen
from worker.tasks import installed

HOUSE = Path(__file__).parents[2]
CHORE = runpy.run_path(str(HOUSE / "chores" / "reference.py"))
PYTHON = runpy.run_path(str(HOUSE / "chores" / "python.py"))
TASKS = runpy.run_path(str(HOUSE / "chores" / "tasks.py"))


def test_the_calls_of_the_reference_are_those_of_the_code():
    page = (HOUSE / "docs" / "reference" / "http.md").read_text()

    assert CHORE["written"](page) == page, "say `make reference`"


def test_what_stands_around_the_calls_is_kept():
    begin, end = CHORE["BEGIN"], CHORE["END"]

    page = CHORE["written"](f"before\n{begin}Once upon a time.\n{end}after\n")

    assert page.startswith(f"before\n{begin}")
    assert page.endswith(f"{end}after\n")
    assert "Once" not in page
    assert "| `POST /api/v1/leases` | Give a worker trials to train" in page
    assert "| `work` | 200, 409, 422, 503 |" in page
    assert "| `submit`, with `purge` also `admin` |" in page


def test_the_tables_of_the_tasks_are_those_of_the_code():
    page = (HOUSE / "docs" / "reference" / "tasks.md").read_text()

    assert TASKS["written"](page) == page, "say `make reference`"


def test_every_setting_of_every_task_and_optimizer_has_its_row():
    page = (HOUSE / "docs" / "reference" / "tasks.md").read_text()

    for task in installed().values():
        for name, each in task.schema.get("properties", {}).items():
            assert f"| `{name}` | " in page
            assert f" | {each['description']} |\n" in page


def test_every_task_that_is_installed_has_its_section():
    page = (HOUSE / "docs" / "reference" / "tasks.md").read_text()

    ours = {name for name, task in installed().items() if task.train.__module__.startswith("worker.")}
    assert ours == set(TASKS["TASKS"])
    assert all(f"\n## {name}\n" in page for name in ours)


def test_the_names_for_programs_are_those_of_the_code():
    page = (HOUSE / "docs" / "reference" / "python.md").read_text()

    assert PYTHON["written"](page) == page, "say `make reference`"
    assert all(f"\n### {name}\n" in page for name in PYTHON["public"](thiessen))


@pytest.mark.parametrize("name", PYTHON["public"](thiessen))
def test_whatever_programs_are_given_says_what_it_does(name):
    known = getattr(thiessen, name)
    is_made_of_parts = inspect.isclass(known) and not hasattr(known, "__dataclass_fields__")
    parts = PYTHON["methods"](known) if is_made_of_parts else {}

    assert inspect.getdoc(known)
    assert [part for part, each in parts.items() if not inspect.getdoc(each)] == []


@pytest.mark.parametrize("name", PYTHON["public"](optimizers))
def test_whatever_the_optimizers_have_is_on_a_page_and_says_what_it_is(name):
    assert (
        PYTHON["page_of"](name) or f"`{name}`" in (HOUSE / "docs/reference/optimizers/choose.md").read_text()
    )
    assert inspect.getdoc(getattr(optimizers, name))


def test_every_field_of_what_programs_are_given_says_what_it_is():
    fields = [
        row
        for name in PYTHON["public"](thiessen)
        if inspect.isclass(known := getattr(thiessen, name))
        for row in PYTHON["_fields"](known)
    ]

    assert fields
    assert [row for row in fields if row.endswith("|  |")] == []
