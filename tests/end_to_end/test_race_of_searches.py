"""The last searches of a comparison end at once, or a server is killed there: what confirms is made once."""

import itertools
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import httpx
import pytest

from app.storage.check import faults
from tests.conftest import address_of, wait_until

X = {"type": "float", "low": 0, "high": 1}
SERVE = ("serve", "--port", "0", "--database")
RACES = 6
_wishes = itertools.count()
post, get = partial(httpx.post, timeout=60), partial(httpx.get, timeout=60)


def created(address, name):
    arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
    spec = {"name": name, "task": name, "space": {"x": X}, "arms": arms, "budget": {"trials": 1}}
    spec |= {"replicates": 1, "strategy": "random", "confirm": {"seeds": 2}}
    assert post(f"{address}/api/v1/comparisons", json=spec).status_code == 201


def leased(address, task, most=2):
    wish = {
        "worker": "w",
        "incarnation": "i",
        "request_id": f"r{next(_wishes)}",
        "tasks": [task],
        "max": most,
    }
    answer = post(f"{address}/api/v1/leases", json=wish)
    assert answer.status_code == 200, answer.text
    return [each["lease_id"] for each in answer.json()["leases"]]


def complete(address, lease_id):
    answer = post(f"{address}/api/v1/leases/{lease_id}/complete", json={"loss": 0.5})
    assert answer.status_code == 204, answer.text


def runs(address, name):
    listed = get(f"{address}/api/v1/studies?comparison={name}").json()["studies"]
    return {each["name"]: each["counts"]["queued"] for each in listed if "confirm" in each["name"]}


@pytest.fixture
def addresses(database, programs):
    """Where to ask: one server on SQLite, two replicas on PostgreSQL."""
    quick = {"THIESSEN_REQUESTS_PER_SECOND": "0"}
    first = address_of(programs(*SERVE, database, **quick))
    return [
        first,
        first if database.startswith("sqlite") else address_of(programs(*SERVE, database, **quick)),
    ]


def test_of_two_searches_that_end_at_once_on_two_servers_one_makes_what_confirms(addresses, database):
    with ThreadPoolExecutor(2) as both:
        for race in range(RACES):
            created(addresses[0], f"c{race}")
            last = leased(addresses[0], f"c{race}")
            assert len(last) == 2
            list(both.map(complete, addresses, last))

    for race in range(RACES):
        name = f"c{race}"
        assert runs(addresses[1], name) == {f"{name}.a.confirm": 2, f"{name}.b.confirm": 2}
        for lease_id in leased(addresses[1], name, most=4):
            complete(addresses[0], lease_id)
        assert get(f"{addresses[1]}/api/v1/comparisons/{name}").json()["state"] == "completed"
    assert faults(database) == []


@pytest.mark.parametrize("point", ["half-a-confirmation", "complete-committed:2"])
def test_a_server_that_is_killed_where_the_last_search_ends_has_done_all_of_it_or_nothing(
    database, programs, point
):
    doomed = programs(*SERVE, database, THIESSEN_FAILPOINT=point)
    address = address_of(doomed)
    created(address, "c")
    first, last = leased(address, "c")
    complete(address, first)
    with suppress(httpx.TransportError):
        complete(address, last)
    wait_until(lambda: doomed.poll() is not None)
    assert doomed.returncode == -signal.SIGKILL

    address = address_of(programs(*SERVE, database))
    is_done = point.startswith("complete")
    both = {"c.a.confirm": 2, "c.b.confirm": 2}
    assert runs(address, "c") == (both if is_done else {})
    complete(address, last)  # the worker asks again

    assert runs(address, "c") == both
    assert faults(database) == []
