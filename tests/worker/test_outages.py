"""The server goes away and comes back; workers are killed with results in hand. Nothing is lost."""

import time

import pytest

from tests.conftest import address_of, wait_until
from thiessen.client import Client

LEASE_SECONDS = 2


@pytest.fixture
def serve(database, programs):
    """Starts a server with short leases, always on the same database; on the same port when it is given."""

    def start(port="0"):
        command = ("serve", "--database", database, "--port", port)
        return programs(*command, THIESSEN_LEASE_SECONDS=str(LEASE_SECONDS))

    return start


@pytest.fixture
def results(tmp_path):
    """Returns the results that wait on the disk."""
    return lambda: [file for file in (tmp_path / "results").glob("*.jsonl") if file.stat().st_size]


def taking(seconds):
    return {"x": {"type": "float", "low": 0.0, "high": 1.0}} | {
        "seconds": {"type": "float", "low": float(seconds), "high": float(seconds)}
    }


def is_training(client, study):
    return client.study(study).counts.running == 1 and client.trial(study, 0).attempts[0].reports


@pytest.mark.row(270)
def test_an_outage_of_five_leases_loses_no_attempt_and_stops_no_training(
    serve, work, a_study, results, tmp_path
):
    """One training ends in the outage, and its result waits on the disk; one goes on through all of it."""
    first = serve()
    address = address_of(first)
    with Client(address) as client:
        wait_until(client.is_ready)
        client.create_study(a_study("takes", name="short", space=taking(4)))
        client.create_study(a_study("takes", name="long", space=taking(20)))
        worker = work(client, "--devices", "cpu,cpu", "--spool-dir", str(tmp_path / "results"))
        wait_until(lambda: is_training(client, "short") and is_training(client, "long"))
        first.kill()
        first.wait()
        down_since = time.monotonic()
        wait_until(lambda: results() and time.monotonic() - down_since > 5 * LEASE_SECONDS)

        serve(address.rsplit(":", 1)[1])

        wait_until(client.is_ready)
        wait_until(lambda: all(client.study(name).state == "completed" for name in ("short", "long")))
        for name, points in (("short", 40), ("long", 200)):
            attempts = client.trial(name, 0).attempts
            assert [(each.outcome, len(each.reports)) for each in attempts] == [("succeeded", points)]
        wait_until(lambda: not results())
        client.create_study(a_study("takes", name="after"))
        wait_until(lambda: client.study("after").state == "completed")
        assert worker.poll() is None


def test_the_result_of_a_worker_killed_before_it_could_tell_is_told_by_the_next(
    server, work, a_study, results, tmp_path
):
    server.create_study(a_study("takes"))
    options = ("--spool-dir", str(tmp_path / "results"), "--idle-exit", "0.5")
    killed = work(server, *options, THIESSEN_FAILPOINT="spooled")
    assert killed.wait(120) == -9
    assert len(results()) == server.study("takes").counts.running == 1

    assert work(server, *options).wait(120) == 0

    assert [attempt.outcome for attempt in server.trial("takes", 0).attempts] == ["succeeded"]
    assert results() == []


def test_an_outage_that_is_too_long_ends_the_worker_and_its_result_stays(
    serve, work, a_study, results, tmp_path
):
    process = serve()
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        client.create_study(a_study("takes", space=taking(3)))
        worker = work(client, "--spool-dir", str(tmp_path / "results"), "--offline-for", "5")
        wait_until(lambda: is_training(client, "takes"))

        process.kill()

        assert worker.wait(120) == 1
        assert "Error: no answer from" in worker.log.read_text()
        assert len(results()) == 1


def test_a_worker_whose_server_is_away_stops_when_told_and_its_result_stays(
    serve, work, a_study, results, tmp_path
):
    process = serve()
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        client.create_study(a_study("takes", space=taking(2)))
        worker = work(client, "--spool-dir", str(tmp_path / "results"))
        wait_until(lambda: is_training(client, "takes"))
        process.kill()
        wait_until(results)

        worker.terminate()

        assert worker.wait(120) == 0
        assert len(results()) == 1
