import asyncio
import dataclasses
import json
import re
import signal
import threading
from collections import defaultdict
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from app import main
from app.api import events
from app.lifecycle.follow import Followers, Heard
from app.settings import Settings
from tests.api.conftest import a_study
from tests.conftest import MovableClock, address_of, wait_until
from tests.happenings import begin, connections_in_use, happen, happen_elsewhere
from thiessen.client import Client
from thiessen.contract import StudySpec

EVENTS = "/api/v1/studies/s/events"
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
ALWAYS = {"seq", "at", "who", "kind"}


@pytest.fixture
def house(api, caller):
    caller.create()
    return api.app.state.house


async def welcome():
    return True


def page(api, query="", **headers):
    return api.get(EVENTS + query, headers=headers).json()


def test_a_page_of_events_tells_where_to_go_on(api, house):
    last = page(api)["next"]
    numbers = house.store.write(lambda tx: happen(tx, 5, cause="lost", data={"why": "so"}))

    first = page(api, f"?after={last}&limit=3")
    second = page(api, f"?after={first['next']}")

    assert [event["seq"] for event in first["events"] + second["events"]] == numbers
    assert page(api, f"?after={second['next']}") == {
        "events": [], "next": numbers[-1], "removed": 0,
    }  # fmt: skip
    event = first["events"][0]
    assert event.pop("at").endswith("Z")
    assert event == {
        "seq": numbers[0], "who": "server", "kind": "trial.created", "trial": numbers[0], "attempt": None,
        "before": None, "after": "queued", "cause": "lost", "data": {"why": "so"},
    }  # fmt: skip


def test_each_kind_of_event_tells_what_its_row_of_the_reference_says(api, caller):
    caller.create(max_trials=1)
    caller.end(caller.leased(), "fail", kind="error", message="boom")
    caller.end(caller.leased(), loss=0.5)
    api.patch("/api/v1/studies/s/trials/0", json={"notes": "Well."})
    api.patch("/api/v1/studies/s", json={"tags": ["done"]})
    api.delete("/api/v1/studies/s")

    told = defaultdict(set)
    for event in page(api)["events"]:
        told[event["kind"]] |= {name for name, value in event.items() if value is not None} - ALWAYS
    rows = re.findall(r"(?m)^\| (`(?:study|trial)\..+) \| .+ \| (.+) \|$", REFERENCE.read_text())
    assert told == {
        kind: set(re.findall(r"`(.+?)`", names))
        for kinds, names in rows
        for kind in re.findall(r"`(.+?)`", kinds)
    }


def test_a_server_that_keeps_events_for_a_day_says_up_to_which_number_they_are_gone(database, monkeypatch):
    monkeypatch.setattr(main, "SWEEP_SECONDS", 0.05)
    monkeypatch.setattr(main, "SWEEPS_TO_FORGET", 1)
    with TestClient(main.build(Settings(database=database, keep_events_days=1)), "http://127.0.0.1") as api:
        store = api.app.state.house.store
        study = {"name": "s", "task": "t", "space": {"x": {"type": "boolean"}}, "max_trials": 1}
        assert api.post("/api/v1/studies", json=study).status_code == 201
        last = page(api)["next"]
        assert api.delete("/api/v1/studies/s").status_code == 204
        MovableClock(store).advance(timedelta(days=2))

        wait_until(lambda: page(api)["removed"] > last)
        found = page(api, "?after=1")

    assert found["events"] == []
    assert found["next"] == found["removed"]


def test_the_last_event_id_wins_over_the_address_that_a_browser_repeats(api, house):
    numbers = house.store.write(lambda tx: happen(tx, 3))

    found = page(api, "?after=0", **{"Last-Event-ID": str(numbers[1])})

    assert [event["seq"] for event in found["events"]] == numbers[2:]


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?after=-1", {}),
        ("?after=x", {}),
        ("?limit=0", {}),
        ("?limit=1001", {}),
        ("", {"Last-Event-ID": "x"}),
    ],
)
def test_a_place_that_cannot_be_is_refused(api, caller, query, headers):
    caller.create()

    assert api.get(EVENTS + query, headers=headers).status_code == 422


