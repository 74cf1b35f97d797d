import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress

import pytest

from app.serving import FIRST_PAUSE, LONG_LIFE, LONGEST_PAUSE, next_pause
from tests.conftest import address_of, wait_until
from tests.thiessen.test_commands import run
from thiessen.client import Client

BODY = json.dumps({"name": "s", "task": "t", "space": {"x": {"type": "boolean"}}, "max_trials": 1}).encode()


@pytest.fixture
def serving(programs, database):
    """A server that answers: its process, its port and its log."""

    def start(**environment):
        process = programs("serve", "--database", database, "--port", "0", **environment)
        return ready(process)

    return start


@pytest.fixture
def several(programs, postgres):
    """A supervisor with two processes that serve."""
    database = postgres.new_database()
    yield lambda: ready(programs("serve", "--database", database, "--port", "0", "--workers", "2"))
    postgres.drop(database)


def ready(process):
    process.url = address_of(process)
    process.port = int(process.url.rsplit(":", 1)[1])
    with Client(process.url) as client:
        wait_until(client.is_ready)
    return process


def half_a_request(process, what="POST /api/v1/studies"):
    """Send the head of a request, which is then under way until its body comes."""
    line = socket.create_connection(("127.0.0.1", process.port), timeout=30)
    head = (
        f"{what} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(BODY)}\r\nExpect: 100-continue\r\n\r\n"
    )
    line.sendall(head.encode())
    assert line.recv(1000).startswith(b"HTTP/1.1 100"), "the server waits for the body"
    return line


def is_refused(process):
    try:
        socket.create_connection(("127.0.0.1", process.port), timeout=30).close()
    except ConnectionRefusedError:
        return True
    return False


def test_who_reads_where_the_server_serves_is_let_in_at_once(database):
    command = [sys.executable, "-P", "-m", "thiessen.cli", "serve", "--database", database, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL) as process:
        try:
            url = process.stdout.readline().split("Serving at ")[1].split()[0]
            caller = socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), timeout=30)
            caller.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            assert caller.recv(1000).startswith(b"HTTP/1.1 200")
            caller.close()
        finally:
            process.terminate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_does_and_exits_with_zero(serving, number):
    process = serving()

    process.send_signal(number)

    assert process.wait(timeout=120) == 0


@pytest.mark.row(261)
def test_a_request_under_way_is_answered_before_the_server_ends(serving):
    process = serving()
    with half_a_request(process) as line:
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(process))

        line.sendall(BODY)

        assert line.recv(1000).startswith(b"HTTP/1.1 201")
    assert process.wait(timeout=120) == 0


def test_a_request_that_never_ends_is_cut_off(serving):
    process = serving(THIESSEN_SHUTDOWN_SECONDS="5")
    with half_a_request(process):
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=120) == 0


def test_a_second_signal_stops_at_once(serving):
    process = serving(THIESSEN_SHUTDOWN_SECONDS="3600")
    with half_a_request(process):
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(process))
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=120) == 1


def test_a_database_that_does_not_close_does_not_hold_up_the_end(database):
    script = (
        "import socket, time\nfrom app.main import build\nfrom app.serving import serve\n"
        "from app.settings import Settings\n"
        f"settings = Settings(database={database!r}, shutdown_seconds=1)\n"
        "app = build(settings)\napp.state.house.store.close = lambda: time.sleep(3600)\n"
        "listener = socket.create_server(('127.0.0.1', 0))\nprint(listener.getsockname()[1], flush=True)\n"
        "serve(settings, app, listener)"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with Client(f"http://127.0.0.1:{process.stdout.readline().strip()}") as client:
            wait_until(client.is_ready)
        process.terminate()

        assert process.wait(timeout=120) == 1
        assert "Not stopped within 1 seconds" in process.stderr.read()


def test_a_server_that_stops_says_so_to_whoever_asks_whether_it_is_ready(serving):
    process = serving()
    with half_a_request(process, "GET /readyz") as line:
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(process))

        line.sendall(BODY)

        answer = line.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"urn:thiessen:stopping" in answer


def serving_now(process):
    """Return the processes of a supervisor that have started to serve, in that order."""
    return [int(pid) for pid in re.findall(r"Started server process \[(\d+)\]", process.log.read_text())]


def is_gone(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


@pytest.mark.row(261)
def test_a_process_that_is_killed_is_replaced_and_the_others_go_on_serving(several):
    process = several()
    wait_until(lambda: len(serving_now(process)) == 2)

    for killed in serving_now(process):
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda killed=killed: is_gone(killed))
        with Client(process.url) as client:
            assert client.is_ready()

    wait_until(lambda: len(serving_now(process)) == 4)
    assert "ended with -9; the next starts in 1 s." in process.log.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_supervisor_ends_every_process_and_exits_with_zero(several, number):
    process = several()
    wait_until(lambda: len(serving_now(process)) == 2)

    process.send_signal(number)

    assert process.wait(timeout=120) == 0
    assert all(map(is_gone, serving_now(process)))


def test_a_second_signal_to_the_supervisor_stops_at_once(several):
    process = several()
    wait_until(lambda: len(serving_now(process)) == 2)
    with half_a_request(process):
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(process))
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=120) == 1
    wait_until(lambda: all(map(is_gone, serving_now(process))))


def test_no_process_outlives_its_supervisor(several):
    process = several()
    wait_until(lambda: len(serving_now(process)) == 2)

    process.kill()

    wait_until(lambda: all(map(is_gone, serving_now(process))))


def test_several_processes_are_refused_on_sqlite_with_the_remedy(programs, tmp_path):
    process = programs("serve", "--database", f"sqlite:///{tmp_path}/x.db", "--workers", "2")

    assert process.wait(timeout=120) == 1
    assert "one process owns a SQLite file" in process.log.read_text()
    assert "postgresql://" in process.log.read_text()


def test_the_pause_before_the_next_start_grows_while_processes_die_young():
    pauses = [FIRST_PAUSE]
    for _ in range(9):
        pauses.append(next_pause(pauses[-1], lived=1.0))

    assert pauses[1:3] == [1.0, 2.0]
    assert pauses[-1] == LONGEST_PAUSE
    assert next_pause(LONGEST_PAUSE, lived=LONG_LIFE) == FIRST_PAUSE


@pytest.mark.parametrize(("told", "kept"), [(None, "1"), ("3", "3")])
def test_a_server_lets_blas_have_one_thread_unless_told(monkeypatch, told, kept):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", told or "")
    if told is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")

    run("serve", "--port", "-1")

    assert os.environ["OPENBLAS_NUM_THREADS"] == kept
