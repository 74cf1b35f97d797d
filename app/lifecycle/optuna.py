"""What a program of Optuna does through its storage. Each is a step."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from app.domain.errors import InvalidRequest, OptunaStudyExists, TrialFinished
from app.domain.optuna import (
    LARGEST,
    MOST_PARAMS,
    Draft,
    Entry,
    OptunaState,
    OptunaStudy,
    OptunaTrialId,
    must_be_compatible,
    must_be_distribution,
    must_fit,
)
from app.lifecycle import mirror
from app.storage import Transaction, clock, optuna
from app.storage.optuna import Locked, Standing

UNNAMED: Final = OptunaTrialId(0)  # of a trial that is not stored yet


def create(
    tx: Transaction,
    project: str,
    name: str,
    directions: Sequence[str],
    attributes: Sequence[Entry],
    who: str,
) -> OptunaStudy:
    """Store a study; one of one objective gets its mirror.

    Raises OptunaStudyExists, ProjectNotFound, QuotaUsedUp, InvalidRequest.
    """
    study = optuna.create(tx, project, name, directions)
    if study is None:
        raise OptunaStudyExists(name)
    _describe(tx, study, attributes)
    if len(directions) == 1:
        mirror.create(tx, project, study, name, who)
    return optuna.read(tx, project, study.id)


def describe(tx: Transaction, project: str, study_id: int, attributes: Sequence[Entry]) -> None:
    """Set attributes of a study. Raises OptunaStudyNotFound, InvalidRequest."""
    _describe(tx, optuna.locked(tx, project, study_id), attributes)


def _describe(tx: Transaction, study: Locked, attributes: Sequence[Entry]) -> None:
    size = study.size + sum(optuna.set_attribute(tx, study.id, entry) for entry in attributes)
    _must_be_small(size, "The attributes of this study")
    optuna.resize(tx, study.id, size)


def remove(tx: Transaction, project: str, study_id: int, who: str) -> None:
    """Remove a study with all its trials; its mirror is archived. Raises OptunaStudyNotFound."""
    study = optuna.locked(tx, project, study_id)
    mirror.archive(tx, study, who)
    optuna.remove(tx, study.id)


def add(tx: Transaction, project: str, study_id: int, drafts: Sequence[Draft], who: str) -> list[Standing]:
    """Add trials to a study. Raises OptunaStudyNotFound, DistributionDiffers, InvalidRequest."""
    study, now = optuna.locked(tx, project, study_id), clock.read(tx)
    added = [_begun(tx, study, place, draft, now) for place, draft in enumerate(drafts)]
    _keep(tx, study, added, who)
    return added


def change(tx: Transaction, project: str, trial_id: int, draft: Draft, who: str) -> bool:
    """Set what is told of a trial; False, and nothing is set, where it was to run and runs already.

    Raises OptunaTrialNotFound, TrialFinished, DistributionDiffers, InvalidRequest.
    """
    study = optuna.locked_of(tx, project, trial_id)
    trial = optuna.stand(tx, trial_id)
    if trial.state.is_finished:
        raise TrialFinished(trial.number, trial.state)
    if draft.state is OptunaState.RUNNING is trial.state:
        return False
    _refereed(tx, study, draft)
    for entry in draft.entries:
        trial = optuna.set_entry(tx, trial, entry)
    results = trial.results if draft.values is None else draft.values
    trial = trial._replace(results=results, seq=study.seq + 1)
    if draft.state is not None:
        trial = _moved(trial, draft.state, clock.read(tx))
    _must_be_whole(trial, study)
    optuna.change(tx, trial)
    _keep(tx, study, [trial], who)
    return True


def _begun(tx: Transaction, study: Locked, place: int, draft: Draft, now: datetime) -> Standing:
    """Store a new trial with all its entries."""
    state = draft.state or OptunaState.RUNNING
    trial = Standing(
        id=UNNAMED,
        number=study.trials + place,
        seq=study.seq + place + 1,
        state=state,
        results=draft.values,
        started_at=draft.started_at or (None if state is OptunaState.WAITING else now),
        completed_at=draft.completed_at or (now if state.is_finished else None),
        size=sum(entry.size for entry in draft.entries),
        entries=len(draft.entries),
    )
    _must_be_whole(trial, study)
    _refereed(tx, study, draft)
    stored = optuna.begin(tx, study.id, trial)
    for at, entry in enumerate(draft.entries):
        optuna.add_entry(tx, stored._replace(entries=at), entry)
    return stored


def _moved(trial: Standing, state: OptunaState, now: datetime) -> Standing:
    if state is OptunaState.RUNNING:
        return trial._replace(state=state, started_at=now)
    return trial._replace(state=state, completed_at=now if state.is_finished else None)


def _refereed(tx: Transaction, study: Locked, draft: Draft) -> None:
    """See that every parameter goes with what other trials have; the lock keeps others from deciding too."""
    for name, text in draft.distributions.items():
        known = optuna.distribution(tx, study.id, name)
        if known == text:
            continue
        must_be_distribution(name, text)
        if known is not None:
            must_be_compatible(name, known, text)
        elif optuna.add_dimension(tx, study.id, name, text) > MOST_PARAMS:
            raise InvalidRequest(f"The study would have more than {MOST_PARAMS} parameters. Use fewer names.")


def _must_be_whole(trial: Standing, study: Locked) -> None:
    must_fit(trial.results, trial.state, len(study.directions))
    _must_be_small(trial.size, f"What trial {trial.number} has")


def _must_be_small(size: int, what: str) -> None:
    if size > LARGEST:
        raise InvalidRequest(
            f"{what} would take {size:,} characters, of {LARGEST:,} at most. Keep files elsewhere."
        )


def _keep(tx: Transaction, study: Locked, written: Sequence[Standing], who: str) -> None:
    """Count and mirror what was written in this step. Every trial that is new or changed comes by, once."""
    trials = max(study.trials, written[-1].number + 1)
    optuna.advance(tx, study, trials=trials, seq=written[-1].seq)
    finished = [trial for trial in written if trial.state.is_finished]
    if finished and len(study.directions) == 1:
        mirror.add(tx, study, finished, who)
