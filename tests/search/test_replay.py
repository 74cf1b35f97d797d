import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.definition import landscape_of
from thiessen.search import (
    STRATEGIES,
    BiasedRandom,
    Exhausted,
    Given,
    Grid,
    HistoryError,
    NotReplayable,
    Observed,
    Proposed,
    Random,
    SharpeningRank,
    Stream,
    replay,
)
from thiessen.space import Boolean, Categorical, Float, Int, Space

pytestmark = pytest.mark.row(8)

HOUSE = Path(__file__).parents[2]
SPACE = Space(
    lr=Float(1e-4, 1.0, log=True),
    layers=Int(1, 8),
    kind=Categorical(("a", "b", "c")),
    momentum=Float(0.0, 1.0, when={"kind": ["b"]}),
    flag=Boolean(),
)
THESIS = BiasedRandom.presets["thesis"]
TABLE = STRATEGIES | {
    "shuffled grid": Grid(3, "shuffled"),
    "thesis": THESIS,
    "believer": replace(THESIS, pending="believer", neighbours=3, initial=4),
    "liar_mean": replace(THESIS, pending="liar_mean"),
    "sharpening_rank": replace(THESIS, acceptance=SharpeningRank()),
    "adaptive believer": BiasedRandom(pending="believer", neighbours=2, initial=4, explore=0.0, local=1.0),
}
every_strategy = pytest.mark.parametrize("strategy", TABLE.values(), ids=TABLE)
losses = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e9, 1e9))
causes = st.sampled_from(["error", "out_of_memory", "attempts_used_up"])
outcomes = st.one_of(
    losses.map(lambda loss: {"outcome": "succeeded", "loss": loss}),
    st.just({"outcome": "diverged"}),
    st.one_of(st.none(), losses).map(lambda last: {"outcome": "pruned", "loss": last}),
    causes.map(lambda cause: {"outcome": "failed", "cause": cause}),
    st.just({"outcome": "cancelled"}),
)


class Search:
    """A search as a server runs it: workers ask and tell in any order, and everything is stored."""

    def __init__(self, strategy, space=SPACE, seed=5, **rules):
        self.strategy, self.space, self.seed = strategy, space, seed
        self.rules = {"duplicates": "forbid", "failures_repel": True} | rules
        self.trials, self.observations, self.running, self.failed = [], [], [], []

    def ask(self):
        number, turn = len(self.trials), sum(isinstance(trial, Proposed) for trial in self.trials)
        landscape = self.known()
        proposal = self.strategy.propose(self.space, landscape, turn, Stream(self.seed, number))
        self.trials.append(
            Proposed(
                number=number,
                config=proposal.config,
                watermark=landscape.watermark,
                turn=turn,
                reasons=asdict(proposal.reasons),
            )
        )
        self.running.append(number)

    def give(self, config, origin="enqueued", **outcome):
        self.trials.append(Given(number=len(self.trials), config=config, origin=origin))
        self.running.append(len(self.trials) - 1)
        if outcome:
            self.tell(-1, **outcome)

    def tell(self, place, **outcome):
        trial = self.running.pop(place % len(self.running))
        if outcome["outcome"] == "failed":
            self.failed.append(trial)
        self.observe(trial, **outcome)

    def retry(self, place, **late):
        """A person queues a failed trial again; or its result comes late."""
        trial = self.failed.pop(place % len(self.failed))
        if not late:
            self.running.append(trial)
        self.observe(trial, **(late or {"outcome": "queued"}))

    def observe(self, trial, **outcome):
        self.observations.append(Observed(seq=len(self.observations) + 1, trial=trial, **outcome))

    def known(self):
        configs = [trial.config for trial in self.trials]
        return landscape_of(self.space, configs, self.observations, **self.rules)

    def replay(self, trials=None, observations=None):
        trials, observations = trials or self.trials, observations or self.observations
        return list(replay(self.space, self.strategy, self.seed, trials, observations, **self.rules))

    def mismatches(self, trials=None, observations=None):
        return list(chain.from_iterable(self.replay(trials, observations)))


def a_search(strategy, number=40, workers=4):
    """Return a search whose workers take turns, with losses that tell configs apart."""
    search = Search(strategy)
    for trial in range(number):
        search.ask()
        if trial >= workers:
            config = search.trials[search.running[trial % workers]].config
            search.tell(trial % workers, outcome="succeeded", loss=config["layers"] + config["lr"])
    return search


events = st.one_of(
    st.sampled_from(["ask", "ask", "give", "retry"]),
    outcomes,
    outcomes,
    st.tuples(st.sampled_from(["imported", "memoised", "late"]), outcomes),
)


@every_strategy
@settings(max_examples=25)
@given(data=st.data(), told=st.lists(events, min_size=10, max_size=40))
def test_a_search_by_several_workers_replays_whatever_the_order_of_their_results(
    strategy, data, told, mixed_spaces, a_config
):
    rules = {
        "duplicates": data.draw(st.sampled_from(["forbid", "allow", "memoise"])),
        "failures_repel": data.draw(st.booleans()),
    }
    search = Search(strategy, data.draw(mixed_spaces), **rules)
    for at, event in enumerate(told):
        with suppress(Exhausted):
            happen(search, event, at, a_config(search.space, seed=1, trial=at))

    assert search.mismatches() == []


def happen(search, event, place, config):
    if event == "ask":
        search.ask()
    elif event == "give":
        search.give(config)
    elif isinstance(event, tuple) and event[0] != "late":
        search.give(config, event[0], **event[1])
    elif isinstance(event, dict) and search.running:
        search.tell(place, **event)
    elif not isinstance(event, dict) and search.failed:
        search.retry(place, **(event[1] if event[0] == "late" else {}))


