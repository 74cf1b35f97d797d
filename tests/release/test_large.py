"""A study of 100,000 trials, on both databases: whatever is asked of it is answered."""

import time

import httpx
import pytest
from sqlalchemy import create_engine, func, select

from app.storage.check import faults
from app.storage.tables import trials
from benchmarks.service import history
from tests.conftest import address_of, wait_until
from thiessen.client import Client
from thiessen.contract import LeaseRequest, Loss

TRIALS = 100_000
PAGE = 1000
CYCLES = 20
REPLAYED = 10_000  # of them a server computes again in one answer
ANSWER_SECONDS = 200.0  # machines are busy; benchmarks say how long it takes on one that is not
pytestmark = pytest.mark.timeout(380)


@pytest.fixture
def address(programs, database):
    """A server of a database with the study, which its first answer has read."""
    history.fill(database, TRIALS, "thesis")
    process = programs("serve", "--database", database, "--port", "0", THIESSEN_REQUESTS_PER_SECOND="0")
    url = address_of(process)
    with Client(url) as client:
        wait_until(client.is_ready)
    return url


@pytest.fixture
def http(address):
    with httpx.Client(base_url=f"{address}/api/v1", timeout=ANSWER_SECONDS) as client:
        yield client


def answered(http, path, **asked):
    answer = http.get(path, params=asked)
    assert answer.is_success, answer.text
    return answer


def test_a_study_of_100000_trials_answers_all_that_is_asked(address, http, database):
    study = f"/studies/{history.STUDY}"
    assert answered(http, study).json()["counts"]["succeeded"] == TRIALS
    assert {number for page in pages(http, f"{study}/trials") for number in page} == {*range(TRIALS)}
    best = answered(http, f"{study}/best", top=10).json()["best"]
    assert [each["loss"] for each in best] == lowest(database, 10)
    assert len(answered(http, f"{study}/export", format="csv").text.splitlines()) == TRIALS + 1
    assert answered(http, f"{study}/replay").json()["trials"] == REPLAYED
    assert answered(http, f"{study}/figures/history").json()
    assert httpx.get(f"{address}/studies/{history.STUDY}", timeout=ANSWER_SECONDS).is_success

    took = sorted(cycle(address, number) for number in range(CYCLES))

    assert took[CYCLES // 2] < 2.0, took
    assert answered(http, study).json()["counts"]["succeeded"] == TRIALS + CYCLES
    assert faults(database) == []


def pages(http, path):
    """Yield the numbers of each page, the last like the first."""
    cursor = None
    while True:
        page = answered(http, path, limit=PAGE, **({"cursor": cursor} if cursor else {})).json()
        yield [each["trial"] for each in page["trials"]]
        cursor = page["next"]
        if cursor is None:
            return


def lowest(database, count):
    """Return the best losses, as the rows have them."""
    engine = create_engine(database)
    with engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(trials)).scalar_one() == TRIALS
        found = connection.execute(select(trials.c.loss).order_by(trials.c.loss).limit(count)).scalars().all()
    engine.dispose()
    return found


def cycle(address, number):
    """Ask for a trial and tell its result; return how many seconds both took."""
    with Client(address) as client:
        began = time.perf_counter()
        wish = LeaseRequest(worker="w", incarnation="i", request_id=f"large-{number}", tasks=["bowl"])
        [lease] = client.lease(wish)
        client.complete(lease.lease_id, Loss(loss=0.5))
        return time.perf_counter() - began
