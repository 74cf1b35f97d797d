"""A study of Optuna of one objective has a mirror: an ordinary study, with every trial that has finished."""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from app.domain.mirror import fitted, result
from app.domain.optuna import Kind, OptunaState, OptunaStudyId
from app.domain.study import Budget, Direction, Duplicates, Remarks, Spec
from app.domain.trial import Origin
from app.lifecycle import change
from app.lifecycle.move import born
from app.lifecycle.study_event import tell_of_study
from app.storage import Transaction, asked, optuna, studies
from app.storage.optuna import Locked, Standing
from thiessen.search import Random
from thiessen.search.settings import strategy_to_json
from thiessen.space import OpenSpace

TASK: Final = "optuna"
LONGEST_NAME: Final = 100
LONGEST_BEGINNING: Final = 70  # of a name, where something is added to it


def create(tx: Transaction, project: str, study: Locked, name: str, who: str) -> None:
    """Store the mirror of a new study: of its name, where that is free and is one of ours."""
    remarks = Remarks(
        tags=(TASK,),
        notes=f"Mirrors the study {name!r} of Optuna: every trial of it that has finished.",
        attributes={"optuna_study": study.id},
    )
    for each in _names(name, study.id):
        spec = Spec(
            name=each,
            task=TASK,
            space=OpenSpace(),
            strategy=strategy_to_json(Random()),  # is never asked: nothing of a mirror is leased
            seed=0,
            max_attempts=1,
            direction=Direction(study.directions[0]),
            duplicates=Duplicates.ALLOW,
        )
        stored = studies.add(tx, project, spec, Budget(max_trials=1), remarks, {}, mirrors=study.id)
        if stored is not None:
            tell_of_study(tx, stored.id, "study.created", who)
            return


def _names(name: str, study_id: OptunaStudyId) -> Iterator[str]:
    """Yield what a mirror may be called, the best first."""
    spelled = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-")
    if spelled == name and 1 <= len(name) <= LONGEST_NAME:
        yield name
    beginning = f"{spelled[:LONGEST_BEGINNING] or TASK}-{study_id}"
    yield beginning
    yield from (f"{beginning}-{number}" for number in count(2))


def add(tx: Transaction, study: Locked, finished: Sequence[Standing], who: str) -> None:
    """Add trials that have just finished to the mirror of a locked study, if it has one still."""
    mirror = studies.mirror_of(tx, study.id)
    if mirror is None:
        return
    standing, space = mirror.standing, asked.space(tx, mirror.id)
    for trial in finished:
        found = fitted(space, optuna.entries(tx, trial.id, Kind.PARAM))
        is_silent = trial.state is OptunaState.PRUNED and not trial.results
        steps = optuna.entries(tx, trial.id, Kind.STEP) if is_silent else {}
        ended = result(trial.state, trial.results, steps, mirror.spec.direction, found.asked)
        _, _, standing = born(
            tx,
            mirror,
            standing,
            found.asked.config,
            origin=Origin.IMPORTED,
            who=who,
            result=ended,
            is_repeat=True,
            notes=found.note,
            attributes={"optuna_number": trial.number},
        )
        space = found.space


def archive(tx: Transaction, study: Locked, who: str) -> None:
    """Archive the mirror of a locked study, if it has one still."""
    mirror = studies.mirror_of(tx, study.id)
    if mirror is not None:
        change.archive(tx, mirror.project, mirror.spec.name, who)
