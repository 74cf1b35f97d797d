"""What is known of several studies side by side, and whether that is fair to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from thiessen.contract import Study

ALIKE: Final = {  # what a fair comparison has alike, as people call it
    "max_trials": "trials allowed",
    "max_gpu_hours": "GPU hours allowed",
    "max_updates": "updates allowed",
    "max_seconds": "seconds allowed",
    "deadline": "deadlines",
    "target": "targets",
    "finished": "trials finished",
    "imported": "trials imported",
    "task": "tasks",
    "direction": "directions",
}

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Check:
    """Something that a fair comparison has alike: whether it has, and what there is."""

    name: str
    is_met: bool
    told: str


def facts(study: "Study") -> dict[str, Any]:
    """Return what is known of a study without its trials."""
    from thiessen.integrations import KNOWN
    from thiessen.search.settings import in_words

    counts = study.counts
    return {
        "study": study.name,
        "task": study.task,
        "strategy": in_words(study.strategy, KNOWN),
        "direction": study.direction,
        "max_trials": study.max_trials,
        "expected": study.expected,
        "max_gpu_hours": study.max_gpu_hours,
        "max_updates": study.max_updates,
        "max_seconds": study.max_seconds,
        "deadline": study.deadline,
        "target": study.target,
        "finished": counts.finished,
        "succeeded": counts.succeeded,
        "diverged": counts.diverged,
        "pruned": counts.pruned,
        "failed": counts.failed,
        "cancelled": counts.cancelled,
        "imported": study.imported,
        "gpu_hours": study.gpu_hours,
        "best": study.best.value if study.best else None,
    }


def checks(known: Sequence[Facts]) -> list[Check]:
    """Return whether these studies have alike what a fair comparison has, one after the other."""
    found = []
    for name, called in ALIKE.items():
        is_met = len({each[name] for each in known}) == 1
        whose = ", ".join(f"{_told(each[name])} in {each['study']}" for each in known)
        found.append(Check(called, is_met, _told(known[0][name]) if is_met else whose))
    return found


def differences(known: Sequence[Facts]) -> list[str]:
    """Return what a fair comparison has alike and these studies have not, a sentence for each."""
    return [f"{check.name} differ ({check.told})" for check in checks(known) if not check.is_met]


def _told(fact: object) -> str:
    return "none" if fact is None else f"{fact:g}" if isinstance(fact, float) else str(fact)
