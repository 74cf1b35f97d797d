"""No statement of a trial's life reads more when the study has more trials."""

import pytest

MOST = {"sqlite": 3_000, "postgresql": 50}  # of instructions, of rows; a whole study has 20,000 rows


def lease(api, request):
    sent = {"worker": "w", "incarnation": "i", "request_id": request, "tasks": ["t"], "slot": {"name": "cpu"}}
    return api.post("/api/v1/leases", json=sent).json()["leases"][0]


def end(api, leased, verb, **body):
    return api.post(f"/api/v1/leases/{leased['lease_id']}/{verb}", json=body)


POINTS = [{"step": 1, "metrics": {"loss": 0.5}}]
ENDS = {
    "heartbeat": {"reports": POINTS},
    "complete": {"loss": 0.25},
    "fail": {"kind": "error", "message": "boom", "traceback": "line 1"},
    "release": {},
}


@pytest.fixture
def most(database):
    return MOST[database.partition(":")[0].partition("+")[0]]


def check(found, most):
    assert found
    assert [read for read in found if read.scans] == []
    assert max(read.work for read in found) < most, max(found, key=lambda read: read.work)


@pytest.mark.row(253)
def test_a_lease_of_a_new_trial_and_of_a_waiting_one_reads_little(large, reads, most):
    lease(large, "warm")  # the first one reads the history, once for each process
    for request in ("proposed", "again"):
        check(reads(lambda request=request: lease(large, request)), most)

    large.post("/api/v1/studies/s/trials", json={"trials": [{"config": {"x": 0.123456}}]})
    check(reads(lambda: lease(large, "queued")), most)


@pytest.mark.row(253)
@pytest.mark.parametrize("verb", ENDS)
def test_what_a_worker_says_of_its_attempt_reads_little(large, reads, most, verb):
    leased = lease(large, "r")

    check(reads(lambda: end(large, leased, verb, **ENDS[verb])), most)
