"""A study on a server, driven by a program: the same verbs as with a journal."""

import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.conftest import address_of, wait_until
from thiessen import Categorical, Float, Int, Pruned, Space, ThiessenError, Trial, connect, open_study, served
from thiessen.client import Client
from thiessen.contract import StudyChanges
from thiessen.errors import Ended, InvalidRequest, ServerUnreachable, StudyExists, StudyNotFound

SPACE = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 8))


def bowl(trial: Trial) -> float:
    return float((math.log10(trial["lr"]) + 1) ** 2 + abs(trial["layers"] - 3))


@pytest.fixture
def inside(database):
    """A client of a server in this process."""
    with connect(database) as client:
        yield client


def states(client: Client, name: str) -> list[str]:
    return client.history(name).columns.state


def test_a_server_proposes_what_a_journal_would(inside):
    with inside.open_study("bowl", SPACE, trials=30, seed=5) as study:
        study.optimize(bowl)
    alone = open_study(None, SPACE, trials=30, seed=5).optimize(bowl)
    assert study.results() == alone.results()
    assert study.best == alone.best
    assert (study.ended, study.max_trials, study.space) == (30, 30, SPACE)
    assert study.ranking(5) == alone.ranking(5)
    assert list(study.dataframe().columns) == ["state", "value", "lr", "layers"]


def test_another_program_goes_on_with_it_over_http(server):
    with server.open_study("bowl", SPACE, trials=10) as study:
        study.optimize(bowl, trials=4)
    with server.open_study("bowl") as again:
        assert again.ended == 4
        again.optimize(bowl, n_jobs=2)
        assert again.ended == 10
        with pytest.raises(Ended, match="bowl is completed"):
            again.ask()
        again.extend(11)
        assert again.ask().number == 10


def test_what_is_asked_for_must_be_what_is_there(inside):
    inside.open_study("bowl", SPACE, strategy={"name": "biased_random", "explore": 0.1}).close()
    inside.open_study("bowl", SPACE, strategy={"name": "biased_random", "explore": 0.1}).close()
    with pytest.raises(StudyExists, match="a study bowl whose space and seed differ"):
        inside.open_study("bowl", Space(lr=Float(0.0, 1.0)), seed=4)
    with pytest.raises(StudyExists, match="strategy"):
        inside.open_study("bowl", SPACE, strategy="biased_random")
    with pytest.raises(StudyNotFound):
        inside.open_study("nobody")
    with pytest.raises(InvalidRequest, match="percentile"):
        inside.open_study("new", SPACE, stopping={"rule": "median", "metric": "loss", "percentile": 200})


def test_more_trials_may_be_asked_for(inside):
    inside.open_study("grid", SPACE, trials=4, strategy="grid").close()
    assert inside.open_study("grid", SPACE, trials=9, strategy="grid").max_trials == 9


def test_large_values_are_good_where_it_maximises(inside):
    with inside.open_study("hill", SPACE, trials=3, direction="maximize") as study:
        study.optimize(lambda trial: -bowl(trial))
        best = study.best
    assert best.value == max(each.value for each in study.results())
    assert best.loss == -best.value


def test_each_ending_reaches_the_server(inside):
    study = inside.open_study("ends", Space(x=Float(0.0, 1.0), kind=Categorical(["a", None])), trials=5)
    with study.ask() as trial:
        trial.tell(1.0)
    with study.ask() as trial:
        trial.tell(math.nan)
    with study.ask():
        raise Pruned(3.0)
    with study.ask() as trial:
        trial.fail("of no use")
    assert [each.state for each in study.results()] == ["succeeded", "diverged", "pruned", "failed"]
    assert [each.value for each in study.results()] == [1.0, None, 3.0, None]
    assert all(each.config.keys() == {"x", "kind"} for each in study.results())
    assert inside.trial("ends", 3).attempts[0].message == "of no use"
    study.close()


def test_what_raised_is_tried_again_as_often_as_the_study_says(inside):
    study = inside.open_study("broken", SPACE, trials=1)
    for _ in range(3):
        trial = study.ask()
        assert trial.number == 0
        with pytest.raises(ZeroDivisionError), trial:
            raise ZeroDivisionError("by nothing")
    with pytest.raises(Ended):
        study.ask()
    study.close()
    [first, *_] = attempts = inside.trial("broken", 0).attempts
    assert len(attempts) == 3
    assert first.message == "ZeroDivisionError: by nothing"
    assert "Traceback" in first.traceback


def test_a_person_who_stops_it_uses_up_no_attempt(inside):
    study = inside.open_study("stopped", SPACE, trials=1)
    with pytest.raises(KeyboardInterrupt), study.ask():
        raise KeyboardInterrupt
    assert study.ask().number == 0
    assert inside.study("stopped").counts.failed == 0
    study.close()


