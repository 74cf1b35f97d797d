import json
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thiessen.search import (
    STRATEGIES,
    BiasedRandom,
    Given,
    History,
    HistoryError,
    Mismatch,
    NotReplayable,
    Observed,
    Proposed,
    Stream,
    Tally,
)
from thiessen.search.record import Record
from thiessen.space import Boolean, Categorical, Float, Int, Space

pytestmark = pytest.mark.row(8)

SPACE = Space(
    lr=Float(1e-4, 1.0, log=True),
    layers=Int(1, 8),
    kind=Categorical(("a", "b")),
    momentum=Float(0.0, 1.0, when={"kind": ["b"]}),
    flag=Boolean(),
)
GIVEN = {"lr": 0.5, "layers": 3, "kind": "a", "flag": True}
ENDINGS = ["succeeded", "pruned", "failed", "succeeded", "diverged", "cancelled", "succeeded"]


def a_record(strategy=STRATEGIES["biased_random"], proposals=16, **rules):
    """Return the record of a search whose trials end in every way, two at a time."""
    rules = {"duplicates": "forbid", "failures_repel": True} | rules
    history, trials, observations = History(SPACE, **rules), [], []
    for turn in range(proposals):
        if turn == 5:
            trials.append(Given(number=len(trials), config=GIVEN, origin="imported"))
            history.number(GIVEN)
        number = len(trials)
        proposal = strategy.propose(SPACE, history.landscape, turn, Stream(3, number))
        watermark = history.landscape.watermark
        trials.append(Proposed(number=number, config=proposal.config, watermark=watermark, turn=turn))
        history.number(proposal.config)
        if number > 1:
            observations.append(observed(len(observations) + 1, trials[len(observations)]))
            history.observe(observations[-1])
    return Record(space=SPACE, strategy=strategy, seed=3, trials=trials, observations=observations, **rules)


def observed(seq, trial):
    outcome = ENDINGS[trial.number % len(ENDINGS)]
    loss = trial.config["layers"] + trial.config["lr"] if outcome in {"succeeded", "pruned"} else None
    cause = "error" if outcome == "failed" else None
    return Observed(seq=seq, trial=trial.number, outcome=outcome, loss=loss, cause=cause)


def written(record):
    return json.loads(json.dumps(record.to_json(), allow_nan=False))


def tally(document):
    record = Record.from_json(document)
    return Tally.of(record.replay(), record.proposals)


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
@pytest.mark.parametrize("rules", [{}, {"duplicates": "allow", "failures_repel": False}], ids=["", "allow"])
def test_a_record_is_read_as_it_was_written_and_replays(strategy, rules):
    record = a_record(strategy, **rules)

    assert Record.from_json(written(record)) == record
    assert str(tally(written(record))) == "All 16 proposals match."


def test_what_a_newer_server_adds_is_passed_over():
    document = written(a_record())
    for place in (document, document["study"], document["trials"][0], document["observations"][0]):
        place["news"] = {"any": [1]}

    assert Record.from_json(document) == a_record()


def test_one_changed_loss_names_the_first_trial_that_is_affected():
    document = written(a_record(BiasedRandom.presets["thesis"]))
    seen = document["observations"][0]
    seen["loss"] = -1000.0

    found = tally(document)

    assert found.first.trial > seen["trial"]
    assert document["trials"][found.first.trial]["watermark"] >= seen["seq"]
    before = [trial for trial in document["trials"][: found.first.trial] if trial["origin"] == "proposed"]
    assert len(before) <= found.matching < 16
    assert str(found.first) in str(found)


@pytest.mark.parametrize("stored", [{"lr": 1.0}, {"layers": 99}, {"what": None}, {}])
def test_a_stored_proposal_is_compared_and_used_for_nothing_else(stored):
    document = written(a_record())
    document["trials"][2]["config"] = stored

    found = tally(document)

    assert (found.matching, found.first.trial, found.first.stored) == (15, 2, stored)


def test_a_tally_counts_what_could_not_be_computed_as_different():
    one, other = Mismatch(3, "config", {"x": 1}, {"x": 2}), Mismatch(3, "refused", 1, 2)

    assert str(Tally.of([[], [], [one, other]], 9)) == (
        "2 of 9 proposals match. "
        "The config of trial 3 was stored as {'x': 1}, replayed as {'x': 2}. After it 6 more differ."
    )


