import asyncio
import json
import re
import socket
import threading
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import wire
from app.domain.webhook import LONGEST_PAUSE, Subscription, pause
from app.lifecycle import deliver
from app.lifecycle.deliver import Postman
from app.storage import webhooks
from tests.conftest import wait_until
from tests.happenings import begin, connections_in_use, happen
from tests.receivers import receiving

BEFORE = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def receiver():
    with receiving() as listening:
        yield listening


class Hooks:
    """Webhooks on one store, with everything but the point of the test filled in."""

    def __init__(self, store, url) -> None:
        self.store = store
        self.url = url

    def add(self, **changed):
        asked = {"project": "default", "study": None, "url": self.url, "kinds": ()}
        asked = Subscription(**asked | changed)
        secret = "s3cret"  # noqa: S105
        return self.store.write(lambda tx: webhooks.add(tx, asked, secret=secret, who="me")).id

    def begin(self, study):
        return self.store.write(lambda tx: begin(tx, study))

    def happen(self, times=1, **changed):
        """Long enough ago to be sent at once."""
        return self.store.write(lambda tx: happen(tx, times, **{"at": BEFORE} | changed))

    def serve(self, hook, *, allow_private=True):
        postman = Postman(self.store, write=wire.delivery, allow_private=allow_private)
        asyncio.run(postman.serve(hook))

    def read(self, hook):
        return self.store.read(lambda tx: webhooks.numbered(tx, hook))

    def take(self, hook):
        return self.store.write(lambda tx: webhooks.take(tx, hook))

    def due(self):
        return self.store.read(lambda tx: webhooks.due(tx, limit=10))


@pytest.fixture
def hooks(store, receiver):
    opened = Hooks(store, receiver.url)
    opened.begin("s")
    return opened


@pytest.mark.row(258)
def test_events_arrive_once_and_in_order_in_bounded_deliveries(hooks, receiver):
    hook = hooks.add()
    numbers = hooks.happen(250)

    hooks.serve(hook)

    assert receiver.seqs == numbers
    assert [len(json.loads(body)["events"]) for _, body in receiver.requests] == [100, 100, 50]
    assert hooks.read(hook).behind == 0
    hooks.serve(hook)
    assert len(receiver.requests) == 3


def test_a_delivery_says_whose_it_is(hooks, receiver):
    hook = hooks.add()
    hooks.happen(kind="trial.moved", before="running", after="failed", cause="error")

    hooks.serve(hook)

    sent = json.loads(receiver.requests[0][1])
    assert (sent["webhook"], sent["project"], sent["study"]) == (hook, "default", "s")
    assert sent["events"][0]["kind"] == "trial.moved"
    assert sent["events"][0]["at"] == "2026-01-01T00:00:00Z"


def test_what_happened_before_the_webhook_is_not_sent_and_a_later_study_is_sent_whole(hooks, receiver):
    hooks.happen(3)
    hook = hooks.add()
    hooks.begin("later")
    hooks.happen(2, study="later")

    hooks.serve(hook)

    sent = [json.loads(body) for _, body in receiver.requests]
    assert {each["study"] for each in sent} == {"later"}
    assert sent[0]["events"][0]["seq"] == 1


def test_only_the_wanted_kinds_and_studies_are_sent_and_the_rest_is_passed_over(hooks, receiver):
    hooks.begin("other")
    hook = hooks.add(study="s", kinds=("study.completed",))
    hooks.happen(150)
    last = hooks.happen(kind="study.completed")
    hooks.happen(3)
    hooks.happen(study="other", kind="study.completed")

    hooks.serve(hook)

    assert receiver.seqs == last
    assert hooks.read(hook).behind == 0
    hooks.happen(3)
    hooks.serve(hook)
    assert receiver.seqs == last
    assert hooks.read(hook).behind == 0
    assert hooks.due() == []


