"""Whatever is killed, whenever: what was acknowledged is kept, once, and nothing else is."""

import os
import random
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.chaos.conductor import Conductor
from tests.chaos.verdict import Verdict
from tests.conftest import BACKENDS, Postgres, cluster

SEED = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(10**6))
EACH = 10  # kills at each failpoint, at least
FEWEST = 100  # kills in all, on each database
FAILPOINTS = ("claim-committed", "complete-committed", "half-a-complete", "half-a-group", "noted", "spooled")
AT_RANDOM = {
    "sqlite": {"server": 25, "worker": 30, "daemon": 6},
    "postgresql": {"server": 25, "worker": 30, "daemon": 6, "postgres": 8},
}
DAEMONS = 2
REPLICAS = 3
MUTANT = str(Path(__file__).parent / "mutant.py")


class Killable:
    """A PostgreSQL that syncs what it commits, and is killed."""

    def __init__(self, server):
        self._server = server

    def kill(self):
        self._killed = self._server.get_pid()
        os.kill(self._killed, signal.SIGKILL)

    def start(self):
        """Start again, once the last of its own processes has noticed that it is gone."""
        while self._server.get_pid() == self._killed:
            with suppress(subprocess.SubprocessError):
                self._server.ensure_postgres_running()
            time.sleep(0.05)


@pytest.fixture(scope="module")
def killable():
    with cluster() as server:
        yield server


@pytest.fixture
def stage(backend, tmp_path, request):
    """Returns a conductor of one server on SQLite, or of several on PostgreSQL."""

    @contextmanager
    def conductor(**more):
        if backend == "sqlite":
            with Conductor(tmp_path, f"sqlite:///{tmp_path}/chaos.db", seed=SEED, **more) as conducting:
                yield conducting
            return
        server = request.getfixturevalue("killable")
        admin = Postgres(server.get_uri())
        address = admin.new_database()
        admin.close()
        with Conductor(
            tmp_path, address, seed=SEED, servers=REPLICAS, postgres=Killable(server), **more
        ) as conducting:
            yield conducting

    return conductor


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_lost_doubled_or_stuck_whatever_is_killed(stage, backend, capsys):
    began = time.monotonic()
    with stage(due=dict.fromkeys(FAILPOINTS, EACH), daemons=DAEMONS) as troupe:
        troupe.begin()
        troupe.conduct(AT_RANDOM[backend], within_seconds=600)
        has_ended = troupe.finish(within_seconds=120)

    verdict = Verdict(troupe.database, troupe.ledgers(), troupe.cancelled)

    counted = {"processes killed": troupe.survived.total(), **verdict.counts}
    kills = {f"killed {how}": times for how, times in sorted(troupe.survived.items())}
    with capsys.disabled():
        print(f"\n{backend}, seed {SEED}, {time.monotonic() - began:.0f} s")  # noqa: T201
        for what, number in {**kills, **counted, "contradictions": len(verdict.contradictions)}.items():
            print(f"  {what:<30}{number:>6}")  # noqa: T201
    assert has_ended
    assert not verdict.contradictions, "\n".join(verdict.contradictions)
    assert all(counted.values()), "of this nothing was proved"
    assert all(troupe.survived[f"at {point}"] >= EACH for point in FAILPOINTS)
    assert troupe.survived.total() >= FEWEST


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("mutation", "due", "kills", "said"),
    [
        ("no_fence", {}, 0, "An attempt is under way whose trial does not run"),
        ("forgotten_requests", {"claim-committed": 3}, 0, "was never made"),
        ("forgotten_results", {"complete-committed": 3}, 0, "is refused, and not kept"),
        ("answer_first", {}, 8, "is not stored|is of no attempt|is stored as"),
    ],
    ids=["no_fence", "forgotten_requests", "forgotten_results", "answer_first"],
)
def test_a_server_with_a_promise_switched_off_is_noticed(stage, mutation, due, kills, said):
    with stage(due=due, serve=(MUTANT, mutation)) as troupe:
        troupe.begin()
        troupe.conduct({"server": kills}, within_seconds=180)
        troupe.finish(within_seconds=15)

    contradictions = Verdict(troupe.database, troupe.ledgers(), troupe.cancelled).contradictions

    assert any(re.search(said, each) for each in contradictions), contradictions
