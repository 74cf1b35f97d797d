"""What a worker says of its attempt: it goes on, it has a result, it broke, it gives the trial back."""

from datetime import datetime, timedelta
from typing import Any

from app import meters
from app.domain.errors import LeaseLost, ResultDiffers
from app.domain.trial import Cause, Fault, Result, TrialState
from app.storage import Store, Transaction, attempts, observations, studies, trials
from app.storage.attempts import Held


def heartbeat(store: Store, lease_id: str, points: list[dict[str, Any]], lease_for: timedelta) -> datetime:
    """Renew the lease, keep the new points, and return when it expires now. Raises LeaseLost."""

    def step(tx: Transaction) -> datetime:
        is_held = trials.renew(
            tx, lease_id, lease_for
        )  # first: it locks the trial against a twin of this call
        held = _given(tx, lease_id)
        leased = trials.leased(tx, lease_id)
        if not is_held or leased is None:
            raise _lost(lease_id, held)
        attempts.report(tx, held, lease_id, points)
        return leased.expires_at

    expires_at = store.write(step)
    meters.REPORTS.inc(len(points))
    return expires_at


def complete(store: Store, lease_id: str, result: Result) -> None:
    """End the attempt and its trial with a result, or repeat that. Raises LeaseLost, ResultDiffers."""

    def step(tx: Transaction) -> bool:
        held = _held(tx, lease_id)
        if held.ended_at is not None:
            _accept_repeat(
                tx, lease_id, held, outcome=result.state, loss=result.loss, message=result.diverged
            )
            return False
        _end_trial(tx, lease_id, held, result.state, loss=result.loss)
        attempts.end(tx, lease_id, result.state, loss=result.loss, message=result.diverged)
        return True

    if store.write(step):
        meters.RESULTS.labels(result.state).inc()


def fail(store: Store, lease_id: str, fault: Fault) -> None:
    """End the attempt with a fault; the trial queues again while it has attempts. Raises as `complete`."""

    def step(tx: Transaction) -> TrialState | None:
        held = _held(tx, lease_id)
        if held.ended_at is not None:
            _accept_repeat(tx, lease_id, held, outcome=fault.cause, loss=None, message=fault.message)
            return None
        is_last = held.number >= held.max_attempts
        if is_last:
            _end_trial(tx, lease_id, held, TrialState.FAILED, cause=fault.cause)
        elif not trials.put_back(tx, lease_id, unused=False):
            raise _lost(lease_id, held)
        attempts.end(tx, lease_id, fault.cause, message=fault.message, traceback=fault.traceback)
        return TrialState.FAILED if is_last else TrialState.QUEUED

    state = store.write(step)
    if state is TrialState.FAILED:
        meters.RESULTS.labels(state).inc()
    elif state is TrialState.QUEUED:
        meters.RETRIES.labels(fault.cause).inc()


def release(store: Store, lease_id: str) -> None:
    """Queue the trial again without using up the attempt. Raises LeaseLost."""

    def step(tx: Transaction) -> None:
        held = _held(tx, lease_id)
        if held.outcome == Cause.RELEASED:
            return
        if held.ended_at is not None or not trials.put_back(tx, lease_id, unused=True):
            raise _lost(lease_id, held)
        attempts.end(tx, lease_id, Cause.RELEASED)

    store.write(step)


def _end_trial(
    tx: Transaction,
    lease_id: str,
    held: Held,
    state: TrialState,
    *,
    loss: float | None = None,
    cause: Cause | None = None,
) -> None:
    seq = studies.take_seq(tx, held.study_id)
    if not trials.finish(tx, lease_id, state, loss=loss, cause=cause):
        raise _lost(lease_id, held)
    observations.append(
        tx,
        held.study_id,
        seq,
        trial=held.trial,
        attempt=held.number,
        outcome=state,
        loss=loss,
        cause=cause,
    )


def _held(tx: Transaction, lease_id: str) -> Held:
    """Return the attempt of a lease, read again once its study is locked: a twin of this call is over."""
    studies.lock(tx, _given(tx, lease_id).study_id)
    return _given(tx, lease_id)


def _given(tx: Transaction, lease_id: str) -> Held:
    held = attempts.held_by(tx, lease_id)
    if held is None:
        raise LeaseLost(lease_id, "this server has never given it")
    return held


def _accept_repeat(
    tx: Transaction, lease_id: str, held: Held, *, outcome: str, loss: float | None, message: str | None
) -> None:
    """A repeat of what was stored is fine; anything else is refused."""
    if held.outcome in {Cause.LOST, Cause.RELEASED}:
        raise _lost(lease_id, held)
    if (held.outcome, held.loss, held.message) != (outcome, loss, message):
        raise ResultDiffers(lease_id, studies.name_of(tx, held.study_id), held.trial)


def _lost(lease_id: str, held: Held) -> LeaseLost:
    why = f"trial {held.trial} has ended"
    if held.outcome == Cause.LOST:
        why = f"it expired and trial {held.trial} was given to another attempt"
    elif held.outcome == Cause.RELEASED:
        why = f"it gave trial {held.trial} back"
    return LeaseLost(lease_id, why)