def test_a_delivery_that_failed_is_tried_again_unchanged_and_what_came_later_follows(hooks, receiver, clock):
    hook = hooks.add()
    numbers = hooks.happen(2)
    receiver.answers = [500]
    hooks.serve(hook)
    failed = hooks.read(hook)
    assert (failed.failures, failed.last_error) == (1, "the receiver answered 500")
    assert hooks.due() == []
    later = hooks.happen(2)
    clock.advance(timedelta(seconds=2))
    assert hooks.due() == [hook]

    hooks.serve(hook)

    (first, sent), (again, same), _ = receiver.requests
    assert (again["Thiessen-Delivery"], same) == (first["Thiessen-Delivery"], sent)
    assert receiver.seqs == numbers * 2 + later
    assert (hooks.read(hook).failures, hooks.read(hook).last_error) == (0, None)


def test_a_redirect_is_a_failure_and_is_not_followed(hooks, receiver):
    hook = hooks.add()
    hooks.happen()
    receiver.answers = [307]

    hooks.serve(hook)

    assert len(receiver.requests) == 1
    assert hooks.read(hook).last_error == "the receiver answered 307"


def test_a_receiver_that_hangs_is_given_up(hooks, receiver, monkeypatch):
    monkeypatch.setattr(deliver, "SEND_SECONDS", 0.2)
    hook = hooks.add()
    hooks.happen()
    answered = threading.Event()
    receiver.meanwhile = lambda: answered.wait(30)

    hooks.serve(hook)

    answered.set()
    assert hooks.read(hook).last_error == "no answer within 0.2 seconds"


def test_a_receiver_that_is_away_is_told_when_it_is_back(hooks, receiver, clock):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        hook = hooks.add(url=f"http://127.0.0.1:{taken.getsockname()[1]}/")
        hooks.happen()
        hooks.serve(hook)

    assert hooks.read(hook).last_error.startswith("ConnectError")
    clock.advance(timedelta(hours=1))
    assert hooks.due() == [hook]
    assert receiver.requests == []


def test_fifty_failures_in_a_row_pause_a_webhook_with_the_reason(hooks, clock):
    hook = hooks.add()
    hooks.happen()
    for _ in range(50):
        failed = partial(webhooks.failed, delivery=hooks.take(hook), error="no", pause_for=timedelta(0))
        hooks.store.write(failed)

    paused = hooks.read(hook)
    assert (paused.is_active, paused.last_error) == (
        False,
        "Paused after 50 failures in a row. The last one: no",
    )
    clock.advance(timedelta(days=1))
    assert (hooks.due(), hooks.take(hook)) == ([], None)

    hooks.store.write(lambda tx: webhooks.resume(tx, hook))
    assert hooks.due() == [hook]


def test_one_sender_at_a_time_and_the_next_when_the_first_has_died(hooks, clock):
    hook = hooks.add()
    hooks.happen(3)
    first = hooks.take(hook)
    assert (hooks.due(), hooks.take(hook)) == ([], None)

    clock.advance(webhooks.SENDING_FOR + timedelta(seconds=1))
    second = hooks.take(hook)

    assert (second.id, second.events) == (first.id, first.events)
    hooks.store.write(lambda tx: webhooks.arrived(tx, first))  # too late to count
    assert hooks.read(hook).behind == 3
    hooks.store.write(lambda tx: webhooks.arrived(tx, second))
    assert hooks.read(hook).behind == 0


def test_a_busy_study_does_not_keep_another_waiting(hooks, receiver):
    hooks.begin("quiet")
    hook = hooks.add()
    hooks.happen(250)
    hooks.happen(study="quiet", at=BEFORE - timedelta(seconds=1))

    hooks.serve(hook)

    assert json.loads(receiver.requests[0][1])["study"] == "quiet"


