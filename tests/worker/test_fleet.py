import os
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from typer.testing import CliRunner

from tests.conftest import address_of, wait_until
from thiessen.cli.main import build
from thiessen.client import Client
from worker.fleet.ray import Fleet, NoCluster, Share, connected, run
from worker.fleet.slot import Order

STRANGE_TASKS = Path(__file__).parent / "strange_tasks"
A_SECOND = {
    "x": {"type": "float", "low": 0.0, "high": 1.0},
    "seconds": {"type": "float", "low": 1.0, "high": 1.0},
}


@pytest.fixture
def cluster(monkeypatch):
    """A cluster of simulated nodes on this machine; its processes see the strange tasks."""
    path = os.pathsep.join([str(STRANGE_TASKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # Ray listens on the loopback address then
    monkeypatch.setattr(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", False)
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield made
    made.shutdown()


@contextmanager
def kept(fleet):
    """Keep a fleet in another thread until there is nothing to do."""
    stop, faults = threading.Event(), []

    def keep():
        try:
            run(fleet, stop, idle_exit_seconds=0)
        except BaseException as fault:  # noqa: BLE001 - shown where the test ends
            faults.append(fault)

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join()
    assert not faults


@pytest.mark.timeout(600)  # each node of the cluster is some processes, which take their time
@pytest.mark.row(275)
def test_slots_are_placed_by_ray_and_the_trial_of_a_lost_node_is_tried_again(
    database, programs, a_study, cluster, tmp_path
):
    process = programs("serve", "--database", database, "--port", "0", THIESSEN_LEASE_SECONDS="3")
    nodes = [cluster.add_node(num_cpus=1, num_gpus=1) for _ in range(2)]
    with Client(address_of(process)) as client, connected(cluster.address):
        client.create_study(a_study("takes", name="s", space=A_SECOND, max_trials=8, max_attempts=3))
        order = Order(
            server=client.url,
            token=None,
            tasks=("takes",),
            studies=(),
            idle_exit_seconds=1,
            offline_seconds=60,
            spool=tmp_path / "spool",
            track=(f"tensorboard:{tmp_path / 'runs'}",),
        )
        fleet = Fleet(client, order, Share(gpus=1), most=2)
        with kept(fleet) as thread:
            wait_until(lambda: client.study("s").counts.running == 2, seconds=200)
            cluster.remove_node(nodes[0], allow_graceful=False)
            wait_until(lambda: client.study("s").counts.succeeded == 8, seconds=200)
            thread.join(60)
            assert not thread.is_alive(), "slots without work end, and then the fleet"

        attempts = [attempt for number in range(8) for attempt in client.trial("s", number).attempts]
        assert sum(attempt.outcome == "lost" for attempt in attempts) == 1
        assert len({attempt.worker for attempt in attempts}) >= 2
        tracked = {path.parents[1].name for path in (tmp_path / "runs/s").rglob("*tfevents*")}
        assert tracked == {f"trial-{number}" for number in range(8)}


def test_an_address_without_a_cluster_is_explained(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    # Nobody else on this machine has a cluster, or has ended one a moment ago.
    monkeypatch.setattr("ray._private.services._find_address_from_flag", lambda _: set())

    with (
        pytest.raises(NoCluster, match=r"no Ray cluster answers at 'auto'.*ray start --head"),
        connected("auto"),
    ):
        pass


def test_a_tracker_that_is_none_is_refused_before_any_slot_begins():
    refused = CliRunner().invoke(build(), ["fleet", "ray", "--track", "paper:runs"])

    assert "'paper:runs' is no tracker" in str(refused.exception)
