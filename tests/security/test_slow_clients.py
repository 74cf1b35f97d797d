"""Clients that take their time, to keep what the server has open for themselves."""

import socket
import threading
import time

import pytest
import uvicorn

from app import connections
from app.dashboard import static_files
from app.main import build
from app.settings import Settings
from tests.conftest import wait_until

PATIENCE = 0.5  # seconds, here in the place of each of the server's
SLOW = 20.0  # by then the server must have ended a connection
HEAD = b"POST /api/v1/studies HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
DRIBBLED = {
    "nothing at all": (b"", b""),
    "a head": (b"GET /healthz HTTP/1.1\r\nX: ", b"x"),
    "empty lines": (b"", b"\r\n"),
    "a body": (HEAD + b"Content-Length: 100000\r\n\r\n", b" "),
    "pieces of a body": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "a body behind its answer": (HEAD.replace(b"studies", b"none") + b"Content-Length: 100000\r\n\r\n", b" "),
    "a second request": (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP/1.1\r\nX: ", b"x"),
}  # fmt: skip


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server in this process, with little patience."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "UNREAD_SECONDS"):
        monkeypatch.setattr(connections, name, PATIENCE)
    listener = socket.create_server(("127.0.0.1", 0))
    app = build(Settings(database=f"sqlite:///{tmp_path}/test.db"))
    config = uvicorn.Config(app, http=connections.Connection, log_config=None, timeout_keep_alive=5)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    wait_until(lambda: server.started)
    server.port = listener.getsockname()[1]
    yield server
    server.should_exit = True
    thread.join()


@pytest.fixture
def port(server):
    return server.port


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=SLOW)


@pytest.mark.parametrize("what", DRIBBLED)
def test_who_dribbles_a_request_is_left(port, what):
    begin, more = DRIBBLED[what]
    began = time.monotonic()
    with connected(port) as line:
        line.sendall(begin)
        try:
            while time.monotonic() < began + SLOW:
                if more:
                    line.sendall(more)
                line.settimeout(0.1)
                try:
                    if not line.recv(65_536):
                        break
                except TimeoutError:
                    continue
        except OSError:  # it has hung up in the midst of something
            pass

    assert time.monotonic() < began + SLOW


def test_who_reads_nothing_of_an_answer_is_left(server):
    asked = f"GET /{static_files.address('plotly.js')} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.connect(("127.0.0.1", server.port))
        line.sendall(asked.encode())  # megabytes: more than the buffers between us take
        wait_until(lambda: server.server_state.connections)

        wait_until(lambda: not server.server_state.connections, SLOW)


def test_who_is_merely_slow_is_served(port):
    body = b'{"name": "s", "task": "t", "space": {"x": {"type": "boolean"}}, "max_trials": 1}'
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with connected(port) as line:
        for begin in range(0, len(request), 60):
            line.sendall(request[begin : begin + 60])
            time.sleep(0.02)
        assert line.recv(65_536).startswith(b"HTTP/1.1 201")
        time.sleep(0.3)
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")  # once more
        with line.makefile("rb") as said:
            assert b"HTTP/1.1 200" in said.read()


def test_who_waits_for_the_server_is_not_left(port):
    wish = b'{"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"], "wait_seconds": 2}'
    asked = HEAD.replace(b"studies", b"leases") + b"Content-Length: %d\r\n\r\n" % len(wish) + wish
    with connected(port) as line:
        line.sendall(asked)
        assert b'{"leases":[]}' in line.recv(65_536)
