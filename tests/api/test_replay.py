"""Replay: what a study proposed while several clients worked on it, computed again from its export."""

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import httpx
import pytest

from thiessen.search.record import Record

TRIALS = 24


class Study:
    """Speaks HTTP to a real server."""

    def __init__(self, url) -> None:
        self.url = url
        self._http = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
        self._requests = count()

    def post(self, path, **body):
        answer = self._http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer

    def get(self, path, **query):
        return self._http.get(path, params=query)

    def patch(self, path, **body):
        assert self._http.patch(path, json=body).is_success

    def create(self, **changed):
        space = {"x": {"type": "float", "low": 0, "high": 1}, "n": {"type": "int", "low": 0, "high": 9}}
        study = {
            "name": "s", "task": "t", "space": space, "seed": 3, "max_trials": TRIALS, "max_attempts": 1,
        }  # fmt: skip
        self.post("/studies", **study | changed)

    def lease(self):
        sent = {"worker": "w", "incarnation": "i", "request_id": str(next(self._requests)), "tasks": ["t"]}
        leases = self.post("/leases", **sent, slot={"name": "cpu"}).json()["leases"]
        return leases[0] if leases else None

    def close(self):
        self._http.close()

    def work(self, _):
        """Train until nothing is left, each trial to an end of its own kind."""
        while (leased := self.lease()) is not None:
            path, number = f"/leases/{leased['lease_id']}", leased["trial"]
            if number % 6 == 5 and leased["attempt"] == 1:
                self.post(f"{path}/fail", kind="error", message="boom", traceback="")
                self.patch(f"/studies/s/trials/{number}", state="queued")
            elif number % 6 == 4:
                self.post(f"{path}/complete", pruned=True, value=leased["config"]["x"])
            elif number % 6 == 3:
                self.post(f"{path}/complete", diverged="nan")
            else:
                self.post(f"{path}/complete", loss=(leased["config"]["x"] - 0.4) ** 2)


@pytest.fixture
def desk(server):
    found = Study(server.url)
    yield found
    found.close()


@pytest.fixture
def study(desk):
    desk.create(strategy={"name": "biased_random", "preset": "thesis"})
    outcome = {"outcome": {"loss": 0.5}}
    desk.post("/studies/s/trials", trials=[{"config": {"x": 0.9, "n": 1}}])
    desk.post("/studies/s/trials", trials=[{"config": {"x": 0.1, "n": 2}} | outcome])
    with ThreadPoolExecutor(3) as clients:
        list(clients.map(desk.work, range(3)))
    return desk


def test_every_proposal_of_a_study_of_several_clients_is_computed_again(study, server):
    """Among enqueued, imported, pruned and diverged trials, and such as failed and were tried again."""
    document = json.loads(server.export("s"))
    told = study.get("/studies/s/replay").json()

    assert {each["outcome"] for each in document["observations"]} == {
        "succeeded", "diverged", "pruned", "failed", "queued",
    }  # fmt: skip
    assert {each["origin"] for each in document["trials"]} == {"proposed", "enqueued", "imported"}
    assert told == {
        "trials": TRIALS + 1, "proposed": TRIALS - 1, "matching": TRIALS - 1,
        "mismatches": [], "replayable": True, "why": None,
    }  # fmt: skip
    assert study.get("/studies/s/replay", first=10).json()["trials"] == 10


def test_the_command_computes_them_here_from_what_the_server_exports(study, programs):
    process = programs("replay", "s", "--server", study.url)

    assert process.wait() == 0
    assert process.log.read_text() == f"All {TRIALS - 1} proposals match.\n"


def test_one_changed_loss_names_the_first_trial_that_knew_it(study):
    document = study.get("/studies/s/export").json()
    succeeded = [each for each in document["observations"] if each["outcome"] == "succeeded"]
    changed = succeeded[5]
    changed["loss"] = -1.0  # the best by far: it changes how good every other one is

    named = [each[0].trial for each in Record.from_json(document).replay() if each]

    proposed = [trial for trial in document["trials"] if trial["origin"] == "proposed"]
    assert named[0] == next(trial["number"] for trial in proposed if trial["watermark"] >= changed["seq"])


def test_what_is_stored_of_a_proposal_does_not_help_to_compute_it(study):
    document = study.get("/studies/s/export").json()
    configs = [trial["config"] for trial in document["trials"] if trial["origin"] == "proposed"]
    for trial in document["trials"]:
        if trial["origin"] == "proposed":
            trial |= {"config": {}, "reasons": {}}

    computed = [mismatches[0].replayed for mismatches in Record.from_json(document).replay()]

    assert computed == configs


def test_a_borrowed_strategy_is_not_replayable_and_it_is_said_why(desk):
    desk.create(strategy="optuna:tpe")

    told = desk.get("/studies/s/replay").json()

    assert not told["replayable"]
    assert "the strategy 'optuna:tpe' draws numbers that are not ours" in told["why"]


def test_a_second_replay_at_once_is_refused_for_now(study):
    with ThreadPoolExecutor(2) as clients:
        answers = list(clients.map(lambda _: study.get("/studies/s/replay"), range(2)))

    assert sorted(answer.status_code for answer in answers) == [200, 503]
    refused = max(answers, key=lambda answer: answer.status_code)
    assert refused.json()["type"] == "urn:thiessen:replay-unavailable"


def test_a_replay_that_takes_too_long_is_stopped_and_the_next_one_may_begin(api, monkeypatch):
    api.post("/api/v1/studies", json={"name": "s", "task": "t", "space": {"x": {"type": "boolean"}}})
    with monkeypatch.context() as hurried:
        hurried.setattr("app.lifecycle.replay.REPLAY_SECONDS", 0.0)
        refused = api.get("/api/v1/studies/s/replay")

    assert (refused.status_code, refused.json()["type"]) == (503, "urn:thiessen:replay-unavailable")
    assert "ask for fewer trials with `first`" in refused.json()["detail"]
    assert api.get("/api/v1/studies/s/replay").json()["replayable"]
