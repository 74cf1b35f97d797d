"""The experiments on the ways of searching."""

import itertools
import math
import tomllib

import numpy as np
import pytest

from experiments import compared as running
from experiments.compared import HERE, Tried, bests, compared
from experiments.search import panels, table
from experiments.search.source import BIASED, FILES
from thiessen.comparison.pairs import paired

TINY = {"replicates = 100": "replicates = 2", "updates = 100": "updates = 2", "trials = 100": "trials = 4"}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The comparison of the strategies as it is, but few and short trainings: real studies, a real worker."""
    folder, text = tmp_path_factory.mktemp("compared"), (HERE / FILES["small"]).read_text()
    for ours, tiny in TINY.items():
        assert text.count(ours) == 1
        text = text.replace(ours, tiny)
    (folder / "tiny.toml").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "RUNS", folder)
        return compared(str(folder / "tiny.toml"), slots=1)


@pytest.fixture(scope="module")
def trials(found):
    return found.trials(*panels.TITLES)


def tried(*values, lr=1.0, init_alpha=1.0):
    return [Tried(at, {"lr": lr, "init_alpha": init_alpha}, value) for at, value in enumerate(values)]


@pytest.mark.row(12)
def test_a_comparison_file_is_run_to_its_report(found, trials):
    assert found.report.is_complete
    for label, searches in trials.items():
        assert [len(each) for each in searches] == [4, 4]
        assert bests(found.report, label) == [min(one.value for one in each) for each in searches]


@pytest.mark.row(12)
def test_the_table_has_each_strategy_beside_what_was_reported(found):
    rows = {row[0]: row[1:] for row in table.result(found.report).tables[0].rows}

    assert list(rows) == ["grid", "random", "thesis", "adaptive"]
    assert [rows[label][:2] for label in ("grid", "random", "thesis")] == [
        [27.23, 0.42],
        [27.02, 0.28],
        [26.61, 0.13],
    ]
    for label, row in rows.items():
        assert row[2] == pytest.approx(sum(bests(found.report, label)) / 2)


@pytest.mark.row(12)
def test_the_first_trial_of_a_replicate_is_the_same_in_every_strategy_that_draws(trials):
    for replicate in range(2):
        firsts = [searches[replicate][0] for label, searches in trials.items() if label != "grid"]
        assert len({(each.config["lr"], each.value) for each in firsts}) == 1


@pytest.mark.row(12)
@pytest.mark.parametrize(("better", "worse"), [("random", "grid"), ("grid", "random")])
def test_a_strategy_is_better_in_one_direction_alone(better, worse):
    test = paired(1 + np.arange(12) / 100, np.full(12, 2.0))
    tests = {("grid", "random"): (test, 0.001)}

    claim = table.is_better(tests, better, worse, "It is")

    assert claim.holds is (better == "grid")
    assert ("lower in 12 and higher in 0 of 12" in claim.told) is (better == "grid")


@pytest.mark.row(12)
def test_a_strategy_that_may_be_better_by_chance_is_not_said_to_be():
    test = paired(np.ones(12), np.full(12, 2.0))

    assert not table.is_better({("random", "grid"): (test, 0.011)}, "random", "grid", "It is").holds


@pytest.mark.row(10)
def test_the_interaction_is_drawn_of_one_search_with_every_trial_in_its_colour(trials):
    picture = panels.result(trials).pictures[0]
    [panel], search = picture.panels, trials["random"][0]

    [line] = panel.lines
    assert sorted(zip(line.x, line.y, line.colours, strict=True)) == sorted(
        (each.config["lr"], each.config["init_alpha"], each.value) for each in search
    )
    assert panel.log_x
    assert panel.log_y


@pytest.mark.row(11)
def test_the_strategies_are_drawn_on_one_scale_that_a_huge_value_does_not_flatten(trials):
    worse = trials | {"grid": [[*trials["grid"][0][:-1], *tried(1e9)]]}

    picture = panels.result(worse).pictures[1]

    assert [panel.title for panel in picture.panels] == list(panels.TITLES.values())
    low, high = picture.scale
    assert low == min(each.value for searches in worse.values() for each in searches[0])
    assert high < 1e6


@pytest.mark.row(10)
def test_a_training_that_diverged_has_no_colour():
    line = (
        panels.result({label: [tried(2.0, 1.0, math.inf)] * 2 for label in panels.TITLES})
        .pictures[0]
        .panels[0]
        .lines[0]
    )

    assert list(line.colours) == [None, 2.0, 1.0]


@pytest.mark.row(11)
def test_a_search_is_judged_by_the_median_of_its_second_half():
    assert panels.second_half(tried(9.0, 9.0, 9.0, 9.0, 1.0, 5.0, 2.0, math.inf)) == 3.5


@pytest.mark.row(10)
@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_hyperparameters_along_an_oblique_valley_depend_on_each_other(slope):
    powers = [at / 10 - 2 for at in range(41)]
    search = [
        Tried(0, {"lr": 10**x, "init_alpha": 10**y}, abs(y - slope * x))
        for x, y in itertools.product(powers, powers)
    ]

    correlation, p = panels.dependence([search])

    assert correlation * slope > 0.9
    assert p < panels.LEVEL


@pytest.mark.row(11)
def test_every_way_of_biased_search_is_judged_beside_random_search(trials):
    claims = panels.result(trials).claims[1:]

    assert len(claims) == len(BIASED)
    assert not any(claim.holds for claim in claims)  # two searches can show nothing


def test_both_sizes_compare_the_same_strategies():
    small, full = (tomllib.loads((HERE / file).read_text()) for file in FILES.values())

    assert small["arms"] == full["arms"]
    assert small["space"] == full["space"]
    assert small["budget"] == full["budget"]
