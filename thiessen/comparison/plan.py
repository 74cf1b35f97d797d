"""From a comparison to its studies: a search for each arm and replicate, and what confirms them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from thiessen.contract import Arm, ComparisonSpec, Cost, StudySpec
from thiessen.contract.comparisons import Unit
from thiessen.contract.words import Scalar
from thiessen.search import trial_seed

CONFIRMING: Final = 1_000_000  # seeds from here on are of no search
MOST_TRIALS: Final = 1_000_000  # of a search that another unit limits
LIMITS: Final[dict[Unit, str]] = {"trials": "max_trials", "updates": "max_updates", "seconds": "max_seconds"}


@dataclass(frozen=True)
class Planned:
    """A search of a comparison."""

    label: str
    replicate: int  # from 1 on
    study: StudySpec


def searches(spec: ComparisonSpec) -> Iterator[Planned]:
    """Yield every search, those of one replicate beside each other. Raises ValidationError."""
    for replicate in range(1, spec.replicates + 1):
        for arm in spec.arms:
            name = f"{spec.name}.{arm.label}.{replicate}"
            yield Planned(arm.label, replicate, _study(spec, arm, name, trial_seed(spec.seed, replicate)))


def confirmation(spec: ComparisonSpec, arm: Arm, around: int) -> StudySpec:
    """Return the study that trains configs of an arm again; `around` counts from 1 on, with other seeds."""
    name = f"{spec.name}.{arm.label}.confirm{'' if around == 1 else f'-{around}'}"
    study = _study(spec, arm, name, trial_seed(spec.seed, CONFIRMING + around))
    free = {"strategy": "random", "duplicates": "allow", "max_running": None, "max_trials": most_runs(spec)}
    unlimited = {"max_updates": None, "max_seconds": None}
    return study.model_copy(update={**free, **unlimited})


def most_runs(spec: ComparisonSpec) -> int:
    """Return how many runs confirm the configs of an arm."""
    if spec.confirm is None:
        return 0
    return (spec.confirm.configs or spec.replicates) * spec.confirm.seeds


def cost(spec: ComparisonSpec) -> Cost:
    """Return what a comparison is going to cost, as far as that can be said before."""
    count, unit, most = len(spec.arms) * spec.replicates, spec.budget.unit, spec.budget.most
    runs = most_runs(spec) * len(spec.arms)
    each = [settings(spec, arm).get("updates") for arm in spec.arms]
    known = [updates for updates in each if isinstance(updates, int) and updates > 0]
    updates = None
    if unit != "seconds" and len(known) == len(each):
        searched = most * len(each) if unit == "updates" else most * sum(known)
        updates = round(spec.replicates * searched) + most_runs(spec) * sum(known)
    return Cost(
        searches=count,
        trials=count * most if unit == "trials" else None,
        runs=runs,
        updates=updates,
        seconds=count * most if unit == "seconds" else None,
    )


def settings(spec: ComparisonSpec, arm: Arm) -> dict[str, Scalar]:
    """Return what every trial of an arm trains with: its own, and what it does not search of all arms'."""
    shared = {name: value for name, value in spec.settings.items() if name not in arm.space}
    return {**shared, **arm.settings}


def dimensions(spec: ComparisonSpec, arm: Arm) -> Sequence[str]:
    """Return the names of what the searches of an arm choose."""
    return [name for name in _space(spec, arm) if name not in settings(spec, arm)]


def _study(spec: ComparisonSpec, arm: Arm, name: str, seed: int) -> StudySpec:
    unit = spec.budget.unit
    return StudySpec.model_validate(
        {
            "name": name,
            "task": arm.task or spec.task,
            "space": _space(spec, arm),
            "strategy": spec.strategy if arm.strategy is None else arm.strategy,
            "seed": seed,
            "direction": spec.direction,
            "max_running": spec.parallel,
            "requires": spec.requires.model_dump(),
            "priority": spec.priority,
            "max_trials": MOST_TRIALS,
            LIMITS[unit]: spec.budget.most,
        }
    )


def _space(spec: ComparisonSpec, arm: Arm) -> dict[str, Any]:
    """Return what is searched, an arm's own dimensions first, and what is set: dimensions of one choice."""
    fixed = settings(spec, arm)
    declared = {**arm.space, **{name: each for name, each in spec.space.items() if name not in arm.space}}
    searched = {
        name: each.model_dump(exclude_unset=True) for name, each in declared.items() if name not in fixed
    }
    return searched | {name: {"type": "categorical", "choices": [value]} for name, value in fixed.items()}
