"""What is dropped of a study that rests, and that all else stays whole."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.domain.webhook import Subscription
from app.lifecycle.retention import remove_old
from app.storage import retention, webhooks
from app.storage import studies as stored_studies
from app.storage.check import faults
from app.storage.tables import attempts, events, observations, reports, studies, trials
from tests.folds import check_observations, check_replay

KEPT = timedelta(days=30)


@pytest.fixture
def at_rest(desk, monkeypatch):
    """A completed study, with more rows than one step removes."""
    monkeypatch.setattr(retention, "MOST", 2)
    study = desk.submit(max_trials=5)
    for step in range(5):
        leased = desk.lease()
        desk.beat(leased, [{"step": step, "metrics": {"loss": 0.5}}])
        desk.complete(leased, 0.1 * step)
    return study


def counted(desk, table):
    return desk.store.read(lambda tx: tx.execute(select(func.count()).select_from(table)).scalar_one())


def told(desk):
    """How many events there have been."""
    return desk.store.read(lambda tx: tx.execute(select(studies.c.events)).scalar_one())


def remove(desk, events=KEPT, curves=KEPT):
    remove_old(desk.store, events=events, curves=curves)


def test_events_and_curves_of_a_study_that_rests_are_removed_and_nothing_else(desk, at_rest, clock, database):
    before = [counted(desk, table) for table in (trials, attempts, observations)]
    clock.advance(KEPT + timedelta(hours=1))

    remove(desk)

    assert [counted(desk, table) for table in (events, reports)] == [0, 0]
    assert [counted(desk, table) for table in (trials, attempts, observations)] == before
    desk.store.read(lambda tx: _check_what_is_kept(tx, at_rest))
    assert faults(database) == []


@pytest.mark.usefixtures("at_rest")
def test_nothing_is_removed_before_its_time_or_when_it_is_kept_for_ever(desk, clock):
    clock.advance(KEPT - timedelta(hours=1))
    remove(desk)
    clock.advance(timedelta(days=10_000))
    remove(desk, events=None, curves=None)

    assert counted(desk, events) == told(desk)
    assert counted(desk, reports) == 5


def test_a_study_that_goes_on_keeps_all_it_has(desk, clock):
    desk.submit(max_trials=5)
    desk.beat(desk.lease(), [{"step": 1, "metrics": {"loss": 0.5}}])
    clock.advance(2 * KEPT)

    remove(desk)

    assert counted(desk, reports) == 1
    assert counted(desk, events) == told(desk)


@pytest.mark.usefixtures("at_rest")
def test_a_study_that_is_extended_goes_on_counting_and_drops_its_new_curves_in_their_time(
    desk, clock, database
):
    clock.advance(2 * KEPT)
    remove(desk)
    desk.change(max_trials=6)
    leased = desk.lease()
    desk.beat(leased, [{"step": 1, "metrics": {"loss": 0.5}}])
    desk.complete(leased, 0.9)
    remove(desk)

    assert counted(desk, reports) == 1
    assert counted(desk, events) > 0
    assert faults(database) == []
    clock.advance(2 * KEPT)
    remove(desk)
    assert counted(desk, reports) == counted(desk, events) == 0
    assert faults(database) == []


def test_a_trial_that_is_tried_again_drops_its_new_curve_too(desk, clock):
    desk.submit(max_trials=1, max_attempts=1)
    desk.fail(desk.lease())
    clock.advance(2 * KEPT)
    remove(desk)
    desk.retry(0)
    leased = desk.lease()
    desk.beat(leased, [{"step": 1, "metrics": {"loss": 0.5}}])
    desk.complete(leased)
    clock.advance(2 * KEPT)

    assert counted(desk, reports) == 1
    remove(desk)
    assert counted(desk, reports) == 0


def test_a_study_that_was_archived_rests(desk, clock):
    study = desk.submit(max_trials=5)
    desk.beat(desk.lease(), [{"step": 1, "metrics": {"loss": 0.5}}])
    desk.store.write(lambda tx: stored_studies.archive(tx, study.id))
    clock.advance(2 * KEPT)

    remove(desk)

    assert counted(desk, reports) == counted(desk, events) == 0


def test_a_webhook_is_not_told_of_what_is_gone_and_not_behind_for_it(desk, clock):
    subscription = Subscription(project="default", study=None, url="http://x", kinds=())
    hook = desk.store.write(lambda tx: webhooks.add(tx, subscription, secret="s", who="ann"))  # noqa: S106
    desk.submit(max_trials=1)
    desk.complete(desk.lease(), 0.5)
    assert desk.store.read(lambda tx: webhooks.numbered(tx, hook.id)).behind > 0
    clock.advance(2 * KEPT)

    remove(desk)

    assert desk.store.read(lambda tx: webhooks.numbered(tx, hook.id)).behind == 0
    assert desk.store.read(lambda tx: webhooks.due(tx, limit=9)) == []


def _check_what_is_kept(tx, study):
    row = tx.execute(select(studies).where(studies.c.id == study.id)).one()
    numbered = tx.execute(select(trials).order_by(trials.c.number)).all()
    told = tx.execute(select(observations).order_by(observations.c.seq)).all()
    check_observations(numbered, told)
    check_replay(row, numbered, told, {})