def test_an_enqueued_config_is_tried_next(inside):
    study = inside.open_study("mine", SPACE, trials=3)
    assert study.enqueue({"lr": 0.5, "layers": 2}) == 0
    assert study.ask().config == {"lr": 0.5, "layers": 2}
    study.close()


def test_what_was_tried_elsewhere_teaches_beside_the_budget(inside):
    study = inside.open_study("elsewhere", SPACE, trials=1)
    assert study.add({"lr": 0.5, "layers": 2}, 0.25) == 0
    assert study.add({"lr": 0.25, "layers": 2}, math.inf) == 1
    with study.ask() as trial:
        assert trial.number == 2
        trial.tell(1.0)
    assert [(each.state, each.value) for each in study.results()] == [
        ("succeeded", 0.25), ("diverged", None), ("succeeded", 1.0)
    ]  # fmt: skip
    study.close()


def test_curves_are_told_and_stop_what_falls_behind(inside):
    rule = {"rule": "median", "metric": "loss", "min_curves": 3}
    study = inside.open_study("curves", SPACE, trials=6, stopping=rule)

    def course(trial: Trial) -> float:
        level = 1.0 if trial.number < 4 else 9.0
        for step in range(1, 100):
            trial.report(step, loss=level, other=math.inf)
            time.sleep(0.0 if trial.number < 4 else 0.05)
        return level

    study.optimize(course)
    study.close()
    assert states(inside, "curves") == ["succeeded"] * 4 + ["pruned"] * 2
    [attempt] = inside.trial("curves", 0).attempts
    assert [point.step for point in attempt.reports] == list(range(1, 100))
    assert attempt.reports[0].metrics == {"loss": 1.0, "other": "Infinity"}


def test_a_trial_of_a_stopped_study_is_given_back(inside):
    study = inside.open_study("unwanted", SPACE, trials=2)

    def course(trial: Trial) -> float:
        inside.change_study("unwanted", StudyChanges(state="stopped"))
        for step in range(200):
            trial.report(step, loss=1.0)
            time.sleep(0.05)
        return 1.0

    with pytest.raises(Ended, match="trial 0 of unwanted is not wanted any more"):
        study.optimize(course)
    study.close()
    counts = inside.study("unwanted").counts
    assert (counts.succeeded, counts.failed, counts.running) == (0, 0, 0)


def test_a_training_longer_than_its_lease_keeps_it(server, monkeypatch):
    monkeypatch.setattr(served, "REPORT_SECONDS", 0.05)
    study = server.open_study("long", SPACE, trials=1)
    asked = study.ask()
    [running] = study._keeper._running.values()
    before = running.lease.expires_at
    running.told_at -= running.lease.lease_seconds  # long ago
    wait_until(lambda: time.monotonic() - running.told_at < 5)
    asked.tell(1.0)
    study.close()
    assert running.stop is None
    assert before is not None
    assert server.study("long").counts.succeeded == 1


def test_an_outage_is_borne(database, programs):
    first = programs("serve", "--database", database, "--port", "0")
    address = address_of(first)
    with Client(address, retry_pauses=(0.01,)) as client:
        wait_until(client.is_ready)
        study = client.open_study("outage", SPACE, trials=2)
        trial = study.ask()
        first.send_signal(signal.SIGTERM)
        first.wait()
        telling = threading.Thread(target=trial.tell, args=(1.0,))
        telling.start()
        again = programs("serve", "--database", database, "--port", address.rsplit(":", 1)[1])
        wait_until(client.is_ready)
        telling.join(60)
        assert not telling.is_alive()
        assert client.study("outage").counts.succeeded == 1
        study.close()
        again.kill()


def test_programs_share_a_study(server, tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(f"""
from thiessen import Float, Int, Space, connect
space = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 8))
with connect({server.url!r}) as client, client.open_study("shared", space, trials=60) as study:
    study.optimize(lambda trial: trial["lr"] + trial["layers"], n_jobs=2)
""")
    programs = [subprocess.Popen([sys.executable, script]) for _ in range(3)]
    assert [program.wait(timeout=120) for program in programs] == [0, 0, 0]
    counts = server.study("shared").counts
    assert (counts.succeeded, counts.finished) == (60, 60)
    assert len(server.workers()) == 3


def test_a_server_inside_owns_its_file(tmp_path: Path):
    address = f"sqlite:///{tmp_path}/own.db"
    with connect(address), pytest.raises(ServerUnreachable, match=r"own\.db"):
        connect(address)
    with connect(address) as client:
        assert client.studies().studies == []


def test_a_program_without_the_server_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr("thiessen.opening.entry_points", lambda **_: [])
    with pytest.raises(ThiessenError, match=r"pip install 'thiessen\[server\]'"):
        connect("sqlite:///x.db")
