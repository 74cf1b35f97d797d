import pytest

from app.domain.trial import Result
from app.lifecycle.report import complete
from app.lifecycle.submit import progress, trial
from app.storage import observations
from thiessen.search import STRATEGIES, Observed, Proposed, replay
from thiessen.space import Categorical, Float, Space


@pytest.mark.row(8)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_the_server_stores_of_a_study_with_several_workers_replays(desk, clock, strategy):
    space = Space(x=Float(0.0, 1.0), kind=Categorical(("a", "b")))
    desk.submit(space=space, strategy=strategy, max_trials=20, max_attempts=1)
    running = [desk.lease(), desk.lease()]
    clock.advance(desk.lease_for)  # both are lost in their only attempt
    running = [desk.lease(), desk.lease(), desk.lease()]
    for turn in range(15):
        leased = running.pop(turn % 3)
        loss = None if turn % 5 == 4 else leased.config["x"]
        complete(desk.store, leased.lease_id, Result(loss=loss, diverged=None if loss else "nan"))
        running.append(desk.lease())

    study = progress(desk.store, "s").study

    assert study.observations == 17
    replayed = replay(space, STRATEGIES[strategy], 1, proposed(desk, study), observed(desk, study))
    assert list(replayed) == [[]] * 20


def proposed(desk, study):
    for number in range(study.trials):
        stored = trial(desk.store, "s", number)
        yield Proposed(
            number=number,
            config=stored.config,
            watermark=stored.reasons["watermark"],
            turn=number,
            reasons=stored.reasons,
        )


def observed(desk, study):
    known = desk.store.read(lambda tx: observations.known_to(tx, study))
    return [
        Observed(seq=seq, trial=each.trial, outcome=each.outcome, loss=each.loss, cause=each.cause)
        for seq, each in enumerate(known, start=1)
    ]
