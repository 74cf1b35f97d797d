"""What is done from pages: by forms that need no script, and by those who may."""

import html
import re
from itertools import product

import pytest
from fastapi.testclient import TestClient

from app.domain.access import CONSOLE, Scope
from app.lifecycle import access, projects
from app.main import build
from app.settings import Settings
from app.storage import open_store
from app.storage.schema import prepare
from tests.dashboard.test_pages import create, fail_one, finish_one

PAGE = {"accept": "text/html,*/*;q=0.8"}
OURS = {"origin": "http://127.0.0.1"}


def send(api, path, **form):
    return api.post(path, data=form, headers=PAGE, follow_redirects=False)


def study(api, name="s"):
    return api.get(f"/api/v1/studies/{name}").json()


def last_event(api):
    return api.get("/api/v1/studies/s/events", params={"limit": 1000}).json()["events"][-1]


def offered(page):
    return re.findall(r'name="do" value="(\w+)"', page)


CHANGES = [
    ({"do": "pause"}, {"state": "paused"}),
    ({"do": "stop"}, {"state": "stopped"}),
    ({"do": "extend", "max_trials": " 160 "}, {"max_trials": 160}),
    (
        {"do": "note", "notes": "one\r\ntwo", "tags": "#slow, good  slow"},
        {"notes": "one\ntwo", "tags": ["slow", "good"]},
    ),
]


def test_a_form_changes_a_study_and_leads_back_to_its_page(api):
    create(api)
    for number, (form, changed) in enumerate(CHANGES, start=2):
        answer = send(api, "/studies/s", **form)

        assert (answer.status_code, answer.headers["location"]) == (303, "s")
        assert {name: study(api)[name] for name in changed} == changed
        told = last_event(api)
        assert (told["seq"], told["kind"], told["who"]) == (number, "study.changed", "anonymous")
        assert api.get("/studies/s").status_code == 200


def test_a_study_goes_on_again_and_offers_what_can_be_done(api):
    create(api)
    assert offered(api.get("/studies/s").text) == ["pause", "extend", "enqueue", "note", "stop", "delete"]

    for verb in ("pause", "stop"):
        send(api, "/studies/s", do=verb)
        assert "resume" in offered(api.get("/studies/s").text)
        send(api, "/studies/s", do="resume")
        assert study(api)["state"] == "active"


def test_a_completed_study_is_extended_and_goes_on(api):
    create(api, max_trials=1)
    finish_one(api, 0.5)
    assert offered(api.get("/studies/s").text) == ["extend", "enqueue", "note", "delete"]

    send(api, "/studies/s", do="extend", max_trials="3")

    assert (study(api)["state"], study(api)["max_trials"]) == ("active", 3)


WRITTEN = [
    ('{"x": 0.25}', [0.25]),
    ('{"x": 0.25}\r\n\r\n{"x": 1e-3}\r\n', [0.25, 0.001]),
    ("{x: 0.25}\n{x: 0.5}", [0.25, 0.5]),
    ("x: 0.25", [0.25]),
    ("- x: 0.25\n- x: 0.5", [0.25, 0.5]),
    ("x: 0.25\n---\nx: 0.5\n", [0.25, 0.5]),
    ('[\n  {"x": 0.25},\n  {"x": 0.5}\n]', [0.25, 0.5]),
    ('{\n  "x": 0.25\n}', [0.25]),
]


def test_configs_are_added_as_json_or_yaml(api):
    for number, (text, configs) in enumerate(WRITTEN):
        create(api, name=f"s{number}")

        answer = send(api, f"/studies/s{number}", do="enqueue", configs=text)

        assert answer.status_code == 303, answer.text
        trials = api.get(f"/api/v1/studies/s{number}/trials").json()["trials"]
        assert [each["config"]["x"] for each in trials] == configs
        assert {(each["state"], each["origin"]) for each in trials} == {("queued", "enqueued")}


