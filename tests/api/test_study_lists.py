"""Lists of studies: filters and cursors."""

import pytest

STUDIES = "/api/v1/studies"
SPACE = {"x": {"type": "float", "low": 0, "high": 1}}


@pytest.fixture
def studies(api):
    """Four studies in the list, and one that was deleted."""
    tagged = (("lr-1", ["a"]), ("lr-2", ["A", "b"]), ("LR-3", ["a_b"]), ("damping", ["aXb"]), ("old", []))
    for name, tags in tagged:
        study = {"name": name, "task": "t", "space": SPACE, "tags": tags}
        assert api.post(STUDIES, json=study).status_code == 201
    assert api.patch(f"{STUDIES}/damping", json={"state": "paused"}).status_code == 200
    assert api.delete(f"{STUDIES}/old").status_code == 204
    return api


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["damping", "LR-3", "lr-2", "lr-1"]),
        ({"state": "paused"}, ["damping"]),
        ({"tag": "a"}, ["lr-1"]),
        ({"tag": "a_b"}, ["LR-3"]),
        ({"q": "lr"}, ["lr-2", "lr-1"]),
        ({"q": "l_"}, []),
        ({"archived": "true"}, ["old"]),
    ],
)
def test_studies_are_filtered(studies, query, names):
    assert [study["name"] for study in studies.get(STUDIES, params=query).json()["studies"]] == names


def test_studies_come_in_pages_and_the_last_one_says_so(studies):
    first = studies.get(STUDIES, params={"limit": 2}).json()
    second = studies.get(STUDIES, params={"limit": 2, "cursor": first["next"]}).json()

    assert [study["name"] for study in second["studies"]] == ["lr-2", "lr-1"]
    assert second["next"] is None
