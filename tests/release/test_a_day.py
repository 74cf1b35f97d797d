"""A day of a busy server, in minutes: the clock of the database is moved on, nothing else is made up."""

import random
from collections import Counter
from datetime import timedelta

import psutil
import pytest
from fastapi.testclient import TestClient

from app.lifecycle import once
from app.lifecycle.retention import remove_old
from app.main import build
from app.settings import Settings
from app.storage.check import faults
from tests.conftest import MovableClock, wait_until
from tests.receivers import receiving

STEP = timedelta(minutes=10)
STEPS = 144  # a day
LEASE_SECONDS = 900  # of a worker that is heard at each step
KEPT_DAYS = 0.25
WORKERS = 8
MOST_GROWTH = 200e6  # bytes, of the whole process
SPACE = {"x": {"type": "float", "low": 0.0, "high": 1.0}}
ARMS = [{"label": label, "settings": {"rule": label}} for label in ("sgd", "kfac")]
pytestmark = pytest.mark.timeout(380)


class Day:
    """Workers that train for some steps, vanish at times, and what people submit meanwhile."""

    def __init__(self, api, clock):
        self.api, self.clock = api, clock
        self.chance = random.Random(7)
        self.held = {}  # by worker: a lease, and for how many steps it goes on
        self.seen = Counter()
        self.incarnations = Counter()

    def ask(self, method, path, body=None, *also):
        answer = self.api.request(method, f"/api/v1{path}", json=body)
        assert answer.is_success or answer.status_code in also, (path, answer.text)
        return answer

    def submit(self, hour):
        """A study each hour, some with a deadline, and a comparison each sixth."""
        spec = {"name": f"s{hour}", "task": "t", "space": SPACE, "max_trials": 6, "max_attempts": 2,
                "strategy": "random" if hour % 2 else "biased_random"}  # fmt: skip
        if hour % 4 == 3:
            deadline = self.clock_now() + timedelta(minutes=45)
            spec["deadline"] = deadline.isoformat()
        self.ask("POST", "/studies", spec)
        if hour % 6 == 0:
            plan = {"task": "t", "space": SPACE, "arms": ARMS, "strategy": "random", "budget": {"trials": 2}}
            plan |= {"name": f"c{hour}", "replicates": 1, "confirm": {"seeds": 1}}
            self.ask("POST", "/comparisons", plan)

    def clock_now(self):
        from app.storage import clock

        return self.api.app.state.house.store.read(clock.read)

    def work(self, worker):
        """Go on with what is in hand, or ask for something."""
        if worker not in self.held:
            self.incarnations[worker, "asks"] += 1
            wish = {"worker": worker, "incarnation": f"{self.incarnations[worker]}", "tasks": ["t"],
                    "request_id": f"{worker}-{self.incarnations[worker, 'asks']}"}  # fmt: skip
            for lease in self.ask("POST", "/leases", wish).json()["leases"]:
                self.held[worker] = lease, self.chance.randint(1, 3)
            return
        lease, left = self.held[worker]
        if self.chance.random() < 0.04:  # the machine is gone, without a word
            self.seen["vanished"] += 1
            self.incarnations[worker] += 1
            del self.held[worker]
        elif left:
            self.beat(worker, lease, left)
        else:
            self.end(worker, lease)

    def beat(self, worker, lease, left):
        reports = [{"step": 10 - left, "metrics": {"loss": lease["config"].get("x", 0.5)}}]
        said = self.ask("POST", f"/leases/{lease['lease_id']}/heartbeat", {"reports": reports}, 409)
        if said.status_code == 409 or said.json()["verdict"] == "stop":
            self.seen["stopped"] += 1
            del self.held[worker]
        else:
            self.held[worker] = lease, left - 1

    def end(self, worker, lease):
        fate = self.chance.random()
        verb, body = ("fail", {"kind": "error", "message": "by chance"}) if fate < 0.1 else (
            "complete", {"diverged": "nan"} if fate < 0.2 else {"loss": lease["config"].get("x", 0.5)}
        )  # fmt: skip
        said = self.ask("POST", f"/leases/{lease['lease_id']}/{verb}", body, 409)
        self.seen["late" if said.status_code == 409 else "told"] += 1
        del self.held[worker]


@pytest.fixture
def day(database):
    settings = Settings(
        database=database, lease_seconds=LEASE_SECONDS, allow_private_webhooks=True,
        keep_events_days=KEPT_DAYS, keep_curves_days=KEPT_DAYS,
    )  # fmt: skip
    with TestClient(build(settings), base_url="http://127.0.0.1") as api:
        yield Day(api, MovableClock(api.app.state.house.store))


def test_after_a_day_of_work_all_is_in_its_place(day, database):
    store = day.api.app.state.house.store
    process = psutil.Process()
    with receiving() as receiver:
        day.ask("POST", "/webhooks", {"url": receiver.url, "kinds": ["study.completed"]})
        for step in range(STEPS):
            if step % 6 == 0:
                day.submit(step // 6)
            for number in range(WORKERS):
                day.work(f"w{number}")
            remove_old(store, events=timedelta(days=KEPT_DAYS), curves=timedelta(days=KEPT_DAYS))
            store.write(once.forget)
            day.clock.advance(STEP)
            if step == STEPS // 4:
                before = process.memory_info().rss
        wait_until(lambda: told(receiver) >= completed(day), seconds=60)

    assert process.memory_info().rss - before < MOST_GROWTH
    assert faults(database) == []
    assert day.seen["told"] > 100
    assert day.seen["vanished"] > 5
    listed = day.ask("GET", "/studies?limit=200").json()["studies"]
    reasons = Counter(study["reason"] for study in listed)
    assert reasons["max_trials"] + reasons["deadline"] > 10
    assert reasons["deadline"] >= 1
    for study in listed:
        replayed = day.ask("GET", f"/studies/{study['name']}/replay").json()
        assert replayed["mismatches"] == [], study["name"]
    comparisons = day.ask("GET", "/comparisons").json()["comparisons"]
    assert any(each["state"] == "completed" for each in comparisons)
    page = day.ask("GET", "/studies/s0/events").json()
    assert page["removed"] > 0, "what rests is forgotten"


def completed(day):
    listed = day.ask("GET", "/studies?limit=200&state=completed").json()["studies"]
    return len(listed)


def told(receiver):
    return len(receiver.seqs)
