"""A report as a page that needs no network: verdicts, fairness, figures, tables."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from thiessen.cli.compare.rows import (
    Rows,
    of_arms,
    of_checks,
    of_confirmed,
    of_pairs,
    of_reached,
    of_searches,
)
from thiessen.showing import pieces

if TYPE_CHECKING:
    from thiessen.contract import ComparisonReport

STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733 }
main { max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem }
.says { font-size: 1.1rem } .scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: .875rem }
caption { text-align: left; font-weight: 600; padding: .5rem 0 }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dbe1; text-align: right; vertical-align: top }
th.word, td.word { text-align: left }
"""


def page(report: "ComparisonReport", figures: Mapping[str, Mapping[str, object]]) -> str:
    """Return the whole page. Raises ThiessenError without plotly."""
    title = escape(f"Comparison {report.name}")
    says = "".join(f"<p>{escape(sentence)}</p>" for sentence in report.says)
    tables = (of_arms(report), of_reached(report), of_confirmed(report), of_searches(report))
    drawn = "".join(f"<div>{piece}</div>" for piece in pieces(list(figures.values())))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><main><h1>{title}</h1><p>{escape(_terms(report))}</p>"
        f"{_section('Verdicts', f'<div class=says>{says}</div>', of_pairs(report))}"
        f"{_section('Fairness', '', of_checks(report))}"
        f"{_section('Figures', drawn)}"
        f"{_section('Tables', '', *tables)}"
        "</main></body></html>\n"
    )


def _terms(report: "ComparisonReport") -> str:
    """Say what every arm had alike."""
    ended = "" if report.is_complete else " It has not ended: what is told is of what there is."
    return (
        f"{len(report.arms)} arms, {report.replicates} searches of each, "
        f"{report.budget:g} {report.unit} for every search; values are to be {report.direction}d.{ended}"
    )


def _section(title: str, content: str, *tables: Rows) -> str:
    shown = "".join(_table(each) for each in tables if each.rows)
    return f"<section><h2>{title}</h2>{content}{shown}</section>"


def _table(rows: Rows) -> str:
    head = _row("th", rows.columns, rows.words)
    body = "".join(_row("td", row, rows.words) for row in rows.rows)
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(rows.title)}</caption>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


def _row(tag: str, cells: Sequence[str], words: int) -> str:
    marks = ['class="word"' if place < words else "" for place in range(len(cells))]
    shown = (f"<{tag} {mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
    return f"<tr>{''.join(shown)}</tr>"
