"""Trials that people add: configs to try, and results to learn from."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.errors import InvalidRequest, StudyEnded, StudyIsCompared, StudyIsMirror
from app.domain.study import Duplicates, Standing, Study
from app.domain.trial import Origin, Result, TrialState, Who
from app.lifecycle.move import born, move, settle
from app.storage import Transaction, bell, studies, trials
from app.storage.trials import Place
from thiessen.space import AskedFor, Config, Dimension, SpaceError


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A config to add, or with its result a finished trial."""

    config: Config
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)  # of a finished trial of an open study
    result: Result | None = None
    notes: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Added:
    """What became of a config: a new trial, or the one it had already."""

    number: int
    state: TrialState
    is_new: bool


def enqueue(tx: Transaction, project: str, name: str, sent: list[Candidate], who: str) -> list[Added]:
    """Add all of them or none. Raises StudyNotFound, StudyEnded, InvalidRequest."""
    studies.lock(tx, studies.named(tx, project, name).id)
    study = studies.named(tx, project, name)
    if study.archived_at is not None:
        raise StudyEnded(name, "was deleted; it takes no more trials")
    if study.mirrors is not None:
        raise StudyIsMirror(name)
    if study.comparison is not None:
        raise StudyIsCompared(name, study.comparison)
    standing = study.standing
    added = []
    for index, candidate in enumerate(sent):
        valid = _valid(study, index, candidate)
        one, standing = _add(tx, study, standing, valid, who)
        added.append(one)
    settle(tx, standing, who)
    bell.ring(tx, study.id)
    return added


def _add(
    tx: Transaction, study: Study, standing: Standing, candidate: Candidate, who: str
) -> tuple[Added, Standing]:
    is_open = study.spec.space.is_open  # then a config is not known before its end, and may come twice
    known = None if is_open else trials.of_config(tx, study.id, candidate.config)
    is_repeat = is_open or study.spec.duplicates is Duplicates.ALLOW
    result, origin = candidate.result, Origin.IMPORTED if candidate.result else Origin.ENQUEUED
    if result is not None and result.value is not None:
        result = replace(result, loss=study.spec.direction.loss(result.value), value=None)
    if known is not None:
        if study.spec.duplicates is Duplicates.FORBID:
            return _known(tx, known, result, standing, who)
        is_repeat = True
        if result is None and known.state in {TrialState.SUCCEEDED, TrialState.DIVERGED}:
            result = Result(state=known.state, loss=trials.loss(tx, known.id))
            origin = Origin.MEMOISED
    if origin is not Origin.IMPORTED and standing.budget_is_used_up:
        raise StudyEnded(
            study.spec.name,
            f"has used up its budget of {standing.max_trials} trials; extend max_trials to add more",
        )
    place, _, standing = born(
        tx,
        study,
        standing,
        candidate.config,
        origin=origin,
        who=who,
        result=result,
        is_repeat=is_repeat,
        notes=candidate.notes,
        attributes=candidate.attributes,
    )
    return Added(number=place.number, state=place.state, is_new=True), standing


def _known(
    tx: Transaction, known: Place, result: Result | None, standing: Standing, who: str
) -> tuple[Added, Standing]:
    """Return the trial that a config has; one that has no result and no worker gets what is imported."""
    if result is None or known.state not in {TrialState.QUEUED, TrialState.FAILED}:
        return Added(number=known.number, state=known.state, is_new=False), standing
    standing = move(tx, known, result.state, by=Who.PERSON, who=who, loss=result.loss)
    return Added(number=known.number, state=result.state, is_new=False), standing


def _valid(study: Study, index: int, candidate: Candidate) -> Candidate:
    """Return the candidate with what it asked for, where it is finished and the space open."""
    place, space, result = f"trials.{index}", study.spec.space, candidate.result
    if candidate.dimensions and (result is None or not space.is_open):
        raise InvalidRequest(
            f"{place}.dimensions: only a finished trial of an open study brings dimensions; leave them out."
        )
    if result is not None and result.asked is not None:
        raise InvalidRequest(f"{place}.outcome.asked: what is imported says so itself; leave it out.")
    try:
        space.check_start(candidate.config)
    except SpaceError as error:
        raise InvalidRequest(f"{place}.config: {error}") from error
    if result is None or not space.is_open:
        return candidate
    asked = AskedFor(config=candidate.config, dimensions=candidate.dimensions)
    return replace(candidate, result=replace(result, asked=asked))
