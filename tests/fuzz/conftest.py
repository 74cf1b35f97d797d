"""One server process for many hostile requests, with a little of everything in its database."""

from contextlib import contextmanager

import httpx
import pytest

from tests.conftest import BACKENDS, _programs, a_database, address_of, wait_until

X = {"type": "float", "low": 0, "high": 1}
SETTINGS = {
    "THIESSEN_REQUIRE_TOKENS": "true",
    "THIESSEN_REQUESTS_PER_SECOND": "0",  # every request here comes from one address
    "THIESSEN_ALLOW_PRIVATE_WEBHOOKS": "true",  # no other is to be had in a test
}


@pytest.fixture(scope="module", params=BACKENDS)
def database(request, tmp_path_factory):
    """The address of an empty database, here one for all tests of a file."""
    with a_database(request, request.param, tmp_path_factory.mktemp("fuzz")) as address:
        yield address


@contextmanager
def serving(database, folder):
    """Run a server that wants tokens; yield a client with the token of an admin."""
    with _programs(folder) as start:
        made = start("token", "create", "admin", "--scope", "admin", "--database", database)
        assert made.wait() == 0, made.log.read_text()
        process = start("serve", "--database", database, "--port", "0", **SETTINGS)
        headers = {"authorization": f"Bearer {made.log.read_text().split()[-1]}"}
        with httpx.Client(base_url=address_of(process), headers=headers, timeout=60) as client:
            wait_until(lambda: is_ready(client))
            yield client
            assert process.poll() is None, process.log.read_text()[-5000:]


def is_ready(client):
    try:
        return client.get("/readyz").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def victim(database, tmp_path_factory):
    """A client of a running server that has a study `s` of task `t` and a worker `w`."""
    with serving(database, tmp_path_factory.mktemp("server")) as client:
        study = {"name": "s", "task": "t", "space": {"x": X}, "max_trials": 1_000_000}
        assert client.post("/api/v1/studies", json=study).status_code == 201
        worker = {"incarnation": "i", "tasks": [{"name": "t"}]}
        assert client.put("/api/v1/workers/w", json=worker).status_code == 200
        yield client
