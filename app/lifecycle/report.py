"""What a worker says of its attempt: it goes on, it has a result, it broke, it gives the trial back."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum, auto
from functools import partial
from typing import Any, Protocol

from app import failpoint, meters
from app.domain.access import Principal, Scope
from app.domain.errors import InvalidRequest, LeaseLost, LeaseOfAnother, Refusal, ResultDiffers
from app.domain.study import STOPPING, StudyId, StudyState
from app.domain.trial import Cause, Fault, Result, TrialState, Who
from app.lifecycle.judge import Case, Judge
from app.lifecycle.move import move
from app.storage import Store, Transaction, attempts, bell, studies, tokens, trials
from app.storage.attempts import Held
from app.storage.trials import Place
from thiessen.space import AskedFor


class Order(StrEnum):
    """What a worker is told in answer to a heartbeat."""

    CONTINUE = "continue"
    PRUNE = "prune"  # end early; its curve is not worth going on with
    STOP = "stop"  # give the trial back
    DRAIN = "drain"  # finish it, and lease no more


class Ends(Protocol):
    """Ends the attempt's hold of a running trial; returns what became of the trial."""

    def __call__(
        self,
        tx: Transaction,
        place: Place,
        cause: Cause,
        *,
        by: Who,
        who: str,
        attempt: int,
        gpus: int,
        told: AskedFor | None = None,
    ) -> TrialState: ...


class Told(Enum):
    """Whether a result is news."""

    FIRST = auto()
    AGAIN = auto()


@dataclass(frozen=True)
class Beat:
    """The answer to a heartbeat."""

    worker: str
    expires_at: datetime
    order: Order = Order.CONTINUE
    reason: str | None = None


async def heartbeat(
    store: Store,
    judge: Judge,
    lease_id: str,
    who: Principal,
    points: list[dict[str, Any]],
    log_tail: str | None = None,
) -> Beat:
    """Renew the lease, keep the new points, and return the orders. Raises LeaseLost, LeaseOfAnother."""
    beat, case = await store.written(
        partial(_renew, lease_id=lease_id, who=who, points=points, log_tail=log_tail)
    )
    meters.REPORTS.inc(len(points))
    if case is None:
        return beat
    verdict = await store.seen(partial(judge.verdict, case=case))
    if not verdict.stop:
        return beat
    await store.written(partial(attempts.keep_verdict, lease_id=lease_id, reason=verdict.reason))
    return replace(beat, order=Order.PRUNE, reason=verdict.reason)


def _renew(
    tx: Transaction, lease_id: str, who: Principal, points: list[dict[str, Any]], log_tail: str | None
) -> tuple[Beat, Case | None]:
    renewed = trials.renew(tx, lease_id)  # first: it locks the trial against a twin of this call
    if renewed is None:
        raise _lost(lease_id, _given(tx, lease_id, who))
    if points or log_tail is not None:
        attempts.report(tx, lease_id, points, log_tail)
    orders = studies.orders(tx, renewed.study_id, lease_id)
    _insist(tx, lease_id, renewed.study_id, orders.who, who)  # else none of this has happened
    if orders.state is StudyState.STOPPED or orders.reason in STOPPING:
        why = (
            f"The study is {orders.state}." if orders.reason is None else f"The study ended: {orders.reason}."
        )
        return Beat(orders.worker, renewed.expires_at, Order.STOP, why), None
    order = Order.DRAIN if orders.is_draining else Order.CONTINUE
    beat = Beat(orders.worker, renewed.expires_at, order)
    if not points or orders.stopping is None:
        return beat, None
    return beat, Case(
        study=renewed.study_id,
        trial_id=renewed.trial_id,
        trial=renewed.number,
        attempt=renewed.attempt,
        direction=orders.direction,
        stopping=orders.stopping,
    )


async def complete(store: Store, lease_id: str, result: Result, who: Principal) -> None:
    """End the attempt and its trial with a result, or repeat that.

    Raises LeaseLost, LeaseOfAnother, ResultDiffers.

    A result under a lost lease is kept with its attempt. It counts when its trial has no other result and
    nobody has the trial; else it is refused after it was kept.
    """
    refused = await store.written(partial(_complete, lease_id=lease_id, result=result, who=who))
    failpoint.reached("complete-committed")
    if isinstance(refused, Refusal):
        raise refused
    if refused is Told.FIRST:
        meters.RESULTS.labels(result.state).inc()


async def fail(store: Store, lease_id: str, fault: Fault, who: Principal) -> None:
    """End the attempt with a fault; the trial queues again while it may.

    Raises LeaseLost, LeaseOfAnother, ResultDiffers.
    """
    state = await store.written(partial(_fail, lease_id=lease_id, fault=fault, who=who))
    if state is TrialState.QUEUED:
        meters.RETRIES.labels(fault.cause).inc()
    elif state is not None:
        meters.RESULTS.labels(state).inc()


