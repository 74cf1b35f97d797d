"""Runs a comparison file by the public command, and makes of its report what a page shows."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

from experiments.experiment import Cell, Claim, Line, Panel, Picture, Size, Table
from thiessen import Client, connect
from thiessen.contract import ComparisonReport
from thiessen.contract.comparisons import ArmReport, Band, Pair
from thiessen.contract.words import Scalar

HERE: Final = Path(__file__).parent
RUNS: Final = HERE / ".runs"  # a folder for each comparison: what is run again goes on there


@dataclass(frozen=True)
class Tried:
    """A trial of a search."""

    number: int
    config: dict[str, Scalar]
    value: float  # infinite without success


@dataclass(frozen=True)
class Compared:
    """A comparison that has ended."""

    report: ComparisonReport
    folder: Path

    def trials(self, *labels: str) -> dict[str, list[list[Tried]]]:
        """Return the trials of each search of these arms, by number."""
        with connect(f"sqlite:///{self.folder / 'studies.db'}") as client:
            return {
                label: [_tried(client, each.study) for each in arm(self.report, label).searches]
                for label in labels
            }

    def lowest(self, metric: str) -> dict[str, float]:
        """Return for each arm the lowest that a metric comes to at any point of any trial of its searches."""
        with connect(f"sqlite:///{self.folder / 'studies.db'}") as client:
            return {
                each.label: min(
                    (
                        value
                        for search in each.searches
                        for number in range(search.trials)
                        for value in _points(client, search.study, number, metric)
                    ),
                    default=inf,
                )
                for each in self.report.arms
            }


def files(name: str) -> dict[Size, str]:
    """Return the comparison file of each size, as it is called beside this module."""
    return {"small": f"{name}.toml", "full": f"{name}.full.toml"}


def compared(file: str, *, slots: int | None = None) -> Compared:
    """Run a comparison file to its end, or go on with it, and return what came of it."""
    path = HERE / file
    folder = RUNS / tomllib.loads(path.read_text())["name"]
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "report.json"
    # -P: what is run is what is installed, wherever this was started.
    command = [sys.executable, "-P", "-m", "thiessen.cli", "compare", "run", str(path), "--here"]
    options = ["--slots", str(slots or os.cpu_count()), "--folder", str(folder), "--output", str(report)]
    subprocess.run([*command, *options], check=True)
    return Compared(ComparisonReport.model_validate_json(report.read_text()), folder)


def arm(report: ComparisonReport, label: str) -> ArmReport:
    """Return an arm by its label."""
    return next(each for each in report.arms if each.label == label)


def bests(report: ComparisonReport, label: str) -> list[float]:
    """Return the best value of each search of an arm, by replicate; infinite where none succeeded."""
    return [inf if each.final is None else each.final for each in arm(report, label).searches]


def headline(report: ComparisonReport, label: str) -> float:
    """Return what an arm comes to on fresh seeds, or in its searches where nothing was confirmed."""
    found = arm(report, label).headline or arm(report, label).final
    return inf if found.mean is None else found.mean


def is_lower(report: ComparisonReport, better: str, worse: str, *, says: str, factor: float = 1.0) -> Claim:
    """Return the claim that one arm's mean is below another's, or below a part of it."""
    ours, theirs = headline(report, better), headline(report, worse)
    part = "" if factor == 1 else f"{factor:g} times "
    return Claim(
        says=says,
        holds=ours < factor * theirs,
        told=f"{better} {ours:.4g}, {worse} {theirs:.4g}"
        + (f": {ours / theirs:.3g} where less than {part.strip()} is claimed" if part else ""),
    )


def pair_of(report: ComparisonReport, one: str, other: str) -> Pair:
    """Return what the report says of two arms. Raises LookupError where there are too few replicates."""
    for pair in report.pairs:
        if {pair.better, pair.worse} == {one, other}:
            return pair
    raise LookupError(f"The report says nothing of {one} and {other}: fewer than 8 replicates.")


def is_shown(report: ComparisonReport, better: str, worse: str, *, says: str, p: float) -> Claim:
    """Return the claim that one arm is better than another at a level of Holm's corrected p-value."""
    pair = pair_of(report, better, worse)
    shown = pair.better == better and pair.adjusted is not None and pair.adjusted < p
    return Claim(
        says=says,
        holds=shown,
        told=f"{pair.better} is lower in {pair.wins} of {pair.pairs} pairs by {_number(pair.difference)} "
        f"({_number(pair.low)} to {_number(pair.high)}), p = {_number(pair.adjusted)}",
    )


