"""Checks that every row of docs/reference/capabilities.md has a passing test that is marked with it.

Runs the tests marked `row(n)` and compares: a listed row without a passing test fails, and so does a
marked test whose row is not listed.
"""

import re
import sys
from pathlib import Path

import pytest

CAPABILITIES = Path(__file__).parents[1] / "docs" / "reference" / "capabilities.md"


class Rows:
    """Collects which tests are marked with which rows, and which of them passed."""

    def __init__(self) -> None:
        self.marked: dict[str, set[int]] = {}
        self.passed: set[str] = set()

    @pytest.hookimpl(tryfirst=True)  # a marked test that an option deselects counts as one that did not pass
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that show a row."""
        for item in items:
            if rows := {mark.args[0] for mark in item.iter_markers("row")}:
                self.marked[item.nodeid] = rows
        items[:] = [item for item in items if item.nodeid in self.marked]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what ran and passed."""
        if report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def shown(self) -> set[int]:
        """Return the rows all of whose tests passed."""
        missed = {row for name, rows in self.marked.items() if name not in self.passed for row in rows}
        return {row for rows in self.marked.values() for row in rows} - missed


def main() -> int:
    """Run the marked tests and print the comparison."""
    listed = {int(row) for row in re.findall(r"^\| *(\d+) *\|", CAPABILITIES.read_text(), re.MULTILINE)}
    rows = Rows()
    code = pytest.main(["-q", "--no-header"], plugins=[rows])
    missing, unlisted = listed - rows.shown(), {n for r in rows.marked.values() for n in r} - listed
    print(f"{len(listed & rows.shown())} of {len(listed)} listed rows are shown by passing tests.")
    for row in sorted(missing):
        print(f"row {row} is listed and no passing test shows it")
    for row in sorted(unlisted):
        print(f"row {row} is shown by a test and not listed in {CAPABILITIES.name}")
    return 1 if missing or unlisted or code else 0


if __name__ == "__main__":
    sys.exit(main())