def test_events_gather_for_a_second_before_they_travel(hooks, receiver, clock):
    hook = hooks.add()
    hooks.store.write(happen)
    hooks.serve(hook)
    assert (hooks.due(), receiver.requests) == ([], [])

    clock.advance(timedelta(seconds=2))

    assert hooks.due() == [hook]


def test_no_connection_is_held_while_sending_and_others_may_write(hooks, receiver):
    hook = hooks.add()
    hooks.happen()
    hooks.take(hook)
    asyncio.run(hooks.store.written(lambda _: None))  # what keeps a connection of its own has it now
    hooks.store.write(lambda tx: webhooks.resume(tx, hook))
    held = []
    with connections_in_use() as in_use:
        receiver.meanwhile = lambda: held.append((len(in_use), hooks.happen()))
        hooks.serve(hook)

    assert held[0][0] == 0
    assert hooks.read(hook).failures == 0


@pytest.mark.row(258)
def test_an_address_that_became_forbidden_is_not_called(hooks, receiver):
    hook = hooks.add()
    hooks.happen()

    hooks.serve(hook, allow_private=False)

    assert receiver.requests == []
    assert "not on the open Internet" in hooks.read(hook).last_error


def test_a_name_is_resolved_once_and_the_connection_made_to_that_address(hooks, receiver, monkeypatch):
    port = int(re.search(r":(\d+)", receiver.url)[1])
    asked = []

    def resolve(host, *place, **options):
        asked.append(host)
        if host == "hook.example" and len(asked) == 1:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        return original(host, *place, **options)

    original = socket.getaddrinfo
    hook = hooks.add(url=f"http://hook.example:{port}/hook")
    hooks.happen()
    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    hooks.serve(hook)

    assert receiver.requests[0][0]["Host"] == f"hook.example:{port}"
    assert asked.count("hook.example") == 1


def test_the_certificate_asked_for_is_that_of_the_name(hooks, monkeypatch):
    answers = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2606:4700::1111", 443, 0, 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    called = []

    def answer(request):
        called.append((request.url.host, request.headers["Host"], request.extensions["sni_hostname"]))
        return httpx.Response(200)

    postman = Postman(hooks.store, write=wire.delivery, allow_private=False)
    postman._http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    hook = hooks.add(url="https://hook.example/")
    hooks.happen()

    asyncio.run(postman.serve(hook))

    assert called == [("2606:4700::1111", "hook.example", "hook.example")]


def test_a_webhook_that_cannot_be_served_keeps_no_other_waiting(hooks, receiver, monkeypatch, caplog):
    broken, sound = hooks.add(), hooks.add()
    numbers = hooks.happen(2)

    def take(tx, webhook_id, original=webhooks.take):
        if webhook_id == broken:
            raise ArithmeticError("strange")
        return original(tx, webhook_id)

    monkeypatch.setattr(webhooks, "take", take)

    async def scenario():
        working = asyncio.create_task(Postman(hooks.store, write=wire.delivery, allow_private=True).work())
        await asyncio.to_thread(wait_until, lambda: hooks.read(sound).behind == 0)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    asyncio.run(scenario())

    assert receiver.seqs == numbers
    assert "strange" in caplog.text


def test_postmen_of_two_servers_send_everything_between_them(hooks, receiver):
    hook = hooks.add()
    numbers = hooks.happen(300)

    async def both():
        senders = [Postman(hooks.store, write=wire.delivery, allow_private=True) for _ in range(2)]
        working = [asyncio.create_task(sender.work()) for sender in senders]
        await asyncio.to_thread(wait_until, lambda: hooks.read(hook).behind == 0)
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)

    asyncio.run(both())

    assert receiver.seqs == numbers


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_pauses_double_up_to_an_hour_and_are_spread(failures, chance):
    expected = min(2.0 ** min(failures - 1, 100), LONGEST_PAUSE.total_seconds())

    assert expected / 2 <= pause(failures, chance).total_seconds() <= expected
    assert pause(failures, 0.0) <= pause(failures, chance)
