"""Checks that every row of docs/reference/capabilities.md has tests that are marked with it and pass.

Runs the tests marked `row(n)`, with the options that it is given, and says what became of each row.
"""

import sys
from collections import defaultdict

import pytest

from chores.capabilities import HOUSE, PAGE, listed, shown


class Outcomes:
    """Keeps what became of each marked test: of a test with parameters, what became of each case."""

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, str], set[str]] = defaultdict(set)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what ran, and whatever did not pass."""
        if report.when == "call" or not report.passed:
            file, _, name = report.nodeid.partition("::")
            self._outcomes[file, name.partition("[")[0]].add(report.outcome)

    def has_passed(self, file: str, test: str) -> bool:
        """Return whether a test ran, and all of its cases passed."""
        return self._outcomes.get((file, test)) == {"passed"}

    def ran(self) -> set[tuple[str, str]]:
        """Return all that ran, by file and name."""
        return set(self._outcomes)


def main() -> int:
    """Run the marked tests and print the comparison."""
    wanted, marked, outcomes = listed(PAGE.read_text()), shown(HOUSE), Outcomes()
    code = pytest.main(["-q", "--no-header", "-m", "row", *sys.argv[1:]], plugins=[outcomes])
    faults = [f"row {row} is listed and no test shows it" for row in wanted if row not in marked]
    faults += [f"row {row} is shown by tests and not listed" for row in marked if row not in wanted]
    faults += [
        f"row {row} is not shown: {file}::{test} did not run and pass"
        for row, files in marked.items()
        for file, tests in files.items()
        for test in tests
        if not outcomes.has_passed(file, test)
    ]
    known = {(file, test) for files in marked.values() for file, tests in files.items() for test in tests}
    faults += [
        f"{file}::{test} is marked in a way that cannot be read" for file, test in outcomes.ran() - known
    ]
    not_shown = {int(fault.split()[1]) for fault in faults if fault.startswith("row ")}
    print(f"{len(set(wanted) - not_shown)} of {len(wanted)} listed rows are shown by passing tests.")
    print("\n".join(sorted(faults)))
    return 1 if faults or code else 0


if __name__ == "__main__":
    sys.exit(main())