async def release(store: Store, lease_id: str, who: Principal) -> None:
    """Queue the trial again without using up the attempt. Raises LeaseLost, LeaseOfAnother."""
    await store.written(partial(_release, lease_id=lease_id, who=who))


def _complete(tx: Transaction, lease_id: str, result: Result, who: Principal) -> Told | Refusal:
    held = _given(tx, lease_id, who)
    _must_fit(held, result.asked, is_needed=True)
    if _is_current(held, lease_id):
        result = _settled(tx, held, result)
        _finish(tx, held, result, by=Who.WORKER, who=who.name, attempt=held.number, gpus=held.gpus)
        failpoint.reached("half-a-complete")
        message = held.message if result.state is TrialState.PRUNED else result.diverged
        attempts.end(tx, lease_id, result.state, loss=result.loss, message=message)
        return Told.FIRST
    if held.outcome not in {Cause.LOST, TrialState.CANCELLED}:
        _accept_repeat(tx, lease_id, held, _settled(tx, held, result))
        return Told.AGAIN
    return _late(tx, lease_id, held, _settled(tx, held, result), who.name)


def _fail(tx: Transaction, lease_id: str, fault: Fault, who: Principal) -> TrialState | None:
    """Return what became of the trial, None when this had been told before."""
    held = _given(tx, lease_id, who)
    if not _is_current(held, lease_id):
        if held.outcome in {Cause.LOST, Cause.RELEASED, TrialState.CANCELLED}:
            raise _lost(lease_id, held)
        if (held.outcome, held.message) != (fault.cause, fault.message):
            raise ResultDiffers(lease_id, studies.name_of(tx, held.study_id), held.trial)
        return None
    _must_fit(held, fault.asked, is_needed=False)
    attempts.end(tx, lease_id, fault.cause, message=fault.message, traceback=fault.traceback)
    is_retried = fault.retry and fault.cause in studies.retried(tx, held.study_id)
    ending: Ends = queue_again if held.number < held.max_attempts and is_retried else give_up
    return ending(
        tx,
        _place(held),
        fault.cause,
        by=Who.WORKER,
        who=who.name,
        attempt=held.number,
        gpus=held.gpus,
        told=fault.asked,
    )


def _release(tx: Transaction, lease_id: str, who: Principal) -> None:
    held = _given(tx, lease_id, who)
    if not _is_current(held, lease_id):
        if held.outcome == Cause.RELEASED:
            return
        raise _lost(lease_id, held)
    attempts.end(tx, lease_id, Cause.RELEASED)
    queue_again(
        tx,
        _place(held),
        Cause.RELEASED,
        by=Who.WORKER,
        who=who.name,
        attempt=held.number,
        gpus=held.gpus,
        max_attempts=held.max_attempts + 1,
    )


def queue_again(
    tx: Transaction,
    place: Place,
    cause: Cause,
    *,
    by: Who,
    who: str,
    attempt: int,
    gpus: int,
    told: AskedFor | None = None,
    max_attempts: int | None = None,
) -> TrialState:
    """Put a running trial back into the queue, unless an attempt thought lost has brought its result."""
    del told  # it begins again
    if late := _take_late(tx, place, who, gpus):
        return late
    move(
        tx,
        place,
        TrialState.QUEUED,
        by=by,
        who=who,
        cause=cause,
        attempt=attempt,
        gpus=gpus,
        max_attempts=max_attempts,
    )
    bell.ring(tx, place.study_id)
    return TrialState.QUEUED


def give_up(
    tx: Transaction,
    place: Place,
    cause: Cause,
    *,
    by: Who,
    who: str,
    attempt: int,
    gpus: int,
    told: AskedFor | None = None,
) -> TrialState:
    """Fail a running trial, unless an attempt thought lost has brought its result."""
    if late := _take_late(tx, place, who, gpus):
        return late
    move(tx, place, TrialState.FAILED, by=by, who=who, cause=cause, attempt=attempt, gpus=gpus, told=told)
    return TrialState.FAILED


def _finish(
    tx: Transaction,
    held: Held,
    result: Result,
    *,
    by: Who,
    who: str,
    attempt: int,
    gpus: int,
    cause: Cause | None = None,
) -> None:
    standing = move(
        tx,
        _place(held),
        result.state,
        by=by,
        who=who,
        cause=cause,
        attempt=attempt,
        gpus=gpus,
        loss=result.loss,
        locked=held.standing,
        told=result.asked,
        spent=held.effort if held.state is TrialState.RUNNING else None,
    )
    if standing.max_running is not None:
        bell.ring(tx, held.study_id)


