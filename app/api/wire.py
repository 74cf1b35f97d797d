"""Between the words of the domain and the wire format; the only place that knows both."""

from dataclasses import asdict
from typing import Any

from app.domain.event import Event
from app.domain.study import Progress, Spec
from app.domain.trial import Attempt, Cause, Fault, Leased, Ranked, Result, Runner, Trial
from app.domain.webhook import Delivery, Subscription, Webhook
from thiessen import contract
from thiessen.integrations import KNOWN
from thiessen.search import Reasons
from thiessen.search.settings import strategy_from_json, strategy_to_json
from thiessen.space import Space


def spec(sent: contract.StudySpec) -> Spec:
    """Return the study that was sent. Raises SpaceError, StrategyError."""
    space = Space.from_json(sent.model_dump(exclude_unset=True)["space"])
    strategy = strategy_from_json(sent.strategy, KNOWN).settled(space, sent.max_trials)
    return Spec(
        name=sent.name,
        task=sent.task,
        space=space,
        strategy=strategy_to_json(strategy),
        seed=sent.seed,
        max_trials=sent.max_trials,
        max_attempts=sent.max_attempts,
    )


def study(progress: Progress) -> contract.Study:
    found = progress.study
    return contract.Study(
        **{**vars(found.spec), "space": found.spec.space.to_json()},
        state=found.state.value,
        reason=found.reason,
        counts=contract.Counts(**{state.value: count for state, count in progress.counts.items()}),
        best=None if progress.best is None else best_config(progress.best),
        created_at=found.created_at,
    )


def best_config(ranked: Ranked) -> contract.BestConfig:
    return contract.BestConfig(
        rank=ranked.rank,
        study=ranked.study,
        trial=ranked.number,
        loss=ranked.loss,
        config=ranked.config,
        seed=ranked.seed,
    )


def trial(found: Trial) -> contract.Trial:
    return contract.Trial(
        study=found.study,
        trial=found.number,
        state=found.state.value,
        cause=found.cause,
        loss=found.loss,
        config=found.config,
        seed=found.seed,
        reasons=_reasons(Reasons.from_json(found.reasons)),
        attempts=[_attempt(attempt) for attempt in found.attempts],
    )


def _reasons(reasons: Reasons) -> contract.Reasons:
    return contract.Reasons.model_validate({**asdict(reasons), "explanation": reasons.explain()})


def _attempt(attempt: Attempt) -> contract.Attempt:
    values: dict[str, Any] = {**vars(attempt), "attempt": attempt.number}
    return contract.Attempt.model_validate(values)


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


def runner(request: contract.LeaseRequest) -> Runner:
    return Runner(
        worker=request.worker,
        incarnation=request.incarnation,
        request_id=request.request_id,
        device=request.device,
        environment=request.environment,
    )


def lease(leased: Leased, lease_seconds: float) -> contract.Lease:
    return contract.Lease(
        lease_id=leased.lease_id,
        study=leased.study,
        trial=leased.number,
        attempt=leased.attempt,
        task=leased.task,
        config=leased.config,
        seed=leased.seed,
        expires_at=leased.expires_at,
        lease_seconds=lease_seconds,
    )


def result(outcome: contract.Outcome) -> Result:
    if isinstance(outcome, contract.Loss):
        return Result(loss=outcome.loss)
    return Result(diverged=outcome.diverged)


def fault(failure: contract.Failure) -> Fault:
    return Fault(cause=Cause(failure.kind), message=failure.message, traceback=failure.traceback)