def test_a_borrowed_strategy_is_read_and_refused_when_replayed():
    class Borrowed(type(STRATEGIES["random"])):
        name = "borrowed"
        replayable = False

    document = written(a_record(STRATEGIES["random"])) | {"format": 1}
    document["study"]["strategy"] = {"name": "borrowed"}
    record = Record.from_json(document, {"borrowed": Borrowed()})
    with pytest.raises(NotReplayable, match="'borrowed'"):
        record.replay()


def changed(document, path, value):
    *parents, last = path
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["format"], 2, "the document: format is 1 here; got 2"),
        (["format"], True, "format is 1 here"),
        (["study"], None, "study is an object; got None"),
        (["study", "space", "lr", "low"], 2.0, "the study: dimension 'lr'"),
        (["study", "space"], {}, "the study: a space has 1 to 256 dimensions"),
        (["study", "strategy", "name"], "magic", "the study: its name is"),
        (["study", "strategy"], "random", "the study: strategy is an object"),
        (["study", "seed"], 1.0, "the study: seed is a whole number"),
        (["study", "duplicates"], "perhaps", "duplicates is one of forbid, allow, memoise"),
        (["study", "failures_repel"], 1, "failures_repel is true or false"),
        (["trials"], {}, "trials is a list"),
        (["trials", 3], 7, "trial 3 is an object; got 7"),
        (["trials", 3, "number"], 4, "trial 3: number is 3 here"),
        (["trials", 3, "origin"], "found", "trial 3: origin is one of proposed"),
        (["trials", 3, "config"], {"lr": [1]}, "trial 3: config is an object of plain values"),
        (["trials", 3, "turn"], 4, "trial 3: turn is a whole number up to 3"),
        (["trials", 3, "watermark"], -1, "trial 3: watermark is the number of an observation"),
        (["trials", 3, "watermark"], 99, "trial 3: watermark is the number of an observation"),
        (["trials", 2, "watermark"], 3, "observation 3 of trial 2 follows observation 2 with 2 trials"),
        (["trials", 9, "watermark"], 1, "a trial before it knew observation"),
        (["trials", 3, "reasons"], [], "trial 3: reasons is an object"),
        (["trials", 5, "config", "layers"], 9, "trial 5: dimension 'layers' cannot be 9"),
        (["observations", 2, "seq"], 2, "observation 3: seq is 3 here"),
        (["observations", 2, "trial"], 99, "observation 3: trial is the number of a trial"),
        (["observations", 2, "outcome"], "running", "observation 3: outcome is one of succeeded"),
        (["observations", 0, "loss"], None, "observation 1: loss is a finite number; got None"),
        (["observations", 0, "loss"], float("nan"), "observation 1: loss is a finite number; got nan"),
        (["observations", 1, "loss"], 10**400, "observation 2: loss is a finite number or null"),
        (["observations", 2, "cause"], 5, "observation 3: cause is a string or null"),
    ],
)
def test_a_broken_record_is_refused_with_a_sentence_that_names_the_place(path, value, said):
    with pytest.raises(HistoryError, match=said):
        tally(changed(written(a_record()), path, value))


DOCUMENTS = [written(a_record(strategy, 8)) for strategy in STRATEGIES.values()]
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.floats(),
    st.sampled_from(["", "a", "queued", 2**53, 10**400, 1e308]),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_in_a_record_it_replays_or_is_refused_with_a_sentence(data):
    document = deepcopy(data.draw(st.sampled_from(DOCUMENTS)))
    for _ in range(data.draw(st.integers(1, 3))):
        mutate(document, data)
    with suppress(HistoryError):
        tally(document)


def mutate(place, data):
    while True:
        keys = list(place) if isinstance(place, Mapping) else list(range(len(place)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        goes_on = isinstance(place[key], dict | list) and data.draw(st.integers(0, 4))
        if not goes_on:
            break
        place = place[key]
    how = data.draw(st.sampled_from(["replace", "remove", "twice"]))
    if how == "replace":
        place[key] = data.draw(values)
    elif how == "remove":
        del place[key]
    elif isinstance(place, list):
        place.insert(key, deepcopy(place[key]))
