"""Each fault of the table in docs/explanation/worker-faults.md, with real processes."""

import os
import signal
from pathlib import Path

import pytest

from tests.conftest import address_of, wait_until
from thiessen.client import Client

BAD_LUCK = Path(__file__).parent / "bad_luck"
LEASE_SECONDS = "2"
ENDLESS = {"x": {"type": "float", "low": 0.0, "high": 1.0}} | {
    "seconds": {"type": "float", "low": 60.0, "high": 60.0}
}


@pytest.fixture
def serve(database, programs):
    """Starts a server with short leases, always on the same database."""

    def start(port="0"):
        return programs("serve", "--database", database, "--port", port, THIESSEN_LEASE_SECONDS=LEASE_SECONDS)

    return start


@pytest.fixture
def short(serve):
    with Client(address_of(serve())) as client:
        wait_until(client.is_ready)
        yield client


def attempts(client, study):
    return client.trial(study, 0).attempts


def is_training(client, study):
    return client.study(study).counts.running == 1 and attempts(client, study)[-1].reports


def is_said(worker, text):
    return lambda: text in worker.log.read_text()


BREAKS = {  # of each task: the kind, what the message says, and what the traceback or the log does
    "segfaults": ("error", "died with signal SIGSEGV", "in _segfaults"),
    "takes-memory-in-a-child-of-its-own": ("out_of_memory", "more than the limit of 1 GB", ""),
    "hangs": ("stalled", "reported nothing for the limit of 4 s", "in _hangs"),
    "never-ends": ("time_limit", "longer than the limit of 12 s", "in _never_ends"),
    "says-cuda-is-full": ("out_of_memory", "CUDA error: out of memory", "in _says_cuda_is_full"),
}


@pytest.mark.row(271)
def test_however_a_training_breaks_its_kind_and_place_are_told_and_the_slots_go_on(server, work, a_study):
    for task in BREAKS:
        server.create_study(a_study(task))
    server.create_study(a_study("takes", name="after"))
    limits = ("--memory-limit", "1", "--stall-limit", "4", "--time-limit", "12")

    worker = work(server, "--slots-per-device", "2", *limits, "--idle-exit", "1")

    assert worker.wait(120) == 0
    for task, (kind, message, place) in BREAKS.items():
        [attempt] = attempts(server, task)
        assert (attempt.outcome, task) == (kind, task)
        assert message in attempt.message
        assert place in attempt.traceback
        assert message in worker.log.read_text()
    assert "here it comes" in attempts(server, "segfaults")[0].log_tail
    assert server.study("after").counts.succeeded == 1


def test_a_child_is_kept_after_a_value_and_renewed_after_a_fault(server, work, a_study):
    work(server)
    for name, task in (("first", "tells-its-process"), ("second", "raises"), ("third", "tells-its-process")):
        server.create_study(a_study(task, name=name, max_trials=2))
        wait_until(lambda: server.study(name).state == "completed")  # noqa: B023 - waits at once

    first, again, third = (server.trial(*of).value for of in (("first", 0), ("first", 1), ("third", 0)))
    assert first == again != third


def test_a_worker_killed_in_a_trial_leaves_it_to_the_next_which_goes_on_from_the_checkpoint(
    short, work, a_study
):
    short.create_study(a_study("trains", space=trains("sgd", 0.2), max_attempts=2))
    worker = work(short, "--checkpoint-every", "0")
    wait_until(is_said(worker, "saved a checkpoint of step 3"))
    worker.kill()

    work(short, "--checkpoint-every", "0")

    wait_until(lambda: short.study("trains").state == "completed")
    lost, last = attempts(short, "trains")
    assert (lost.outcome, last.outcome) == ("lost", "succeeded")
    assert last.reports[0].step > 3
    assert "goes on after step" in last.log_tail


def trains(optimizer, seconds):
    return {
        "seconds": {"type": "float", "low": seconds, "high": seconds},
        "optimizer": {"type": "categorical", "choices": [optimizer]},
        "x": {"type": "float", "low": 0.0, "high": 1.0},
    }


