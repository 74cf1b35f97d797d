import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.errors import LeaseLost
from app.domain.trial import Cause, TrialState
from app.lifecycle.hearing import Hearing
from thiessen.search import STRATEGIES, Landscape, Stream, trial_seed
from thiessen.space import Boolean, Int, Space


def test_a_lease_gives_a_config_of_the_space_with_its_own_seed(desk):
    desk.submit()

    leased = desk.lease()

    assert (leased.number, leased.attempt, leased.study) == (0, 1, "s")
    assert 0 <= leased.config["x"] <= 1
    assert leased.seed == trial_seed(1, 0)


def test_two_workers_never_hold_the_same_trial(desk):
    desk.submit(max_trials=40)

    with ThreadPoolExecutor(8) as pool:
        leases = list(pool.map(lambda _: desk.lease(), range(60)))

    numbers = [leased.number for leased in leases if leased]
    assert sorted(numbers) == list(range(40))


def test_the_same_request_is_answered_with_the_same_lease(desk):
    desk.submit()
    runner = desk.runner()

    assert desk.lease(runner) == desk.lease(runner)
    assert desk.standing().trials == 1


def test_a_request_sent_twice_at_once_gets_one_lease(desk):
    desk.submit(max_trials=40)
    for _ in range(10):
        runner = desk.runner()
        with ThreadPoolExecutor(4) as pool:
            leases = list(pool.map(desk.lease, [runner] * 4))
        assert len({leased.lease_id for leased in leases}) == 1


def test_a_request_whose_lease_has_ended_is_refused_and_proposes_nothing(desk):
    desk.submit(max_trials=40)
    runner = desk.runner()
    desk.complete(desk.lease(runner))

    with pytest.raises(LeaseLost, match=r"request 'r\d+' was given it, and it has ended"):
        desk.lease(runner)

    assert desk.standing().trials == 1


def test_the_same_request_id_of_a_new_incarnation_is_another_request(desk):
    desk.submit()
    runner = desk.runner()

    assert desk.lease(runner).number != desk.lease(replace(runner, incarnation="later")).number


@pytest.mark.row(7)
def test_a_study_never_gets_more_trials_than_its_budget(desk):
    desk.submit(max_trials=3)

    leases = [desk.lease() for _ in range(5)]

    assert [bool(leased) for leased in leases] == [True, True, True, False, False]


@pytest.mark.parametrize("wish", [{"tasks": ("other",)}, {"studies": ("other",)}])
def test_only_the_wanted_tasks_and_studies_are_leased(desk, wish):
    desk.submit()

    assert desk.lease(**wish) is None
    assert desk.lease(studies=("s",)) is not None


@pytest.mark.row(8)
def test_a_trial_whose_lease_expired_is_given_away_as_a_new_attempt(desk, clock):
    desk.submit(max_trials=1)
    first = desk.lease()
    assert desk.lease() is None

    clock.advance(desk.lease_for)
    second = desk.lease()

    assert (second.number, second.attempt, second.config) == (first.number, 2, first.config)
    assert second.lease_id != first.lease_id
    assert [attempt.outcome for attempt in desk.trial(0).attempts] == ["lost", None]


@pytest.mark.row(243)
def test_a_server_that_was_deaf_takes_no_lease_away_before_the_workers_could_speak_up(desk, clock):
    desk.submit(max_trials=2, max_attempts=1)
    silent = desk.lease()
    clock.advance(desk.lease_for * 2)
    still_deaf = asyncio.run(Hearing(desk.store, desk.lease_for).deaf_until())

    assert desk.lease(deaf_until=still_deaf).number == 1
    assert desk.lease(deaf_until=still_deaf) is None
    desk.complete(silent)

    assert desk.trial(0).state is TrialState.SUCCEEDED


def test_after_an_interruption_the_server_listens_for_one_lease_length_again(desk, clock):
    hearing = Hearing(desk.store, desk.lease_for)
    first = asyncio.run(hearing.deaf_until())
    clock.advance(desk.lease_for * 5)
    assert asyncio.run(hearing.deaf_until()) == first

    hearing.interrupt()

    assert asyncio.run(hearing.deaf_until()) >= first + desk.lease_for * 5


def test_a_trial_lost_in_every_attempt_fails_and_the_study_goes_on_to_its_end(desk, clock):
    desk.submit(max_trials=1, max_attempts=2)
    for _ in range(2):
        assert desk.lease()
        clock.advance(desk.lease_for + timedelta(seconds=1))

    assert desk.lease() is None

    lost = desk.trial(0)
    assert (lost.state, lost.cause) == (TrialState.FAILED, Cause.ATTEMPTS_USED_UP)
    assert desk.standing().state == "completed"


def test_a_lost_trial_is_not_given_again_where_losses_are_not_retried(desk, clock):
    desk.submit(max_trials=1, retry=(Cause.ERROR,))
    assert desk.lease()
    clock.advance(desk.lease_for)

    assert desk.lease(expires=False) is None
    desk.expire()

    assert (desk.trial(0).state, desk.trial(0).cause) == (TrialState.FAILED, Cause.LOST)


def test_a_study_completes_with_its_last_result(desk):
    desk.submit(max_trials=2)
    leases = [desk.lease(), desk.lease()]
    desk.complete(leases[0])
    assert desk.standing().state == "active"

    desk.complete(leases[1])

    study = desk.standing()
    assert (study.state, study.reason) == ("completed", "max_trials")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_finite_space_is_tried_once_everywhere_and_then_the_study_ends(desk, strategy):
    desk.submit(space=Space(n=Int(1, 3), flag=Boolean()), strategy=strategy, max_trials=100)
    seen = set()
    while leased := desk.lease():
        seen.add(tuple(leased.config.values()))
        desk.complete(leased, loss=leased.config["n"])

    assert len(seen) == 6
    study = desk.standing()
    assert (study.state, study.reason, study.trials) == ("completed", "exhausted", 6)


@pytest.mark.row(8)
def test_a_proposal_knows_exactly_the_results_before_it(desk):
    study = desk.submit(max_trials=30)
    landscape = Landscape(study.spec.space)
    for number in range(30):
        leased = desk.lease()
        proposal = STRATEGIES["biased_random"].propose(study.spec.space, landscape, number, Stream(1, number))
        assert leased.config == proposal.config
        assert desk.trial(number).reasons["watermark"] == number
        landscape.take(leased.config)
        landscape.observe(number, leased.config, leased.config["x"])
        landscape.watermark += 1
        desk.complete(leased, loss=leased.config["x"])


@pytest.mark.row(8)
def test_pending_is_what_was_numbered_and_has_not_ended(desk, clock):
    desk.submit(max_attempts=1)
    assert desk.lease() is not None
    clock.advance(desk.lease_for)  # trial 0 is lost in its only attempt
    leases = [desk.lease() for _ in range(3)]
    desk.complete(leases[1])

    pending = desk.landscape().pending

    assert dict(pending) == {1: leases[0].config, 3: leases[2].config}