def _late(tx: Transaction, lease_id: str, held: Held, result: Result, who: str) -> Told | Refusal:
    """Keep a result whose lease was lost; it counts at once when the trial waits or has failed."""
    told = _written(result)
    if held.late is not None:
        counts = held.late["counts"]
        if held.late != told | {"counts": counts}:
            raise ResultDiffers(lease_id, studies.name_of(tx, held.study_id), held.trial)
        return Told.AGAIN if counts else _lost(lease_id, held)
    counts = held.state in {TrialState.QUEUED, TrialState.FAILED}
    attempts.keep_late(tx, lease_id, told | {"counts": counts})
    if not counts:
        return _lost(lease_id, held)
    _finish(tx, held, result, by=Who.WORKER, who=who, attempt=held.number, gpus=0, cause=Cause.LATE)
    return Told.FIRST


def _take_late(tx: Transaction, place: Place, who: str, gpus: int) -> TrialState | None:
    """End a trial that would go without a result by one that came late; return its state, None without."""
    found = attempts.late_result(tx, place.id)
    if found is None:
        return None
    lease_id, attempt, late = found
    attempts.keep_late(tx, lease_id, late | {"counts": True})
    state, asked = TrialState(late["state"]), late.get("asked")
    move(
        tx,
        place,
        state,
        by=Who.SERVER,
        who=who,
        cause=Cause.LATE,
        attempt=attempt,
        gpus=gpus,
        loss=late["loss"],
        told=None if asked is None else AskedFor.from_json(asked),
    )
    return state


def _written(result: Result) -> dict[str, Any]:
    """Return a result as JSON; what was asked for stands there only where the space is open."""
    written = {name: value for name, value in vars(result).items() if name != "asked"}
    return written if result.asked is None else written | {"asked": result.asked.to_json()}


def _must_fit(held: Held, asked: AskedFor | None, *, is_needed: bool) -> None:
    """Insist that what a trial asked for is told where its space is open, and nowhere else."""
    if asked is not None and not held.is_open:
        raise InvalidRequest("asked: the space of this study was declared; leave out what was asked for.")
    if asked is None and held.is_open and is_needed:
        raise InvalidRequest(
            "asked: the space of this study is open; say what the trial asked for, config and dimensions."
        )


def _settled(tx: Transaction, held: Held, result: Result) -> Result:
    """Return the result as a loss; of a pruned one that tells no value, the last that it reported."""
    if result.value is not None:
        return replace(result, loss=held.direction.loss(result.value), value=None)
    if result.state is not TrialState.PRUNED or result.loss is not None:
        return result
    metric = studies.metric(tx, held.study_id)
    return replace(result, loss=attempts.last_loss(tx, held, metric))


def _given(tx: Transaction, lease_id: str, who: Principal) -> Held:
    """Return the attempt of a lease, with its study locked: a twin of this call is over."""
    held = attempts.held_by(tx, lease_id)
    if held is None:
        raise LeaseLost(lease_id, "this server has never given it")
    _insist(tx, lease_id, held.study_id, held.who, who)
    return held


def _insist(tx: Transaction, lease_id: str, study_id: StudyId, taker: str, who: Principal) -> None:
    """Refuse who has the id of a lease and did not take it. Raises LeaseOfAnother.

    A result outlives its token: once that is revoked or has expired, others may bring it.
    """
    if taker == who.name:
        return
    is_heir = who.may(Scope.ADMIN) or not tokens.is_valid(tx, taker)
    if not is_heir or not who.sees(studies.numbered(tx, study_id).project):
        raise LeaseOfAnother(lease_id, who)


def _is_current(held: Held, lease_id: str) -> bool:
    """The fence: only the attempt that the trial was last given to may move it."""
    return held.state is TrialState.RUNNING and held.current == lease_id


def _place(held: Held) -> Place:
    return Place(
        held.trial_id, held.study_id, held.trial, held.state, held.attempts, held.max_attempts, held.current
    )


def _accept_repeat(tx: Transaction, lease_id: str, held: Held, result: Result) -> None:
    """A repeat of what was stored is fine; anything else is refused."""
    if held.outcome == Cause.RELEASED:
        raise _lost(lease_id, held)
    diverged = held.message if held.outcome == TrialState.DIVERGED else None
    if (held.outcome, held.loss, diverged) != (result.state, result.loss, result.diverged):
        raise ResultDiffers(lease_id, studies.name_of(tx, held.study_id), held.trial)


def _lost(lease_id: str, held: Held) -> LeaseLost:
    why = f"trial {held.trial} has ended"
    if held.outcome == Cause.LOST:
        why = f"it expired and trial {held.trial} was given to another attempt"
    elif held.outcome == Cause.RELEASED:
        why = f"it gave trial {held.trial} back"
    elif held.outcome == TrialState.CANCELLED:
        why = f"trial {held.trial} was cancelled"
    return LeaseLost(lease_id, why)
