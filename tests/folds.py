"""Whether the rows of a study agree with one another, and with the model of it where there is one."""

import math
from collections import Counter

from sqlalchemy import select

from app.domain.trial import MOVES
from app.lifecycle.memory import Known
from app.storage import asked
from app.storage.tables import attempts, events, observations, studies, trials
from tests.model import RESULTS
from thiessen.integrations import KNOWN
from thiessen.search import Observed, Proposed, replay
from thiessen.search.replay import Given
from thiessen.search.settings import strategy_from_json
from thiessen.space import Space

STEPS = {(move.before, move.after, move.cause) for move in MOVES}
STATES = ("queued", "running", "succeeded", "diverged", "pruned", "failed", "cancelled")


def check_study(tx, model=None, name="s"):
    """Insist that all rows of a study agree; return how many trials it has of each origin."""
    row, numbered, told = _past(tx, model.name if model else name)
    happened = _of(tx, events, row, events.c.seq)
    ran = tx.execute(
        select(trials.c.number.label("trial"), *attempts.c)
        .join(trials, trials.c.id == attempts.c.trial_id)
        .where(trials.c.study_id == row.id)
        .order_by(trials.c.number, attempts.c.number)
    ).all()
    check_counters(row, numbered, told, happened, ran)
    check_budgets(row, numbered, ran)
    check_leases(numbered, ran)
    check_events(row, numbered, happened)
    check_observations(numbered, told)
    check_replay(row, numbered, told, dict(asked.since(tx, row.id, 0, row.observations)))
    if model is not None:
        check_against(model, numbered, ran, told)
    return Counter(trial.origin for trial in numbered)


def _past(tx, name):
    row = tx.execute(select(studies).where(studies.c.name == name)).one()
    return row, _of(tx, trials, row, trials.c.number), _of(tx, observations, row, observations.c.seq)


def _of(tx, table, study, order):
    return tx.execute(select(table).where(table.c.study_id == study.id).order_by(order)).all()


def check_counters(row, numbered, told, happened, ran):
    counts = Counter(trial.state for trial in numbered)
    assert {state: getattr(row, state) for state in STATES} == {state: counts[state] for state in STATES}
    assert [trial.number for trial in numbered] == list(range(row.trials))
    assert [each.seq for each in told] == list(range(1, row.observations + 1)), "observations have gaps"
    assert [each.seq for each in happened] == list(range(1, row.events + 1)), "events have gaps"
    assert sorted(t.turn for t in numbered if t.turn is not None) == list(range(row.turns))
    assert row.imported == sum(trial.origin == "imported" for trial in numbered)
    assert row.gpus_running == sum(attempt.gpus for attempt in ran if attempt.ended_at is None)


def check_budgets(row, numbered, ran):
    assert row.trials - row.imported <= row.max_trials
    used_up = Counter(attempt.trial for attempt in ran if attempt.outcome not in {None, "released"})
    for trial in numbered:
        assert trial.attempts <= trial.max_attempts
        assert used_up[trial.number] <= trial.max_attempts


def check_leases(numbered, ran):
    """At most one live lease a trial, and that is the trial's own."""
    live = {}
    for attempt in ran:
        if attempt.ended_at is None:
            assert attempt.trial not in live, "two live leases"
            live[attempt.trial] = attempt.lease_id
    assert live == {trial.number: trial.lease_id for trial in numbered if trial.state == "running"}


def check_events(row, numbered, happened):
    """States move only along the table, and the events end where the rows stand."""
    states, study = {}, "active"
    for event in happened:
        if event.kind.startswith("study"):
            study = (event.data or {}).get("state", study)
        elif event.kind in {"trial.created", "trial.moved"}:
            assert states.get(event.trial) == event.before
            assert (event.before, event.after, event.cause) in STEPS
            states[event.trial] = event.after
    assert states == {trial.number: trial.state for trial in numbered}
    assert study == row.state