def test_one_config_leads_to_its_trial_a_known_one_to_that_which_it_has(api):
    create(api)
    for _ in range(2):
        answer = send(api, "/studies/s", do="enqueue", configs='{"x": 0.25}')
        assert answer.headers["location"] == "s/trials/0"

    said = api.post("/studies/s", data={"do": "enqueue", "configs": '{"x": 0.25}\n{"x": 0.5}'}).json()

    assert said == {"said": "Added 1 trial: 1. Known already: 0.", "to": None}


WRONG = [
    ({"do": "extend", "max_trials": "many"}, 422, "a whole number, such as 160; it was “many”."),
    ({"do": "extend", "max_trials": "0"}, 422, "max_trials: is at least 1; got 0"),
    ({"do": "extend", "max_trials": "9" * 12}, 422, "is at most 1000000"),
    ({"do": "extend", "max_trials": "1"}, 422, "2 trials are numbered already"),
    ({"do": "enqueue", "configs": '{"x": 7}'}, 422, "trials.0.config: dimension 'x' cannot be 7"),
    ({"do": "enqueue", "configs": '{"x": 0.5}\n{"y": 1}'}, 422, "trials.1.config"),
    ({"do": "enqueue", "configs": '{"x": 0.5}\n{"x": '}, 422, "line 2 is neither JSON nor YAML"),
    ({"do": "enqueue", "configs": "- a: [\n"}, 422, "this is neither JSON nor YAML"),
    ({"do": "enqueue", "configs": "- &a {x: 0.5}\n- {<<: [*a, *a]}"}, 422, "Write out what the aliases"),
    ({"do": "enqueue", "configs": "[" * 5000}, 422, "neither JSON nor YAML"),
    ({"do": "enqueue", "configs": "x: 2020-01-01"}, 422, "trials.0.config"),
    ({"do": "enqueue", "configs": "7"}, 422, "trials.0.config: is a table of names and values; got 7"),
    ({"do": "enqueue", "configs": " \n"}, 422, "Type a config"),
    ({"do": "enqueue", "configs": "x" * 200_001}, 422, "send at most 200000 at once"),
    ({"do": "enqueue", "configs": '{"x": 0.5}\n' * 1001}, 422, "trials: has at most 1000 items"),
    ({"do": "note", "notes": "x" * 10_001, "tags": "t"}, 422, "notes: has at most 10000 characters"),
    ({"do": "note", "notes": "kept", "tags": "-"}, 422, "tags.0: String should match pattern"),
    ({"do": "delete", "name": "z"}, 422, "To delete this study type its name: s"),
    ({"do": "dance"}, 422, "No form here does “dance”."),
    ({}, 422, "No form here does “”."),
]  # fmt: skip


def test_what_is_refused_comes_back_beside_its_form_with_nothing_typed_lost(api):
    create(api, max_trials=9)
    for loss in (0.5, 0.25):
        finish_one(api, loss)
    events = api.get("/api/v1/studies/s/events").json()["next"]

    for form, status, why in WRONG:
        answer = send(api, "/studies/s", **form)

        assert answer.status_code == status, form
        page = html.unescape(answer.text)
        [wrong] = [each for each in re.findall(r'role="alert"[^>]*>(.*?)</p>', page, re.DOTALL) if each]
        assert why in wrong, form
        if form.get("do") not in offered(page):
            continue
        panel = page.split(f'id="do-{form["do"]}"')[1]
        assert panel.startswith(" open>")
        for field, typed in form.items():
            if field != "do":
                assert f'value="{typed}"' in panel or f">\n{typed}</textarea>" in panel, field
    assert api.get("/api/v1/studies/s/events").json()["next"] == events  # nothing happened


def test_scripts_get_refusals_as_problems_and_deeds_as_sentences(api):
    create(api, max_trials=1)

    done = api.post("/studies/s", data={"do": "pause"})
    refused = api.post("/studies/s", data={"do": "enqueue", "configs": '{"x": 2}'})

    assert (done.status_code, done.json()) == (200, {"said": "Paused.", "to": None})
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert "dimension 'x' cannot be 2" in refused.json()["detail"]


