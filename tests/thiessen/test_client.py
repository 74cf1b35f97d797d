import httpx
import pytest

from app.domain.errors import Conflict, NotFound, Refusal
from thiessen import errors
from thiessen.client import Client

PROBLEM = {"title": "", "status": 0, "detail": "no"}


def kinds():
    return [
        kind
        for family in (Refusal, NotFound, Conflict)
        for kind in family.__subclasses__()
        if kind not in {NotFound, Conflict}
    ]


def answering(answers, **options):
    """A client of a server that gives these answers, and what it was asked."""
    asked = []

    def answer(request):
        asked.append(request)
        status, kind = answers[min(len(asked), len(answers)) - 1]
        return httpx.Response(status, json={"type": f"urn:thiessen:{kind}", **PROBLEM})

    return Client("http://127.0.0.1:9", transport=httpx.MockTransport(answer), **options), asked


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_each_refusal_of_the_server_has_an_error_of_the_same_name(kind):
    client, _ = answering([(422, kind.type)])

    with pytest.raises(getattr(errors, kind.__name__), match="no") as refused:
        client.study("s")

    assert type(refused.value) is not errors.Refused


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_busy_is_asked_again(status):
    client, asked = answering([(status, "too-many-requests"), (404, "study-not-found")], retry_pauses=(0,))

    with pytest.raises(errors.StudyNotFound):
        client.study("s")

    assert len(asked) == 2


@pytest.mark.parametrize(("told", "waited"), [("2", 2.0), ("3600", 30.0), ("tomorrow", 0.5), (None, 0.5)])
def test_a_server_that_says_when_is_asked_then(told, waited, monkeypatch):
    slept = []
    monkeypatch.setattr("thiessen.client.time.sleep", slept.append)
    answers = iter(
        [httpx.Response(503, headers={} if told is None else {"Retry-After": told}), httpx.Response(200)]
    )
    transport = httpx.MockTransport(lambda _: next(answers))

    Client("http://127.0.0.1:9", retry_pauses=(0.5,), transport=transport).delete_study("s")

    [pause] = slept
    assert 0.8 * waited <= pause <= 1.2 * waited


def test_what_stays_refused_is_told():
    client, asked = answering([(429, "too-many-requests")], retry_pauses=(0, 0))

    with pytest.raises(errors.TooManyRequests):
        client.study("s")

    assert len(asked) == 3


def test_a_token_goes_into_the_header_and_nowhere_else():
    client, asked = answering([(401, "unauthorized")], token="thiessen_abc")  # noqa: S106 - no token

    with pytest.raises(errors.Unauthorized) as refused:
        client.study("s")

    assert asked[0].headers["authorization"] == "Bearer thiessen_abc"
    assert "abc" not in str(asked[0].url) + str(refused.value) + repr(asked[0].headers) + repr(client)
