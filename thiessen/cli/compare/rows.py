"""What comparisons and their reports have in tables: words and numbers as people read them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thiessen.contract import Comparison, ComparisonReport, Profile


@dataclass(frozen=True)
class Rows:
    """A table: its title, its columns, and what they hold; the first `words` columns are no numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def of_arms(report: "ComparisonReport") -> Rows:
    """Return what each arm came to, as submitted."""
    columns = ("arm", "confirmed", "deviation", "95 %", "runs", "searched", "trials", "diverged", "near best")
    rows = [
        (
            arm.label,
            *(("", "", "", "0") if arm.headline is None else (
                number(arm.headline.mean),
                number(arm.headline.deviation),
                interval(arm.headline.low, arm.headline.high),
                str(arm.headline.runs),
            )),
            number(arm.final.mean),
            str(arm.sensitivity.trials),
            share(arm.sensitivity.diverged),
            share(arm.sensitivity.share),
        )
        for arm in report.arms
    ]  # fmt: skip
    return Rows(f"Arms of {report.name}", columns, rows)


def of_pairs(report: "ComparisonReport") -> Rows:
    """Return what can be said of each two arms."""
    columns = ("better", "worse", "verdict", "p", "corrected", "difference", "95 %", "wins", "pairs")
    rows = [
        (
            pair.better,
            pair.worse,
            pair.verdict,
            number(pair.p),
            number(pair.adjusted),
            number(pair.difference),
            interval(pair.low, pair.high),
            str(pair.wins),
            str(pair.pairs),
        )
        for pair in report.pairs
    ]
    return Rows("Pairs of arms", columns, rows, words=3)


def of_checks(report: "ComparisonReport") -> Rows:
    """Return what a fair comparison has, and whether this one has it."""
    rows = [(check.name, "yes" if check.is_met else "no", check.told) for check in report.checks]
    return Rows("Fairness", ("has", "met", "what there is"), rows, words=3)


def of_confirmed(report: "ComparisonReport") -> Rows:
    """Return the configs that were trained again, with the value they were chosen for."""
    rows = [
        (arm.label, str(each.replicate), str(each.trial), number(each.searched), number(each.mean),
         json.dumps(each.config))
        for arm in report.arms
        for each in arm.confirmed
    ]  # fmt: skip
    columns = ("arm", "search", "trial", "searched", "confirmed", "config")
    return Rows("Configs that were trained again", columns, rows)


def of_searches(report: "ComparisonReport") -> Rows:
    """Return what each search came to, and what it spent."""
    columns = ("arm", "search", "best", "trial", "trials", "updates", "seconds", "diverged", "failed")
    rows = [
        (
            arm.label,
            str(each.replicate),
            number(each.final),
            "" if each.trial is None else str(each.trial),
            str(each.trials),
            str(each.updates),
            number(each.seconds),
            str(each.diverged),
            str(each.failed),
        )
        for arm in report.arms
        for each in arm.searches
    ]
    return Rows("Searches", columns, rows)


def of_reached(report: "ComparisonReport") -> Rows:
    """Return when the best confirmed config of each arm reaches the target."""
    rows = [
        (
            arm.label,
            f"{arm.reached.metric} {number(arm.reached.target)}",
            f"{arm.reached.reached} of {arm.reached.runs}",
            number(arm.reached.updates),
            number(arm.reached.seconds),
        )
        for arm in report.arms
        if arm.reached is not None
    ]
    return Rows("Reaching the target", ("arm", "target", "runs that do", "updates", "seconds"), rows, words=2)


def of_plan(name: str, arms: Iterable[Mapping[str, Any]]) -> Rows:
    """Return what each arm searches, and what every trial of it trains with."""
    rows = [
        (
            each["arm"],
            each["task"],
            each["strategy"] if isinstance(each["strategy"], str) else json.dumps(each["strategy"]),
            ", ".join(each["searches"]),
            ", ".join(f"{setting} = {value}" for setting, value in each["settings"].items()),
        )
        for each in arms
    ]
    return Rows(f"Arms of {name}", ("arm", "task", "strategy", "searches", "settings"), rows, words=5)


def of_comparisons(found: "Iterable[Comparison]") -> Rows:
    """Return comparisons and how far they are."""
    rows = [
        (
            each.name,
            each.state,
            each.stage,
            ", ".join(arm.label for arm in each.arms),
            f"{each.progress:.0%}",
            f"{each.created_at:%Y-%m-%d %H:%M}",
        )
        for each in found
    ]
    return Rows("Comparisons", ("comparison", "state", "stage", "arms", "done", "created"), rows, words=4)


def of_standing(found: "Comparison") -> Rows:
    """Return how far each arm of a comparison is."""
    rows = []
    for arm in found.arms:
        best = [each.best for each in arm.searches if each.best is not None]
        mean = sum(best) / len(best) if best else None
        ended = sum(each.state in {"completed", "stopped"} for each in arm.searches)
        runs = (
            "" if arm.confirmation is None else f"{arm.confirmation.finished} of {arm.confirmation.expected}"
        )
        trials = sum(each.finished for each in arm.searches)
        rows.append((arm.label, arm.task, arm.strategy, f"{ended} of {len(arm.searches)}", str(trials),
                     number(mean), runs))  # fmt: skip
    told = found.waits_for or f"{found.state}, {found.stage}, {found.progress:.0%}"
    columns = ("arm", "task", "strategy", "searches ended", "trials", "mean best", "runs")
    return Rows(f"{found.name}: {told}", columns, rows, words=3)


def of_profile(found: "Profile") -> Rows:
    """Return on which share of the workloads each arm is at most so much slower than the fastest."""
    factors = [factor for factor in (1, 2, 4, 8) if factor <= found.largest_factor]
    rows = [
        (
            line.label,
            *(
                share(
                    max((s for f, s in zip(line.factor, line.share, strict=True) if f <= factor), default=0.0)
                )
                for factor in factors
            ),
            number(line.area),
        )
        for line in found.lines
    ]
    times = [f"within {factor} times" if factor > 1 else "fastest" for factor in factors]
    return Rows(f"Over {len(found.comparisons)} workloads", ("arm", *times, "area"), rows)


def number(value: float | None) -> str:
    """Return a number to four digits; nothing where there is none."""
    return "" if value is None else f"{value:.4g}"


def share(value: float | None) -> str:
    """Return a share as per cent; nothing where there is none."""
    return "" if value is None else f"{value:.1%}"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval; nothing where there is none."""
    return "" if low is None or high is None else f"{number(low)} to {number(high)}"
