"""A report as a page that needs no network: verdicts, fairness, figures, tables."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from thiessen.cli.compare.tables import has_numbers
from thiessen.comparison.written import Table, summary, tables
from thiessen.figures import REPORTED, of_report
from thiessen.showing import pieces

if TYPE_CHECKING:
    from thiessen.contract import ComparisonReport

STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733 }
main { max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
figure { margin: 1.5rem 0 }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.5rem }
.says { font-size: 1.1rem } .scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: .875rem }
caption { text-align: left; padding: .75rem 0 .25rem }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dbe1; text-align: left; vertical-align: top }
.number { text-align: right }
"""


def page(report: "ComparisonReport") -> str:
    """Return the whole page. Raises ThiessenError without plotly."""
    title = escape(f"Comparison {report.name}")
    *numbers, fairness = tables(report)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
        f"<body><main><h1>{title}</h1><p>{escape(summary(report))}</p>"
        f"{_section('Verdicts', *_said(report))}"
        f"{_section('Fairness', _table(fairness))}"
        f"{_section('Figures', *_drawn(report))}"
        f"{_section('Tables', *map(_table, numbers))}"
        "</main></body></html>\n"
    )


def _said(report: "ComparisonReport") -> Iterator[str]:
    """Yield the whole in a few sentences, then one for each two arms."""
    yield from (f"<p class=says>{escape(sentence)}</p>" for sentence in report.says)
    if report.pairs:
        yield f"<ul>{''.join(f'<li>{escape(pair.says)}</li>' for pair in report.pairs)}</ul>"


def _drawn(report: "ComparisonReport") -> Iterator[str]:
    """Yield each figure; for those who hear it, what there is to be seen in it."""
    told = report.model_dump(mode="json")
    figures = [of_report(name, told, "light") for name in REPORTED]
    for figure, piece in zip(figures, pieces(figures), strict=True):
        caption = escape(figure["layout"]["meta"]["caption"])
        yield f'<figure aria-label="{caption}">{piece}</figure>'


def _section(title: str, *parts: str) -> str:
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def _table(table: Table) -> str:
    if not table.rows:
        return ""
    numbers = [has_numbers(table, place) for place in range(len(table.heading))]
    rows = "".join(_row("td", row, numbers) for row in table.rows)
    about = f"<br>{escape(table.about)}" if table.about else ""
    return (
        f'<div class="scroll" tabindex="0"><table><caption><b>{escape(table.title)}</b>{about}</caption>'
        f"<thead>{_row('th', table.heading, numbers)}</thead><tbody>{rows}</tbody></table></div>"
    )


def _row(tag: str, cells: Sequence[str], numbers: Sequence[bool]) -> str:
    marks = (" class=number" if is_number else "" for is_number in numbers)
    shown = (f"<{tag}{mark}>{escape(cell)}</{tag}>" for mark, cell in zip(marks, cells, strict=True))
    return f"<tr>{''.join(shown)}</tr>"
