"""Lists of trials: filters, orders, and cursors."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TRIALS = "/api/v1/studies/s/trials"


@pytest.fixture
def study(api):
    """A study with an imported trial of each loss, a diverged one, and two that wait."""
    space = {"x": {"type": "float", "low": 0, "high": 1}}
    created = {"name": "s", "task": "t", "space": space, "max_trials": 100, "direction": "maximize"}
    assert api.post("/api/v1/studies", json=created).status_code == 201
    add(api, 0.1, value=3.0)
    add(api, 0.2, value=-1e300)
    add(api, 0.3, value=3.0)
    add(api, 0.4, diverged="nan")
    add(api, 0.5)
    add(api, 0.6)
    return api


def add(api, x, **outcome):
    trial = {"config": {"x": x}} | ({"outcome": outcome} if outcome else {})
    assert api.post(TRIALS, json={"trials": [trial]}).status_code == 201


def pages(api, limit, **query):
    """Return the numbers on each page, first to last."""
    cursor, found = None, []
    while True:
        page = api.get(
            TRIALS, params={"limit": limit, **query} | ({"cursor": cursor} if cursor else {})
        ).json()
        found.append([line["trial"] for line in page["trials"]])
        cursor = page["next"]
        if cursor is None:
            return found


def numbers(api, **query):
    return [number for page in pages(api, 2, **query) for number in page]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"sort": "-number"}, [5, 4, 3, 2, 1, 0]),
        ({"sort": "loss"}, [0, 2, 1]),
        ({"sort": "-loss"}, [1, 2, 0]),
        ({"sort": "finished"}, [0, 1, 2, 3]),
        ({"sort": "-finished"}, [3, 2, 1, 0]),
        ({"state": "queued"}, [4, 5]),
        ({"state": "diverged", "sort": "finished"}, [3]),
        ({"origin": "imported", "sort": "-number"}, [3, 2, 1, 0]),
        ({"origin": "enqueued", "state": "succeeded"}, []),
    ],
)
def test_trials_are_filtered_and_sorted(study, query, expected):
    assert numbers(study, **query) == expected


def test_a_line_says_what_became_of_a_trial(study):
    line = study.get(TRIALS, params={"sort": "-loss", "limit": 1}).json()["trials"][0]

    assert (line["trial"], line["loss"], line["value"], line["config"]) == (1, 1e300, -1e300, {"x": 0.2})
    assert (line["state"], line["origin"], line["attempts"]) == ("succeeded", "imported", 0)


def test_the_last_page_says_that_it_is_the_last(study):
    assert pages(study, 3) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("broken", ["x", "é", "!!!!", "WzFd", "W10=", "e30=", "NQ==", "W251bGwsIDFd"])
def test_a_broken_cursor_is_refused_with_the_remedy(study, broken):
    refused = study.get(TRIALS, params={"cursor": broken})

    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("cursor: it is broken, or of a list with another study")


@pytest.mark.parametrize("other", [{"sort": "-number"}, {"state": "queued"}, {"origin": "imported"}])
def test_a_cursor_of_another_list_is_refused(study, other):
    cursor = study.get(TRIALS, params={"limit": 1}).json()["next"]

    assert study.get(TRIALS, params={"cursor": cursor}).status_code == 200
    assert study.get(TRIALS, params={"cursor": cursor, **other}).status_code == 422


def test_losses_that_are_not_final_are_not_sorted_by(study):
    refused = study.get(TRIALS, params={"sort": "loss", "state": "pruned"})

    assert refused.status_code == 422
    assert "only succeeded trials have a final loss" in refused.json()["detail"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_by_number_nothing_is_skipped_or_doubled_while_trials_are_added_and_end(study, data):
    before, cursor, found = numbers(study), None, []
    while cursor is not None or not found:
        limit = data.draw(st.integers(1, 4), label="limit")
        given = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        page = study.get(TRIALS, params=given).json()
        found += [line["trial"] for line in page["trials"]]
        cursor = page["next"]
        if len(found) < len(before) and data.draw(st.booleans(), label="meanwhile"):
            meanwhile(study)

    assert found[: len(before)] == before
    assert found == sorted(set(found))


def meanwhile(api):
    """Add a trial, and end the one that waits the longest."""
    waiting = api.get(TRIALS, params={"state": "queued", "limit": 1}).json()["trials"]
    add(api, 1 / (2 + len(numbers(api))))
    for line in waiting:
        assert api.patch(f"{TRIALS}/{line['trial']}", json={"state": "cancelled"}).status_code == 200
