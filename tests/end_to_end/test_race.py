import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from app.storage import open_store
from tests.conftest import address_of
from tests.folds import check_study

RACER = Path(__file__).with_name("racer.py")
RACERS = 16
STUDIES = {"many": ("random", 1700, 200), "wise": ("biased_random", 300, 50)}  # trials, enqueued of them


@pytest.fixture
def addresses(database, programs):
    """Where to ask: one server on SQLite, three replicas on PostgreSQL."""
    replicas = 1 if database.startswith("sqlite") else 3
    command = ("serve", "--database", database, "--port", "0")
    first = address_of(programs(*command, THIESSEN_REQUESTS_PER_SECOND="0"))
    others = [programs(*command, THIESSEN_REQUESTS_PER_SECOND="0") for _ in range(replicas - 1)]
    return [first, *map(address_of, others)]


@pytest.mark.row(242)
def test_of_2000_trials_that_16_processes_race_for_each_is_leased_once(database, addresses, programs):
    for name, (strategy, trials, enqueued) in STUDIES.items():
        submit(addresses[0], name, strategy, trials, enqueued)

    racers = [race(addresses[n % len(addresses)], f"w{n}") for n in range(RACERS)]
    given = [line for racer in racers for line in said(racer)]

    for server in programs.started:
        server.kill()
        server.wait()
    assert sorted(given) == sorted(f"{name} {n} 1" for name in STUDIES for n in range(STUDIES[name][1]))
    store = open_store(database)
    for name, (_, trials, enqueued) in STUDIES.items():
        origins = store.read(lambda tx, name=name: check_study(tx, name=name))
        assert origins == Counter(proposed=trials - enqueued, enqueued=enqueued)
    store.close()


def submit(address, name, strategy, trials, enqueued):
    space = {"x": {"type": "float", "low": 0, "high": 1}}
    study = {"name": name, "task": "t", "space": space, "strategy": strategy, "max_trials": trials}
    assert httpx.post(f"{address}/api/v1/studies", json=study).status_code == 201
    sent = {"trials": [{"config": {"x": (n + 0.5) / enqueued}} for n in range(enqueued)]}
    assert httpx.post(f"{address}/api/v1/studies/{name}/trials", json=sent).status_code == 201


def race(address, worker):
    command = [sys.executable, RACER, address.removeprefix("http://"), worker]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(racer):
    output, error = racer.communicate(timeout=300)
    assert racer.returncode == 0, error
    return output.splitlines()