def test_a_study_that_takes_no_more_says_so(api):
    create(api, max_trials=1)
    finish_one(api, 0.5)

    for form, why in (
        ({"do": "pause"}, "is completed (max_trials); extend its budget to go on"),
        ({"do": "enqueue", "configs": '{"x": 0.75}'}, "has used up its budget of 1 trials"),
    ):
        answer = send(api, "/studies/s", **form)
        assert answer.status_code == 409
        assert why in html.unescape(answer.text)


def test_a_study_is_deleted_behind_its_name_and_keeps_its_history(api):
    create(api)

    answer = send(api, "/studies/s", do="delete", name="s ")

    assert (answer.status_code, answer.headers["location"]) == (303, "../")
    assert study(api)["archived_at"] is not None
    assert 'href="studies/s"' not in api.get("/").text
    assert offered(api.get("/studies/s").text) == []
    late = send(api, "/studies/s", do="pause")
    assert late.status_code == 409
    assert "was deleted; nothing of it changes any more" in late.text


def test_a_study_is_purged_behind_its_name_and_the_audit_tells(api):
    create(api)

    said = api.post("/studies/s", data={"do": "delete", "name": "s", "purge": "on"}).json()

    assert said == {"said": "Deleted.", "to": "../"}
    assert api.get("/studies/s").status_code == 404
    [deed, *_] = api.get("/api/v1/audit").json()["audit"]
    assert (deed["who"], deed["action"], deed["subject"]) == ("anonymous", "study.purged", "default/s")
    assert send(api, "/studies/s", do="pause").status_code == 404


def test_the_failed_trials_of_a_study_are_tried_again_at_once(api):
    create(api, max_attempts=1, max_trials=9)
    for message in ("a", "bb"):
        fail_one(api, message, "line 1")
    finish_one(api, 0.5)
    assert "2 trials failed in all attempts." in api.get("/studies/s").text

    said = api.post("/studies/s", data={"do": "retry"}).json()["said"]

    assert said == "2 trials are tried again."
    assert study(api)["counts"]["queued"] == 2
    assert "retry" not in offered(api.get("/studies/s").text)
    assert api.post("/studies/s", data={"do": "retry"}).json()["said"] == "No trial has failed."


def test_a_trial_is_cancelled_retried_and_written_on(api):
    create(api, max_attempts=1, max_trials=3)
    fail_one(api, "boom", "line 1")
    send(api, "/studies/s", do="enqueue", configs='{"x": 0.25}')
    assert offered(api.get("/studies/s/trials/0").text) == ["retry", "note"]
    assert offered(api.get("/studies/s/trials/1").text) == ["cancel", "note"]

    for number, form, state in (
        (0, {"do": "retry"}, "queued"),
        (1, {"do": "cancel"}, "cancelled"),
        (1, {"do": "note", "notes": "The power failed."}, "cancelled"),
    ):
        answer = send(api, f"/studies/s/trials/{number}", **form)
        assert (answer.status_code, answer.headers["location"]) == (303, str(number))
        assert api.get(f"/api/v1/studies/s/trials/{number}").json()["state"] == state
    assert last_event(api)["kind"] == "trial.noted"
    assert "The power failed." in api.get("/studies/s/trials/1").text
    assert offered(api.get("/studies/s/trials/1").text) == ["note"]


def test_what_is_refused_of_a_trial_comes_back_on_its_page(api):
    create(api)
    finish_one(api, 0.5)

    too_long = send(api, "/studies/s/trials/0", do="note", notes="x" * 10_001)
    late = api.post("/studies/s/trials/0", data={"do": "cancel"})

    assert too_long.status_code == 422
    assert "notes: has at most 10000 characters" in too_long.text
    assert "x" * 10_001 in too_long.text
    assert late.status_code == 409
    assert late.json()["detail"] == (
        "Trial 0 of study 's' is succeeded, so it cannot be cancelled; only a queued or running one can."
    )
    assert api.post("/studies/s/trials/0", data={"do": "retry"}).status_code == 409
    assert send(api, "/studies/s/trials/0", do="dance").status_code == 422


