"""Comparisons over HTTP: created, searched, confirmed, reported."""

import pytest

from tests.api.conftest import post

X = {"type": "float", "low": 0, "high": 1}


def a_comparison(**changed):
    return {
        "name": "c",
        "task": "t",
        "space": {"x": X},
        "arms": [{"label": "a", "settings": {"kind": "a"}}, {"label": "b", "settings": {"kind": "b"}}],
        "budget": {"trials": 2},
        "replicates": 2,
        "strategy": "random",
        "confirm": {"seeds": 2},
    } | changed


class Bench:
    """Creates comparisons and trains what is leased."""

    def __init__(self, api) -> None:
        self.api = api
        self.wishes = 0

    def create(self, **changed):
        return self.api.post("/api/v1/comparisons", json=a_comparison(**changed))

    def get(self, path):
        answer = self.api.get(f"/api/v1/{path}")
        assert answer.is_success, answer.text
        return answer.json()

    def comparison(self, name="c"):
        return self.get(f"comparisons/{name}")

    def lease(self, **wish):
        self.wishes += 1
        sent = {"worker": "w", "incarnation": "i", "request_id": f"r{self.wishes}", "tasks": ["t"]}
        leases = post(self.api, "leases", **sent, **wish).json()["leases"]
        return leases[0] if leases else None

    def train(self, most=1000, loss=lambda config: config["x"] + (config["kind"] == "b"), steps=0):
        """Train until nothing is left, or so many trials; return them."""
        done = []
        while len(done) < most and (leased := self.lease()):
            path = f"leases/{leased['lease_id']}"
            if steps:
                points = [{"step": step, "metrics": {"loss": 1 / step}} for step in range(1, steps + 1)]
                post(self.api, f"{path}/heartbeat", reports=points)
            post(self.api, f"{path}/complete", loss=loss(leased["config"]))
            done.append(leased)
        return done


@pytest.fixture
def bench(api):
    return Bench(api)


def test_a_comparison_is_searched_confirmed_and_reported(bench):
    assert bench.create().status_code == 201

    searched = bench.train(most=8)
    between = bench.comparison()
    confirmed = bench.train(steps=3)

    assert {each["study"] for each in searched} == {"c.a.1", "c.a.2", "c.b.1", "c.b.2"}
    assert (between["state"], between["stage"]) == ("active", "confirming")
    assert sorted(f"{each['study']} {each['trial']}" for each in confirmed) == [
        f"c.{arm}.confirm {number}" for arm in "ab" for number in range(4)
    ]
    after = bench.comparison()
    assert (after["state"], after["stage"], after["progress"]) == ("completed", "done", 1.0)
    assert after["spent"] == after["spent"] | {"searches": 4, "trials": 8, "runs": 8, "updates": 24}
    report = bench.get("comparisons/c/report")
    assert report["is_complete"]
    assert [[len(each["values"]) for each in arm["confirmed"]] for arm in report["arms"]] == [[2, 2], [2, 2]]
