"""The goals of split.toml, judged."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.search import score
from benchmarks.search.runs import RETOLD, Run

Goal = Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """The runs of one half, by method and condition."""

    runs: Mapping[tuple[str, str], list[Run]]
    tasks: tuple[str, ...]
    budget: int
    capped_at: float

    def of(self, method: str, condition: str) -> list[Run]:
        """Return the runs. Raises Missing unless every task has one."""
        found = self.runs.get((method, condition), [])
        if missing := set(self.tasks) - {run["task"] for run in found}:
            raise Missing(f"{method} ({condition}) lacks {len(missing)} of {len(self.tasks)} tasks")
        return found

    def curves(self, method: str, condition: str = "plain", *, capped: bool = False) -> score.Curves:
        """Return -ln F by task, repetition and trial. Raises Missing."""
        return score.curves(self.of(method, condition), self.budget, self.capped_at if capped else 0.0)


class Missing(Exception):  # noqa: N818 - a state of the results, told in the table
    """Not everything that is needed has been run."""


@dataclass(frozen=True)
class Verdict:
    """One goal and what was found of it."""

    goal: Goal
    found: str
    state: str  # met, MISSED (may ship), not run: why, elsewhere

    def line(self) -> str:
        """Return it as one line."""
        what = [str(self.goal["rule"]).replace("_", " ")]
        what += [
            f"{name} {self.goal[name]}" for name in ("peer", "n", "workers", "crashes") if name in self.goal
        ]
        bars = [
            f"{bar} {self.goal[bar]}" for bar in ("least", "lower", "most", "to_ship") if bar in self.goal
        ]
        columns = f"{', '.join(what):<50} {self.found:<26} {', '.join(bars):<28}"
        return f"goal {self.goal['number']}: {columns} {self.state}"


def judged(goal: Goal, ours: str, results: Results) -> Verdict:
    """Judge one goal."""
    if goal["rule"] == "judged_elsewhere":
        return Verdict(goal, "", "elsewhere")
    try:
        value, lower, text = RULES[goal["rule"]](goal, ours, results)
    except Missing as missing:
        return Verdict(goal, "", f"not run: {missing}")
    if not is_met(goal, value, lower):
        ships = "to_ship" in goal and is_met(
            {"most" if "most" in goal else "least": goal["to_ship"]}, value, lower
        )
        return Verdict(goal, text, "MISSED, may ship" if ships else "MISSED")
    return Verdict(goal, text, "met")


def is_met(goal: Goal, value: float, lower: float) -> bool:
    """Say whether a value and the lower end of its interval keep to the bars of a goal."""
    return (
        value >= goal.get("least", -math.inf)
        and value <= goal.get("most", math.inf)
        and ("lower" not in goal or lower >= goal["lower"])
    )


def _trials_to_reach(goal: Goal, ours: str, results: Results) -> tuple[float, float, str]:
    bar = float(score.pooled(results.curves(goal["peer"]))[goal["n"] - 1])
    found = score.trials_to_reach(results.curves(ours), bar)
    return found, math.nan, f"{found:.0f} trials"


def _times_peer(goal: Goal, ours: str, results: Results, *, capped: bool = False) -> tuple[float, float, str]:
    condition = "workers" if "workers" in goal else "plain"
    pair = (results.curves(method, condition, capped=capped) for method in (ours, goal["peer"]))
    value, low, high = score.ratio(*pair, goal["n"])
    return value, low, f"x{value:.2f} [{low:.2f}, {high:.2f}]"


def _capped_times_peer(goal: Goal, ours: str, results: Results) -> tuple[float, float, str]:
    return _times_peer(goal, ours, results, capped=True)


def _runs_outside_best(goal: Goal, ours: str, results: Results) -> tuple[float, float, str]:
    missed = score.outside(results.of(ours, "plain"), goal["share"], goal["n"])
    return missed, math.nan, f"{missed:.2%} of runs"


def _kept_with_crashes(goal: Goal, ours: str, results: Results) -> tuple[float, float, str]:
    kept = score.ret(results.curves(ours, "crashes"), goal["n"]) / score.ret(results.curves(ours), goal["n"])
    return kept, math.nan, f"{kept:.0%} of RET@{goal['n']}"


def _same_proposals(goal: Goal, ours: str, results: Results) -> tuple[float, float, str]:
    del goal
    plain = {_where(run): run["proposals"] for run in results.of(ours, "crashes")}
    told = [run for view in RETOLD for run in results.of(ours, view)]
    same = sum(run["proposals"] == plain.get(_where(run)) for run in told)
    return same / len(told), math.nan, f"{same} of {len(told)} searches"


def _where(run: Run) -> tuple[Any, ...]:
    return run["task"], run["instance"], run["seed"]


RULES: dict[str, Callable[[Goal, str, Results], tuple[float, float, str]]] = {
    "trials_to_reach": _trials_to_reach,
    "times_peer": _times_peer,
    "capped_times_peer": _capped_times_peer,
    "runs_outside_best": _runs_outside_best,
    "kept_with_crashes": _kept_with_crashes,
    "same_proposals": _same_proposals,
}
"""Each returns the value, the lower end of its interval (NaN when it has none), and both in words."""
