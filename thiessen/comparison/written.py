"""A report as Markdown, LaTeX and CSV."""

import csv as csv_format
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from thiessen.contract import ArmReport, Band, ComparisonReport, Headline
from thiessen.figures.text import count, short
from thiessen.spreadsheet import cell

COLUMNS: Final = (
    "table", "arm", "other", "replicate", "trial", "metric", "over", "at", "value", "low", "high",
)  # fmt: skip
MARKDOWN: Final = str.maketrans(
    {each: f"\\{each}" for each in "\\`*_[]|~#$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)
LATEX: Final = str.maketrans(
    {each: f"\\{each}" for each in "{}$&#_%"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)
UNKNOWN: Final = short(None)
Line = dict[str, str | float | None]


@dataclass(frozen=True)
class Table:
    """Rows below a title; none but numbers beside the first column, unless they are words."""

    title: str
    about: str
    heading: Sequence[str]
    rows: Sequence[Sequence[str]]


def markdown(report: ComparisonReport) -> str:
    """Return the report as a page of GitHub's Markdown."""
    parts = [f"# {_marked(report.name)}", _marked(summary(report)), *_bullets(report.says)]
    if report.pairs:
        parts += ["## Two by two", *_bullets([pair.says for pair in report.pairs])]
    for table in tables(report):
        parts += [f"## {table.title}", *([table.about] if table.about else []), _markdown_table(table)]
    return "\n\n".join(parts) + "\n"


def latex(report: ComparisonReport) -> str:
    """Return the report as LaTeX, to be put into a document; it needs no package."""
    says = [*report.says, *(pair.says for pair in report.pairs)]
    checks = [f"{name}: {is_met}; {told}" for name, is_met, told in _checks(report)]
    parts = [_tex(summary(report)), *_items(says), *map(_latex_table, numbers(report)), *_items(checks)]
    return f"% {_tex(report.name)}\n" + "\n\n".join(parts) + "\n"


def csv(report: ComparisonReport) -> str:
    """Return every number of the report, a line each: the column `table` says which one it is."""
    sink = _Lines()
    writer = csv_format.DictWriter(sink, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_lines(report))
    return "".join(sink)


class _Lines(list[str]):
    """What the csv module takes for a file."""

    write = list.append


def summary(report: ComparisonReport) -> str:
    """Return what all arms had alike, and what it cost."""
    spent = report.spent
    updates = "" if spent.updates is None else f", {count(spent.updates, 'update')}"
    seconds = "" if spent.seconds is None else f", {short(spent.seconds)} seconds of training"
    return (
        f"{count(len(report.arms), 'arm')}, {count(report.replicates, 'replicate')}, "
        f"{short(report.budget)} {report.unit} for each search, to {report.direction}. Spent: "
        f"{spent.searches:,} searches, {count(int(spent.trials or 0), 'trial')}, "
        f"{count(spent.runs, 'run')}{updates}{seconds}."
    )


def tables(report: ComparisonReport) -> list[Table]:
    """Return all that a report has in tables; the last one says how fair it is."""
    checks = Table("What a fair comparison has", "", ["", "", "here"], _checks(report))
    return [*numbers(report), _configs(report), checks]


def numbers(report: ComparisonReport) -> list[Table]:
    """Return what the arms came to."""
    return [_headlines(report), _searches(report), _reached(report)]


def _headlines(report: ComparisonReport) -> Table:
    heading = ["arm", "mean", "95 % interval", "deviation", "runs", "diverged"]
    rows = [[arm.label, *_headline(arm.headline)] for arm in report.arms]
    return Table("On seeds that no search has seen", "", heading, rows)


def _headline(headline: Headline | None) -> list[str]:
    if headline is None:
        return [UNKNOWN] * 5
    numbers = (headline.deviation, headline.runs, headline.diverged)
    return [short(headline.mean), _interval(headline), *map(short, numbers)]


def _interval(of: Headline) -> str:
    return UNKNOWN if of.low is None or of.high is None else f"{short(of.low)} to {short(of.high)}"


def _searches(report: ComparisonReport) -> Table:
    about = "The best of a search was chosen for its luck too: its mean flatters."
    heading = [
        "arm",
        "strategy",
        "searches",
        "mean best",
        "95 % interval",
        "trials near the best",
        "diverged",
    ]
    rows = [
        [
            arm.label,
            arm.strategy,
            str(len(arm.searches)),
            short(arm.final.mean),
            _interval(arm.final),
            _share(arm.sensitivity.share),
            _share(arm.sensitivity.diverged),
        ]
        for arm in report.arms
    ]
    return Table("The searches", about, heading, rows)


def _share(share: float | None) -> str:
    return UNKNOWN if share is None else f"{100 * share:.1f} %"


def _reached(report: ComparisonReport) -> Table:
    heading = ["arm", "target", "runs that reach it", "updates", "seconds"]
    rows = [
        [
            arm.label,
            f"{found.metric} {short(found.target)}",
            f"{found.reached} of {found.runs}",
            short(found.updates),
            short(found.seconds),
        ]
        for arm in report.arms
        if (found := arm.reached)
    ]
    return Table("When the target is reached", "By the median run of one config.", heading, rows)


def _configs(report: ComparisonReport) -> Table:
    about = "Of each arm, first the one that its searches prefer, whose training is told."
    rows = [
        [
            arm.label,
            f"{each.replicate}",
            f"{each.trial}",
            short(each.searched),
            short(each.mean),
            json.dumps(each.config, ensure_ascii=False),
        ]
        for arm in report.arms
        for each in arm.confirmed
    ]
    heading = ["arm", "replicate", "trial", "searched", "mean again", "config"]
    return Table("Configs that were trained again", about, heading, rows)


def _checks(report: ComparisonReport) -> list[list[str]]:
    return [[check.name, "yes" if check.is_met else "no", check.told] for check in report.checks]


def _marked(words: str) -> str:
    """Return words of which Markdown makes nothing else."""
    plain = " ".join(words.split()).translate(MARKDOWN)
    return re.sub(r"^(\d+)(?=[.)](\s|$))|^(?=[-+=])", r"\1\\", plain)


def _bullets(sentences: Sequence[str]) -> list[str]:
    return ["\n".join(f"- {_marked(each)}" for each in sentences)] if sentences else []


def _markdown_table(table: Table) -> str:
    if not table.rows:
        return "There is nothing yet."
    rows = [table.heading, ["---"] * len(table.heading)]
    lines = [[_marked(each) for each in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*rows, *lines])


def _tex(words: str) -> str:
    """Return words that LaTeX sets as they are; what is not ASCII by its number."""
    plain = " ".join(words.split()).replace(UNKNOWN, "--")
    told = [each if each.isascii() else f"[U+{ord(each):04X}]" for each in plain if each.isprintable()]
    return "".join(told).translate(LATEX)


def _items(sentences: Sequence[str]) -> list[str]:
    lines = "\n".join(f"  \\item {{}}{_tex(each)}" for each in sentences)
    return [f"\\begin{{itemize}}\n{lines}\n\\end{{itemize}}"] if sentences else []


def _latex_table(table: Table) -> str:
    rows = "\n".join(f"  {' & '.join(map(_tex, row))} \\\\" for row in table.rows)
    return (
        f"\\begin{{table}}\n\\caption{{{_tex(f'{table.title}. {table.about}'.strip())}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(table.heading) - 1)}}}\n\\hline\n"
        f"  {' & '.join(map(_tex, table.heading))} \\\\\n\\hline\n{rows}\n\\hline\n"
        "\\end{tabular}\n\\end{table}"
    )


def _lines(report: ComparisonReport) -> Iterator[Line]:
    """Yield what the CSV has: the pairs, then arm by arm."""
    for pair in report.pairs:
        whose: Line = {"arm": pair.better, "other": pair.worse}
        yield whose | {"table": "difference", "value": pair.difference, "low": pair.low, "high": pair.high}
        yield whose | {"table": "p", "value": pair.p}
        yield whose | {"table": "corrected p", "value": pair.adjusted}
    for arm in report.arms:
        lines = chain(_searched_lines(report.unit, arm), _confirmed_lines(arm), _numbers_lines(arm))
        for line in lines:
            yield line | {"arm": arm.label}


def _searched_lines(unit: str, arm: ArmReport) -> Iterator[Line]:
    yield from _band_lines({"table": "expected", "over": unit}, arm.expected)
    if arm.order_statistic:
        yield from _band_lines({"table": "order statistic", "over": unit}, arm.order_statistic)
    for search in arm.searches:
        found: Line = {"replicate": search.replicate}
        for at, best in zip(search.spent, search.best, strict=True):
            yield found | {"table": "best so far", "over": unit, "at": at, "value": best}
        yield found | {"table": "searched", "trial": search.trial, "value": search.final}


def _confirmed_lines(arm: ArmReport) -> Iterator[Line]:
    for each in arm.confirmed:
        for value in each.values:
            yield {"table": "run", "replicate": each.replicate, "trial": each.trial, "value": value}
    for training in arm.training:
        found: Line = {"table": "training", "metric": cell(training.metric), "over": training.over}
        yield from _band_lines(found, training.line)
    for best in arm.best_by:
        whose: Line = {"replicate": best.replicate, "trial": best.trial, "metric": cell(best.metric)}
        yield whose | {"table": "best by metric", "value": best.mean}
        for training in best.training:
            found = whose | {"table": "training of the best by metric", "over": training.over}
            yield from _band_lines(found, training.line)
    if reached := arm.reached:
        wanted: Line = {"table": "reached", "metric": cell(reached.metric), "value": reached.target}
        yield wanted | {"over": "updates", "at": reached.updates}
        yield wanted | {"over": "seconds", "at": reached.seconds}


def _numbers_lines(arm: ArmReport) -> Iterator[Line]:
    for name, headline in (("mean of the searches", arm.final), ("headline", arm.headline)):
        if headline:
            yield {"table": name, "value": headline.mean, "low": headline.low, "high": headline.high}
    yield {"table": "trials near the best", "value": arm.sensitivity.share}
    yield {"table": "diverged", "value": arm.sensitivity.diverged}


def _band_lines(found: Line, band: Band) -> Iterator[Line]:
    rows = zip(band.at, band.mean, band.low, band.high, strict=True)
    yield from (found | {"at": at, "value": mean, "low": low, "high": high} for at, mean, low, high in rows)