def test_the_events_of_no_study_are_not_found(api):
    assert api.get(EVENTS, headers={"Accept": "text/event-stream"}).status_code == 404


def test_more_streams_than_seats_are_asked_to_come_back(api, house):
    full = Followers(house.store, most=0)
    api.app.state.house = dataclasses.replace(house, followers=full)

    refused = api.get(EVENTS, headers={"Accept": "text/event-stream"})

    assert (refused.status_code, refused.json()["type"]) == (503, "urn:thiessen:too-many-streams")
    assert refused.headers["retry-after"] == "2"
    assert page(api)["events"] is not None


@contextmanager
def stream(url, after=0):
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    with httpx.stream("GET", url + EVENTS, headers=headers, timeout=10) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield told(answer)


def told(answer):
    """The events of a stream, as a browser would read them."""
    fields = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif "id" in fields:
            event = json.loads(fields["data"])
            assert (int(fields["id"]), fields["event"]) == (event["seq"], event["kind"])
            yield event
            fields = {}


def create(client):
    client.create_study(StudySpec.model_validate(a_study()))
    return httpx.get(client.url + EVENTS).json()["next"]


@pytest.mark.row(257)
def test_a_stream_that_breaks_again_and_again_misses_nothing_and_repeats_nothing(server, database):
    last = start = create(server)
    writer = threading.Thread(target=happen_elsewhere, args=(database, 250))
    writer.start()
    seen = []

    while len(seen) < 250:
        with stream(server.url, last) as told_now:
            for event, _ in zip(told_now, range(61), strict=False):
                seen.append(event["seq"])
                last = event["seq"]
                if len(seen) == 250:
                    break
    writer.join()

    assert seen == list(range(start + 1, start + 251))


@pytest.mark.row(257)
def test_events_written_through_one_server_arrive_through_the_other(postgres, programs):
    database = postgres.new_database()
    processes = [programs("serve", "--database", database, "--port", "0")]
    with Client(address_of(processes[0])) as one:
        wait_until(one.is_ready)
        processes.append(programs("serve", "--database", database, "--port", "0"))
        with Client(address_of(processes[1])) as other:
            wait_until(other.is_ready)
            start = create(one)
            with stream(other.url, start) as told_there:
                happen_elsewhere(database, 3)
                assert [next(told_there)["seq"] for _ in range(3)] == [start + 1, start + 2, start + 3]
    for process in processes:
        process.kill()
        process.wait()
    postgres.drop(database)


def test_a_stream_ends_with_its_server(database, programs):
    process = programs("serve", "--database", database, "--port", "0")
    with Client(address_of(process)) as client:
        wait_until(client.is_ready)
        start = create(client)
        happen_elsewhere(database)

        with stream(client.url, start) as told_here:
            assert next(told_here)["seq"] == start + 1
            process.send_signal(signal.SIGTERM)
            assert list(told_here) == []
    process.wait(120)
    assert "Cancel" not in process.log.read_text()


def test_two_hundred_streams_wait_without_a_thread_and_without_a_connection(house):
    followers = Followers(house.store)
    here = dataclasses.replace(house, followers=followers)
    study = house.store.write(lambda tx: begin(tx, "quiet"))
    house.store.write(lambda tx: happen(tx, study="quiet"))

    async def scenario():
        looking = asyncio.create_task(followers.look_out())
        before = threading.active_count()
        streams = [events._frames(here, study, 1, welcome) for _ in range(200)]
        for frames in streams:
            assert (await anext(frames)).startswith("retry:")
        waiting = [asyncio.ensure_future(anext(frames)) for frames in streams]
        await asyncio.to_thread(wait_until, lambda: len(followers._waiting) == 200)
        await asyncio.to_thread(wait_until, lambda: not in_use)  # but for the moment of each look
        threads = threading.active_count() - before
        await asyncio.to_thread(house.store.write, lambda tx: happen(tx, study="quiet"))
        heard = await asyncio.gather(*waiting)
        looking.cancel()
        return threads, heard

    with connections_in_use() as in_use:
        threads, heard = asyncio.run(scenario())

    assert threads <= 32  # those of the pool that reads, however many wait
    assert all(frame.startswith("id: 2\nevent: trial.created\n") for frame in heard)