def test_what_is_not_there_is_not_written(api):
    create(api)
    for path in ("/studies/z", "/studies/%00", "/studies/s/trials/9", "/studies/s/trials/x"):
        assert send(api, path, do="note", notes="n").status_code == 404
        assert api.post(path, data={"do": "note", "notes": "n"}).status_code in {404, 422}


def test_a_form_that_cannot_be_read_is_refused(api):
    create(api)
    for body in (b"do=pa%FFuse", b"\xff", b"&".join(b"a=%d" % at for at in range(5000))):
        answer = api.post("/studies/s", content=body)

        assert answer.status_code == 422
        assert "The form cannot be read" in answer.json()["detail"]


def test_what_people_type_is_never_markup(api):
    evil = '"><script>alert(1)</script></textarea>'
    create(api, notes=evil)

    for form in ({"do": "enqueue", "configs": evil}, {"do": "extend", "max_trials": evil}, {"do": evil}):
        answer = send(api, "/studies/s", **form)
        assert answer.status_code == 422
        assert "<script>alert" not in answer.text


def test_each_project_is_written_in_its_own(api):
    api.post("/api/v1/projects", json={"name": "lab"})
    create(api)
    create(api, project="lab")
    page = api.get("/projects/lab/studies/s").text
    assert 'action="../../../projects/lab/studies/s"' in page

    answer = send(api, "/projects/lab/studies/s", do="pause")

    assert answer.headers["location"] == "s"
    assert study(api)["state"] == "active"
    assert api.get("/api/v1/projects/lab/studies/s").json()["state"] == "paused"


def test_a_page_says_which_event_it_shows_and_where_to_follow(api):
    create(api)
    finish_one(api, 0.5)
    events = api.get("/api/v1/studies/s/events").json()["next"]

    for path, address in (
        ("/studies/s", "../api/v1/studies/s/events"),
        ("/studies/s/trials/0", "../../../api/v1/studies/s/events"),
        ("/projects/default/studies/s", "../../../api/v1/projects/default/studies/s/events"),
    ):
        page = api.get(path).text
        assert f'data-events="{address}" data-after="{events}"' in page


# Who may


@pytest.fixture
def guarded(database):
    """A server that wants tokens, and the secrets of some by name."""
    store = open_store(database)
    prepare(store)
    store.write(lambda tx: projects.create(tx, CONSOLE, "lab", projects.Quotas()))
    scopes = {
        "reader": [Scope.READ],
        "submitter": [Scope.READ, Scope.SUBMIT],
        "blind": [Scope.SUBMIT],
        "admin": [Scope.ADMIN],
    }
    secrets = {
        name: store.write(lambda tx, n=name, s=each: access.create(tx, CONSOLE, name=n, scopes=s))[1]
        for name, each in scopes.items()
    }
    _, secrets["elsewhere"] = store.write(
        lambda tx: access.create(tx, CONSOLE, name="elsewhere", scopes=scopes["submitter"], project="lab")
    )
    store.close()
    app = build(Settings(database=database, require_tokens=True))
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.headers["authorization"] = f"Bearer {secrets['admin']}"
        create(client)
        del client.headers["authorization"]
        yield client, secrets


def signed_in(guarded, name):
    client, secrets = guarded
    client.cookies.clear()
    answer = client.post("/login", data={"token": secrets[name]}, headers=PAGE | OURS)
    assert answer.status_code == 303, answer.text
    return client


def state(guarded):
    client, secrets = guarded
    bearing = {"authorization": f"Bearer {secrets['admin']}"}
    return client.get("/api/v1/studies/s", headers=bearing).json()["state"]


