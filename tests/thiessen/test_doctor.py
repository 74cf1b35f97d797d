"""The command that looks at all that is needed, and says what to do."""

import json
import os
import shutil
import socket
import threading
from collections import namedtuple
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import time
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from app.storage import open_store
from tests.conftest import address_of, wait_until
from thiessen.cli import doctor
from thiessen.cli.checks import Finding, on_disk
from thiessen.cli.main import build
from thiessen.cli.own_checks import _of_extra
from thiessen.client import Client
from thiessen.contract import CONTRACT, CONTRACT_HEADER, Loss, OfferedTask, StudySpec, WorkerSpec
from worker.spool import Result, Spool, usual_folder

SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
Usage = namedtuple("Usage", "total used free")  # noqa: PYI024 - as shutil has it


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user who has nothing yet."""
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("THIESSEN_SERVER", "THIESSEN_DATABASE", "THIESSEN_TOKEN", "THIESSEN_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("THIESSEN_PORT", "0")  # the usual one may be somebody else's


def examined(*arguments, code=0):
    """Return what the doctor found, by check."""
    said = CliRunner().invoke(build(), ["doctor", "--output", "json", *arguments])
    assert said.exit_code == code, said.output + str(said.exception)
    return {each["check"]: each for each in json.loads(said.stdout)}


def test_where_nothing_is_wrong_all_is_well(server, database):
    found = examined("--server", server.url, "--database", database)
    assert {each["state"] for each in found.values()} == {"ok"}
    assert found.keys() >= {"version", "packages", "server", "contract", "clock", "token", "database"}
    assert found.keys() >= {"workers", "studies", "spool"}
    assert found.keys() >= {"devices", "tasks", "data sets", "worker's folder", "this folder"}
    assert "classifier" in found["tasks"]["told"]
    assert found["token"]["told"] == "none is needed."


def test_nothing_has_to_be_there_and_nothing_is_made(tmp_path):
    found = examined()
    assert {each["state"] for each in found.values()} == {"ok"}
    assert "there is none yet" in found["database"]["told"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.row(263)
def test_people_get_a_line_for_each_check_with_what_to_do():
    said = CliRunner().invoke(build(), ["doctor", "--database", "sqlite:///no.db"])
    assert said.exit_code == 1
    [fault] = [line for line in said.output.splitlines() if line.startswith("fault")]
    assert fault.split()[:2] == ["fault", "database"]
    assert fault.endswith("There is no no.db: check --database, or let thiessen serve make it.")
    assert not Path("no.db").exists()


def test_a_schema_of_another_version_is_a_fault(store, database):
    store.write(lambda tx: tx.execute(text("UPDATE alembic_version SET version_num = '0001'")))
    found = examined("--database", database, code=1)["database"]
    assert found["state"] == "fault"
    assert "Run: thiessen db upgrade" in found["told"]


def test_a_schema_that_no_version_here_knows_is_a_fault(store, database):
    store.write(lambda tx: tx.execute(text("UPDATE schema_range SET oldest = '9999'")))
    store.write(lambda tx: tx.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    found = examined("--database", database, code=1)["database"]
    assert found["state"] == "fault"
    assert "upgrade this server" in found["told"]


def test_a_database_that_this_user_may_not_write_is_a_fault(store, tmp_path, monkeypatch):
    del store
    file = tmp_path / "theirs.db"
    open_store(f"sqlite:///{file}").close()
    monkeypatch.setattr("os.access", lambda path, _: Path(path) != file)
    found = examined("--database", f"sqlite:///{file}", code=1)["database"]
    assert found["state"] == "fault"
    assert "cannot be written by user" in found["told"]


def test_a_port_that_somebody_has_is_told(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("THIESSEN_PORT", str(taken.getsockname()[1]))
        found = examined()["port"]
    assert found["state"] == "warning"
    assert "Address already in use" in found["told"]
    assert "--port" in found["cure"]


def test_a_study_for_which_nobody_works_is_told_and_so_is_that_there_is_no_worker(server):
    assert examined("--server", server.url)["workers"]["state"] == "ok"
    server.create_study(StudySpec(name="lonely", task="classifer", space=SPACE, max_trials=2))

    found = examined("--server", server.url)

    assert found["workers"]["told"].startswith("0 of 0 were heard")
    assert found["workers"]["cure"].endswith(f"thiessen worker --server {server.url}")
    assert found["studies"]["told"].startswith("lonely: No worker has registered task 'classifer' yet")
    assert {found[check]["state"] for check in ("workers", "studies")} == {"warning"}


def test_a_worker_that_was_heard_is_one(server):
    task = OfferedTask(name="train", version="1")
    server.register("node-1", WorkerSpec(incarnation="monday", tasks=[task]))
    server.create_study(StudySpec(name="s", task="train", space=SPACE, max_trials=2))

    found = examined("--server", server.url)

    assert (found["workers"]["state"], found["workers"]["told"][:6]) == ("ok", "1 of 1")
    assert found["studies"]["told"].startswith("s: No worker has asked for task 'train' since")


def test_results_that_wait_for_their_server_are_told_when_they_have_waited_for_long():
    spool = Spool(usual_folder())
    for number in range(2):
        ending = Loss(loss=0.5)
        there = "http://head-node:8000"
        spool.keep(Result(server=there, lease_id=f"l{number}", name=f"s/{number}", ending=ending))
    assert examined()["spool"]["state"] == "ok"
    for file in usual_folder().iterdir():
        os.utime(file, (0, 0))

    found = examined()["spool"]

    assert found["state"] == "warning"
    assert found["told"].endswith("2 for http://head-node:8000.")
    assert found["cure"] == "A worker delivers them: thiessen worker --server http://head-node:8000"


@pytest.mark.parametrize(
    ("address", "check", "said"),
    [
        ("postgresql://127.0.0.1:1/none", "database", "and that PostgreSQL runs"),
        ("mysql://h/d", "settings", "is not a database address"),
    ],
)
def test_a_database_that_cannot_be_is_a_fault(address, check, said):
    found = examined("--database", address, code=1)[check]
    assert said in f"{found['told']} {found['cure']}"


@contextmanager
def answering(code=200, contract=str(CONTRACT), ahead=0.0, body=b"{}"):
    """A server that says so."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response_only(code)
            self.send_header("Date", formatdate(time() + ahead, usegmt=True))
            if contract:
                self.send_header(CONTRACT_HEADER, contract)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *told):
            """Be silent."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("answer", "check", "state", "said"),
    [
        ({"contract": ""}, "server", "fault", "is no server of Thiessen"),
        ({"code": 503, "body": b"stopping"}, "server", "fault", "answers 503: stopping"),
        ({"contract": str(CONTRACT + 1)}, "contract", "warning", "Upgrade here"),
        ({"contract": str(CONTRACT + 2), "code": 426}, "contract", "fault", "Upgrade the older side"),
        ({"contract": str(CONTRACT - 1), "code": 426}, "contract", "fault", "Upgrade the older side"),
        ({"ahead": 3600}, "clock", "warning", "s ahead of ours"),
        ({"ahead": -3600}, "clock", "warning", "s behind ours"),
        ({}, "clock", "ok", "is ours within"),
        ({"code": 426}, "server", "ok", "answers"),
    ],
)
def test_a_server_that_does_not_fit_is_told_with_the_cure(answer, check, state, said):
    with answering(**answer) as address:
        found = examined("--server", address, code=int(state == "fault"))[check]
    assert found["state"] == state
    assert said in f"{found['told']} {found['cure']}"


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "nowhere", "http://[", "http://a b"])
def test_a_server_that_does_not_answer_is_a_fault(address):
    found = examined("--server", address, code=1)["server"]
    assert (found["state"], found["cure"][:9]) == ("fault", "Start one")


def test_a_token_is_tried(database, programs, monkeypatch):
    secrets = {}
    for scope in ("read", "work"):
        made = CliRunner().invoke(
            build(), ["token", "create", scope, "--scope", scope, "--database", database]
        )
        secrets[scope] = made.stdout.strip()
    process = programs("serve", "--database", database, "--port", "0", THIESSEN_REQUIRE_TOKENS="true")
    address = address_of(process)
    with Client(address) as client:
        wait_until(client.is_ready)

    assert examined("--server", address, code=1)["token"]["state"] == "fault"
    for token, code, said in [
        ("thiessen_unknown", 1, "thiessen token create"),
        ("no token", 1, "does not look like one"),
        (secrets["read"], 0, "it is valid, and may read"),
        (secrets["work"], 0, "it is valid, and may not read"),
    ]:
        monkeypatch.setenv("THIESSEN_TOKEN", token)
        found = examined("--server", address, code=code)["token"]
        assert said in f"{found['told']} {found['cure']}"
        assert token not in json.dumps(found) or token == "no token"  # noqa: S105 - none at all


@pytest.mark.parametrize(
    ("free", "state"), [(5 * 10**9, "ok"), (10**9, "warning"), (10**7, "fault"), (0, "fault")]
)
def test_a_folder_wants_room(monkeypatch, tmp_path, free, state):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**10, 0, free))
    assert on_disk("here", tmp_path / "not" / "yet", "Make room.").state == state


def test_a_folder_that_cannot_be_is_a_fault(tmp_path):
    (tmp_path / "file").touch(mode=0o755)
    found = on_disk("here", tmp_path / "file" / "folder", "Go elsewhere.")
    assert (found.state, found.cure) == ("fault", "Go elsewhere.")


@pytest.mark.parametrize(
    ("extra", "packages", "state", "said"),
    [
        ("", {"numpy": "1.26"}, "ok", "numpy "),
        ("", {"numpy": "1.26", "nosuch": "1"}, "fault", "nosuch not installed"),
        ("ray", {"nosuch": "1"}, "ok", "not installed."),
        ("server", {"numpy": "1.26", "nosuch": "1"}, "warning", "nosuch not installed"),
        ("server", {"numpy": "999.1"}, "warning", "is older than 999.1"),
        ("", {"numpy": "999.1"}, "fault", "is older than 999.1"),
        ("", {"numpy": "10.0"}, "fault", "is older than 10.0"),  # as numbers, not as text
    ],
)
def test_packages_are_there_and_new_enough(extra, packages, state, said):
    found = _of_extra(extra, packages)
    assert found.state == state
    assert said in found.told
    assert state == "ok" or found.cure.startswith("pip install 'thiessen")


@pytest.mark.parametrize(
    ("raised", "state", "said"),
    [
        (None, "warning", "of its own"),
        (ModuleNotFoundError("no", name="torch"), "ok", "not installed: it needs the package torch."),
        (ZeroDivisionError("by 0"), "fault", "ended with ZeroDivisionError: by 0"),
    ],
)
def test_any_package_contributes_checks_and_none_ends_the_others(monkeypatch, raised, state, said):
    def checks(asked):
        if raised is not None:
            raise raised
        yield Finding("theirs", "warning", f"of its own, for {asked.database}", "Do something.")

    entry = SimpleNamespace(name="theirs", load=lambda: checks)
    monkeypatch.setattr(doctor, "entry_points", lambda group: {"thiessen.checks": [entry]}[group])
    found = examined("--database", "d", code=int(state == "fault"))["theirs"]
    assert found["state"] == state
    assert said in found["told"]


def test_a_package_in_the_place_of_a_room_is_a_fault_and_not_imported(monkeypatch):
    monkeypatch.setattr(doctor, "stranger", lambda room: f"{room} is not ours" if room == "app" else None)
    found = examined(code=1)
    assert found["app"]["told"] == "app is not ours"
    assert "database" not in found


def test_data_files_are_counted_and_a_driver_without_its_torch_is_a_warning(monkeypatch, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.gz").touch()
    monkeypatch.setenv("THIESSEN_DATA_DIR", str(tmp_path / "files"))
    monkeypatch.setattr("worker.devices.available", lambda: ["cpu"])
    monkeypatch.setattr("worker.checks.shutil.which", lambda _: "/usr/bin/nvidia-smi")
    found = examined()
    assert "1 files in" in found["data sets"]["told"]
    assert (found["devices"]["state"], found["devices"]["told"][:5]) == ("warning", "cpu; ")


def test_a_task_that_cannot_be_loaded_is_a_fault(monkeypatch):
    def load():
        raise ImportError("half installed")

    broken = SimpleNamespace(name="theirs", value="theirs:TASK", load=load)
    fine = SimpleNamespace(name="line", value="line:TASK", load=lambda: SimpleNamespace(name="line"))
    monkeypatch.setattr("worker.checks.entry_points", lambda group: [broken, fine] * (group != ""))
    said = CliRunner().invoke(build(), ["doctor"])
    assert said.exit_code == 1
    assert "theirs cannot be loaded from theirs:TASK: ImportError: half installed" in said.output
    assert "Mend or uninstall its package." in said.output
