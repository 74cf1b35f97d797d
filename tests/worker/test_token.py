import threading
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from tests.conftest import address_of, wait_until
from tests.worker.conftest import a_lease, terms
from thiessen.cli.main import build
from thiessen.client import Client
from thiessen.contract import Point
from thiessen.errors import LeaseLost, ServerFailed, ServerUnreachable, TooManyRequests
from thiessen.patience import Patience
from worker.attempt import Attempt
from worker.functions import Offer
from worker.spool import Spool
from worker.standing import Standing
from worker.tasks import Task
from worker.tracking import Tracking


def token_of(database, name, scope):
    made = CliRunner().invoke(build(), ["token", "create", name, "--scope", scope, "--database", database])
    return made.stdout.strip()


def test_a_worker_trains_with_its_token_and_nobody_else_reads_it(database, programs, work, a_study):
    token, admin = token_of(database, "node-7", "work"), token_of(database, "root", "admin")
    server = programs("serve", "--database", database, "--port", "0", THIESSEN_REQUIRE_TOKENS="true")
    with Client(address_of(server), token=admin) as client:
        wait_until(client.is_ready)
        client.create_study(a_study("counts-tokens"))

        worker = work(client, "--idle-exit", "0.5", THIESSEN_TOKEN=token)

        assert worker.wait(120) == 0
        assert client.trial("counts-tokens", 0).loss == 0
        logs = server.log.read_text() + worker.log.read_text()
        assert all(secret[9:17] not in logs for secret in (token, admin))


def test_a_worker_without_the_right_token_ends_with_a_sentence(database, programs, work):
    reads = token_of(database, "reader", "read")
    server = programs("serve", "--database", database, "--port", "0", THIESSEN_REQUIRE_TOKENS="true")
    with Client(address_of(server)) as client:
        wait_until(client.is_ready)
        for token, said in ((None, "This server wants a token"), (reads, "This needs the scope work")):
            worker = work(client, "--devices", "cpu", **({"THIESSEN_TOKEN": token} if token else {}))
            assert worker.wait(120) == 1
            assert said in worker.log.read_text()


@pytest.mark.parametrize("away", [ServerUnreachable, ServerFailed, TooManyRequests])
def test_what_may_succeed_later_is_asked_again(away):
    answers = iter([away("later"), "done"])

    def call():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    patience = Patience(stop=threading.Event(), offline_seconds=60.0)

    assert patience.until_answered(call, longest_pause=0.0) == "done"


@pytest.mark.parametrize("refusal", [TooManyRequests, LeaseLost])
def test_no_points_are_left_out_because_the_server_is_asked_too_often(refusal, tmp_path):
    class Refusing:
        url = "http://127.0.0.1:9"

        def heartbeat(self, *_):
            raise refusal("no")

    attempt = Attempt(
        client=Refusing(),
        slot=SimpleNamespace(printed=lambda: None),
        spool=Spool(tmp_path),
        lease=a_lease(),
        offer=Offer(Task("t", float), "builtins:float"),
        patience=Patience(stop=threading.Event(), offline_seconds=60.0),
        draining=threading.Event(),
        terms=terms(tmp_path),
        standing=Standing("0 cpu"),
        tracking=Tracking(),
    )
    attempt._points = [Point(step=1, metrics={"loss": 0.5})]

    with pytest.raises(refusal):
        attempt._beat()

    assert len(attempt._points) == 1
