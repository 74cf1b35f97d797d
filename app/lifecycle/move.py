"""Move a trial: its state, its study's counters, the event and the observation, all in one transaction.

Whoever moves a trial has locked its study's row before, and has read since then where the trial stands.
"""

from typing import Any, Final

from app.domain.errors import InvalidRequest
from app.domain.study import EARLY, Ending, Standing, Study, StudyState
from app.domain.trial import MOVES, Cause, Move, Origin, Result, TrialState, Who
from app.lifecycle.advance import advance
from app.lifecycle.study_event import tell_of_study
from app.storage import Transaction, asked, attempts, bell, events, observations, studies, trials
from app.storage.attempts import Effort
from app.storage.events import Happening
from app.storage.trials import Given, NewLease, Place
from thiessen.search import Proposal, trial_seed
from thiessen.space import AskedFor, Config, SpaceError

_PERMITTED: Final = frozenset(MOVES)


class ImpossibleMove(AssertionError):  # noqa: N818 - a mistake of ours, never of a caller
    """A move that the table of moves does not have."""


def move(
    tx: Transaction,
    place: Place,
    after: TrialState,
    *,
    by: Who,
    who: str,
    cause: Cause | None = None,
    attempt: int | None = None,
    loss: float | None = None,
    gpus: int = 0,
    max_attempts: int | None = None,
    locked: Standing | None = None,
    told: AskedFor | None = None,
    spent: Effort | None = None,
) -> Standing:
    """Move a trial and return its study's counters; `gpus` are those that this sets free.

    What the attempt that ends it has `spent` is looked up where it is not said.

    Who has locked the study's row, and changed nothing of it since, says what it counts. Terminal moves are
    observations, and so is the way back from one. What a trial of an open study was `told` to have asked for
    goes with it. Raises InvalidRequest where that cannot be.
    """
    check(Move(place.state, after, by, cause))
    is_observed = after.is_terminal or place.state.is_terminal
    if spent is None and attempt is not None and after.is_terminal and not place.state.is_terminal:
        spent = attempts.effort_of(tx, place.id, attempt)
    updates, milliseconds = spent or (0, 0)
    standing = studies.count(
        tx,
        place.study_id,
        locked=locked,
        events=1,
        observations=int(is_observed),
        gpus_running=-gpus,
        updates=updates,
        trained_milliseconds=milliseconds,
        **{place.state.value: -1, after.value: 1},
    )
    trials.moved(tx, place, after, cause=cause, loss=loss, max_attempts=max_attempts)
    moved = _moved(place.number, place.state, after, who=who, cause=cause, attempt=attempt)
    events.append(tx, place.study_id, standing.events, moved)
    if is_observed:
        observations.append(
            tx,
            place.study_id,
            standing.observations,
            trial=place.number,
            attempt=attempt or place.attempts,
            outcome=after,
            loss=loss,
            cause=cause,
        )
        if told is not None:
            _learn(tx, place, standing.observations, told, by)
    return settle(tx, standing, who, loss=loss if after is TrialState.SUCCEEDED else None)


def _learn(tx: Transaction, place: Place, seq: int, told: AskedFor, by: Who) -> None:
    """Keep what a trial of an open study asked for with its observation. Raises InvalidRequest."""
    trials.came_to(tx, place.id, told.config)
    space = asked.space(tx, place.study_id)
    try:
        after, news = space.after(told.config, told.dimensions), told.news_to(space)
    except SpaceError as error:
        if by is Who.SERVER:  # a result that came late, and does not fit any more: it teaches nothing
            return
        raise InvalidRequest(f"trial {place.number} asked for what cannot be: {error}") from error
    asked.append(tx, place.study_id, seq, news, None if after is space else after)


def give(tx: Transaction, place: Place, lease: NewLease, *, who: str, gpus: int) -> Given:
    """Give a trial to a worker, which was queued or whose worker before was silent for too long."""
    is_lost = place.state is TrialState.RUNNING
    cause = Cause.LOST if is_lost else None
    check(Move(place.state, TrialState.RUNNING, Who.WORKER, cause))
    freed = end_attempt_of(tx, place, Cause.LOST)
    changes: dict[str, Any] = {} if is_lost else {place.state.value: -1, TrialState.RUNNING.value: 1}
    standing = studies.count(
        tx, place.study_id, events=1, leases=1, floor=lease.floor, gpus_running=gpus - freed, **changes
    )
    given = trials.give(tx, place, lease, cause)
    moved = _moved(
        place.number, place.state, TrialState.RUNNING, who=who, cause=cause, attempt=place.attempts + 1
    )
    events.append(tx, place.study_id, standing.events, moved)
    return given


