from unittest.mock import Mock

import pytest

from app.storage import DatabaseUnavailable

PAGE = {"accept": "text/html,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("path", "status", "title", "remedy", "link"),
    [
        ("/nothing/there", 404, "Not found", "See /docs for what there is.", "../"),
        ("/settings/tokens?after=x", 422, "Something in this is wrong", "after: is an integer", "?"),
        ("/projects/lab/compare?x=" + "x" * 600, 422, "Something in this is wrong", "x: has at most", "?"),
        ("/projects/%00/studies/s", 404, "Not found", "There is no project", "../../../"),
    ],
)
def test_a_person_gets_a_page_with_the_cause_and_where_to_go_on(api, path, status, title, remedy, link):
    answer = api.get(path, headers=PAGE)

    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    for said in (title, remedy, f'class="button" href="{link}"', answer.headers["x-request-id"]):
        assert said in answer.text


@pytest.mark.parametrize(
    ("path", "accept"),
    [("/api/v1/studies/s", PAGE["accept"]), ("/nothing", "*/*"), ("/nothing", "application/json")],
)
def test_the_api_and_programs_get_the_document_as_ever(api, path, accept):
    answer = api.get(path, headers={"accept": accept})

    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 404


def test_who_is_not_known_or_may_not_is_told_what_is_missing(visitor):
    stranger = visitor("work")
    refused = stranger.get("/workers")
    assert refused.status_code == 403
    assert "This needs the scope read; token &#39;a-work&#39; has work." in refused.text
    assert 'href="./login"' in refused.text

    del stranger.headers["authorization"]
    unknown = stranger.post("/workers/w/drain")
    assert (unknown.status_code, unknown.headers["location"]) == (303, "../../login?next=/workers/w/drain")


def test_who_asks_too_often_is_told_when_to_come_again(visitor):
    reader = visitor("read")
    reader.app.state.gate._wrong._clock = lambda: 1000.0
    reader.headers["authorization"] = "Bearer wrong"
    answers = [reader.post("/logout/no") for _ in range(12)]

    assert answers[-1].status_code == 429
    assert "Too many requests" in answers[-1].text
    assert int(answers[-1].headers["retry-after"]) > 0


def test_a_fault_and_a_database_that_is_away_are_pages_too(api, monkeypatch):
    for error, status, said in (
        (DatabaseUnavailable("The database does not answer."), 503, "Not available now"),
        (RuntimeError("a secret"), 500, "The server failed"),
    ):
        monkeypatch.setattr("app.dashboard.pages.home.read_home", Mock(side_effect=error))

        answer = api.get("/", headers=PAGE)

        assert (answer.status_code, said in answer.text) == (status, True)
        assert "a secret" not in answer.text
        assert ("Try again" in answer.text) == (status == 503)


def test_what_was_asked_is_never_markup(api):
    answer = api.get("/<script>alert(1)</script>", headers=PAGE)

    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text
