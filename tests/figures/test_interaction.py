"""Two hyperparameters against each other, and searches side by side."""

import math

import numpy as np
import pytest

from tests.figures.studies import SPACE, many
from thiessen import Float, Space, open_study, side_by_side
from thiessen.figures import FigureError, Wanted, interaction, marks
from thiessen.numbers import Stream

VALLEY = Space(lr=Float(1e-3, 100.0, log=True), variance=Float(1e-2, 300.0, log=True))
STRATEGIES = {"grid": "grid", "random": "random", "biased": {"name": "biased_random", "preset": "thesis"}}


def cost(trial):
    """A good region that is an oblique valley: neither hyperparameter can be chosen without the other."""
    lr, variance = math.log10(trial["lr"]), math.log10(trial["variance"])
    noise = Stream(trial.seed, 0).uniform()
    far = (lr + variance - 0.5) ** 2 + 0.2 * (lr - variance) ** 2
    return math.nan if lr + variance > 4 else 11.0 + 20.0 * far + noise


@pytest.fixture(scope="module")
def searches():
    return {
        name: open_study(None, VALLEY, trials=100, strategy=strategy, seed=4).optimize(cost)
        for name, strategy in STRATEGIES.items()
    }


def panel_of(figure, at):
    """Return the marks of one panel: x, y and place on the scale of colours."""
    suffix = "" if at == 0 else str(at + 1)
    [trace] = [
        each for each in figure.data if each.name == "succeeded" and (each.xaxis or "x") == f"x{suffix}"
    ]
    return list(zip(trace.x, trace.y, trace.marker.color, strict=True))


@pytest.mark.row(10)
def test_any_finished_search_is_a_scatter_of_two_hyperparameters_coloured_by_criterion(searches):
    study = searches["random"]
    figure = study.figure("interaction", x="variance", y="lr")

    finite = sorted(each.loss for each in study.results() if each.state == "succeeded")
    best, worst = finite[0], float(np.quantile(finite, 0.9))
    expected = {
        (
            float(f"{each.config['variance']:.6g}"),
            float(f"{each.config['lr']:.6g}"),
            round(math.sqrt(min((each.loss - best) / (worst - best), 1.0)), 3),
        )
        for each in study.results()
        if each.state == "succeeded"
    }
    found = sorted(panel_of(figure, 0))
    assert np.array(found) == pytest.approx(np.array(sorted(expected)), rel=1e-5, abs=1e-3)
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    diverged = [each for each in figure.data if each.name == "diverged"]
    assert len(diverged[0].x) == 100 - len(finite) > 0  # and they do not flatten the scale


@pytest.mark.row(11)
def test_grid_random_and_biased_search_stand_side_by_side_on_one_scale(searches):
    figure = side_by_side(searches, x="lr", y="variance")

    titles = [note.text for note in figure.layout.annotations]
    assert [title.split("<br>")[0] for title in titles if "<br>" in title] == ["grid", "random", "biased"]
    losses = sorted(
        each.loss for study in searches.values() for each in study.results() if each.state == "succeeded"
    )
    best, worst = losses[0], float(np.quantile(losses, 0.9))
    for at, study in enumerate(searches.values()):
        for each in study.results():
            if each.state == "succeeded":
                mark = (each.config["lr"], each.config["variance"])
                place = math.sqrt(min((each.loss - best) / (worst - best), 1.0))
                assert any(
                    found == pytest.approx((*mark, place), rel=1e-5, abs=1e-3)
                    for found in panel_of(figure, at)
                )
    ranges = {tuple(figure.layout[f"xaxis{suffix}"].range) for suffix in ("", "2", "3")}
    assert len(ranges) == 1
    assert len(panel_of(figure, 0)) + _diverged(searches["grid"]) == 100


def _diverged(study):
    return sum(each.state == "diverged" for each in study.results())


@pytest.mark.row(11)
def test_the_biased_panel_has_its_later_trials_in_the_valley(searches):
    def later(name):
        return np.median([each.loss or math.inf for each in searches[name].results()[50:]])

    assert later("biased") < later("random")


def test_searches_of_different_spaces_do_not_share_a_scale():
    others = {
        "a": open_study(None, VALLEY),
        "b": open_study(None, Space(lr=Float(0, 1), variance=Float(0, 1))),
    }
    with pytest.raises(FigureError, match="a and b declare lr or variance in different ways"):
        side_by_side(others)
    with pytest.raises(FigureError, match="1 to 6 studies; got 0"):
        side_by_side({})


def test_searches_share_panels_in_the_dimensions_that_they_have_alike():
    x, y = Float(0, 1), Float(0, 1)
    searches = {
        "c.a.1": open_study(None, Space(x=x, y=y, z=Float(0, 1))),
        "c.b.1": open_study(None, Space(y=y, x=x, z=Float(0, 2))),
    }

    told = [note["text"] for note in side_by_side(searches, x="y", y="x")["layout"]["annotations"]]

    assert {"a.1<br>best –", "b.1<br>best –"} <= set(told)  # noqa: RUF001 - the sign for what is unknown
    with pytest.raises(FigureError, match="declare x or z in different ways"):
        side_by_side(searches, x="x", y="z")


def test_of_many_trials_fields_hold_the_mean_of_those_that_are_no_marks():
    trials = many(8000, SPACE, failed=0, pruned=0)
    shown = interaction.numbers({"many": trials}, Wanted(x="lr", y="layers"))
    [panel] = shown.panels

    others = np.ones(8000, bool)
    others[panel.number] = False
    assert others.sum() == 8000 - len(panel.number) >= 8000 - 2 * marks.KEPT
    across = np.minimum((trials.points[:, 0] * interaction.FIELDS[0]).astype(int), interaction.FIELDS[0] - 1)
    up = np.minimum((trials.points[:, 1] * interaction.FIELDS[1]).astype(int), interaction.FIELDS[1] - 1)
    places = shown.scale.places(trials.losses)
    for column, row in list(zip(across[others], up[others], strict=True))[:50]:
        is_in = others & (across == column) & (up == row)
        assert panel.fields[row][column] == pytest.approx(places[is_in].mean(), abs=1e-3)