def born(
    tx: Transaction,
    study: Study,
    standing: Standing,
    config: Config,
    *,
    origin: Origin,
    who: str,
    result: Result | None = None,
    is_repeat: bool = False,
    proposal: Proposal | None = None,
    lease: NewLease | None = None,
    gpus: int = 0,
    notes: str = "",
    attributes: dict[str, Any] | None = None,
) -> tuple[Place, Given, Standing]:
    """Store a new trial of a study whose row is locked.

    One with a result is born finished; one with a lease is given to a worker at once.
    """
    birth = TrialState.QUEUED if result is None else result.state
    check(Move(None, birth, Who.PERSON if proposal is None else Who.SERVER))
    state, loss = birth, None if result is None else result.loss
    number, turn = standing.trials, standing.turns
    happenings = [_created(number, birth, who, origin)]
    if lease is not None:
        check(Move(birth, TrialState.RUNNING, Who.WORKER))
        state = TrialState.RUNNING
        happenings.append(_moved(number, birth, state, who=who, attempt=1))
    standing = studies.count(
        tx,
        study.id,
        locked=standing,
        trials=1,
        turns=int(proposal is not None),
        imported=int(origin is Origin.IMPORTED),
        events=len(happenings),
        observations=int(state.is_terminal),
        leases=int(lease is not None),
        floor=-1.0 if lease is None else lease.floor,
        gpus_running=gpus,
        **{state.value: 1},
    )
    place, given = trials.add(
        tx,
        study,
        number,
        origin=origin,
        config=config,
        seed=trial_seed(study.spec.seed, number),
        is_repeat=is_repeat,
        state=state,
        lease=lease,
        reasons=None if proposal is None else proposal.reasons.to_json(),
        turn=None if proposal is None else turn,
        watermark=None if proposal is None else proposal.reasons.watermark,
        loss=loss,
        notes=notes,
        attributes=attributes,
    )
    events.append(tx, study.id, standing.events, *happenings)
    if state.is_terminal:
        observations.append(
            tx, study.id, standing.observations, trial=number, attempt=0, outcome=state, loss=loss
        )
    if result is not None and result.asked is not None:
        _learn(tx, place, standing.observations, result.asked, Who.PERSON)
    found = loss if state is TrialState.SUCCEEDED else None
    return place, given, settle(tx, standing, who, loss=found)


def settle(tx: Transaction, standing: Standing, who: str, loss: float | None = None) -> Standing:
    """Complete a study that has come to its end, or reopen one that has not; `loss` has just been found."""
    reason = standing.reason
    if reason not in EARLY and loss is not None and standing.target is not None and loss <= standing.target:
        reason = Ending.TARGET
    if reason not in EARLY:
        reason = standing.effort_is_used_up or reason
    if reason is None and standing.budget_is_used_up:
        reason = Ending.MAX_TRIALS
    is_done = reason is not None and not standing.running and (reason in EARLY or not standing.queued)
    state = standing.state
    if is_done and state is StudyState.ACTIVE:
        state = StudyState.COMPLETED
    elif state is StudyState.COMPLETED and not is_done:
        state = StudyState.ACTIVE
    if (state, reason) == (standing.state, standing.reason):
        return standing
    if state is not standing.state:
        kind = "study.completed" if is_done else "study.changed"
        standing = tell_of_study(tx, standing.id, kind, who, state=state.value, reason=reason)
    studies.settle(tx, standing.id, state, reason)
    bell.ring(tx, standing.id)
    if state is StudyState.COMPLETED and standing.comparison_id is not None:
        advance(tx, standing.comparison_id, who)
    return studies.standing(tx, standing.id)


def tell_of_notes(tx: Transaction, place: Place, who: str) -> None:
    """Append that somebody wrote on a trial."""
    standing = studies.count(tx, place.study_id, events=1)
    noted = Happening(kind="trial.noted", who=who, trial=place.number)
    events.append(tx, place.study_id, standing.events, noted)


def end_attempt_of(tx: Transaction, place: Place, outcome: str) -> int:
    """End the attempt that a running trial is in; return how many GPUs that sets free."""
    if place.state is not TrialState.RUNNING or place.lease_id is None:
        return 0
    attempts.end(tx, place.lease_id, outcome)
    return attempts.gpus_of(tx, place.lease_id)


def check(step: Move) -> None:
    """Insist that the table has this move. Raises ImpossibleMove."""
    if step not in _PERMITTED:
        raise ImpossibleMove(f"no trial goes {step.before} -> {step.after} by {step.who} with {step.cause}")


def _created(trial: int, state: TrialState, who: str, origin: Origin) -> Happening:
    return Happening(kind="trial.created", who=who, trial=trial, after=state, data={"origin": origin.value})


def _moved(
    trial: int,
    before: TrialState,
    after: TrialState,
    *,
    who: str,
    cause: Cause | None = None,
    attempt: int | None = None,
) -> Happening:
    return Happening(
        kind="trial.moved", who=who, trial=trial, attempt=attempt, before=before, after=after, cause=cause
    )
