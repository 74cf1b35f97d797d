"""A worker does what the server says: prune, stop, drain; and says itself what it has and can train."""

import threading
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from tests.conftest import wait_until
from tests.worker.conftest import CPU, STRANGE_TASKS, a_lease, terms
from thiessen.contract import (
    LeaseRequest,
    OfferedTask,
    Pruned,
    StudyChanges,
    WorkerChanges,
    WorkerSpec,
)
from thiessen.patience import Patience
from worker import attempt, daemon
from worker.functions import Offer
from worker.slot import Slot
from worker.spool import Spool
from worker.standing import Standing
from worker.tasks import Task
from worker.tracking import Tracking


def is_training(client, study):
    return client.study(study).counts.running == 1 and client.trial(study, 0).attempts[-1].reports


@pytest.mark.row(273)
def test_a_trial_that_is_pruned_ends_with_the_last_value_it_reported(server, work, a_study, slow_study):
    rule = {"rule": "threshold", "metric": "x", "threshold": 0.0}
    server.create_study(a_study("takes", space=slow_study.model_dump()["space"], stopping=rule))

    worker = work(server, "--idle-exit", "1")

    assert worker.wait(120) == 0
    trial = server.trial("takes", 0)
    assert (trial.state, trial.value) == ("pruned", trial.config["x"])
    said = worker.log.read_text()
    assert said.index("tidied up") < said.index("trial 0 of takes, attempt 1: pruned in")


def test_a_trial_of_a_stopped_study_is_given_back_and_the_worker_goes_on(server, work, a_study, slow_study):
    server.create_study(slow_study)
    worker = work(server)
    wait_until(lambda: is_training(server, "takes"))

    server.change_study("takes", StudyChanges(state="stopped"))

    wait_until(lambda: server.study("takes").counts.queued == 1)
    assert [each.outcome for each in server.trial("takes", 0).attempts] == ["released"]
    server.create_study(a_study("takes", name="after"))
    wait_until(lambda: server.study("after").counts.succeeded == 1)
    assert worker.poll() is None


@pytest.mark.row(273)
def test_a_drained_worker_finishes_what_it_trains_and_ends(server, work, a_study):
    space = a_study("takes").model_dump()["space"] | {"seconds": {"type": "float", "low": 4.0, "high": 4.0}}
    server.create_study(a_study("takes", max_trials=2, space=space))
    worker = work(server, "--name", "w")
    wait_until(lambda: is_training(server, "takes"))

    server.change_worker("w", WorkerChanges(is_draining=True))

    assert worker.wait(120) == 0
    assert "The server drains this worker" in worker.log.read_text()
    counts = server.study("takes").counts
    assert (counts.succeeded, counts.finished, counts.running) == (1, 1, 0)


def test_a_worker_says_what_it_has_and_can_train(server, work):
    work(server, "--name", "w", "--label", "pool=a100", "--devices", "cpu,cpu")

    wait_until(server.workers)

    found = server.workers()[0]
    assert (found.name, found.labels, len(found.slots)) == ("w", {"pool": "a100"}, 2)
    versions = {task.name: task.versions for task in server.tasks()}
    assert versions["takes"] == ["1.0"]
    assert versions["classifier"] != []


def test_a_worker_that_the_server_does_not_know_any_more_registers_again(server, work, a_study):
    work(server, "--name", "w")
    wait_until(server.workers)
    server.register("w", WorkerSpec(incarnation="other", tasks=[OfferedTask(name="other")]))

    server.create_study(a_study("takes"))

    wait_until(lambda: server.study("takes").counts.succeeded == 1)


def test_a_stopped_worker_does_not_wait_for_a_trial_and_takes_none(server, work, a_study):
    worker = work(server, "--name", "w")
    wait_until(lambda: "thiessen_long_polls 1.0" in server._http.get(f"{server.url}/metrics").text)

    worker.terminate()

    assert worker.wait(15) == 0  # it may wait 20 s for a trial
    server.create_study(a_study("takes"))
    request = LeaseRequest(worker="another", incarnation="i", request_id="1", tasks=["takes"])
    assert [lease.trial for lease in server.lease(request)] == [0]


@dataclass
class Server:
    """Answers every heartbeat and registration in one way; gives no trial."""

    verdict: str = "continue"
    is_draining: bool = False
    url: str = "http://127.0.0.1:9"
    told: list = field(default_factory=list)

    def heartbeat(self, *about):
        del about
        return SimpleNamespace(verdict=self.verdict)

    def complete(self, lease_id, ending):
        del lease_id
        self.told.append(ending)

    def register(self, *about):
        del about
        return SimpleNamespace(is_draining=self.is_draining)

    def lease(self, *about):
        del about
        return []


def test_a_task_that_goes_on_although_it_is_pruned_is_killed(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(STRANGE_TASKS)
    monkeypatch.setattr(attempt, "PRUNE_SECONDS", 0.5)
    server, slot = Server(verdict="prune"), Slot(CPU)
    lease = a_lease(task="ignores-that-it-is-pruned")

    attempt.Attempt(
        client=server,
        slot=slot,
        spool=Spool(tmp_path),
        lease=lease,
        patience=Patience(stop=threading.Event(), offline_seconds=60),
        draining=threading.Event(),
        offer=Offer(Task("t", float), "strange_tasks:IGNORES_THAT_IT_IS_PRUNED"),
        terms=terms(tmp_path),
        standing=Standing("0 cpu"),
        tracking=Tracking(),
    ).run()

    assert server.told == [Pruned(pruned=True)]


def test_a_drained_worker_without_a_trial_ends(tmp_path):
    server = Server(is_draining=True)

    daemon.run(
        daemon.Worker(
            name="w",
            client=server,
            slots=[Slot(CPU)],
            offers={"t": Offer(Task("t", float), "builtins:float")},
            labels={},
            studies=None,
            spool=Spool(tmp_path),
            patience=Patience(stop=threading.Event(), offline_seconds=60),
            terms=terms(tmp_path),
            idle_exit_seconds=None,
            threads=1,
        )
    )  # returns
