from dataclasses import replace

import pytest

from tests.comparison.found import a_search, a_spec, an_arm, the_runs
from thiessen.comparison.report import report

TABLE = [[3.0, 2.0, 1.0 + at / 10] for at in range(10)]


def an_arm_of(label, table=None, **others):
    table = TABLE if table is None else table
    return an_arm(label, table, runs=the_runs(table), **others)


def checks(*arms, spec=None, is_complete=True):
    """Return name and finding of what a fair comparison has."""
    found = report(
        spec or a_spec(*(arm.label for arm in arms), replicates=10),
        arms,
        project="default",
        state="completed",
        is_complete=is_complete,
    )
    return {check.name: check for check in found.checks}


def unmet(*arms, **others):
    return {name: check.told for name, check in checks(*arms, **others).items() if not check.is_met}


def test_a_fair_comparison_has_all_of_it():
    assert unmet(an_arm_of("a"), an_arm_of("b")) == {}


@pytest.mark.row(13)
def test_searches_that_spent_less_are_named():
    short = [losses[:2] if at in (1, 4) else losses for at, losses in enumerate(TABLE, start=1)]

    assert unmet(an_arm_of("a"), an_arm_of("b", short)) == {
        "equal budget": "less than 3 trials spent: b 1 (2), b 4 (2)"
    }


@pytest.mark.row(13)
def test_searches_that_have_not_begun_are_counted():
    assert unmet(an_arm_of("a"), an_arm_of("b", TABLE[:9]))["equal budget"] == (
        "1 of 20 searches have not begun"
    )


def test_what_is_spent_is_counted_in_the_unit_of_the_budget():
    spec = a_spec("a", "b", replicates=10, budget={"updates": 40})

    told = unmet(an_arm_of("a"), an_arm_of("b"), spec=spec)["equal budget"]
    assert told == "less than 40 updates spent: a 1 (30), a 2 (30), a 3 (30) and 17 more"


def test_a_dimension_that_is_declared_in_two_ways_is_named():
    wide = an_arm_of("b", dimensions={"lr": "float 0.1 to 10"})

    assert unmet(an_arm_of("a"), wide) == {
        "equal space": "lr is float 0.001 to 1, log in a and float 0.1 to 10 in b"
    }


def test_a_dimension_of_one_arm_alone_is_no_matter():
    more = an_arm_of("b", dimensions={"lr": "float 0.001 to 1, log", "damping": "float 0.1 to 10"})

    assert unmet(an_arm_of("a"), more) == {}


def test_strategies_may_differ_where_all_else_is_alike():
    arms = [an_arm_of(each, strategy=each, settings={}) for each in ("grid", "random")]

    assert unmet(*arms) == {}
    assert "strategies are what is compared" in checks(*arms)["one strategy"].told


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"task": "autoencoder"}, "tasks"),
        ({"settings": {"optimizer": "kfac"}}, "settings"),
        ({"dimensions": {"momentum": "float 0 to 1"}}, "spaces"),
    ],
)
def test_strategies_and_something_else_must_not_differ_at_once(other, named):
    one = an_arm_of("a", strategy="grid", settings={})
    two = an_arm_of("b", **({"strategy": "random", "settings": {}} | other))

    assert unmet(one, two)["one strategy"] == (
        f"strategies differ, and so do {named}: it cannot be told which of them matters"
    )


@pytest.mark.parametrize(("many", "told"), [(7, "7 replicates: below 8 there are"), (8, None)])
def test_eight_replicates_are_enough_for_two_arms(many, told):
    arms = [an_arm_of(label, TABLE[:many]) for label in "ab"]

    found = unmet(*arms, spec=a_spec("a", "b", replicates=many)).get("enough replicates")
    assert found is None if told is None else found.startswith(told)


def test_eight_replicates_cannot_show_any_of_ten_differences():
    arms = [an_arm_of(label, TABLE[:8]) for label in "abcde"]

    assert unmet(*arms, spec=a_spec(*"abcde", replicates=8)) == {
        "enough replicates": "8 replicates cannot show any of 10 differences, however large they are"
    }


def test_two_versions_of_a_task_are_named():
    arms = [an_arm_of("a"), an_arm_of("b", versions=["2"])]

    assert unmet(*arms) == {"one task version": "classifier 1 and 2"}


def test_each_task_may_have_its_own_version():
    assert unmet(an_arm_of("a"), an_arm_of("b", task="autoencoder", versions=["2"])) == {}


def test_without_fresh_runs_that_is_told():
    spec = a_spec("a", "b", replicates=10, confirm=None)

    assert unmet(an_arm("a", TABLE), an_arm("b", TABLE), spec=spec) == {
        "fresh seeds": "nothing was trained again: the best of a search was chosen for its luck too"
    }


def test_a_search_whose_best_lacks_a_run_is_counted():
    runs = the_runs(TABLE)

    assert unmet(an_arm_of("a"), an_arm("b", TABLE, runs=runs[:-1]))["fresh seeds"] == (
        "the best configs of 1 of 20 searches were not trained again"
    )


def test_a_config_that_is_not_the_best_of_its_search_confirms_nothing():
    runs = the_runs(TABLE)
    other = [replace(run, searched=2.0) if run.replicate == 3 else run for run in runs]

    assert "1 of 20 searches" in unmet(an_arm_of("a"), an_arm("b", TABLE, runs=other))["fresh seeds"]


def test_several_trials_at_once_are_told():
    spec = a_spec("a", "b", replicates=10, parallel=4)

    assert unmet(an_arm_of("a"), an_arm_of("b"), spec=spec) == {
        "one trial at a time": "up to 4 trials of a search at once: it cannot be repeated exactly"
    }


def test_a_search_without_any_success_has_nothing_to_confirm_and_is_not_dropped():
    table = [[None, None, None], *TABLE[1:]]
    failing = an_arm("b", TABLE, runs=the_runs(TABLE[1:]))
    runs = [replace(run, replicate=run.replicate + 1) for run in failing.runs]
    failing = replace(failing, runs=runs, searches=[a_search(at, each) for at, each in enumerate(table, 1)])

    assert unmet(an_arm_of("a"), failing) == {}
