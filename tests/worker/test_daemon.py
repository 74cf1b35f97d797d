import os
import signal

import psutil
import pytest

from tests.conftest import BACKENDS, address_of, wait_until
from thiessen.client import Client

SHORT_LEASE = {"THIESSEN_LEASE_SECONDS": "2"}


@pytest.fixture
def short(database, programs):
    """A server that waits two seconds for a silent worker."""
    process = programs("serve", "--database", database, "--port", "0", **SHORT_LEASE)
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        yield client


def attempts(client, study):
    return client.trial(study, 0).attempts


def is_training(client, study):
    counts = client.study(study).counts
    return counts.running == 1 and attempts(client, study)[-1].reports


ENDINGS = {  # of each strange task: the trial's state, its attempt's outcome, and what is said of it
    "raises": ("failed", "error", "KeyError: 'lr'"),
    "exits": ("failed", "error", "The training process died with exit code 7."),
    "is-killed": ("failed", "error", "The training process died with signal SIGKILL."),
    "runs-out-of-memory": ("failed", "out_of_memory", "MemoryError: 64 GiB"),
    "returns-nothing": ("failed", "error", "TypeError"),
    "goes-back": ("failed", "error", "steps rise"),
    "reports-a-name-that-is-too-long": ("failed", "error", "at most 100 characters"),
    "reports-no-metrics": ("failed", "error", "at least 1 item"),
    "reports-half-a-step": ("failed", "error", "cannot be interpreted as an integer"),
    "raises-odd-text": ("failed", "error", "caf\\udce9.csv\\0"),
    "forks-and-dies": ("failed", "error", "The training process died with signal SIGKILL."),
    "nan": ("diverged", "diverged", "nan"),
    "negative-infinity": ("diverged", "diverged", "-inf"),
    "prunes-itself": ("pruned", "pruned", ""),
    "diverges": ("diverged", "diverged", "too large"),
}


@pytest.mark.parametrize("database", BACKENDS, indirect=True)
def test_however_training_ends_it_is_said_and_the_slot_goes_on(server, work, a_study):
    for task in ENDINGS:
        server.create_study(a_study(task))
    server.create_study(a_study("takes", name="after"))

    assert work(server, "--idle-exit", "0.5").wait(120) == 0

    for task, (state, outcome, message) in ENDINGS.items():
        trial = server.trial(task, 0)
        assert (trial.state, trial.attempts[0].outcome) == (state, outcome), task
        assert message in (trial.attempts[0].message or ""), task
    assert server.study("after").counts.succeeded == 1


def test_a_long_curve_arrives_whole_and_does_not_hold_up_the_result(server, work, a_study):
    server.create_study(a_study("reports-much"))

    assert work(server, "--idle-exit", "0.5").wait(120) == 0

    assert server.study("reports-much").counts.succeeded == 1
    assert len(attempts(server, "reports-much")[0].reports) == 1500


def test_the_last_lines_that_training_printed_stay_with_its_attempt(server, work, a_study):
    server.create_study(a_study("prints-and-dies"))
    server.create_study(a_study("takes"))

    worker = work(server, "--idle-exit", "0.5")

    assert worker.wait(120) == 0
    assert attempts(server, "prints-and-dies")[0].log_tail == "the last words\nthose of a program\n"
    assert "words" not in (attempts(server, "takes")[0].log_tail or "")
    assert "those of a program" in worker.log.read_text()


def child_of(worker):
    """The only child of the process of which children are copies."""
    [copied] = [
        each for each in psutil.Process(worker.pid).children() if "forkserver" in " ".join(each.cmdline())
    ]
    [child] = copied.children()
    return child


def test_a_child_that_dies_while_it_is_idle_is_replaced(server, work, a_study):
    server.create_study(a_study("takes"))
    worker = work(server)
    wait_until(lambda: server.study("takes").counts.succeeded == 1)
    child = child_of(worker)
    child.kill()
    psutil.wait_procs([child], timeout=20)

    server.create_study(a_study("takes", name="after"))

    wait_until(lambda: server.study("after").state == "completed")
    assert server.study("after").counts.succeeded == 1


def test_a_trial_sent_to_a_child_that_dies_before_it_begins_is_trained_by_another(server, work, a_study):
    server.create_study(a_study("takes"))
    worker = work(server)
    wait_until(lambda: server.study("takes").counts.succeeded == 1)
    child = child_of(worker)
    child.suspend()
    server.create_study(a_study("takes", name="after"))
    wait_until(lambda: "trial 0 of after, attempt 1: begins" in worker.log.read_text())

    child.kill()

    wait_until(lambda: server.study("after").state == "completed")
    assert [attempt.outcome for attempt in attempts(server, "after")] == ["succeeded"]


