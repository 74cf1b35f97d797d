import httpx
import pytest

from tests.api.conftest import a_study
from tests.conftest import address_of, wait_until
from tests.happenings import happen, happen_elsewhere
from tests.receivers import receiving
from thiessen.client import Client
from thiessen.contract import StudySpec

PATH = "/api/v1/webhooks"
PUBLIC = "https://1.1.1.1/hook"


def create(api, **changed):
    return api.post(PATH, json={"url": PUBLIC} | changed)


def test_the_secret_of_a_webhook_is_shown_once(api):
    answer = create(api, kinds=["study.completed"])
    created = answer.json()
    secret = created.pop("secret")

    assert len(bytes.fromhex(secret)) == 32
    assert answer.headers["cache-control"] == "no-store"
    assert secret != create(api).json()["secret"]
    assert created.pop("created_at").endswith("Z")
    assert created == {
        "id": 1, "project": "default", "study": None, "url": PUBLIC, "kinds": ["study.completed"],
        "state": "active", "failures": 0, "last_error": None, "behind": 0, "created_by": "anonymous",
    }  # fmt: skip
    assert secret not in api.get(f"{PATH}/1").text + api.get(PATH).text


def test_the_number_of_a_deleted_webhook_is_not_given_again(api):
    create(api)
    assert api.delete(f"{PATH}/1").status_code == 204

    assert create(api).json()["id"] == 2
    assert api.delete(f"{PATH}/1").status_code == 404


def test_webhooks_are_listed_page_by_page(api):
    for _ in range(3):
        create(api)

    first = api.get(f"{PATH}?limit=2").json()
    second = api.get(f"{PATH}?after={first['next']}").json()

    assert [each["id"] for each in first["webhooks"] + second["webhooks"]] == [1, 2, 3]
    assert api.get(f"{PATH}?after=3").json() == {"webhooks": [], "next": 3}


def test_a_paused_webhook_falls_behind_and_can_be_resumed(api, caller):
    caller.create()
    create(api, study="s")
    paused = api.patch(f"{PATH}/1", json={"state": "paused"}).json()
    api.app.state.house.store.write(lambda tx: happen(tx, 4))

    assert paused["state"] == "paused"
    assert api.get(f"{PATH}/1").json()["behind"] == 4
    assert api.patch(f"{PATH}/1", json={"state": "active"}).json()["state"] == "active"


def test_a_deleted_webhook_is_gone(api, caller):
    caller.create()
    create(api)

    assert api.delete(f"{PATH}/1").status_code == 204

    for gone in (
        api.get(f"{PATH}/1"),
        api.delete(f"{PATH}/1"),
        api.patch(f"{PATH}/1", json={"state": "paused"}),
    ):
        assert (gone.status_code, gone.json()["type"]) == (404, "urn:thiessen:webhook-not-found")


@pytest.mark.parametrize(
    ("changed", "status", "kind"),
    [
        ({"url": "http://169.254.169.254/latest/meta-data"}, 422, "forbidden-address"),
        ({"url": "http://localhost:5432/"}, 422, "forbidden-address"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, 422, "forbidden-address"),
        ({"url": "https://me:secret@1.1.1.1/"}, 422, "invalid-request"),
        ({"url": "file:///etc/passwd"}, 422, "invalid-request"),
        ({"url": "https://1.1.1.1/\r\nHost: evil"}, 422, "invalid-request"),
        ({"kinds": ["trial.exploded"]}, 422, "invalid-request"),
        ({"project": "nobody"}, 404, "project-not-found"),
    ],
)
def test_a_wrong_webhook_is_refused_and_nothing_is_stored(api, changed, status, kind):
    refused = create(api, **changed)

    assert (refused.status_code, refused.json()["type"]) == (status, f"urn:thiessen:{kind}")
    assert api.get(PATH).json()["webhooks"] == []


def test_a_server_tells_a_receiver_of_its_own_network_when_it_is_allowed_to(database, programs):
    with receiving() as receiver:
        process = programs(
            "serve", "--database", database, "--port", "0", THIESSEN_ALLOW_PRIVATE_WEBHOOKS="true"
        )
        with Client(address_of(process)) as client:
            wait_until(client.is_ready)
            client.create_study(StudySpec.model_validate(a_study()))
            assert httpx.post(client.url + PATH, json={"url": receiver.url}).status_code == 201
            start = httpx.get(f"{client.url}/api/v1/studies/s/events").json()["next"]
            happen_elsewhere(database, 5)

            wait_until(lambda: len(receiver.seqs) == 5)

    assert receiver.seqs == list(range(start + 1, start + 6))
