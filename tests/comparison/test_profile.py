import numpy as np
import pytest

from tests.comparison.found import a_spec, an_arm, the_runs
from thiessen.comparison.profile import profile
from thiessen.comparison.report import report


def a_workload(name, **needed):
    """Return the report of a comparison whose arms reach the target after so many updates; None: never."""
    table = [[3.0, 2.0, 1.0]]
    arms = [
        an_arm(label, table, runs=the_runs(table, seeds=1, points=reaching(updates)))
        for label, updates in needed.items()
    ]
    spec = a_spec(*needed, name=name, target=1.0, replicates=1, metric="loss")
    return report(spec, arms, project="default", state="completed", is_complete=True)


def reaching(updates):
    steps = [0.0, updates or 10.0]
    return {"step": steps, "seconds": [each / 2 for each in steps], "loss": [2.0, 1.0 if updates else 1.5]}


def lines(*reports, **others):
    return {line.label: line for line in profile(reports, **others).lines}


def test_the_share_steps_up_at_each_factor_of_the_least_effort():
    found = lines(a_workload("one", a=10, b=20), a_workload("two", a=30, b=10))

    assert (found["a"].factor, found["a"].share) == ([1.0, 3.0, 4.0], [0.5, 1.0, 1.0])
    assert (found["b"].factor, found["b"].share) == ([1.0, 2.0, 4.0], [0.5, 1.0, 1.0])


def test_the_area_is_one_for_the_fastest_everywhere_and_nothing_for_who_never_arrives():
    found = lines(a_workload("one", a=10, b=None), a_workload("two", a=10, b=None))

    assert (found["a"].area, found["b"].area) == (1.0, 0.0)


def test_the_area_is_that_under_the_steps():
    found = lines(a_workload("one", a=10, b=20), a_workload("two", a=30, b=10))

    assert found["a"].area == pytest.approx((2 * 0.5 + 1 * 1.0) / 3)
    assert found["b"].area == pytest.approx((1 * 0.5 + 2 * 1.0) / 3)


def test_who_needs_four_times_as_much_is_still_seen_and_who_needs_more_is_not():
    found = lines(a_workload("one", a=10, b=40, c=41))

    assert (found["b"].factor, found["b"].share) == ([1.0, 4.0], [0.0, 1.0])
    assert (found["c"].share, found["c"].area) == ([0.0, 0.0], 0.0)


def test_a_workload_that_nobody_solves_counts_against_all():
    found = lines(a_workload("one", a=10, b=10), a_workload("two", a=None, b=None))

    assert [line.share for line in found.values()] == [[0.5, 0.5]] * 2


def test_only_arms_of_all_comparisons_have_a_line():
    found = profile([a_workload("one", a=10, b=20), a_workload("two", b=10, c=20)])

    assert [line.label for line in found.lines] == ["b"]
    assert found.needed == {"one": {"a": 10.0, "b": 20.0}, "two": {"b": 10.0, "c": 20.0}}


def test_seconds_have_a_profile_of_their_own():
    assert profile([a_workload("one", a=10, b=None)], over="seconds").needed == {"one": {"a": 5.0, "b": None}}


def test_a_share_never_falls():
    chance = np.random.default_rng(1)
    reports = [
        a_workload(f"w{at}", **dict(zip("abc", chance.uniform(1, 5, 3).tolist(), strict=True)))
        for at in range(6)
    ]

    for line in lines(*reports).values():
        assert line.share == sorted(line.share)
        assert line.factor == sorted(line.factor)


@pytest.mark.parametrize(
    ("reports", "says"),
    [
        ([], "at least one"),
        ([a_workload("one", a=1, b=2), a_workload("two", c=1, d=2)], "no arm is in all of one, two"),
        ([a_workload("one", a=1, b=2)] * 2, "default/one is named twice"),
    ],
)
def test_what_cannot_be_profiled_is_refused(reports, says):
    with pytest.raises(ValueError, match=says):
        profile(reports)