@every_strategy
def test_one_changed_digit_of_a_config_is_found_at_its_trial_and_nowhere_else(strategy):
    search = a_search(strategy)
    for number in (0, 11, 39):
        config = search.trials[number].config
        changed = config | {"lr": float(f"{config['lr'] * (1 + 1e-11):.12g}")}
        trials = [*search.trials]
        trials[number] = replace(trials[number], config=changed)

        (mismatch,) = search.mismatches(trials=trials)

        assert (mismatch.trial, mismatch.what) == (number, "config")
        assert (mismatch.stored, mismatch.replayed) == (changed, config)


@pytest.mark.parametrize(("stored", "found"), [(1, 0), (1.0, 1), (True, 1)])
def test_a_value_of_another_json_type_is_another_value(stored, found):
    search = Search(Grid(), Space(kind=Categorical((1, 1.0, True))))
    search.ask()
    trials = [replace(search.trials[0], config={"kind": stored})]
    assert len(search.mismatches(trials=trials)) == found


@pytest.mark.parametrize("strategy", [THESIS, TABLE["believer"], TABLE["liar_mean"]])
def test_one_changed_digit_of_a_loss_is_found_by_the_proposals_that_saw_it(strategy):
    search = a_search(strategy)
    numbers = [each.reasons["nearest_trial"] for each in search.trials]
    seen = next(each for each in search.observations if each.trial in numbers)
    observations = [*search.observations]
    observations[seen.seq - 1] = replace(seen, loss=seen.loss + 1e-9)

    mismatches = search.mismatches(observations=observations)

    assert mismatches
    assert all(search.trials[each.trial].watermark >= seen.seq for each in mismatches)


def test_a_loss_that_was_another_is_found_by_the_configs_alone():
    search = a_search(THESIS)
    trials = [replace(trial, reasons={}) for trial in search.trials]
    observations = [replace(search.observations[0], loss=-100.0), *search.observations[1:]]

    assert search.mismatches(trials=trials) == []
    assert {each.what for each in search.mismatches(trials=trials, observations=observations)} == {"config"}


def test_what_reasons_were_not_stored_are_not_compared_and_unknown_ones_neither():
    search = a_search(THESIS)
    some = [
        replace(trial, reasons={"estimate": trial.reasons["estimate"], "surprise": 1})
        for trial in search.trials
    ]
    assert search.mismatches(trials=some) == []

    wrong = [replace(some[0], reasons={"estimate": 0.5}), *some[1:]]
    (mismatch,) = search.mismatches(trials=wrong)
    assert str(mismatch) == "The estimate of trial 0 was stored as 0.5, replayed as None."


def test_a_trial_too_many_is_found():
    search = Search(Random(), Space(flag=Boolean()))
    search.ask()
    search.ask()
    more = replace(search.trials[0], number=2, turn=2)

    (mismatch,) = search.mismatches(trials=[*search.trials, more])

    assert (mismatch.trial, mismatch.replayed) == (2, None)


def test_a_strategy_whose_chance_is_not_ours_is_refused():
    class Borrowed(Random):
        name: ClassVar[str] = "borrowed"
        replayable: ClassVar[bool] = False

    with pytest.raises(NotReplayable, match="'borrowed' draws numbers that are not ours"):
        replay(SPACE, Borrowed(), 0, [], [])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda s: s.observations.pop(0), "observation 2 of trial .* follows observation 0"),
        (lambda s: s.observations.pop(), "observation 36 was the last known, but here 35 is the last"),
        (lambda s: s.observations.insert(0, replace(s.observations[9], seq=1)), "observation 1 of trial 9"),
        (lambda s: s.trials.reverse(), "trial 40 comes where trial 0 is due"),
        (lambda s: s.trials.pop(0), "trial 1 comes where trial 0 is due"),
        (
            lambda s: s.trials.append(replace(s.trials[0], number=41)),
            "before it knew observation 36",
        ),
    ],
)
def test_a_history_with_holes_or_out_of_order_is_refused(change, said):
    search = a_search(Random())
    search.trials.append(replace(search.trials[39], watermark=36, number=40, turn=40))
    change(search)
    with pytest.raises(HistoryError, match=said):
        search.mismatches()


# Elsewhere


def as_export(search, strategy):
    return {
        "space": search.space.to_json(),
        "strategy": strategy,
        "seed": search.seed,
        "trials": [asdict(trial) for trial in search.trials],
        "observations": [asdict(each) for each in search.observations],
    }


def replayed(export):
    trials = [Proposed(**each) for each in export["trials"]]
    observations = [Observed(**each) for each in export["observations"]]
    space = Space.from_json(export["space"])
    comparisons = replay(space, TABLE[export["strategy"]], export["seed"], trials, observations)
    return [str(each) for each in chain.from_iterable(comparisons)]


@pytest.mark.parametrize("name", TABLE)
def test_a_search_that_was_written_as_json_replays(name):
    export = json.loads(json.dumps(as_export(a_search(TABLE[name]), name), allow_nan=False))
    assert replayed(export) == []


def test_searches_replay_in_another_process():
    exports = [as_export(a_search(strategy), name) for name, strategy in TABLE.items()]
    program = (
        "import json, sys; from tests.search.test_replay import replayed;"
        "print(json.dumps([replayed(export) for export in json.load(sys.stdin)]))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(exports),
        env=os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONHASHSEED": str(random.randrange(2**32))},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(ran.stdout) == [[] for _ in TABLE]


def test_chance_that_is_not_of_the_stream_is_found():
    class Careless(Random):
        def propose(self, space, landscape, turn, rng):
            return super().propose(space, landscape, turn, Stream(random.randrange(2**32), rng.seed))

    assert a_search(Careless(), number=5).mismatches()
