import csv as csv_format
import re

import pytest

from tests.comparison.found import a_spec, an_arm, the_runs
from thiessen.comparison.report import report
from thiessen.comparison.written import csv, latex, markdown

WICKED = "a|b `c` <img src=x onerror=alert(1)> _d_ [e](f) 50 % & #1 {g} ~h^i\\j $k$\n| l | é 漢"
TABLE = [[3.0, 2.0, 1.0 + at / 10] for at in range(10)]
CURVE = {"step": [0.0, 10.0], "seconds": [0.0, 1.0], "train_loss": [2.0, 1.0], "=1+1_loss": [2.0, 1.0]}


def a_report(*, wicked=WICKED, table=TABLE):
    """Return a report with a wicked strategy, dimension and config."""
    runs = [type(run)(**(vars(run) | {"config": {wicked: wicked}})) for run in the_runs(table, points=CURVE)]
    arms = [
        an_arm(label, table, runs=runs, strategy=wicked, dimensions={wicked: label}, is_random=True)
        for label in ("a_1", "b.2")
    ]
    spec = a_spec("a_1", "b.2", replicates=len(table))
    return report(spec, arms, project="default", state="completed", is_complete=True)


def test_markdown_begins_with_the_name_and_says_what_was_found():
    page = markdown(a_report())

    assert page.startswith(
        "# which\n\n2 arms, 10 replicates, 3 trials for each search, to minimize. Spent: 20 "
    )
    assert "\n- No significant difference between a\\_1 and b.2 at this budget: " in page


def test_every_row_of_a_markdown_table_has_as_many_cells_as_its_heading():
    for table in re.findall(r"(?:^\|.*\n)+", markdown(a_report()), re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(cells) == 1, table


def test_nothing_in_a_config_is_read_as_markup():
    page = markdown(a_report())

    assert "<" not in page
    assert not re.search(r"(?<!\\)`", page)
    assert not re.search(r"(?<!\\)\]\(", page)


@pytest.mark.parametrize("label", ["1.", "12)", "-", "+"])
def test_a_name_at_the_beginning_of_a_line_makes_no_list(label):
    from thiessen.comparison.written import _marked

    assert _marked(f"{label} beats b")[len(label) - 1] == "\\" or _marked(label)[0] == "\\"


@pytest.mark.parametrize("number", ["0.05", "12.5 to 13.25"])
def test_a_number_stays_as_it_is(number):
    from thiessen.comparison.written import _marked

    assert _marked(number) == number


def test_latex_leaves_no_sign_that_it_would_obey():
    text = latex(a_report())

    own = re.sub(
        r"\\(begin|end)\{\w+\}(\{l?r*\})?|\\caption|\\hline|\\item|\\\\\n|^% which",
        "",
        text,
        flags=re.MULTILINE,
    )
    own = re.sub(r"\\[{}$&#_%]|\\text\w+\{\}", "", own)
    own = re.sub(r" & ", "", own)  # between the cells of a table
    assert not re.search(r"[\\$#_%~^&<>|]", own)
    assert own.count("{") == own.count("}")
    assert text.isascii()


def test_latex_opens_and_closes_its_environments_in_turn():
    stack = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", latex(a_report())):
        if what == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []


def test_every_row_of_a_latex_table_has_as_many_cells_as_columns():
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end", latex(a_report()), re.DOTALL):
        for row in re.findall(r"^  (.*) \\\\$", body, re.MULTILINE):
            assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1


@pytest.mark.row(16)
def test_the_csv_has_the_curves_and_which_config_was_selected():
    rows = list(csv_format.DictReader(csv(a_report()).splitlines()))

    curve = [row for row in rows if row["table"] == "training" and row["arm"] == "a_1"]
    assert [(row["over"], row["at"], row["value"]) for row in curve if row["metric"] == "train_loss"] == [
        ("updates", "0.0", "2.0"),
        ("updates", "10.0", "1.0"),
        ("seconds", "0.0", "2.0"),
        ("seconds", "1.0", "1.0"),
    ]
    best = [row for row in rows if row["table"] == "best by metric" and row["metric"] == "train_loss"]
    assert [(row["arm"], row["replicate"], row["trial"]) for row in best] == [
        ("a_1", "1", "2"),
        ("b.2", "1", "2"),
    ]


def test_the_csv_has_every_search_and_every_run():
    rows = list(csv_format.DictReader(csv(a_report()).splitlines()))

    found = [float(row["value"]) for row in rows if row["table"] == "searched" and row["arm"] == "b.2"]
    assert found == [losses[-1] for losses in TABLE]
    assert len([row for row in rows if row["table"] == "run"]) == 40


def test_no_cell_of_the_csv_is_a_formula():
    cells = [cell for row in csv_format.reader(csv(a_report()).splitlines()) for cell in row]

    assert "'=1+1_loss" in cells
    assert not any(cell.startswith(("=", "+", "@")) for cell in cells)


def test_what_is_null_is_empty_in_the_csv_and_a_dash_on_a_page():
    table = [[None, None, None]] * 8
    empty = [an_arm(label, table) for label in ("a", "b")]
    found = report(
        a_spec("a", "b", replicates=8), empty, project="default", state="completed", is_complete=True
    )

    (line,) = [row for row in csv(found).splitlines() if row.startswith("mean of the searches,a,")]
    assert line == "mean of the searches,a,,,,,,,,,"
    assert "| a | – |" in markdown(found)  # noqa: RUF001 - the sign for what is unknown
    assert "a & -- &" in latex(found)
