"""The page of threats names tests that exist, and leaves none of those against attackers out."""

import re
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGE = (HOUSE / "docs" / "explanation" / "threats.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE)))
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| [STRIDE] \|", line)]


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_test_that_the_page_names_exists(file, name):
    assert f"\ndef {name}(" in (HOUSE / file).read_text(encoding="utf-8")


def test_every_threat_has_a_test():
    assert len(ROWS) > 30
    assert [row for row in ROWS if "::test_" not in row] == []
    assert {row[2] for row in ROWS} == set("STRIDE")


def test_every_file_of_tests_against_attackers_is_on_the_page():
    files = {file.relative_to(HOUSE).as_posix() for file in (HOUSE / "tests" / "security").glob("test_*.py")}

    assert files <= {file for file, _ in NAMED}


def test_no_test_is_named_in_another_way():
    assert PAGE.count("tests/") == len(re.findall(r"`tests/[\w/]+\.py::test_\w+`", PAGE))
