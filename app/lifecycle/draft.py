"""A study as it is submitted, in the words of the domain."""

from datetime import datetime
from typing import Any

from app.domain.comparison import Part, Place
from app.domain.study import Budget, Direction, Duplicates, Remarks, Requires, Spec
from app.domain.trial import Cause
from thiessen import contract
from thiessen.integrations import KNOWN
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.search.strategy import settled
from thiessen.space import Space, SpaceError


def spec(sent: contract.StudySpec) -> Spec:
    """Return the study that was sent. Raises SpaceError, StrategyError."""
    space = Space.declared(sent.model_dump(exclude_unset=True)["space"])
    strategy = settled(strategy_from_json(sent.strategy, KNOWN), space, sent.max_trials)
    if space.is_open and sent.duplicates == "memoise":
        raise SpaceError(
            "it is open, so what a trial asks for is known when it ends: duplicates cannot be memoise."
        )
    return Spec(
        name=sent.name,
        task=sent.task,
        space=space,
        strategy=strategy_to_json(strategy),
        seed=sent.seed,
        max_attempts=sent.max_attempts,
        direction=Direction(sent.direction),
        retry=tuple(Cause(cause) for cause in dict.fromkeys(sent.retry)),
        stopping=None if sent.stopping is None else sent.stopping.model_dump(),
        duplicates=Duplicates(sent.duplicates),
        failures_repel=sent.failures_repel,
        allow_versions=sent.allow_versions,
        requires=Requires(**sent.requires.model_dump()),
    )


def budget(sent: contract.StudySpec) -> Budget:
    """Return how far the study that was sent goes."""
    target = None if sent.target is None else Direction(sent.direction).loss(sent.target)
    return Budget(
        max_trials=sent.max_trials,
        max_running=sent.max_running,
        max_gpu_hours=sent.max_gpu_hours,
        max_updates=sent.max_updates,
        max_seconds=sent.max_seconds,
        deadline=sent.deadline,
        target=target,
    )


def remarks(sent: contract.StudySpec) -> Remarks:
    """Return what was written on the study that was sent."""
    return Remarks(
        priority=sent.priority, tags=tuple(sent.tags), notes=sent.notes, attributes=sent.attributes
    )


def submitted(budget: Budget) -> dict[str, Any]:
    """Return the budget as JSON, to be compared when the same study is sent again."""
    return {
        name: value.timestamp() if isinstance(value, datetime) else value
        for name, value in vars(budget).items()
        if value is not None
    }


def part(sent: contract.StudySpec, place: Place) -> Part:
    """Return a study of a comparison. Raises SpaceError, StrategyError."""
    of_study = budget(sent)
    return Part(
        place=place,
        spec=spec(sent),
        budget=of_study,
        remarks=remarks(sent),
        submitted=submitted(of_study),
    )