def check_observations(numbered, told):
    """The latest observation of a trial is its end; a result is never followed by anything."""
    latest = {}
    for each in told:
        before = latest.get(each.trial)
        assert before is None or before.outcome not in RESULTS | {"cancelled"}
        latest[each.trial] = each
    for trial in numbered:
        seen = latest.get(trial.number)
        if trial.state in {"queued", "running"}:
            assert seen is None or seen.outcome == "queued"
        else:
            assert (seen.outcome, seen.loss, seen.cause) == (trial.state, trial.loss, trial.cause)


def check_replay(row, numbered, told, asked_for):
    strategy = strategy_from_json({"name": row.strategy, **row.strategy_settings}, KNOWN)
    mismatches = replay(
        Space.declared(row.space),
        strategy,
        row.seed,
        [_replayed(trial) for trial in numbered],
        [_observed(each, asked_for.get(each.seq)) for each in told],
        duplicates=row.duplicates,
        failures_repel=row.failures_repel,
    )
    assert [each for found in mismatches for each in found] == []


def _observed(row, asked):
    known = {name: getattr(row, name) for name in ("seq", "trial", "outcome", "loss", "cause")}
    return Observed(**known, asked=asked)


def _replayed(trial):
    start = trial.config if trial.start is None else trial.start
    if trial.origin != "proposed":
        return Given(number=trial.number, config=start, origin=trial.origin)
    return Proposed(
        number=trial.number,
        config=start,
        watermark=trial.watermark,
        turn=trial.turn,
        reasons=trial.reasons,
    )


def check_memory(house, name):
    """A server knows for its next proposal the latest that is stored of each trial, and nothing else."""
    row, numbered, told = house.store.read(lambda tx: _past(tx, name))
    known = house.store.read(lambda tx: house.memory.catch_up(tx, row.id, row.trials, row.observations))
    if known is Known.NOT_YET:
        house.memory.load(house.store, row.id)
    landscape = house.memory._of(row.id).history.landscape
    assert landscape.watermark == len(told)
    latest = {each.trial: each for each in told}
    ended = {number for number, each in latest.items() if each.outcome != "queued"}
    assert landscape.pending == {t.number: t.config for t in numbered if t.number not in ended}
    assert all(landscape.is_taken(t.config) == (row.duplicates == "forbid") for t in numbered)
    expected = {number: latest[number] for number in ended if _teaches(row, latest[number])}
    taught = [landscape.ranked(place) for place in range(len(landscape))]
    assert sorted(each.trial for each in taught) == sorted(expected), "a trial is missing, or counts twice"
    for each in taught:
        loss = expected[each.trial].loss
        if expected[each.trial].outcome == "pruned":  # never better than it was
            assert math.isnan(each.loss) or each.loss >= loss
        else:
            assert math.isnan(each.loss) if loss is None else each.loss == loss


def _teaches(row, observation):
    return observation.outcome in RESULTS or (
        observation.outcome == "failed"
        and row.failures_repel
        and observation.cause in {"error", "out_of_memory"}
    )


def check_against(model, numbered, ran, told):
    """Each trial is as the model says, and so is what was acknowledged of each attempt."""
    assert [(t.number, t.state, t.loss, t.origin, t.config, t.max_attempts) for t in numbered] == [
        (t.number, t.state, t.loss, t.origin, t.config, t.most) for t in model.trials
    ]
    of_lease = {attempt.lease_id: attempt for attempt in ran}
    assert len(of_lease) == len(model.attempts())
    for attempt in model.attempts():
        stored = of_lease[attempt.lease_id]
        assert stored.outcome == attempt.outcome
        if attempt.outcome in RESULTS:
            assert (stored.outcome, stored.loss, stored.message) == attempt.told
            counted = [(each.outcome, each.loss) for each in told if each.trial == attempt.trial.number]
            assert counted.count(attempt.told[:2]) == 1, "an acknowledged result is there exactly once"
        if attempt.late:
            late = stored.late
            assert (late["state"], late["loss"], late["diverged"]) == attempt.late, "a late result is kept"
            assert late["counts"] == attempt.counts
