"""Performance profiles: how often an arm is among the fast ones, over several comparisons."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from thiessen.comparison.training import Over
from thiessen.comparison.values import computed, known
from thiessen.contract import ComparisonReport, Profile, ProfileLine

LARGEST: Final = 4.0  # times the least effort; what is slower counts as not reached
Needed = Mapping[str, float]  # by arm; infinite where it never reaches the target


def profile(reports: Sequence[ComparisonReport], over: Over = "updates") -> Profile:
    """Return the profiles of the arms that all comparisons have, each comparison being one workload.

    A workload on which no arm reaches its target counts against all of them. Raises ValueError where there is
    nothing to profile.
    """
    names = [f"{report.project}/{report.name}" for report in reports]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice} is named twice; each comparison is one workload.")
    labels = _shared(reports)
    needed = [_needed(report, over) for report in reports]
    factors = [_factors({label: each[label] for label in labels}) for each in needed]
    return Profile(
        comparisons=[report.name for report in reports],
        over=over,
        largest_factor=LARGEST,
        lines=[_line(label, [each[label] for each in factors]) for label in labels],
        needed={
            report.name: {label: known(effort) for label, effort in each.items()}
            for report, each in zip(reports, needed, strict=True)
        },
    )


def _shared(reports: Sequence[ComparisonReport]) -> list[str]:
    """Return the labels that all comparisons have, in the order of the first. Raises ValueError."""
    if not reports:
        raise ValueError("name at least one comparison.")
    others = [{arm.label for arm in report.arms} for report in reports[1:]]
    labels = [arm.label for arm in reports[0].arms if all(arm.label in each for each in others)]
    if not labels:
        raise ValueError(
            f"no arm is in all of {', '.join(report.name for report in reports)}: profiles are of arms with "
            "the same label. Label what is alike alike."
        )
    return labels


def _needed(report: ComparisonReport, over: Over) -> dict[str, float]:
    """Return what reaching the target took each arm."""
    efforts = {arm.label: getattr(arm.reached, over) if arm.reached else None for arm in report.arms}
    return {label: math.inf if effort is None else effort for label, effort in efforts.items()}


def _factors(needed: Needed) -> dict[str, float]:
    """Return how many times the least effort each arm needs."""
    least = min(needed.values())
    if math.isinf(least):
        return dict.fromkeys(needed, math.inf)
    return {
        label: 1.0 if effort == least else effort / least if least else math.inf
        for label, effort in needed.items()
    }


def _line(label: str, factors: Sequence[float]) -> ProfileLine:
    """Return the share of the workloads up to each factor: a step at each that an arm needs."""
    steps = sorted({1.0, *(factor for factor in factors if factor < LARGEST), LARGEST})
    shares = [sum(factor <= step for factor in factors) / len(factors) for step in steps]
    widths = [after - before for before, after in pairwise(steps)]
    area = math.fsum(width * share for width, share in zip(widths, shares[:-1], strict=True))
    return ProfileLine(label=label, factor=steps, share=shares, area=computed(area / (LARGEST - 1)))
