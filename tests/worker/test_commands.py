"""How the command of the worker ends, and what it offers and takes."""

import json

import pytest

from worker.daemon import Tickets


def test_a_worker_stops_after_so_many_trials_of_all_its_slots(server, work, a_study):
    server.create_study(a_study("takes", max_trials=9))

    worker = work(server, "--max-trials", "3", "--slots-per-device", "2")

    assert worker.wait(120) == 0
    counts = server.study("takes").counts
    assert (counts.succeeded, counts.running) == (3, 0)


def test_a_ticket_that_was_of_no_use_is_there_for_another():
    tickets = Tickets(1)

    assert tickets.take()
    assert not tickets.take()
    tickets.give_back()
    assert tickets.take()
    assert all(Tickets(None).take() for _ in range(9))


def test_a_function_of_this_machine_is_trained_as_a_task(server, work, a_study, tmp_path):
    (tmp_path / "my_own.py").write_text("def train(config, context):\n    return config['x'] + 1\n")
    server.create_study(a_study("my_own.train"))

    worker = work(server, "--task", "my_own:train", "--idle-exit", "0.5", path=[str(tmp_path)])

    assert worker.wait(120) == 0
    trial = server.trial("my_own.train", 0)
    assert trial.value == trial.config["x"] + 1
    assert [task.name for task in server.tasks()] == ["my_own.train"]
    assert len(server.study("my_own.train").task_version) == 12


def test_the_log_of_a_worker_is_made_of_objects_and_shows_no_lease(server, work, a_study):
    server.create_study(a_study("prints-and-dies"))

    worker = work(server, "--idle-exit", "0.5")

    assert worker.wait(120) == 0
    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    [printed] = [line for line in lines if line["message"] == "those of a program"]
    assert (printed["logger"], printed["study"], printed["trial"], printed["slot"]) == (
        "thiessen.printed",
        "prints-and-dies",
        0,
        "cpu",
    )


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--token-file", "/nowhere"), 1, "the token cannot be read from /nowhere"),
        (("--token", "thiessen_x", "--token-file", "/nowhere"), 1, "give one of them"),
        (("--task", "nothing"), 1, "the task 'nothing' is not installed here"),
        (("--task", "nothing:train"), 1, "'nothing:train' cannot be loaded"),
        (("--log-format", "xml"), 1, "choose one of auto, human, json"),
        (("--checkpoint-dir", "/proc/nowhere"), 1, "Choose another --checkpoint-dir"),
        (("--max-trials", "0"), 2, "--max-trials"),
    ],
)
def test_a_worker_that_cannot_begin_says_why_and_exits_as_documented(programs, options, code, said):
    worker = programs("worker", *options)

    assert worker.wait(120) == code
    assert said in worker.log.read_text()


def test_a_token_comes_from_a_file(programs, tmp_path):
    (tmp_path / "token").write_text("no token\n")

    worker = programs("worker", "--token-file", str(tmp_path / "token"))

    assert worker.wait(120) == 1
    assert "The token does not look like one" in worker.log.read_text()
