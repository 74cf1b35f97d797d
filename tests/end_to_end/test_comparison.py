"""A comparison from one command: whoever is killed meanwhile, its report is the same."""

import json
import re
import signal
from contextlib import suppress

import psutil
import pytest

from tests.conftest import _programs, wait_until
from thiessen.client import Client
from thiessen.errors import ThiessenError

FILE = """
name = "three"
task = "classifier"
replicates = 3
seed = 1

[settings]
updates = 10
hidden = 4
points = 2

[budget]
trials = 20

[space]
lr = { type = "float", low = 0.0001, high = 10.0, log = true }

[[arms]]
label = "sgd"
settings = { optimizer = "sgd" }

[[arms]]
label = "nesterov"
settings = { optimizer = "nesterov" }
space = { momentum = { type = "float", low = 0.5, high = 0.99 } }

[[arms]]
label = "adam"
settings = { optimizer = "adam" }
"""
OURS = ("serve", "worker")


class Command:
    """`thiessen compare three.toml --here`, begun in a folder of its own."""

    def __init__(self, start, folder):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "three.toml").write_text(FILE)
        written = ("-o", "table", "-o", str(folder / "report.json"))
        self.process = start("compare", str(folder / "three.toml"), "--here", "--slots", "2", *written)

    def said(self):
        return self.process.log.read_text()

    def report(self):
        """Return the report when it has ended; what is told in seconds is left out."""
        assert self.process.wait(280) == 0, self.said()
        return without_seconds(json.loads((self.folder / "report.json").read_text()))

    def until(self, share):
        """Wait until so much of it is done."""
        wait_until(lambda: self._progress() >= share, 200)

    def kill(self, name):
        """End one of its processes as a machine would, and wait until it is started again."""
        before = self.child(name)
        before.kill()
        wait_until(lambda: (now := self.child(name)) and now != before, 120)

    def child(self, name):
        for each in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):  # it has just died
                if name in each.cmdline():
                    return each
        return None

    def _progress(self):
        assert self.process.poll() is None, self.said()
        found = re.search(r"Dashboard: (http://[^/]+)/comparisons/three", self.said())
        try:
            with Client(found[1], retry_pauses=()) as client:
                return client.comparison("three").progress
        except (ThiessenError, TypeError):  # it is not there yet, or not again
            return 0.0


def without_seconds(told):
    """Return a report without what is told in seconds, which no two runs have alike."""
    if isinstance(told, list):
        return [without_seconds(each) for each in told if not is_in_seconds(each)]
    if isinstance(told, dict):
        return {name: without_seconds(each) for name, each in told.items() if name != "seconds"}
    return told


def is_in_seconds(told):
    return isinstance(told, dict) and "seconds" in (told.get("over"), told.get("metric"))


def alive(processes):
    return psutil.wait_procs(processes, timeout=30)[1]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The report of a run that nobody disturbed, and what it said."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with _programs(folder) as start:
        command = Command(start, folder / "here")
        yield command.report(), command.said()


@pytest.mark.row(13)
def test_one_command_says_what_it_costs_and_ends_with_a_table(undisturbed):
    report, said = undisturbed

    assert "3 arms x 3 searches x 20 trials = 180 trials, then 27 runs; 2,070 updates in all." in said
    assert "The searches" in said
    assert report["is_complete"]
    assert [len(arm["searches"]) for arm in report["arms"]] == [3, 3, 3]
    assert {search["trials"] for arm in report["arms"] for search in arm["searches"]} == {20}
    assert [arm["headline"]["runs"] for arm in report["arms"]] == [9, 9, 9]


@pytest.mark.row(8)
@pytest.mark.row(13)
def test_server_and_worker_are_killed_in_the_middle_and_the_report_is_as_ever(
    undisturbed, programs, tmp_path
):
    command = Command(programs, tmp_path / "here")

    command.until(0.2)
    command.kill("serve")
    command.until(0.5)
    command.kill("worker")

    assert command.report() == undisturbed[0]
    assert "The server was ended by SIGKILL; it is started again" in command.said()
    assert "The worker was ended by SIGKILL; it is started again" in command.said()


@pytest.mark.row(8)
def test_the_same_command_goes_on_after_a_kill_and_after_ctrl_c(undisturbed, programs, tmp_path):
    killed = Command(programs, tmp_path / "here")
    killed.until(0.2)
    left = [killed.child(name) for name in OURS]
    killed.process.kill()
    assert not alive(left)

    interrupted = Command(programs, tmp_path / "here")
    interrupted.until(0.5)
    left = [interrupted.child(name) for name in OURS]
    interrupted.process.send_signal(signal.SIGINT)
    assert interrupted.process.wait(120) == 128 + signal.SIGINT
    assert not alive(left)
    assert "Stopped. The same command again goes on" in interrupted.said()

    assert Command(programs, tmp_path / "here").report() == undisturbed[0]