def arms_table(report: ComparisonReport, *, title: str = "Arms") -> Table:
    """Return what each arm comes to: in its searches, and on fresh seeds."""
    head = ["arm", "best of a search", "s.d.", "on fresh seeds", "s.d.", "runs", "diverged trials"]
    return Table(
        title=title,
        head=head,
        rows=[_arm(each) for each in report.arms],
        note="*Best of a search*: the mean over the searches. *On fresh seeds*: the best configs trained "
        "again; a diverged run has no finite mean."
        if any(each.headline for each in report.arms)
        else "The mean over the searches; nothing was trained again.",
    )


def pairs_table(report: ComparisonReport) -> Table:
    """Return the verdicts of all pairs of arms."""
    rows: list[list[Cell]] = [
        [
            f"{pair.better} before {pair.worse}",
            pair.difference,
            _interval(pair.low, pair.high),
            f"{pair.wins} of {pair.pairs}",
            pair.p,
            pair.adjusted,
            pair.verdict,
        ]
        for pair in report.pairs
    ]
    basis = {pair.basis for pair in report.pairs}
    return Table(
        title="Two by two",
        head=["pair", "difference", "95 %", "wins", "p", "p of Holm", "verdict"],
        rows=rows,
        note="By the " + ("runs on fresh seeds." if basis == {"confirmed"} else "best of each search."),
    )


def expected_drawn(report: ComparisonReport, *, y: str, says: str, log_y: bool = False) -> Picture:
    """Return the expected best of each arm by what a search has spent."""
    lines = [_line(each.label, each.expected) for each in report.arms]
    panel = Panel(x=f"{report.unit} of a search", y=y, log_y=log_y, lines=lines)
    return Picture(name="expected", says=says, panels=[panel])


def curve(report: ComparisonReport, label: str, metric: str, over: str = "updates") -> Band:
    """Return how the best confirmed config of an arm learns, in the mean of its runs. Raises LookupError."""
    for each in arm(report, label).training:
        if (each.metric, each.over) == (metric, over):
            return each.line
    raise LookupError(f"No run of {label} tells {metric} over {over}.")


def training_drawn(
    report: ComparisonReport, metric: str, *, y: str, says: str, log_y: bool = True
) -> Picture:
    """Return how the best config of each arm learns, by updates and by seconds."""
    panels = [
        Panel(
            x=over,
            y=y,
            log_y=log_y,
            lines=[_line(each.label, curve(report, each.label, metric, over)) for each in report.arms],
        )
        for over in ("updates", "seconds")
    ]
    return Picture(name="training", says=says, panels=panels)


def unmet(report: ComparisonReport) -> Sequence[str]:
    """Return a sentence for each thing that a fair comparison has and this one lacks."""
    return [
        f"Not as in a fair comparison: {each.name}. {each.told}" for each in report.checks if not each.is_met
    ]


def _tried(client: Client, study: str) -> list[Tried]:
    told = client.history(study).columns
    rows = zip(*told.config.values(), strict=True)
    configs = [dict(zip(told.config, values, strict=True)) for values in rows]
    values = [inf if each is None else each for each in told.value]
    return sorted(map(Tried, told.number, configs, values), key=lambda each: each.number)


def _points(client: Client, study: str, number: int, metric: str) -> list[float]:
    points = [point for attempt in client.trial(study, number).attempts for point in attempt.reports]
    values = [point.metrics.get(metric) for point in points]
    return [each for each in values if isinstance(each, float | int) and isfinite(each)]


def _arm(found: ArmReport) -> list[Cell]:
    ends = [each.final for each in found.searches if each.final is not None]
    trials = sum(each.trials for each in found.searches)
    diverged = sum(each.diverged for each in found.searches)
    again = found.headline
    return [
        found.label,
        fmean(ends) if ends else None,
        stdev(ends) if len(ends) > 1 else None,
        again.mean if again else None,
        again.deviation if again else None,
        again.runs if again else 0,
        diverged / trials if trials else None,
    ]


def _line(name: str, band: Band) -> Line:
    has_band = any(each is not None for each in band.low)
    return Line(
        name=name,
        x=band.at,
        y=band.mean,
        low=band.low if has_band else (),
        high=band.high if has_band else (),
    )


def _interval(low: float | None, high: float | None) -> str:
    return f"{_number(low)} to {_number(high)}"


def _number(value: float | None) -> str:
    return "-" if value is None or not isfinite(value) else f"{value:.3g}"