def test_two_slots_on_one_device_train_different_trials(server, work, a_study):
    server.create_study(a_study("takes", max_trials=6))

    worker = work(server, "--devices", "cpu,cpu", "--idle-exit", "0.5")

    assert worker.wait(120) == 0
    assert server.study("takes").counts.succeeded == 6
    assert "dropped" not in worker.log.read_text()


def test_a_worker_stops_although_its_server_hangs(database, programs, work, slow_study):
    process = programs("serve", "--database", database, "--port", "0")
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        client.create_study(slow_study)
        worker = work(client)
        wait_until(lambda: is_training(client, "takes"))
        process.send_signal(signal.SIGSTOP)

        worker.terminate()

        assert worker.wait(120) == 0


def test_a_killed_worker_takes_its_training_with_it_and_no_result_appears(short, work, slow_study):
    short.create_study(slow_study)
    worker = work(short)
    wait_until(lambda: is_training(short, "takes"))
    children = psutil.Process(worker.pid).children(recursive=True)
    assert children

    os.kill(worker.pid, signal.SIGKILL)

    _gone, alive = psutil.wait_procs(children, timeout=20)
    assert not alive
    study = short.study("takes")
    assert (study.counts.succeeded, study.best) == (0, None)
    assert short.best("takes") == []


def test_the_trial_of_a_killed_worker_is_trained_by_another(short, work, slow_study):
    short.create_study(slow_study)
    worker = work(short)
    wait_until(lambda: is_training(short, "takes"))
    worker.kill()

    work(short)

    wait_until(lambda: len(attempts(short, "takes")) == 2 and attempts(short, "takes")[1].reports)
    assert [attempt.outcome for attempt in attempts(short, "takes")] == ["lost", None]


def test_a_stopped_worker_gives_its_trial_back_unused(server, work, slow_study):
    server.create_study(slow_study)
    worker = work(server)
    wait_until(lambda: is_training(server, "takes"))

    worker.terminate()

    assert worker.wait(120) == 0
    assert server.study("takes").counts.queued == 1
    assert attempts(server, "takes")[0].outcome == "released"


def test_training_goes_on_while_the_server_is_away(database, programs, work, a_study):
    command = ("serve", "--database", database, "--port")
    first = programs(*command, "0", **SHORT_LEASE)
    address = address_of(first)
    space = {
        "x": {"type": "float", "low": 0.0, "high": 1.0},
        "seconds": {"type": "float", "low": 5.0, "high": 5.0},
    }
    with Client(address) as client:
        client.create_study(a_study("takes", space=space))
        work(client)
        wait_until(lambda: is_training(client, "takes"))
        first.kill()
        first.wait()

        programs(*command, address.rsplit(":", 1)[1], **SHORT_LEASE)

        wait_until(client.is_ready)
        wait_until(lambda: client.study("takes").state == "completed")
        attempt = attempts(client, "takes")
        assert [len(found.reports) for found in attempt] == [50]
        assert attempt[0].outcome == "succeeded"


def test_the_seed_of_a_trial_decides_all_random_numbers(server, work, a_study):
    for name in ("one", "two"):
        server.create_study(a_study("seeds", name=name, seed=11))
    server.create_study(a_study("seeds", name="other", seed=12))

    assert work(server, "--idle-exit", "0.5").wait(120) == 0

    one, two, other = (server.study(name).best.loss for name in ("one", "two", "other"))
    assert one == two != other


def test_a_task_that_cannot_be_loaded_is_named_and_the_others_go_on(server, work, a_study):
    server.create_study(a_study("takes"))

    worker = work(server, "--idle-exit", "0.5")

    assert worker.wait(120) == 0
    assert "task 'broken' is left out: strange_tasks:NOT_THERE cannot be loaded" in worker.log.read_text()
    assert server.study("takes").counts.succeeded == 1


def test_an_attempt_records_what_its_result_may_depend_on(server, work, a_study):
    server.create_study(a_study("takes"))
    work(server, "--idle-exit", "0.5", "--name", "node-1").wait(120)

    attempt = attempts(server, "takes")[0]

    assert (attempt.worker, attempt.device) == ("node-1", "cpu")
    known = {"thiessen", "python", "numpy", "torch", "platform", "threads"}
    assert known <= set(attempt.environment) <= known | {"git", "git of takes", "git of classifier"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--server", "http://127.0.0.1:9"), "no server answers at http://127.0.0.1:9"),
        (("--server", "127.0.0.1:9"), "'127.0.0.1:9' is not an address"),
        (("--devices", "cuda:99"), "'cuda:99' is not here"),
        (("--name", "my gpu"), "'my gpu' is not a name"),
        (("--study", "my study"), "'my study' is not a name"),
    ],
)
def test_a_worker_that_cannot_work_says_why(programs, options, said):
    worker = programs("worker", *options)

    assert worker.wait(120) == 1
    assert said in worker.log.read_text()