class CountingStore:
    """Counts how often it is read."""

    def __init__(self, store) -> None:
        self._store = store
        self.reads = 0

    async def seen(self, step):
        self.reads += 1
        return await self._store.seen(step)


class BreakingStore:
    """Fails at the first time it is read, in a way that nobody thought of."""

    def __init__(self, store) -> None:
        self._store = store
        self._is_broken = True

    async def seen(self, step):
        was_broken, self._is_broken = self._is_broken, False
        if was_broken:
            raise ArithmeticError("strange")
        return await self._store.seen(step)


def test_a_look_that_fails_is_followed_by_the_next(house, monkeypatch, caplog):
    monkeypatch.setattr("app.lifecycle.follow.LOOK_SECONDS", 0.001)
    followers = Followers(BreakingStore(house.store))
    house.store.write(happen)

    async def scenario():
        looking = asyncio.create_task(followers.look_out())
        heard = await followers.wait(1, after=0, patience_seconds=30)
        looking.cancel()
        return heard

    assert asyncio.run(scenario()) is Heard.NEWS
    assert "strange" in caplog.text


def test_nothing_is_read_while_nobody_waits(house, monkeypatch):
    monkeypatch.setattr("app.lifecycle.follow.LOOK_SECONDS", 0.001)
    store = CountingStore(house.store)
    followers = Followers(store)

    async def scenario():
        looking = asyncio.create_task(followers.look_out())
        await asyncio.sleep(0.05)
        idle = store.reads
        assert await followers.wait(1, after=10**6, patience_seconds=0.05) is Heard.SILENCE
        watched = store.reads
        await asyncio.sleep(0.05)
        looking.cancel()
        return idle, watched, store.reads - watched

    idle, watched, after = asyncio.run(scenario())

    assert (idle, after <= 1) == (0, True)
    assert watched > 0


def test_a_slow_reader_is_read_for_no_faster_than_it_reads(house):
    store = CountingStore(house.store)
    slow = dataclasses.replace(house, store=store)
    house.store.write(lambda tx: happen(tx, 1000))
    sent = []

    async def scenario():
        blocked = asyncio.Event()

        async def send(message):
            if message.get("body", b"").startswith(b"id:"):
                sent.append(message["body"])
                blocked.set()
                await asyncio.Event().wait()

        async def receive():
            await asyncio.Event().wait()

        stream = events.EventStream(house.followers, events._frames(slow, 1, 0, welcome))
        sending = asyncio.create_task(stream({"type": "http"}, receive, send))
        await blocked.wait()
        await asyncio.sleep(0.05)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)

    asyncio.run(scenario())

    assert (store.reads, len(sent)) == (1, 1)
    assert sent[0].count(b"\nevent: ") == events.PAGE
    assert house.followers._seated == 0


def test_silence_is_broken_by_a_comment(house, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.01)
    alone = dataclasses.replace(house, followers=Followers(house.store))

    async def scenario():
        frames = events._frames(alone, 1, 10**6, welcome)
        return [await anext(frames) for _ in range(3)]

    assert asyncio.run(scenario()) == ["retry: 2000\n\n", ": alive\n\n", ": alive\n\n"]


def test_who_is_welcome_no_more_is_sent_no_further_page(house):
    house.store.write(lambda tx: happen(tx, 1000))
    answers = iter([True, True, False])

    async def is_welcome():
        return next(answers)

    async def scenario():
        return [frame async for frame in events._frames(house, 1, 0, is_welcome)]

    assert len(asyncio.run(scenario())) == 3  # the first says when to come back


def test_a_stream_of_a_study_that_is_removed_ends(house):
    followers = Followers(house.store)

    async def scenario():
        looking = asyncio.create_task(followers.look_out())
        heard = await followers.wait(99, after=0, patience_seconds=30)
        looking.cancel()
        return heard

    assert asyncio.run(scenario()) is Heard.END
