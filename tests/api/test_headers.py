import pytest
from starlette.testclient import TestClient

from app.api.headers import SafeHeaders
from app.api.limits import kept
from tests.api.test_problems import is_a_problem
from thiessen.client import Client
from thiessen.contract import CONTRACT
from thiessen.errors import Refused

EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    "path", ["/", "/static/x/y", "/docs", "/healthz", "/openapi.json", "/api/v1/studies/nobody", "/nowhere"]
)
def test_every_answer_tells_browsers_to_keep_their_hands_off(api, path):
    headers = api.get(path).headers

    assert EVERYWHERE.items() <= headers.items()
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["thiessen-contract"] == str(CONTRACT)
    assert not [name for name, count in counted(headers).items() if count > 1], "said twice"


def counted(headers):
    names = [name for name, _ in headers.raw]
    return {name: names.count(name) for name in names}


def test_a_fault_and_a_stranger_get_the_same_headers(api, monkeypatch):
    monkeypatch.setattr("app.lifecycle.rank.best", lambda *_: 1 / 0)

    for answer in (api.get("/api/v1/studies/s/best"), api.get("/healthz", headers={"host": "evil.example"})):
        assert answer.status_code in {500, 400}
        assert EVERYWHERE.items() <= answer.headers.items()


def test_what_the_interface_answers_is_not_kept_and_a_page_may_be(api):
    assert api.get("/api/v1/studies/nobody").headers["cache-control"] == "no-store"
    assert "cache-control" not in api.get("/healthz").headers


def test_what_a_route_says_itself_stays(api):
    assert "style-src 'self'" in api.get("/").headers["content-security-policy"]

    async def route(scope, receive, send):
        del scope, receive
        headers = [(b"Cache-Control", b"max-age=9")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    assert TestClient(SafeHeaders(route)).get("/api/v1/x").headers["cache-control"] == "max-age=9"


@pytest.mark.parametrize("said", [{}, {"thiessen-contract": str(CONTRACT)}])
def test_a_client_of_this_contract_or_of_none_is_served(api, said):
    assert api.get("/healthz", headers=said).status_code == 200


@pytest.mark.parametrize("said", [str(CONTRACT + 1), "0", "-1", "one", "", "9" * 99])
def test_another_contract_is_refused_with_the_command_that_helps(api, said):
    answer = api.get("/api/v1/studies/s", headers={"thiessen-contract": said})

    assert is_a_problem(answer, 426, "contract-unknown", "pip install --upgrade thiessen")


def test_the_contract_before_this_one_is_kept():
    assert (kept(1), kept(7)) == ({b"1"}, {b"6", b"7"})


def test_the_client_says_its_contract_and_is_told_when_it_is_too_new(server, monkeypatch):
    monkeypatch.setattr("thiessen.client.CONTRACT", CONTRACT + 1)

    with Client(server.url) as client, pytest.raises(Refused, match="the request says '2'"):
        client.study("s")
