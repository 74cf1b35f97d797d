"""Between the words of the domain and the wire format; the only place that knows both."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final

from app.domain.comparison import Line
from app.domain.event import Event
from app.domain.optuna import Draft, Entry, Kind, OptunaState, OptunaStudy, OptunaTrial
from app.domain.study import Progress
from app.domain.trial import (
    Attempt,
    Cause,
    Fault,
    Leased,
    Ranked,
    Result,
    Runner,
    Slot,
    Trial,
    TrialLine,
    TrialState,
)
from app.domain.webhook import Delivery, Subscription, Webhook
from app.lifecycle import comparison_progress
from app.lifecycle.enqueue import Added, Candidate
from app.lifecycle.register import Offered
from app.lifecycle.report import Beat
from app.storage.workers import Registered
from thiessen import contract
from thiessen.integrations import KNOWN
from thiessen.search import Reasons
from thiessen.search.settings import in_words, strategy_from_json, strategy_to_json
from thiessen.space import AskedFor, Dimension, OpenSpace


def study(progress: Progress) -> contract.Study:
    found = progress.study
    standing, direction = found.standing, found.spec.direction
    target = found.budget.target
    return contract.Study.model_validate(
        {
            **vars(found.spec),
            **vars(found.budget),
            **vars(found.remarks),
            "tags": list(found.remarks.tags),
            "retry": [cause.value for cause in found.spec.retry],
            "target": None if target is None else direction.loss(target),
            "requires": asdict(found.spec.requires),
            "space": progress.space.to_json(),
            "is_open": progress.space.is_open,
            "is_mirror": found.mirrors is not None,
            "project": found.project,
            "task_version": found.task_version,
            "state": standing.state.value,
            "reason": standing.reason,
            "waits_for": progress.waits_for,
            "counts": {state.value: count for state, count in progress.counts.items()},
            "imported": standing.imported,
            "gpu_hours": progress.gpu_hours,
            "updates": standing.updates,
            "trained_seconds": standing.trained.total_seconds(),
            "comparison": found.comparison,
            "eta": progress.eta,
            "best": None if progress.best is None else best_config(progress.best),
            "created_at": found.created_at,
            "completed_at": found.completed_at,
            "archived_at": found.archived_at,
        }
    )


def comparison(found: comparison_progress.Progress, *, has_searches: bool = True) -> contract.Comparison:
    """Return a comparison as it stands; in a list without its searches."""
    stored, lines = found.comparison, found.lines
    confirming = {line.arm: line for line in lines if line.around == stored.around}
    of_arm: dict[str, list[contract.SearchLine]] = {arm.label: [] for arm in found.spec.arms}
    for line in lines if has_searches else ():
        if line.is_search:
            of_arm[line.arm].append(_search_line(found, line))
    arms = [
        contract.ArmLine(
            label=arm.label,
            task=arm.task or found.spec.task,
            strategy=_strategy_of(arm, found.spec),
            searches=of_arm[arm.label],
            confirmation=_search_line(found, confirming[arm.label]) if arm.label in confirming else None,
        )
        for arm in found.spec.arms
    ]
    return contract.Comparison(
        **{name: getattr(stored, name) for name in _STORED},
        spec=dict(stored.spec),
        state=stored.state.value,
        stage=found.stage,
        arms=arms,
        planned=found.planned,
        spent=found.spent,
        progress=found.share,
        waits_for=found.waits_for,
        eta=found.eta,
        tags=list(stored.tags),
    )


_STORED: Final = ("project", "name", "priority", "notes", "created_at", "completed_at", "archived_at")


def _strategy_of(arm: contract.Arm, spec: contract.ComparisonSpec) -> str:
    sent = spec.strategy if arm.strategy is None else arm.strategy
    return in_words(strategy_to_json(strategy_from_json(sent, KNOWN)), KNOWN)


def _search_line(found: comparison_progress.Progress, line: Line) -> contract.SearchLine:
    is_counted = not line.is_search or found.spec.budget.unit == "trials"
    return contract.SearchLine(
        study=line.name,
        replicate=line.replicate,
        state=line.state.value,
        finished=line.finished,
        expected=line.max_trials if is_counted else None,
        best=None if line.best is None else line.direction.loss(line.best),
    )


def changes(sent: contract.StudyChanges | contract.TrialChanges) -> dict[str, Any]:
    return {name: getattr(sent, name) for name in sent.model_fields_set}


def best_config(ranked: Ranked) -> contract.BestConfig:
    return contract.BestConfig(**{**vars(ranked), "trial": ranked.number})


def trial(found: Trial) -> contract.Trial:
    return contract.Trial.model_validate(
        {
            **vars(found),
            "trial": found.number,
            "state": found.state.value,
            "origin": found.origin.value,
            "reasons": _reasons(found.reasons),
            "attempts": [attempt_of(attempt) for attempt in found.attempts],
        }
    )


def trial_line(found: TrialLine) -> contract.TrialLine:
    values = {**vars(found), "trial": found.number, "state": found.state.value, "origin": found.origin.value}
    return contract.TrialLine.model_validate(values)


def _reasons(stored: dict[str, Any]) -> contract.Reasons | None:
    if not stored:
        return None
    reasons = Reasons.from_json(stored)
    return contract.Reasons.model_validate({**reasons.to_json(), "explanation": reasons.explain()})


def attempt_of(attempt: Attempt) -> contract.Attempt:
    values: dict[str, Any] = {**vars(attempt), "attempt": attempt.number}
    return contract.Attempt.model_validate(values)


def candidate(sent: contract.NewTrial) -> Candidate:
    return Candidate(
        config=sent.config,
        dimensions=_dimensions(sent.model_dump(exclude_unset=True).get("dimensions", {})),
        result=None if sent.outcome is None else result(sent.outcome),
        notes=sent.notes,
        attributes=sent.attributes,
    )


def added(found: Added) -> contract.Added:
    return contract.Added(trial=found.number, state=found.state.value, is_new=found.is_new)


def event(found: Event) -> contract.Event:
    return contract.Event.model_validate(vars(found))


def delivery(found: Delivery) -> bytes:
    events = [event(each) for each in found.events]
    sent = contract.Delivery(webhook=found.webhook, project=found.project, study=found.study, events=events)
    return sent.model_dump_json().encode()


def subscription(sent: contract.WebhookSpec) -> Subscription:
    return Subscription(project=sent.project, study=sent.study, url=sent.url, kinds=tuple(sent.kinds))


def webhook(found: Webhook) -> contract.Webhook:
    return contract.Webhook.model_validate(_webhook(found))


def new_webhook(found: Webhook, secret: str) -> contract.NewWebhook:
    return contract.NewWebhook.model_validate({**_webhook(found), "secret": secret})


def _webhook(found: Webhook) -> dict[str, Any]:
    asked = {**vars(found.subscription), "kinds": list(found.subscription.kinds)}
    return {**vars(found), **asked, "state": "active" if found.is_active else "paused"}


def runner(request: contract.LeaseRequest, who: str) -> Runner:
    return Runner(
        who=who,
        worker=request.worker,
        incarnation=request.incarnation,
        request_id=request.request_id,
        slot=Slot(**request.slot.model_dump()),
        environment=request.environment,
    )


def lease_for(request: contract.LeaseRequest, usual: timedelta) -> timedelta:
    return usual if request.lease_for is None else timedelta(seconds=request.lease_for)


def lease(leased: Leased) -> contract.Lease:
    space = None if leased.space is None else leased.space.to_json()
    return contract.Lease(**{**vars(leased), "trial": leased.number, "space": space})


def beat(found: Beat) -> contract.HeartbeatAnswer:
    return contract.HeartbeatAnswer(
        verdict=found.order.value, reason=found.reason, expires_at=found.expires_at
    )


def result(outcome: contract.Outcome) -> Result:
    """Return what an attempt ended with. Raises SpaceError."""
    asked = _asked(outcome)
    match outcome:
        case contract.Loss():
            return Result(state=TrialState.SUCCEEDED, loss=outcome.loss, asked=asked)
        case contract.Value():
            return Result(state=TrialState.SUCCEEDED, value=outcome.value, asked=asked)
        case contract.Pruned():
            return Result(state=TrialState.PRUNED, value=outcome.value, asked=asked)
        case contract.Diverged():
            return Result(state=TrialState.DIVERGED, diverged=outcome.diverged, asked=asked)


def _asked(end: contract.Outcome | contract.Failure) -> AskedFor | None:
    if end.asked is None:
        return None
    told = end.asked.model_dump(exclude_unset=True)
    return AskedFor(config=told["config"], dimensions=_dimensions(told.get("dimensions", {})))


def _dimensions(told: dict[str, Any]) -> Mapping[str, Dimension]:
    return OpenSpace.from_json(told).dimensions if told else {}


def fault(failure: contract.Failure) -> Fault:
    return Fault(
        cause=Cause(failure.kind),
        message=failure.message,
        traceback=failure.traceback,
        retry=failure.retry,
        asked=_asked(failure),
    )


def registration(sent: contract.WorkerSpec) -> dict[str, Any]:
    tasks = [
        {**task.model_dump(by_alias=True), "spaces": task.model_dump(exclude_unset=True).get("spaces", {})}
        for task in sent.tasks
    ]
    return {**sent.model_dump(exclude={"tasks"}), "tasks": tasks}


def worker(found: Registered) -> contract.WorkerAnswer:
    tasks = [{name: task[name] for name in ("name", "version", "description")} for task in found.tasks]
    return contract.WorkerAnswer(**{**vars(found), "tasks": tasks})


def task(found: Offered) -> contract.TaskAnswer:
    return contract.TaskAnswer(**{**vars(found), "versions": sorted(found.versions)})


def optuna_attributes(sent: contract.OptunaStudySpec | contract.OptunaAttributes) -> list[Entry]:
    return [*_entries(Kind.USER, sent.user_attributes), *_entries(Kind.SYSTEM, sent.system_attributes)]


def _entries(kind: Kind, named: Mapping[str, str]) -> Iterator[Entry]:
    return (Entry(kind, name, text) for name, text in named.items())


def optuna_draft(sent: contract.OptunaTrialSpec | contract.OptunaTrialChanges) -> Draft:
    params = {name: json.dumps([each.value, each.distribution]) for name, each in sent.params.items()}
    steps = {str(each.step): json.dumps(each.value) for each in sent.intermediate_values}
    times = (
        {}
        if isinstance(sent, contract.OptunaTrialChanges)
        else {"started_at": sent.started_at, "completed_at": sent.completed_at}
    )
    return Draft(
        state=None if sent.state is None else OptunaState(sent.state),
        values=sent.values,
        distributions={name: each.distribution for name, each in sent.params.items()},
        entries=[
            *_entries(Kind.PARAM, params),
            *_entries(Kind.USER, sent.user_attributes),
            *_entries(Kind.SYSTEM, sent.system_attributes),
            *_entries(Kind.STEP, steps),
        ],
        **times,
    )


def optuna_study(found: OptunaStudy) -> contract.OptunaStudy:
    named = _by_kind(found.attributes)
    return contract.OptunaStudy.model_validate(
        {**vars(found), "user_attributes": named[Kind.USER], "system_attributes": named[Kind.SYSTEM]}
    )


def optuna_trial(found: OptunaTrial) -> contract.OptunaTrial:
    named = _by_kind(found.entries)
    params = {name: json.loads(text) for name, text in named[Kind.PARAM].items()}
    return contract.OptunaTrial.model_validate(
        {
            **vars(found),
            "state": found.state.value,
            "params": {
                name: {"value": value, "distribution": text} for name, (value, text) in params.items()
            },
            "user_attributes": named[Kind.USER],
            "system_attributes": named[Kind.SYSTEM],
            "intermediate_values": [
                {"step": int(step), "value": json.loads(text)} for step, text in named[Kind.STEP].items()
            ],
        }
    )


def _by_kind(entries: Sequence[Entry]) -> dict[Kind, dict[str, str]]:
    found: dict[Kind, dict[str, str]] = {kind: {} for kind in Kind}
    for entry in entries:
        found[entry.kind][entry.name] = entry.text
    return found
