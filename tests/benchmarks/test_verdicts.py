import pytest

from benchmarks.search.tasks import SPLIT
from benchmarks.search.verdicts import RULES, Results, is_met, judged


def incumbents(share, *, at=1):
    return {
        "task": "a",
        "instance": 1,
        "seed": 0,
        "incumbents": [(at, share, share * 1.000001)],
        "proposals": "same",
    }


def results(**by_method):
    """Runs by method; a method of another condition is written method__condition."""
    found = {}
    for name, run in by_method.items():
        method, _, condition = name.partition("__")
        found[method, condition or "plain"] = [run]
    return Results(found, ("a",), budget=100, capped_at=0.001)


def test_every_goal_has_a_rule():
    assert {goal["rule"] for goal in SPLIT["goals"]} - set(RULES) == {"judged_elsewhere"}
    assert {goal["number"] for goal in SPLIT["goals"]} == {1, 2, 3, 4, 5, 6}


def test_trials_to_reach_a_peer():
    goal = {"number": 1, "rule": "trials_to_reach", "peer": "peer", "n": 100, "most": 60, "to_ship": 80}
    peer = incumbents(0.01)

    assert judged(goal, "ours", results(ours=incumbents(0.001, at=60), peer=peer)).state == "met"
    assert judged(goal, "ours", results(ours=incumbents(0.001, at=61), peer=peer)).state == "MISSED, may ship"
    assert judged(goal, "ours", results(ours=incumbents(0.001, at=81), peer=peer)).state == "MISSED"
    assert judged(goal, "ours", results(ours=incumbents(0.02), peer=peer)).found == "inf trials"


def test_times_a_peer_with_the_workers_of_the_goal():
    goal = {"number": 4, "rule": "times_peer", "peer": "peer", "n": 100, "workers": 8, "least": 3.0}
    plain = {"ours": incumbents(0.5), "peer": incumbents(0.1)}

    assert judged(goal, "ours", results(**plain)).state.startswith("not run")
    found = judged(
        goal, "ours", results(ours__workers=incumbents(0.001), peer__workers=incumbents(0.01), **plain)
    )
    assert found.state == "met"
    assert found.found.startswith(
        "x10.0"
    )  # 1000 and 100 trials, but for the half trial that H_N is above ln N


def test_capped_times_a_peer_sees_no_depth_beyond_the_cap():
    goal = {"number": 3, "rule": "capped_times_peer", "peer": "peer", "n": 100, "least": 1.01}

    assert judged(goal, "ours", results(ours=incumbents(1e-6), peer=incumbents(0.001))).state == "MISSED"
    assert judged(goal, "ours", results(ours=incumbents(1e-6), peer=incumbents(0.002))).state == "met"


def test_the_lower_end_of_the_interval_has_a_bar_of_its_own():
    goal = {"least": 4.0, "lower": 1.5}

    assert is_met(goal, 4.0, 1.5)
    assert not is_met(goal, 4.0, 1.4)
    assert not is_met(goal, 3.9, 1.5)


def test_runs_outside_the_best():
    goal = {"number": 3, "rule": "runs_outside_best", "share": 0.01, "n": 100, "most": 0.02}

    assert judged(goal, "ours", results(ours=incumbents(0.009))).state == "met"
    assert judged(goal, "ours", results(ours=incumbents(0.011))).found == "100.00% of runs"


def test_what_crashes_leave():
    goal = {"number": 5, "rule": "kept_with_crashes", "crashes": 0.1, "n": 100, "least": 0.3333}
    plain = incumbents(0.001)

    assert judged(goal, "ours", results(ours=plain, ours__crashes=incumbents(0.0025))).state == "met"
    assert judged(goal, "ours", results(ours=plain, ours__crashes=incumbents(0.0035))).state == "MISSED"


@pytest.mark.parametrize(("odd_one", "state"), [("same", "met"), ("another", "MISSED")])
def test_proposals_are_the_same_however_losses_are_told(odd_one, state):
    goal = {"number": 5, "rule": "same_proposals", "least": 1.0}
    views = {f"ours__{view}": incumbents(0.1) for view in ("crashes", "cubed", "1e30", "inf")}

    found = judged(goal, "ours", results(**views, ours__nan=incumbents(0.1) | {"proposals": odd_one}))

    assert found.state == state
    assert found.found == f"{4 if state == 'met' else 3} of 4 searches"


def test_a_goal_whose_runs_are_missing_is_neither_met_nor_missed():
    goal = {"number": 1, "rule": "trials_to_reach", "peer": "peer", "n": 100, "most": 60}

    assert (
        judged(goal, "ours", results(ours=incumbents(0.1))).state
        == "not run: peer (plain) lacks 1 of 1 tasks"
    )