def test_who_may_submit_pauses_with_the_cookie_and_the_event_names_the_token(guarded):
    client = signed_in(guarded, "submitter")

    answer = client.post("/studies/s", data={"do": "pause"}, headers=PAGE | OURS)

    assert answer.status_code == 303
    assert state(guarded) == "paused"
    assert last_event(client)["who"] == "submitter"


def test_a_reader_sees_no_button_and_a_forged_post_is_refused(guarded):
    client = signed_in(guarded, "reader")
    for path in ("/studies/s", "/"):
        page = client.get(path, headers=PAGE).text
        assert offered(page) == []
        assert 'method="post"' not in page

    for accept in (PAGE, {}):
        answer = client.post("/studies/s", data={"do": "pause"}, headers=accept | OURS)
        assert answer.status_code == 403
        assert "needs the scope submit" in answer.text
    assert state(guarded) == "active"


def test_removing_history_is_for_admins(guarded):
    client = signed_in(guarded, "submitter")
    assert 'name="purge"' not in client.get("/studies/s", headers=PAGE).text
    purge = {"do": "delete", "name": "s", "purge": "on"}
    assert client.post("/studies/s", data=purge, headers=OURS).status_code == 403
    assert state(guarded) == "active"

    client = signed_in(guarded, "admin")
    assert 'name="purge"' in client.get("/studies/s", headers=PAGE).text
    assert client.post("/studies/s", data=purge, headers=PAGE | OURS).status_code == 303


def test_who_may_not_read_is_shown_no_page_when_refused(guarded):
    client, secrets = guarded
    headers = PAGE | {"authorization": f"Bearer {secrets['blind']}"}

    answer = client.post("/studies/s", data={"do": "extend", "max_trials": "x"}, headers=headers)

    assert answer.status_code == 422
    main, _ = answer.text.split("</main>")
    assert "Something in this is wrong" in main
    assert "studies/s" not in main


def test_a_token_of_another_project_writes_nothing_here(guarded):
    client = signed_in(guarded, "elsewhere")

    assert client.post("/studies/s", data={"do": "pause"}, headers=OURS).status_code == 404
    assert state(guarded) == "active"


FORGED = [
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:8001"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": "http://127.0.0.1"},
    {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"},
]


def test_a_page_of_another_site_sends_no_form_here(guarded):
    client = signed_in(guarded, "admin")
    paths = ("/studies/s", "/studies/s/trials/0", "/login", "/logout")

    for path, forged in product(paths, FORGED):
        answer = client.post(path, data={"do": "pause", "token": "x"}, headers=PAGE | forged)

        assert answer.status_code == 403
        assert "A page of another site sent this" in answer.text
        assert "set-cookie" not in answer.headers
    assert state(guarded) == "active"


def test_the_cookie_writes_only_where_the_browser_says_that_the_form_is_ours(guarded):
    client = signed_in(guarded, "admin")

    for nothing in ({}, {"sec-fetch-site": "none"}):
        assert client.post("/studies/s", data={"do": "pause"}, headers=nothing).status_code == 401
    assert client.post("/api/v1/projects", json={"name": "z"}, headers=OURS).status_code == 401
    assert client.patch("/api/v1/studies/s", json={"state": "paused"}, headers=OURS).status_code == 401
    assert state(guarded) == "active"
    for ours in (OURS, {"sec-fetch-site": "same-origin"}):  # the second also where a proxy has changed Host
        assert client.post("/studies/s", data={"do": "resume"}, headers=ours).status_code == 200


def test_who_is_signed_out_meanwhile_is_led_to_the_form_and_back(guarded):
    client, _ = guarded

    answer = client.post("/studies/s", data={"do": "pause"}, headers=PAGE | OURS)
    told = client.post("/studies/s", data={"do": "pause"}, headers=OURS)

    assert (answer.status_code, answer.headers["location"]) == (303, "../login?next=/studies/s")
    assert told.status_code == 401
    assert state(guarded) == "active"
