import runpy
from pathlib import Path

HOUSE = Path(__file__).parents[2]
CHORE = runpy.run_path(str(HOUSE / "chores" / "reference.py"))


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
