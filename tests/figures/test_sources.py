"""A study gives the same figures, wherever it is kept."""

import json
import sys

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.studies import SPACE, run, train
from thiessen import ThiessenError, connect, open_study
from thiessen.errors import StudyNotFound
from thiessen.figures import FIGURES, FigureError, Wanted
from thiessen.figures.sources import of_journal
from thiessen.search import History, Observed, Snapshot

KINDS = [kind for kind in FIGURES if kind != "timeline"]  # a journal keeps no times


@pytest.fixture
def inside(database):
    """A client of a server in this process."""
    with connect(database) as client:
        yield client


def pictures(study):
    return {kind: json.loads(study.figure(kind).to_json()) for kind in KINDS}


@pytest.mark.row(267)
def test_a_journal_and_a_server_draw_the_same_figures(tmp_path, inside):
    journal = run(open_study(tmp_path / "digits.jsonl", SPACE, trials=60, seed=3))
    served = run(inside.open_study("digits", SPACE, trials=60, seed=3))

    states = {each.state for each in journal.results()}
    assert states == {"succeeded", "diverged", "pruned", "failed"}
    ours, theirs = pictures(journal), pictures(served)
    for kind in KINDS:
        assert ours[kind] == theirs[kind], kind
        assert ours[kind]["data"], kind


@pytest.mark.row(267)
def test_a_server_over_http_draws_them_too(tmp_path, server):
    journal = run(open_study(tmp_path / "digits.jsonl", SPACE, trials=12, seed=3))
    served = run(server.open_study("digits", SPACE, trials=12, seed=3))

    assert pictures(journal) == pictures(served)


def test_a_study_in_memory_has_figures_while_its_trials_run():
    study = open_study(None, SPACE, trials=60, seed=3)
    study.optimize(train, trials=10, catch=RuntimeError)
    running = study.ask()

    for kind in KINDS:
        assert isinstance(study.figure(kind, theme="dark"), go.Figure)
    shown = study.figure("history").to_dict()
    assert [list(each["x"]) for each in shown["data"] if each["name"] == "running"] == [[running.number]]


def test_a_journal_that_was_closed_is_read_again(tmp_path):
    closed = run(open_study(tmp_path / "digits.jsonl", SPACE, trials=12))
    drawn = closed.figure("history")
    with open_study(tmp_path / "digits.jsonl") as again:
        assert drawn == again.figure("history")

    (tmp_path / "digits.jsonl").unlink()
    with pytest.raises(ThiessenError, match=r"cannot read .*digits.jsonl"):
        closed.figure("history")


def test_what_is_no_figure_is_told_in_words(inside):
    for study in (open_study(None, SPACE, trials=5), inside.open_study("digits", SPACE, trials=5)):
        for asked, said in [
            (
                {"name": "landscap"},
                "'landscap' is no figure; there are history, .* Did you mean 'landscape'?",
            ),
            ({"name": "landscape", "x": "rl"}, "x: 'rl' is no dimension of the space; it has lr, layers"),
            ({"name": "landscape", "x": "lr", "y": "lr"}, "x and y are both 'lr'; give two different"),
            ({"name": "history", "theme": "blue"}, "theme: 'blue' is none of light, dark"),
            ({"name": "landscape", "others": "worst"}, "others: 'worst' is none of best, ignored"),
            ({"name": "landscape", "candidates": 33}, "candidates: of 0 to 32 proposals .* got 33"),
        ]:
            with pytest.raises(FigureError, match=said):
                study.figure(**asked)
    with pytest.raises(FigureError, match="timeline: a journal keeps no times"):
        open_study(None, SPACE).figure("timeline")


def test_without_plotly_the_package_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)

    with pytest.raises(ThiessenError, match=r"pip install 'thiessen\[figures\]'"):
        open_study(None, SPACE).figure("history")


def test_a_study_that_is_not_there_has_no_figure(inside):
    with pytest.raises(StudyNotFound):
        inside.figure("absent", "history", Wanted())


@given(st.integers(0, 2**32), st.integers(1, 60))
def test_the_model_of_a_figure_is_that_of_the_next_proposal(seed, count):
    rng = np.random.default_rng(seed)
    configs = [SPACE.decode(unit) for unit in rng.random((count, len(SPACE.dimensions))).tolist()]
    observed = [an_observation(seq, rng.integers(count), rng) for seq in range(1, count + 1)]
    history = History(SPACE, Snapshot.of(configs, observed)).landscape
    entries = [
        {"trial": {"number": number, "origin": "enqueued", "config": config}}
        for number, config in enumerate(configs)
    ] + [{"observation": vars(each)} for each in observed]
    ours = of_journal("digits", SPACE, "minimize", entries, neighbours=1, metric=None, running=[]).landscape

    assert len(ours) == len(history)
    if len(ours):
        points = rng.random((20, len(SPACE.dimensions)))
        assert repr(ours.nearest_each(points)) == repr(history.nearest_each(points))  # NaN among them


def an_observation(seq, trial, rng):
    outcome = rng.choice(["succeeded", "diverged", "pruned", "failed", "cancelled"]).item()
    cause = rng.choice(["error", "out_of_memory", "lost"]).item() if outcome == "failed" else None
    has_loss = outcome == "succeeded" or (outcome == "pruned" and rng.random() < 0.8)
    loss = float(rng.normal()) if has_loss else None
    return Observed(seq=seq, trial=int(trial), outcome=outcome, loss=loss, cause=cause)
