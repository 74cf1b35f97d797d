import html
import re
from datetime import timedelta

import pytest

from tests.conftest import MovableClock

ALIVE = timedelta(minutes=6)


def register(api, name="w", **changed):
    told = {
        "incarnation": "i",
        "slots": [{"name": "cuda:0", "gpus": 1, "gpu_memory_gb": 24.0}, {"name": "cuda:1"}],
        "tasks": [{"name": "t", "version": "7"}],
        "labels": {"room": "2"},
    }
    assert api.put(f"/api/v1/workers/{name}", json=told | changed).status_code == 200


def create(api, name="s", project="default", **changed):
    study = {
        "name": name,
        "task": "t",
        "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 5,
    }
    assert api.post(f"/api/v1/projects/{project}/studies", json=study | changed).status_code == 201


def lease(api, device="cuda:0"):
    sent = {"worker": "w", "incarnation": "i", "request_id": f"r{device[-1]}", "tasks": ["t"]}
    answer = api.post("/api/v1/leases", json=sent | {"slot": {"name": device}})
    assert answer.status_code == 200, answer.text


def text_of(answer):
    assert answer.status_code == 200, answer.text
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def test_a_fleet_without_workers_says_how_to_start_one_of_this_very_server(api):
    page = api.get("/workers").text

    assert "thiessen worker --server http://127.0.0.1<" in page
    assert "Nothing waits." in page


def test_each_slot_shows_what_it_trains_now(api):
    register(api)
    create(api)
    lease(api)

    page = api.get("/workers")

    told = text_of(page)
    assert "1 worker is connected; 1 of 2 slots busy." in told
    assert "t 7 · room 2" in told
    assert "cuda:0 1 GPU, 24 GB s 0" in told
    assert re.search("cuda:1 . free", told)
    assert 'href="./studies/s/trials/0"' in page.text
    alone = text_of(api.get("/workers/w"))
    assert "Working: 1 of 2 slots busy" in alone
    assert "room=2" in alone


def test_the_queue_is_grouped_by_what_it_waits_for(api):
    register(api)
    create(api)
    create(api, "other", task="u", max_trials=3)
    create(api, "another", task="u", max_trials=4)
    create(api, "done", task="u", max_trials=1)
    api.patch("/api/v1/studies/done", json={"state": "paused"})
    lease(api)

    queue = text_of(api.get("/workers")).split("Queue")[1]

    first, second = queue.index("No worker has registered task 'u' yet"), queue.index("It is being trained")
    assert first < second  # more trials wait for it
    assert "7 trials another 4 to propose other 3 to propose" in queue[first:second]
    assert "4 trials s 4 to propose" in queue[second:]
    assert "done" not in queue


def test_a_worker_that_is_not_heard_any_more_is_silent_and_its_slots_are_not_shown(api):
    register(api)
    MovableClock(api.app.state.house.store).advance(ALIVE)
    register(api, "new")

    told = text_of(api.get("/workers"))

    assert told.index("new idle") < told.index("w silent 0 of 2 busy · heard 6 min")
    assert "1 worker is connected" in told
    assert told.count("free") == 2
    assert "Is the machine up?" in text_of(api.get("/workers/w"))


def test_an_admin_drains_a_worker_and_has_it_go_on(visitor):
    admin = visitor("admin")
    register(admin)

    [action] = re.findall(r'action="([^"]*)"', admin.get("/workers").text)
    assert action == "./workers/w/drain"
    answer = admin.post("/workers/w/drain")
    assert (answer.status_code, answer.headers["location"]) == (303, "../../workers#worker-w")
    assert "w drained" in text_of(admin.get("/workers"))

    [action] = re.findall(r'action="([^"]*)"', admin.get("/workers/w").text)
    assert action == "../workers/w/go-on"
    admin.post("/workers/w/go-on")
    assert "w idle" in text_of(admin.get("/workers"))
    assert admin.post("/workers/nobody/drain").status_code == 404


@pytest.mark.parametrize(
    ("scopes", "project"), [(["read"], None), (["read", "submit"], None), (["admin"], "lab")]
)
def test_who_may_not_drain_sees_no_button_and_is_refused(visitor, scopes, project):
    register(visitor("admin"))
    other = visitor(*scopes, project=project)
    home = f"/projects/{project}" if project else ""

    main, _ = other.get(f"{home}/workers").text.split("</main>")
    assert "<button" not in main
    refused = other.post(f"{home}/workers/w/drain")
    assert (refused.status_code, "This is not allowed" in refused.text) == (403, True)
    assert "w idle" in text_of(visitor("admin").get("/workers"))


def test_a_form_of_another_site_drains_nothing(visitor):
    admin = visitor("admin")
    register(admin)

    forged = admin.post("/workers/w/drain", headers={"sec-fetch-site": "cross-site"})

    assert forged.status_code == 403
    assert "w idle" in text_of(admin.get("/workers"))


def test_a_project_sees_its_own_trials_alone_and_whoever_sees_all_is_led_to_theirs(visitor):
    admin = visitor("admin")
    register(admin)
    create(admin, "secret", project="lab")
    lease(admin)
    create(admin)
    lease(admin, "cuda:1")

    page = admin.get("/workers").text
    assert 'href="./projects/lab/studies/secret/trials/0">lab: secret 0<' in page
    assert 'href="./studies/s/trials/0"' in page
    bound = visitor("read", project="lab").get("/projects/lab/workers").text
    assert 'href="../../projects/lab/studies/secret/trials/0"' in bound
    assert "studies/s/" not in bound


def test_what_workers_say_of_themselves_is_never_markup(api):
    evil = "<script>alert(1)</script>"
    register(api, slots=[{"name": evil}], labels={evil: evil}, tasks=[{"name": "t", "version": evil}])

    for path in ("/workers", "/workers/w", "/workers/%3Cscript%3E"):
        assert "<script>" not in api.get(path).text
    assert api.get("/workers").text.count("&lt;script&gt;") >= 4
    assert api.get("/workers/%00").status_code == 404
