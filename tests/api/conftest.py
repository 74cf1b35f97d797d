import pytest


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