def test_the_curve_of_a_worker_killed_in_an_outage_is_told_by_the_next(serve, work, a_study, tmp_path):
    first = serve()
    with Client(address_of(first)) as client:
        wait_until(client.is_ready)
        client.create_study(a_study("takes", space=ENDLESS, max_attempts=2))
        worker = work(client, "--spool-dir", str(tmp_path / "results"))
        wait_until(lambda: is_training(client, "takes"))
        first.kill()
        first.wait()
        wait_until(lambda: any(file.stat().st_size for file in (tmp_path / "results").glob("*.jsonl")))
        worker.kill()
        worker.wait()
        serve(client.url.rsplit(":", 1)[1])
        wait_until(client.is_ready)
        reached = attempts(client, "takes")[0].reports[-1].step

        work(client, "--spool-dir", str(tmp_path / "results"))

        wait_until(lambda: attempts(client, "takes")[0].reports[-1].step > reached)
        steps = [point.step for point in attempts(client, "takes")[0].reports]
        assert steps == list(range(len(steps)))


def test_a_lease_that_was_lost_is_dropped_and_the_other_result_counts(short, work, a_study):
    space = ENDLESS | {"seconds": {"type": "float", "low": 6.0, "high": 6.0}}
    short.create_study(a_study("takes", space=space, max_attempts=2))
    frozen = work(short, "--name", "frozen")
    wait_until(lambda: is_training(short, "takes"))
    os.kill(frozen.pid, signal.SIGSTOP)

    work(short, "--name", "other")

    wait_until(lambda: len(attempts(short, "takes")) == 2)
    os.kill(frozen.pid, signal.SIGCONT)
    wait_until(is_said(frozen, "dropped."))
    wait_until(lambda: short.study("takes").state == "completed")
    assert [(each.worker, each.outcome) for each in attempts(short, "takes")] == [
        ("frozen", "lost"),
        ("other", "succeeded"),
    ]
    assert frozen.poll() is None


def test_a_full_disk_loses_no_result_and_nothing_is_leased_until_there_is_room(
    server, work, a_study, tmp_path
):
    (tmp_path / "full").touch()
    server.create_study(a_study("takes", max_trials=2))

    worker = work(
        server, path=[str(BAD_LUCK)], FULL_WHILE_THERE_IS=str(tmp_path / "full"), THIESSEN_THREADS="1"
    )

    wait_until(is_said(worker, "Nothing is leased until"))
    said = worker.log.read_text()
    assert "its result cannot be kept in" in said
    assert "No space left on device" in said
    counts = server.study("takes").counts
    assert (counts.succeeded, counts.running) == (1, 0)

    (tmp_path / "full").unlink()

    wait_until(lambda: server.study("takes").counts.succeeded == 2)
    assert "takes results again" in worker.log.read_text()


@pytest.mark.parametrize("skew", ["-100000", "100000"])
def test_clocks_that_differ_by_a_day_change_nothing(short, work, a_study, skew):
    short.create_study(
        a_study("takes", space=ENDLESS | {"seconds": {"type": "float", "low": 3.0, "high": 3.0}})
    )

    worker = work(short, "--idle-exit", "0.5", path=[str(BAD_LUCK)], SKEWED_BY=skew)

    assert worker.wait(120) == 0
    assert [each.outcome for each in attempts(short, "takes")] == ["succeeded"]


def test_a_second_signal_ends_a_worker_at_once(server, work, a_study):
    server.create_study(a_study("keeps-checkpoints-seldom"))
    worker = work(server, "--grace", "60")
    wait_until(lambda: server.study("keeps-checkpoints-seldom").counts.running == 1)
    wait_until(is_said(worker, "no checkpoint for long"))
    worker.terminate()
    assert worker.poll() is None

    wait_until(lambda: worker.terminate() or worker.poll() is not None)

    assert worker.returncode == 128 + signal.SIGTERM


def test_a_training_that_reaches_no_checkpoint_in_time_is_given_back_all_the_same(server, work, a_study):
    server.create_study(a_study("keeps-checkpoints-seldom"))
    worker = work(server, "--grace", "0.5")
    wait_until(is_said(worker, "no checkpoint for long"))

    worker.terminate()

    assert worker.wait(120) == 0
    assert [each.outcome for each in attempts(server, "keeps-checkpoints-seldom")] == ["released"]
