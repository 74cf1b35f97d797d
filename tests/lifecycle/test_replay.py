import pytest

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
        if turn % 5 == 4:
            desk.diverge(leased)
        else:
            desk.complete(leased, leased.config["x"])
        running.append(desk.lease())

    study = desk.standing()

    assert study.observations == 17
    replayed = replay(space, STRATEGIES[strategy], 1, proposed(desk, study), observed(desk, study))
    assert list(replayed) == [[]] * 20


def proposed(desk, study):
    for number in range(study.trials):
        stored = desk.trial(number)
        yield Proposed(
            number=number,
            config=stored.config,
            watermark=stored.reasons["watermark"],
            turn=stored.turn,
            reasons=stored.reasons,
        )


def observed(desk, study):
    known = desk.store.read(
        lambda tx: list(observations.since(tx, study.id, 0, study.observations, is_open=False))
    )
    return [Observed(**vars(each)) for each in known]
