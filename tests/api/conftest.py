import pytest

SPACE = {
    "lr": {"type": "float", "low": -1, "high": 1},
    "größe": {"type": "int", "low": 1, "high": 9},
    "opt": {"type": "categorical", "choices": ["sgd", "=1+1", "@kfac"]},
    "mixed": {"type": "categorical", "choices": [1, "a", None, True]},
    "bias": {"type": "boolean"},
    "damping": {"type": "float", "low": 0, "high": 1, "when": {"opt": ["@kfac"]}},
}
FIRST = {"lr": -0.5, "größe": 3, "opt": "=1+1", "mixed": None, "bias": True}
SECOND = {"lr": 0.5, "größe": 4, "opt": "@kfac", "mixed": "a", "bias": False, "damping": 0.25}


def a_study(**changed):
    return {
        "name": "s",
        "task": "t",
        "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 3,
    } | changed


class Caller:
    """Speaks the HTTP interface with everything but the point of the test filled in."""

    def __init__(self, api) -> None:
        self.api = api
        self._requests = 0

    def create(self, **changed):
        return self.api.post("/api/v1/studies", json=a_study(**changed))

    def lease(self, **changed):
        self._requests += 1
        request = {"worker": "w", "incarnation": "i", "request_id": f"r{self._requests}", "tasks": ["t"]}
        return self.api.post("/api/v1/leases", json=request | changed)

    def leased(self, **changed):
        """Return the one lease that the answer must have."""
        [leased] = self.lease(**changed).json()["leases"]
        return leased

    def end(self, leased, verb="complete", **body):
        return self.api.post(f"/api/v1/leases/{leased['lease_id']}/{verb}", json=body)

    def get(self, path):
        return self.api.get(f"/api/v1{path}")


@pytest.fixture
def caller(api):
    return Caller(api)


@pytest.fixture
def varied(api):
    """A study with an imported trial and one that fails, is tried again and succeeds."""
    post(
        api, "studies", name="s", task="t", space=SPACE, max_trials=9, strategy="random", direction="maximize"
    )
    post(api, "studies/s/trials", trials=[{"config": FIRST, "outcome": {"value": 2.5}, "notes": '-x, "y"\n'}])
    post(api, "studies/s/trials", trials=[{"config": SECOND}])
    post(api, f"leases/{lease(api)}/fail", kind="error", message="boom", traceback="line 1")
    again = lease(api)
    post(api, f"leases/{again}/heartbeat", reports=[{"step": 1, "metrics": {"loss": "NaN"}}])
    post(api, f"leases/{again}/complete", loss=0.5)
    return api


def post(api, path, **body):
    answer = api.post(f"/api/v1/{path}", json=body)
    assert answer.is_success, answer.text
    return answer


def lease(api):
    sent = {"worker": "w", "incarnation": "i", "request_id": str(id(object())), "tasks": ["t"]}
    lease.count = getattr(lease, "count", 0) + 1
    sent["request_id"] = str(lease.count)
    found = post(api, "leases", **sent, slot={"name": "cpu"})
    return found.json()["leases"][0]["lease_id"]
