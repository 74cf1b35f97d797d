"""What a queued trial waits for: the first need that no slot meets, then its place in the queue."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from app.dashboard.summaries.known import MOST_AHEAD
from app.dashboard.values import many
from app.domain.study import Progress, Requires, Study, StudyState
from app.storage.workers import Registered

Slot = dict[str, Any]


def waits(progress: Progress, heard: Collection[Registered], ahead: int) -> list[str]:
    """Return why a queued trial is not leased: of the workers those that were heard lately count."""
    study = progress.study
    is_idle = (
        study.standing.state is StudyState.ACTIVE and study.mirrors is None and not study.standing.running
    )
    if progress.waits_for is not None and not (is_idle and heard):
        return [progress.waits_for, _place(ahead)]
    return [_unmet(study, heard) or _soon(study, heard), _place(ahead)]


def _unmet(study: Study, heard: Collection[Registered]) -> str | None:
    """Return the first need that nobody meets."""
    if not heard:
        return "No worker is connected."
    left = list(heard)
    for meets, unmet in _needs(study):
        left = [worker for worker in left if meets(worker)]
        if not left:
            return unmet
    slots = _slots(left)
    for name, unit, least in _sizes(study.spec.requires):
        most = max((slot.get(name, 0) for slot in slots), default=0)
        slots = [slot for slot in slots if slot.get(name, 0) >= least]
        if not slots:
            return f"It needs {least:g}{unit}; the largest slot that could train it has {most:g}{unit}."
    return None


def _needs(study: Study) -> Iterator[tuple[Callable[[Registered], bool], str]]:
    task, version = study.spec.task, study.task_version
    yield (
        lambda worker: any(each["name"] == task for each in worker.tasks),
        f"No worker that is connected trains task {task!r}.",
    )
    if version is not None:
        yield (
            lambda worker: any(each["name"] == task and each["version"] == version for each in worker.tasks),
            f"The study has begun with version {version} of task {task!r}, and no connected worker has that.",
        )
    for label, value in study.spec.requires.labels.items():
        yield (
            lambda worker, label=label, value=value: worker.labels.get(label) == value,  # type: ignore[misc]
            f"It needs a worker with the label {label}={value}, and none is connected.",
        )
    yield lambda worker: not worker.is_draining, "Every worker that could train it is draining."


def _sizes(requires: Requires) -> Iterator[tuple[str, str, float]]:
    yield "gpus", f" GPU{'' if requires.gpus == 1 else 's'}", requires.gpus
    yield "gpu_memory_gb", " GB of GPU memory", requires.gpu_memory_gb


def _soon(study: Study, heard: Collection[Registered]) -> str:
    """Return who could train it, where everything that it needs is there."""
    could = [
        worker
        for worker in heard
        if all(meets(worker) for meets, _ in _needs(study)) and _fitting(worker, study.spec.requires)
    ]
    slots = sum(len(_fitting(worker, study.spec.requires)) for worker in could)
    where = ", ".join(worker.name for worker in could[:3]) + (" and others" if len(could) > 3 else "")
    if all(worker.running >= len(worker.slots) for worker in could):
        return f"It needs a slot: {many(slots, 'slot')} could train it, on {where}, and all of them are busy."
    return f"{many(slots, 'slot')} could train it, on {where}; the next one that asks is given it."


def _fitting(worker: Registered, requires: Requires) -> list[Slot]:
    return [
        slot
        for slot in worker.slots
        if all(slot.get(name, 0) >= least for name, _, least in _sizes(requires))
    ]


def _slots(of: Sequence[Registered]) -> list[Slot]:
    return [slot for worker in of for slot in worker.slots]


def _place(ahead: int) -> str:
    if ahead >= MOST_AHEAD:
        return f"At least {MOST_AHEAD} trials of this study wait longer."
    if not ahead:
        return "It is the next of its study; studies take turns by their priority."
    return f"{many(ahead, 'trial')} of this study {'waits' if ahead == 1 else 'wait'} longer."
