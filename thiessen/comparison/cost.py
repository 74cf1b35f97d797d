"""What a comparison costs, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thiessen.contract import ComparisonSpec, Cost


def in_words(spec: "ComparisonSpec", cost: "Cost") -> str:
    """Return a cost with how it comes about: 2 arms x 10 searches x 20 trials = 400 trials, then 60 runs."""
    unit, most = spec.budget.unit, spec.budget.most
    total = cost.searches * most
    searched = f"{len(spec.arms)} arms x {_many(spec.replicates, 'searches')} x {_many(most, unit)}"
    runs = f", then {_many(cost.runs, 'runs')}" if cost.runs else ""
    updates = "" if cost.updates is None else f"; {_many(cost.updates, 'updates')} in all"
    return f"{searched} = {_many(total, unit)}{runs}{updates}"


def _many(count: float, units: str) -> str:
    """Return a number of units, one of them without its plural's ending."""
    ending = "es" if units == "searches" else "s"
    number = f"{count:,.0f}" if count == round(count) else f"{count:,g}"
    return f"{number} {units.removesuffix(ending) if count == 1 else units}"
