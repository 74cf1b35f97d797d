import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.access import ANONYMOUS, Principal
from app.domain.errors import IdempotencyKeyReused
from app.domain.reply import Key, Reply
from app.lifecycle.once import forget, once
from app.storage.tables import replies
from tests.api.test_problems import is_a_problem


def create(api, key=None, **changed):
    headers = {"idempotency-key": key} if key else {}
    return api.post("/api/v1/projects", json={"name": "lab", "max_running": 8} | changed, headers=headers)


def test_a_project_is_made_once_and_read_back(api):
    made = create(api)

    assert made.status_code == 201
    assert (made.json()["name"], made.json()["max_running"], made.json()["max_studies"]) == ("lab", 8, None)
    assert (create(api).status_code, create(api).json()) == (200, made.json())
    assert api.get("/api/v1/projects/lab").json() == made.json()
    assert is_a_problem(create(api, max_running=9), 409, "project-exists", "other quotas")
    assert is_a_problem(api.get("/api/v1/projects/zoo"), 404, "project-not-found", "'zoo'")


def test_the_projects_are_listed_page_by_page(api):
    create(api)
    create(api, name="zoo")

    first = api.get("/api/v1/projects?limit=2").json()
    rest = api.get(f"/api/v1/projects?limit=2&cursor={first['next']}").json()

    assert [project["name"] for project in first["projects"]] == ["default", "lab"]
    assert ([project["name"] for project in rest["projects"]], rest["next"]) == (["zoo"], None)


def test_quotas_change_one_by_one_and_null_removes_one(api):
    create(api)

    assert api.patch("/api/v1/projects/lab", json={"max_studies": 3}).json()["max_running"] == 8
    changed = api.patch("/api/v1/projects/lab", json={"max_running": None}).json()
    assert (changed["max_running"], changed["max_studies"]) == (None, 3)
    assert api.patch("/api/v1/projects/lab", json={}).json() == changed
    assert is_a_problem(api.patch("/api/v1/projects/zoo", json={}), 404, "project-not-found", "'zoo'")
    lines = [(line["action"], line["data"]) for line in api.get("/api/v1/audit").json()["audit"]]
    assert lines[:2] == [("project.limited", {"max_running": None}), ("project.limited", {"max_studies": 3})]
    assert len(lines) == 3


@pytest.mark.parametrize("changed", [{"max_running": -1}, {"max_studies": 2**31}, {"name": "a/b"}])
def test_a_quota_that_cannot_be_is_refused(api, changed):
    assert is_a_problem(create(api, **changed), 422, "invalid-request", next(iter(changed)))


def test_a_request_with_its_key_again_has_the_same_answer_whatever_became_of_the_project(api):
    first = create(api, key="k")
    api.patch("/api/v1/projects/lab", json={"max_running": 1})

    again = create(api, key="k")

    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, first.content)
    assert create(api).status_code == 409


def test_a_key_stands_for_one_request(api):
    create(api, key="k")

    answer = create(api, key="k", name="zoo")

    assert is_a_problem(answer, 422, "idempotency-key-reused", "'k' was sent with another request")
    assert api.get("/api/v1/projects/zoo").status_code == 404


def test_a_refusal_leaves_the_key_free(api):
    create(api, name="zoo")
    assert create(api, key="k", name="zoo", max_running=1).status_code == 409

    assert create(api, key="k").status_code == 201


@pytest.mark.parametrize("key", ["a b", "ä".encode(), "k" * 201])
def test_a_key_that_cannot_be_is_refused(api, key):
    assert is_a_problem(create(api, key=key), 422, "invalid-request", "Idempotency-Key")


KEY = Key("k", "of this request")


def test_of_the_same_request_sent_twice_at_once_one_happens(store):
    barrier, happened = threading.Barrier(2), []

    def step(tx):
        happened.append(tx)
        return Reply(201, str(len(happened)))

    def send():
        barrier.wait()
        return store.write(lambda tx: once(tx, ANONYMOUS, KEY, step))

    with ThreadPoolExecutor(2) as senders:
        answers = [answer.result() for answer in (senders.submit(send), senders.submit(send))]

    assert answers == [Reply(201, "1")] * 2
    assert len(happened) == 1


def test_each_principal_has_keys_of_its_own_and_no_key_is_none(store):
    def sent(who, key, body):
        return store.write(lambda tx: once(tx, who, key, lambda _: Reply(200, body))).body

    assert sent(ANONYMOUS, KEY, "a") == "a"
    assert sent(Principal("ann", frozenset()), KEY, "b") == "b"
    assert sent(ANONYMOUS, KEY, "c") == "a"
    assert sent(ANONYMOUS, None, "d") == "d"
    with pytest.raises(IdempotencyKeyReused):
        sent(ANONYMOUS, Key("k", "of another"), "e")


def test_replies_are_kept_for_a_day(store, clock):
    for hours, left in ((23, 1), (2, 0)):
        store.write(lambda tx: once(tx, ANONYMOUS, KEY, lambda _: Reply(200, "")))
        clock.advance(timedelta(hours=hours))
        store.write(forget)

        assert len(store.read(lambda tx: tx.execute(select(replies)).all())) == left
