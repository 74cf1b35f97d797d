"""The finished trials of a study as columns."""

from itertools import pairwise

import pytest

from app.lifecycle import columns
from tests.api.conftest import post

SPACE = {"x": {"type": "float", "low": 0, "high": 9999}}


def history(api, study="s", **query):
    answer = api.get(f"/api/v1/studies/{study}/history", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def a_study(api, *values, name="s", **spec):
    """Create a study of trials with these values, None for one that diverged; x is the place of each."""
    post(api, "studies", name=name, task="t", space=SPACE, max_trials=9, strategy="random", **spec)
    outcomes = [{"diverged": "nan"} if value is None else {"value": value} for value in values]
    trials = [{"config": {"x": float(place)}, "outcome": outcome} for place, outcome in enumerate(outcomes)]
    for begin in range(0, len(trials), 1000):
        post(api, f"studies/{name}/trials", trials=trials[begin : begin + 1000])


def lease(api, request):
    sent = {"worker": "w", "incarnation": "i", "request_id": str(request), "tasks": ["t"]}
    [leased] = post(api, "leases", **sent, slot={"name": "cpu"}).json()["leases"]
    return leased["lease_id"]


def test_a_history_has_a_list_for_each_field_of_what_has_finished(varied):
    assert history(varied) == {
        "watermark": 2,
        "trials": 2,
        "finished": 2,
        "columns": {
            "number": [0, 1],
            "state": ["succeeded", "succeeded"],
            "value": [2.5, -0.5],
            "config": {
                "lr": [-0.5, 0.5],
                "größe": [3, 4],
                "opt": ["=1+1", "@kfac"],
                "mixed": [None, "a"],
                "bias": [True, False],
                "damping": [None, 0.25],
            },
        },
    }


def test_trials_come_in_the_order_they_finished_in_and_without_those_that_have_not(api):
    a_study(api)
    configs = [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}]
    post(api, "studies/s/trials", trials=[{"config": config} for config in configs])
    leases = [lease(api, n) for n in range(2)]
    post(api, f"leases/{leases[1]}/complete", diverged="nan")
    assert history(api)["columns"] == {
        "number": [1], "state": ["diverged"], "value": [None], "config": {"x": [2.0]},
    }  # fmt: skip
    post(api, f"leases/{leases[0]}/complete", value=7.0)

    assert history(api)["columns"] == {
        "number": [1, 0],
        "state": ["diverged", "succeeded"],
        "value": [None, 7.0],
        "config": {"x": [2.0, 1.0]},
    }  # fmt: skip


def test_a_trial_that_is_tried_again_is_left_out_until_it_ends_again(api):
    a_study(api, 1.0, 2.0, max_attempts=1)
    post(api, "studies/s/trials", trials=[{"config": {"x": 5.0}}])
    post(api, f"leases/{lease(api, 1)}/fail", kind="error", message="boom")
    assert history(api)["columns"]["state"] == ["succeeded", "succeeded", "failed"]
    again = api.patch("/api/v1/studies/s/trials/2", json={"state": "queued"})
    assert again.is_success, again.text

    told = history(api)
    assert (told["watermark"], told["finished"], told["columns"]["number"]) == (4, 2, [0, 1])
    post(api, f"leases/{lease(api, 2)}/complete", value=0.5)
    assert history(api)["columns"]["value"] == [1.0, 2.0, 0.5]


def test_of_a_long_history_the_best_are_told_and_the_others_evenly_spread(api):
    a_study(api, *[float(value) for value in range(2500)], None)

    whole, some = history(api), history(api, most=100)

    assert (whole["finished"], len(whole["columns"]["number"])) == (2501, 2501)
    assert whole["columns"]["config"]["x"] == [float(place) for place in range(2501)]
    numbers = some["columns"]["number"]
    assert (some["finished"], len(set(numbers))) == (2501, 100)
    assert numbers == sorted(numbers)
    assert set(numbers) > set(range(25))  # a quarter: the best
    others = [number for number in numbers if number >= 25]
    gaps = {after - before for before, after in pairwise(others[:-1])}
    assert len(gaps) <= 2
    assert max(gaps) - min(gaps) <= 1
    assert (others[0], others[-1]) == (25, 2500)
    assert some["columns"]["value"] == [None if n == 2500 else float(n) for n in numbers]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 8])
def test_no_more_trials_are_told_than_asked_for(api, most):
    a_study(api, 3.0, 1.0, 2.0, None, 5.0)

    assert len(history(api, most=most)["columns"]["number"]) == min(most, 5)


def test_of_few_the_best_is_among_them(api):
    a_study(api, 3.0, 1.0, 2.0, None, 5.0, direction="maximize")

    assert 4 in history(api, most=4)["columns"]["number"]


def test_a_study_that_took_the_name_of_a_purged_one_has_its_own_history(api):
    a_study(api, 1.0, 2.0, 3.0)
    assert history(api)["finished"] == 3
    assert api.delete("/api/v1/studies/s", params={"purge": True}).is_success
    assert api.get("/api/v1/studies/s/history").status_code == 404
    a_study(api, 4.0)

    assert history(api)["columns"]["value"] == [4.0]


def test_what_the_database_has_lost_is_no_longer_told(api):
    """A standby took over, say, that had not heard of the last trials."""
    a_study(api, 1.0, 2.0)
    assert history(api)["finished"] == 2
    [remembered] = api.app.state.house.histories._studies.values()
    remembered.watermark = 3
    remembered._losses[1] = -7.0

    assert history(api)["columns"]["value"] == [1.0, 2.0]


def test_histories_asked_for_long_ago_are_forgotten_and_read_again(api, monkeypatch):
    reads, learn = [], columns.FinishedTrials._learn

    def counted(self, page):
        reads.append(len(page))
        learn(self, page)

    monkeypatch.setattr(columns.FinishedTrials, "_learn", counted)
    api.app.state.house.histories._most_cells = columns.PAGE
    for name in "ab":
        a_study(api, 1.0, 2.0, name=name)

    assert [history(api, name)["finished"] for name in "aabba"] == [2] * 5
    assert len(reads) == 3  # a, b, and a again
