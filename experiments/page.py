"""Writes the page of an experiment out of what came of its last run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from experiments.experiment import Cell, Experiment, Result, Table, from_json
from experiments.pictures import draw

HOUSE: Final = Path(__file__).parents[1]
RESULTS: Final = HOUSE / "experiments" / "results"
PAGES: Final = HOUSE / "docs" / "experiments"
IMAGES: Final = PAGES / "images"


def kept(experiment: Experiment) -> Mapping[str, Any]:
    """Return what was written of the last run."""
    document: Mapping[str, Any] = json.loads((RESULTS / f"{experiment.name}.json").read_text())
    return document


def write(experiment: Experiment) -> None:
    """Write the page and its pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    document = kept(experiment)
    for picture in from_json(document["result"]).pictures:
        draw(picture, IMAGES / f"{experiment.name}-{picture.name}.svg")
    (PAGES / f"{experiment.name}.md").write_text(written(experiment, document))


def written(experiment: Experiment, document: Mapping[str, Any]) -> str:
    """Return the page."""
    result, size = from_json(document["result"]), document["size"]
    parts = [
        f"# {experiment.title}",
        f"From {experiment.source}.",
        experiment.asks,
        "## What was reported",
        experiment.reported,
        "## What is run here",
        experiment.here[size],
        "## What came of it",
        _verdict(result),
        *result.remarks,
        *(_table(table) for table in result.tables),
        *(
            f"![{picture.says}](images/{experiment.name}-{picture.name}.svg)\n\n{picture.says}"
            for picture in result.pictures
        ),
        "## Run it again",
        _again(experiment, document),
    ]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def is_kept(experiment: Experiment) -> bool:
    """Return whether it was ever run."""
    return (RESULTS / f"{experiment.name}.json").exists()


def write_index(experiments: Sequence[Experiment]) -> None:
    """Write the page that lists all of them, with how many claims are seen in each."""
    rows: list[Sequence[Cell]] = []
    for experiment in filter(is_kept, experiments):
        document = kept(experiment)
        claims = from_json(document["result"]).claims
        seen = sum(claim.holds for claim in claims)
        page = f"[{experiment.title}]({experiment.name}.md)"
        rows.append([page, f"{seen} of {len(claims)}", document["size"]])
    listed = _rows(["experiment", "claims that hold here", "size"], rows)
    waiting = [f"- {each.title}: `{each.name}`" for each in experiments if not is_kept(each)]
    if waiting:
        listed += "\n\n".join(
            ["", "## Not run yet", "Written, and not run to its end so far:", "\n".join(waiting)]
        )
    (PAGES / "index.md").write_text(INDEX + listed + "\n")


INDEX: Final = """# Experiments

What the papers and theses behind this project report, run again with this project's code. Each page has what
was reported, what is run here and how that is smaller, and says of each claim whether it is seen.

`make experiments` runs all of them at the small size, on two cores without a GPU, and writes these pages;
`python -m experiments run NAME --size full` runs one as large as the original, on the machines of a lab.

A claim that does not hold at the small size is not refuted: most need the scale of the original. It is
printed all the same.

"""


def _verdict(result: Result) -> str:
    seen = sum(claim.holds for claim in result.claims)
    rows = [
        [claim.says, "holds" if claim.holds else "**does not hold**", claim.told] for claim in result.claims
    ]
    said = f"{seen} of {len(result.claims)} claims hold."
    return f"{said}\n\n{_rows(['claim', 'here', 'by these numbers'], rows)}"


def _table(table: Table) -> str:
    note = f"\n\n{table.note}" if table.note else ""
    return f"**{table.title}**\n\n{_rows(table.head, table.rows)}{note}"


def _rows(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    lines = [list(head), ["---", *["--:"] * (len(head) - 1)] if _is_numeric(rows) else ["---"] * len(head)]
    lines += [[_cell(each) for each in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_numeric(rows: Sequence[Sequence[Cell]]) -> bool:
    return all(not isinstance(each, str) for row in rows for each in row[1:])


def _cell(value: Cell) -> str:
    match value:
        case None:
            return "-"
        case str():
            return value
        case float():
            return f"{value:.4g}"
        case _:
            return f"{value:,}"


def _again(experiment: Experiment, document: Mapping[str, Any]) -> str:
    machine, size = document["machine"], document["size"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    command = f"python -m experiments run {experiment.name}" + ("" if size == "small" else f" --size {size}")
    files = ", ".join(f"`experiments/{name}`" for name in experiment.files)
    ran = f" It runs {files}." if files else ""
    return (
        f"```sh\n{command}\n```\n\n"
        f"Run on {document['date']} in {document['seconds']:,.0f} s on {machine}; {versions}; "
        f"seeds: {from_json(document['result']).seeds}. "
        f"On a CPU the same command gives the same numbers, but for those in seconds.{ran}"
    )
