"""What a storage of Optuna is made of, call by call."""

import json
from datetime import timedelta

import pytest

from app.storage import optuna as stored
from tests.conftest import MovableClock

FLOAT = {
    "value": 0.5,
    "distribution": json.dumps({"name": "FloatDistribution", "attributes": {"log": False}}),
}


@pytest.fixture
def optuna(api):
    return Optuna(api)


class Optuna:
    """Speaks of Optuna's studies."""

    def __init__(self, api, at=""):
        self.api = api
        self.at = f"/api/v1{at}/optuna"

    def send(self, method, path, status=200, key=None, **body):
        headers = {} if key is None else {"Idempotency-Key": key}
        told = {} if method in {"GET", "DELETE"} else {"json": body}
        answer = self.api.request(method, f"{self.at}{path}", headers=headers, **told)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def study(self, name="s", **told):
        return self.send("POST", "/studies", 201, name=name, **({"directions": ["minimize"]} | told))["id"]

    def trial(self, study, **told):
        [added] = self.send("POST", f"/studies/{study}/trials", 201, trials=[told])["trials"]
        return added["id"]

    def change(self, trial, status=200, **told):
        return self.send("PATCH", f"/trials/{trial}", status, **told)

    def changed(self, study, since=0, limit=1000):
        return self.send("GET", f"/studies/{study}/trials?since={since}&limit={limit}")


def kind(problem):
    return problem["type"].rpartition(":")[2]


def test_a_study_is_kept_with_its_attributes_and_its_name_is_taken(optuna):
    study = optuna.study("a/b ü", user_attributes={"who": '"ann"'}, system_attributes={"": "[NaN]"})
    optuna.send("PATCH", f"/studies/{study}", 204, user_attributes={"who": "null", "n": "1"})

    found = optuna.send("GET", f"/studies/{study}")
    assert found == {
        "id": study,
        "name": "a/b ü",
        "directions": ["minimize"],
        "user_attributes": {"n": "1", "who": "null"},
        "system_attributes": {"": "[NaN]"},
    }
    assert optuna.send("GET", "/studies?name=a/b ü")["studies"] == [found]
    assert optuna.send("GET", "/studies?name=")["studies"] == []
    assert kind(optuna.send("POST", "/studies", 409, name="a/b ü", directions=["maximize"])) == "study-exists"


def test_what_is_sent_twice_with_a_key_happens_once(optuna):
    first, again = (
        optuna.send("POST", "/studies", 201, key="a", name="s", directions=["minimize"]) for _ in range(2)
    )
    path = f"/studies/{first['id']}/trials"
    added = [optuna.send("POST", path, 201, key="b", trials=[{"state": "waiting"}, {}]) for _ in range(2)]
    waiting = added[0]["trials"][0]["id"]
    claims = [optuna.send("PATCH", f"/trials/{waiting}", key="c", state="running") for _ in range(2)]
    ends = [optuna.send("PATCH", f"/trials/{waiting}", key="d", state="fail") for _ in range(2)]

    assert first == again
    assert added[0] == added[1]
    assert len(optuna.changed(first["id"])["trials"]) == 2
    assert claims == ends == [{"is_changed": True}] * 2
    assert kind(optuna.change(waiting, 409, state="fail")) == "trial-finished"
    for _ in range(2):
        optuna.send("DELETE", f"/studies/{first['id']}", 204, key="e")
    assert kind(optuna.send("DELETE", f"/studies/{first['id']}", 404)) == "study-not-found"


