"""A server that is killed in the middle of a study of Optuna."""

import subprocess
import sys
from pathlib import Path

import optuna

from app.storage.check import faults
from tests.conftest import address_of, wait_until
from thiessen.client import Client
from thiessen.integrations.optuna_storage import ThiessenStorage


def test_a_killed_server_loses_nothing_acknowledged_and_the_program_goes_on(database, programs, tmp_path):
    process = programs("serve", "--database", database, "--port", "0")
    url = address_of(process)
    command = [sys.executable, Path(__file__).with_name("optuna_program.py"), url]
    log = tmp_path / "program.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as running,
    ):
        try:
            told = [running.stdout.readline() for _ in range(5)]
            process.kill()
            process.wait()
            wait_until(lambda: "trying again" in log.read_text() or running.poll() is not None)
            again = programs("serve", "--database", database, "--port", url.rpartition(":")[2])
            assert address_of(again) == url
            told += running.stdout.readlines()
            assert running.wait() == 0
        finally:
            running.kill()

    study = optuna.load_study(study_name="killed", storage=ThiessenStorage(url))
    assert [f"{each.number} {each.value} {each.params}\n" for each in study.trials] == told
    assert [each.number for each in study.trials] == list(range(30))
    assert all(list(each.intermediate_values) == [0, 1, 2] for each in study.trials)
    assert all(each.user_attrs == {"twice": 2 * each.params["x"]} for each in study.trials)
    with Client(url) as client:
        mirrored = [client.trial("killed", number) for number in range(30)]
    assert [(each.value, each.config) for each in mirrored] == [
        (each.value, each.params) for each in study.trials
    ]
    assert faults(database) == []
