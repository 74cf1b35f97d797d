"""A study gives the same figures, wherever it is kept."""

import json
import sys

import plotly.graph_objects as go
import pytest

from tests.figures.studies import SPACE, train
from thiessen import ThiessenError, connect, open_study
from thiessen.errors import StudyNotFound
from thiessen.figures import FIGURES, FigureError, Wanted

KINDS = [kind for kind in FIGURES if kind != "timeline"]  # a journal keeps no times


@pytest.fixture
def inside(database):
    """A client of a server in this process."""
    with connect(database) as client:
        yield client


def run(study):
    with study:
        study.optimize(train, catch=RuntimeError)
    return study


def pictures(study):
    return {kind: json.loads(study.figure(kind).to_json()) for kind in KINDS}


def test_a_journal_and_a_server_draw_the_same_figures(tmp_path, inside):
    journal = run(open_study(tmp_path / "digits.jsonl", SPACE, trials=60, seed=3))
    served = run(inside.open_study("digits", SPACE, trials=60, seed=3))

    states = {each.state for each in journal.results()}
    assert states == {"succeeded", "diverged", "pruned", "failed"}
    ours, theirs = pictures(journal), pictures(served)
    for kind in KINDS:
        assert ours[kind] == theirs[kind], kind
        assert ours[kind]["data"], kind


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