def test_a_change_is_whole_or_not_at_all(optuna):
    study = optuna.study()
    trial = optuna.trial(study, params={"x": FLOAT})
    other = {"value": 0, "distribution": json.dumps({"name": "IntDistribution", "attributes": {}})}

    refusal = optuna.change(trial, 409, params={"y": FLOAT, "x": other}, user_attributes={"a": "1"})
    optuna.change(trial, 422, state="complete", user_attributes={"a": "1"})

    assert kind(refusal) == "distribution-differs"
    [found] = optuna.changed(study)["trials"]
    assert (found["state"], list(found["params"]), found["user_attributes"]) == ("running", ["x"], {})
    optuna.change(optuna.trial(study), params={"y": other})  # that of the refused change was not kept


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"state": "complete"}, "has 2 values, one for each objective"),
        ({"values": [1.0]}, "has 2 objectives, and the trial 1 values"),
        ({"values": [1.0, "NaN"]}, "A value is NaN"),
        ({"user_attributes": {"a": "{"}}, "is not JSON"),
        ({"user_attributes": {"a": "[" * 100_000}}, "nested too deeply"),
        ({"user_attributes": {"a": "1" + "0" * 10_000}}, "is not JSON"),
        ({"params": {"x": {"value": 1, "distribution": "[]"}}}, "The distribution of 'x' has no name"),
        ({"params": {"x": {"value": 1, "distribution": '{"name": ""}'}}}, "'x' lacks what it has"),
        ({"params": {f"x{each}": FLOAT for each in range(1001)}}, "at most 1000 items"),
        ({"state": None}, "state cannot be null"),
        ({}, "there is nothing to change"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_a_sentence(optuna, told, why):
    trial = optuna.trial(optuna.study(directions=["minimize", "maximize"]))

    assert why in optuna.change(trial, 422, **told)["detail"]


def test_a_study_has_only_so_many_parameters(optuna):
    study = optuna.study()
    optuna.trial(study, params={f"x{each}": FLOAT for each in range(1000)})

    sent = {"trials": [{"params": {"y": FLOAT}}]}
    assert (
        "more than 1000 parameters" in optuna.send("POST", f"/studies/{study}/trials", 422, **sent)["detail"]
    )


def test_pages_of_changes_miss_nothing_and_end(optuna, monkeypatch):
    study = optuna.study()
    trials = [optuna.trial(study, user_attributes={"a": json.dumps("x" * 100)}) for _ in range(7)]
    first = optuna.changed(study, limit=3)
    optuna.change(trials[0], state="fail")
    monkeypatch.setattr(stored, "LARGEST_PAGE", 250)  # two trials
    seen, pages = [each["id"] for each in first["trials"]], 0
    page = first
    while not page["is_all"]:
        page = optuna.changed(study, page["seq"])
        seen += [each["id"] for each in page["trials"]]
        pages += 1

    assert (seen, pages) == (trials + trials[:1], 3)
    assert optuna.changed(study, page["seq"]) == {"trials": [], "seq": page["seq"], "is_all": True}


def test_pages_of_studies_end(optuna):
    studies = [optuna.study(f"s{each}") for each in range(3)]
    first = optuna.send("GET", "/studies?limit=2")
    last = optuna.send("GET", f"/studies?limit=2&cursor={first['next']}")

    assert [each["id"] for each in first["studies"] + last["studies"]] == studies
    assert last["next"] is None


def test_a_project_has_its_own_studies_and_as_many_as_it_may(api, optuna):
    api.post("/api/v1/projects", json={"name": "lab", "max_studies": 1})
    lab = Optuna(api, "/projects/lab")
    study, trial = lab.study(), lab.trial(lab.send("GET", "/studies")["studies"][0]["id"])

    assert optuna.send("GET", "/studies")["studies"] == []
    for method, path in (
        ("GET", f"/studies/{study}"),
        ("GET", f"/studies/{study}/trials"),
        ("GET", f"/studies/{study}/stale?seconds=1"),
        ("DELETE", f"/studies/{study}"),
        ("GET", f"/trials/{trial}"),
        ("POST", f"/trials/{trial}/heartbeat"),
    ):
        optuna.send(method, path, 404)
    optuna.send("PATCH", f"/trials/{trial}", 404, state="fail")
    optuna.send("POST", f"/studies/{study}/trials", 404, trials=[{}])
    assert kind(lab.send("POST", "/studies", 409, name="t", directions=["minimize"])) == "quota-used-up"


def test_a_running_trial_is_stale_when_its_heartbeats_stop(api, optuna):
    study = optuna.study()
    silent, beating, mute, ended = (optuna.trial(study) for _ in range(4))
    for trial in (silent, beating, ended):
        optuna.send("POST", f"/trials/{trial}/heartbeat", 204)
    optuna.change(ended, state="fail")
    MovableClock(api.app.state.house.store).advance(timedelta(seconds=10))
    optuna.send("POST", f"/trials/{beating}/heartbeat", 204)

    assert optuna.send("GET", f"/studies/{study}/stale?seconds=5") == {"trials": [silent]}
    assert mute


def test_a_removed_study_leaves_nothing_and_no_id_comes_again(api, optuna):
    study = optuna.study(user_attributes={"a": "1"})
    trial = optuna.trial(study, params={"x": FLOAT})
    optuna.send("DELETE", f"/studies/{study}", 204)

    assert optuna.study() > study
    assert optuna.trial(optuna.study("t")) > trial
    tables = (stored.optuna_entries, stored.optuna_dimensions, stored.optuna_attributes)
    left = [
        api.app.state.house.store.read(lambda tx, t=table: tx.execute(t.select()).all()) for table in tables
    ]
    assert left == [[], [], []]
