"""A figure after so many trials is that of a study which had no others, in the colours of the whole."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.studies import SPACE, Ending, many, of_losses, run, told, with_more
from thiessen import Float, Space, connect, open_study
from thiessen.figures import FIGURES, FigureError, Wanted, figure, history, landscape, text
from thiessen.figures.scale import Scale
from thiessen.figures.trials import Proposed

PLANE = Space(lr=Float(1e-4, 1.0, log=True), momentum=Float(0.0, 1.0))


def first(trials, count):
    """Return a study that has only the first of these trials."""
    return replace(
        trials,
        numbers=trials.numbers[:count],
        states=trials.states[:count],
        losses=trials.losses[:count],
        codes=trials.codes[:, :count],
        is_broken=trials.is_broken[:count],
    )


@pytest.mark.parametrize("after", [1, 7, 60])
def test_the_cells_and_the_best_are_those_of_the_first_trials_alone(after):
    trials = many(80, PLANE, seed=2)
    alone = landscape.numbers(first(trials, after), Wanted())
    replayed = landscape.numbers(trials.seen(after=after), Wanted())

    def shape(numbers):
        return [(cell.trial, cell.x, cell.y, cell.loss) for cell in numbers.cells]

    assert shape(replayed) == shape(alone)
    assert replayed.best == alone.best
    assert replayed.walk == alone.walk
    assert replayed.scale == landscape.numbers(trials, Wanted()).scale


def test_nothing_of_a_history_moves_but_what_is_added():
    trials = with_more(many(40))
    now, then = history.numbers(trials), history.numbers(trials.seen(after=15))

    assert then.number == now.number[:15]
    assert (then.at, then.place) == (now.at[:15], now.place[:15])
    assert (then.axis, then.last_number) == (now.axis, 39)
    assert (then.trials, then.unfinished) == (15, [])


@pytest.mark.parametrize("kind", FIGURES)
def test_every_figure_has_a_past_and_after_all_is_now(kind):
    trials = with_more(many(30))

    assert figure(kind, trials, Wanted(after=30)) == figure(kind, trials, Wanted())
    for after in (0, 12):
        drawn = figure(kind, trials, Wanted(after=after))
        assert drawn["layout"]["meta"]["finished"] == 30
        assert len(drawn["layout"]["meta"]["table"]["rows"]) <= 50


def test_the_candidates_of_the_past_are_those_that_were_the_latest():
    config = {"lr": 0.1, "momentum": 0.1}
    trials = replace(
        told(PLANE, *(Ending(at, config, 1.0 + at) for at in range(9))),
        latest=[Proposed(number=at, config=config, refused=[]) for at in range(9)],
    )
    shown = landscape.numbers(trials.seen(after=4), Wanted(candidates=2))

    assert [mark.told for mark in shown.marks if mark.state == "kept"] == ["kept: trial 2", "kept: trial 3"]


def test_a_journal_and_a_server_have_the_same_past(tmp_path, database):
    journal = run(open_study(tmp_path / "digits.jsonl", SPACE, trials=40, seed=3))
    with connect(database) as client:
        served = run(client.open_study("digits", SPACE, trials=40, seed=3))
        for kind in ("landscape", "history", "curves"):
            for after in (0, 11, 40):
                ours, theirs = (
                    study.figure(kind, after=after, colour="rank").to_json() for study in (journal, served)
                )
                assert ours == theirs, (kind, after)
    with pytest.raises(FigureError, match="after: it counts finished trials and is at least 0; got -1"):
        journal.figure("history", after=-1)


@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=40))
def test_places_by_rank_are_the_shares_that_are_better(losses):
    losses = np.array(losses)
    places = Scale.of(losses, by_rank=True).places(losses)

    for loss, place in zip(losses.tolist(), places.tolist(), strict=True):
        if losses.min() == losses.max():
            assert place == 0.0
            continue
        better, equal = (losses < loss).sum(), (losses == loss).sum()
        assert place == pytest.approx((better + (equal - 1) / 2) / (len(losses) - 1))


def test_colours_by_rank_give_each_trial_a_step_and_say_so():
    trials = of_losses(1.0, 2.0, 3.0, 1e30, 5.0)

    assert history.numbers(trials.seen(after=None, by_rank=True)).place == [0.0, 0.25, 0.5, 1.0, 0.75]
    drawn = figure("landscape", many(50), Wanted(colour="rank"))
    assert "colours go by rank" in drawn["layout"]["meta"]["caption"]
    [legend] = [each for each in drawn["data"] if each["name"] == "value"]
    losses = many(50).losses[many(50).succeeded]
    assert legend["marker"]["colorbar"]["ticktext"][2] == text.short(np.median(losses))
    with pytest.raises(FigureError, match="colour: 'hue' is none of loss, rank"):
        figure("history", trials, Wanted(colour="hue"))
