"""Who may do what: every route, every scope."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from sqlalchemy import select

from app.api import events
from app.api.limits import LARGEST_BODY
from app.domain.access import CONSOLE, Scope
from app.domain.project import Quotas
from app.gate import FRESH_SECONDS, MORE, OPEN, Allowed, address_of, is_open
from app.lifecycle import access, projects
from app.lifecycle.register import GONE_AFTER
from app.main import build
from app.settings import Settings, WrongSetting
from app.storage import DatabaseUnavailable, open_store
from app.storage.schema import prepare
from app.storage.tables import audit
from app.storage.tables import tokens as tokens_table
from tests.api.conftest import a_study
from tests.api.test_problems import is_a_problem
from tests.conftest import MovableClock, wait_until


def token_of(store, name, *scopes, **options):
    return store.write(lambda tx: access.create(tx, CONSOLE, name=name, scopes=scopes, **options))[1]


def bearing(token):
    return {"authorization": f"Bearer {token}"}


@contextmanager
def serving(database, **settings):
    app = build(Settings(database=database, **settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        client.store = app.state.house.store
        yield client


@pytest.fixture
def admin(database):
    """The secret of a token that may everything, in a database that has no server yet."""
    store = open_store(database)
    prepare(store)
    store.write(lambda tx: projects.create(tx, CONSOLE, "lab", Quotas()))
    secret = token_of(store, "root", Scope.ADMIN)
    store.close()
    return secret


@pytest.fixture
def guarded(database, admin):
    """A server that wants tokens; called with the token of an admin unless told otherwise."""
    with serving(database, require_tokens=True) as client:
        client.headers.update(bearing(admin))
        yield client


@pytest.fixture
def anonymous(guarded):
    """The same server, called without a token."""
    return TestClient(guarded.app, base_url="http://127.0.0.1", raise_server_exceptions=False)


FILES = "/static/{digest}/{name}"


def routes(app):
    """Yield the method, the path and the declared scopes of everything that the server answers."""
    for route in iter_route_contexts(app.routes):
        for method in route.methods:
            yield method, route.path, _declared(route.dependant)


def _declared(dependant):
    own = {dependant.call.scope} if isinstance(dependant.call, Allowed) else set()
    return own.union(*map(_declared, dependant.dependencies))


def ask(client, method, path, token=None):
    filled = path.replace("{lease_id}", "0" * 32).replace("{number}", "0")
    headers = bearing(token) if token else {}
    body = None if method in {"GET", "HEAD"} else {}
    return client.request(
        method, filled.replace("{", "").replace("}", ""), headers=headers, json=body, follow_redirects=False
    )


def test_every_route_declares_one_scope_or_is_open_to_everybody(api):
    declared = {(method, path): scopes for method, path, scopes in routes(api.app)}

    assert {path for (_, path), scopes in declared.items() if not scopes} == OPEN | {FILES}
    assert all(len(scopes) == 1 for (_, path), scopes in declared.items() if not is_open(path)), declared
    assert len(declared) > 20


@pytest.mark.row(256)
def test_every_route_lets_in_its_scope_and_admins_and_nobody_else(guarded, anonymous):
    tokens = {scope: token_of(guarded.store, f"only-{scope}", scope) for scope in Scope}

    for method, path, scopes in routes(guarded.app):
        if path in OPEN:
            assert method == "POST" or ask(anonymous, method, path).status_code == 200, path
            continue
        if path == FILES:  # of which this is none
            assert ask(anonymous, method, path).status_code == 404
            continue
        assert is_a_problem(ask(anonymous, method, path), 401, "unauthorized", "wants a token")
        for scope, token in tokens.items():
            answer = ask(anonymous, method, path, token)
            if scope in {*scopes, Scope.ADMIN}:
                assert answer.status_code not in {401, 403, 500}, (method, path, scope)
            else:
                said = f"needs the scope {next(iter(scopes))}; token 'only-{scope}' has {scope}."
                assert is_a_problem(answer, 403, "forbidden", said)


def test_a_part_of_a_route_that_needs_more_says_so_in_the_document(guarded, anonymous):
    parts = [
        (method.upper(), path, each["name"], each["schema"][MORE], operation["security"][0]["token"])
        for path, operations in guarded.app.openapi()["paths"].items()
        for method, operation in operations.items()
        for each in operation.get("parameters", [])
        if MORE in each["schema"]
    ]

    assert {(method, name) for method, _, name, *_ in parts} == {("DELETE", "purge")}
    for number, (method, path, name, more, scopes) in enumerate(parts):
        usual = token_of(guarded.store, f"usual-{number}", *map(Scope, scopes))
        asked = f"{path}?{name}=true"
        refused = ask(anonymous, method, asked, usual)
        assert is_a_problem(refused, 403, "forbidden", f"needs the scope {more}")
        assert ask(guarded, method, asked).status_code == 404


def test_what_does_not_exist_is_not_told_to_strangers(anonymous, guarded):
    assert ask(anonymous, "GET", "/api/v1/nothing").status_code == 401
    assert guarded.get("/api/v1/nothing").status_code == 404


@pytest.mark.parametrize("body", ["{", "x" * (LARGEST_BODY + 1)])
def test_a_stranger_is_refused_before_the_body_is_read(anonymous, body):
    answer = anonymous.post("/api/v1/studies", content=body, headers={"content-type": "application/json"})

    assert is_a_problem(answer, 401, "unauthorized", "wants a token")
    assert answer.headers["www-authenticate"] == 'Bearer realm="thiessen"'


def test_a_worker_with_its_token_trains_and_does_nothing_else(guarded, anonymous):
    guarded.post("/api/v1/studies", json=a_study())
    worker = bearing(token_of(guarded.store, "node-7", Scope.WORK))
    request = {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"]}

    leased = anonymous.post("/api/v1/leases", json=request, headers=worker)

    assert leased.status_code == 200
    assert anonymous.get("/api/v1/studies/s", headers=worker).status_code == 403
    assert anonymous.post("/api/v1/studies", json=a_study(name="z"), headers=worker).status_code == 403
    assert anonymous.get("/", headers=worker).status_code == 403


SPEAKS = {
    "heartbeat": {"reports": [{"step": 1, "metrics": {"m": 0.5}}]},
    "complete": {"loss": 0.5},
    "fail": {"kind": "error", "message": "boom"},
    "release": {},
}


@pytest.fixture
def leased(guarded, anonymous):
    """A lease that the token `node-7` took."""
    guarded.post("/api/v1/studies", json=a_study())
    headers = bearing(token_of(guarded.store, "node-7", Scope.WORK))
    request = {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"]}
    [lease] = anonymous.post("/api/v1/leases", json=request, headers=headers).json()["leases"]
    return lease | {"request": request, "headers": headers}


def speak(client, leased, verb, headers):
    return client.post(f"/api/v1/leases/{leased['lease_id']}/{verb}", json=SPEAKS[verb], headers=headers)


@pytest.mark.parametrize("verb", SPEAKS)
def test_a_lease_is_worth_nothing_with_another_token(guarded, anonymous, leased, verb):
    thief = bearing(token_of(guarded.store, "node-8", Scope.WORK))
    before = guarded.get("/api/v1/studies/s/trials/0").json()

    refused = speak(anonymous, leased, verb, thief)

    assert is_a_problem(refused, 403, "forbidden", "not taken with token 'node-8'")
    assert "node-7" not in refused.text
    assert guarded.get("/api/v1/studies/s/trials/0").json() == before
    assert speak(anonymous, leased, verb, leased["headers"]).status_code in {200, 204}
    assert speak(anonymous, leased, verb, thief).status_code == 403


def test_a_late_result_is_not_taken_from_another_token(guarded, anonymous, leased):
    thief = bearing(token_of(guarded.store, "node-8", Scope.WORK))
    guarded.patch("/api/v1/studies/s/trials/0", json={"state": "cancelled"})

    assert speak(anonymous, leased, "complete", thief).status_code == 403
    assert guarded.get("/api/v1/studies/s/trials/0").json()["attempts"][0]["late"] is None


def test_the_request_of_another_token_is_another_request(guarded, anonymous, leased):
    thief = bearing(token_of(guarded.store, "node-8", Scope.WORK))

    again = anonymous.post("/api/v1/leases", json=leased["request"], headers=leased["headers"])
    guarded.patch("/api/v1/studies/s", json={"state": "paused"})
    nothing = anonymous.post("/api/v1/leases", json=leased["request"], headers=thief)
    guarded.patch("/api/v1/studies/s", json={"state": "active"})
    other = anonymous.post("/api/v1/leases", json=leased["request"], headers=thief)

    assert again.json()["leases"][0]["lease_id"] == leased["lease_id"]
    assert nothing.json()["leases"] == []
    assert other.json()["leases"][0]["trial"] == 1


@pytest.mark.parametrize("verb", SPEAKS)
def test_an_admin_speaks_for_any_lease_of_its_projects(guarded, anonymous, leased, verb):
    elsewhere = bearing(token_of(guarded.store, "chief", Scope.ADMIN, project="lab"))

    assert speak(anonymous, leased, verb, elsewhere).status_code == 403
    assert speak(guarded, leased, verb, None).status_code in {200, 204}


def test_a_result_outlives_the_token_that_took_its_lease(guarded, anonymous, leased):
    successor = bearing(token_of(guarded.store, "node-7b", Scope.WORK))
    elsewhere = bearing(token_of(guarded.store, "node-9", Scope.WORK, project="lab"))
    assert speak(anonymous, leased, "complete", successor).status_code == 403

    guarded.delete("/api/v1/tokens/node-7")

    assert speak(anonymous, leased, "complete", elsewhere).status_code == 403
    assert speak(anonymous, leased, "complete", successor).status_code == 204
    assert guarded.get("/api/v1/studies/s/trials/0").json()["state"] == "succeeded"


@pytest.mark.usefixtures("admin")
def test_a_server_that_begins_to_want_tokens_hears_of_the_leases_of_before(database):
    with serving(database) as open_to_all:
        open_to_all.post("/api/v1/studies", json=a_study())
        request = {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"]}
        [lease] = open_to_all.post("/api/v1/leases", json=request).json()["leases"]
    with serving(database, require_tokens=True) as guarded:
        worker = bearing(token_of(guarded.store, "node-7", Scope.WORK))

        assert speak(guarded, lease, "complete", worker).status_code == 204


def register(client, token, name="w", **changed):
    told = {"incarnation": "i", "tasks": [{"name": "t"}]} | changed
    return client.put(f"/api/v1/workers/{name}", json=told, headers=token and bearing(token))


def workers_seen(client, token=None):
    headers = token and bearing(token)
    return {each["name"]: each for each in client.get("/api/v1/workers", headers=headers).json()["workers"]}


def test_a_worker_that_lives_is_not_registered_anew_with_another_token(guarded, anonymous):
    own = token_of(guarded.store, "node-7", Scope.WORK)
    others = [
        token_of(guarded.store, "node-8", Scope.WORK),
        token_of(guarded.store, "chief", Scope.ADMIN, project="lab"),
    ]
    register(anonymous, own)

    for token in others:
        answer = register(anonymous, token, incarnation="j")
        assert is_a_problem(answer, 403, "forbidden", "Worker 'w' was registered with another token")
    assert workers_seen(guarded)["w"]["incarnation"] == "i"

    assert register(anonymous, own, incarnation="j").status_code == 200
    assert register(guarded, None, incarnation="k").status_code == 200


@pytest.mark.parametrize("why", ["revoked", "silent"])
def test_the_name_of_a_worker_is_free_when_it_is_gone(guarded, anonymous, why):
    register(anonymous, token_of(guarded.store, "node-7", Scope.WORK))
    other = token_of(guarded.store, "node-8", Scope.WORK)
    if why == "revoked":
        guarded.delete("/api/v1/tokens/node-7")
    else:
        MovableClock(guarded.store).advance(GONE_AFTER)

    assert register(anonymous, other, incarnation="j").status_code == 200
    assert workers_seen(guarded)["w"]["incarnation"] == "j"


def test_a_bound_token_sees_the_workers_that_may_work_for_its_project(guarded, anonymous):
    for project in (None, "lab", "default"):
        token = token_of(guarded.store, f"works-for-{project}", Scope.WORK, project=project)
        register(anonymous, token, name=f"of-{project}", tasks=[{"name": f"task-of-{project}"}])
    bound = token_of(guarded.store, "bound", Scope.READ, project="lab")
    guarded.post("/api/v1/studies", json=a_study())
    guarded.post("/api/v1/projects/lab/studies", json=a_study())
    request = {"worker": "of-None", "incarnation": "i", "request_id": "r", "tasks": ["t"], "max": 6}
    guarded.post("/api/v1/leases", json=request)

    assert workers_seen(guarded).keys() == {"of-None", "of-lab", "of-default"}
    assert workers_seen(anonymous, bound).keys() == {"of-None", "of-lab"}
    assert workers_seen(guarded)["of-None"]["running"] == 6
    assert workers_seen(anonymous, bound)["of-None"]["running"] == 3
    tasks = anonymous.get("/api/v1/tasks", headers=bearing(bound)).json()["tasks"]
    assert [task["name"] for task in tasks] == ["task-of-None", "task-of-lab"]


@pytest.mark.parametrize(
    "header",
    ["Bearer thiessen_wrong", "Bearer", "Bearer ", "Basic cm9vdDo=", "thiessen_wrong", "", "Bearer \xfe"],
)
def test_what_is_no_token_of_ours_is_refused_and_not_repeated(anonymous, header):
    headers = {"authorization": header.encode("latin-1")}

    answer = anonymous.get("/api/v1/studies/s", headers=headers)

    assert answer.status_code == 401
    assert "wrong" not in answer.text


def test_a_token_in_the_url_is_no_token(anonymous, admin):
    assert anonymous.get(f"/api/v1/tokens?token={admin}&access_token={admin}").status_code == 401


def test_a_token_is_made_over_http_and_shown_once(guarded):
    made = guarded.post("/api/v1/tokens", json={"name": "ann", "scopes": ["read", "submit"], "days": 1})

    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    secret = made.json()["token"]
    assert re.fullmatch(r"thiessen_[A-Za-z0-9_-]{43}", secret)
    assert guarded.get("/api/v1/projects", headers=bearing(secret)).status_code == 200
    listed = guarded.get("/api/v1/tokens")
    assert [token["name"] for token in listed.json()["tokens"]] == ["root", "ann"]
    assert listed.json()["tokens"][1] | {"token": secret} == made.json()
    assert made.json()["created_by"] == "root"
    assert secret not in listed.text


@pytest.mark.row(256)
def test_neither_the_database_nor_the_audit_holds_a_secret(guarded, admin):
    stored = guarded.store.read(
        lambda tx: [tx.execute(select(table)).all() for table in (tokens_table, audit)]
    )

    assert "root" in str(stored)
    assert admin not in str(stored)
    assert admin.removeprefix("thiessen_") not in str(stored)


@pytest.mark.parametrize(
    ("changed", "status", "kind", "said"),
    [
        ({"name": "root"}, 409, "token-exists", "Choose another name"),
        ({"name": "server"}, 422, "invalid-request", "the server's own"),
        ({"name": "anonymous"}, 422, "invalid-request", "the server's own"),
        ({"scopes": []}, 422, "invalid-request", "scopes"),
        ({"scopes": ["write"]}, 422, "invalid-request", "scopes"),
        ({"project": "nowhere"}, 404, "project-not-found", "no project 'nowhere'"),
        ({"days": 0}, 422, "invalid-request", "days"),
        ({"days": 1e9}, 422, "invalid-request", "days"),
    ],
)
def test_a_token_that_cannot_be_is_refused(guarded, changed, status, kind, said):
    answer = guarded.post("/api/v1/tokens", json={"name": "ann", "scopes": ["read"]} | changed)

    assert is_a_problem(answer, status, kind, said)
    assert len(guarded.get("/api/v1/tokens").json()["tokens"]) == 1


@pytest.mark.row(256)
def test_a_revoked_token_is_worthless_once_the_memory_of_it_is_not_fresh(guarded, anonymous):
    now = [0.0]
    guarded.app.state.gate._clock = lambda: now[0]
    worn = bearing(token_of(guarded.store, "ann", Scope.READ))
    assert anonymous.get("/api/v1/projects", headers=worn).status_code == 200

    for _ in range(2):
        assert guarded.delete("/api/v1/tokens/ann").status_code == 204
    assert anonymous.get("/api/v1/projects", headers=worn).status_code == 200
    now[0] += FRESH_SECONDS

    assert is_a_problem(anonymous.get("/api/v1/projects", headers=worn), 401, "unauthorized", "revoked")
    assert guarded.get("/api/v1/tokens").json()["tokens"][1]["revoked_at"]
    assert guarded.post("/api/v1/tokens", json={"name": "ann", "scopes": ["read"]}).status_code == 409
    assert FRESH_SECONDS <= 2


def test_a_stream_of_events_ends_when_its_token_is_revoked(guarded, monkeypatch):
    now = [0.0]
    guarded.app.state.gate._clock = lambda: now[0]
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.05)
    guarded.post("/api/v1/studies", json=a_study())
    worn = bearing(token_of(guarded.store, "ann", Scope.READ))
    headers = worn | {"accept": "text/event-stream"}
    with ThreadPoolExecutor(1) as pool:
        stream = pool.submit(guarded.get, "/api/v1/studies/s/events", headers=headers)
        wait_until(lambda: guarded.app.state.house.followers._waiting)
        assert guarded.delete("/api/v1/tokens/ann").status_code == 204
        now[0] += FRESH_SECONDS
        try:
            assert "study.created" in stream.result(30).text
        finally:
            guarded.portal.call(guarded.app.state.house.followers.close)


def test_revoking_nothing_is_told(guarded):
    assert is_a_problem(guarded.delete("/api/v1/tokens/nobody"), 404, "token-not-found", "'nobody'")


def test_a_token_expires_by_the_clock_of_the_database(guarded, anonymous):
    worn = token_of(guarded.store, "ann", Scope.READ, valid_for=timedelta(hours=1))
    MovableClock(guarded.store).advance(timedelta(hours=1, seconds=1))

    assert anonymous.get("/api/v1/projects", headers=bearing(worn)).status_code == 401


@pytest.mark.row(256)
def test_a_token_bound_to_a_project_finds_no_other(guarded, anonymous):
    bound = bearing(token_of(guarded.store, "bound", Scope.ADMIN, project="lab"))
    guarded.post("/api/v1/studies", json=a_study())

    listed = anonymous.get("/api/v1/projects", headers=bound).json()
    assert [project["name"] for project in listed["projects"]] == ["lab"]
    assert anonymous.get("/api/v1/projects/lab", headers=bound).status_code == 200
    for path in ("/projects/default", "/studies/s", "/studies/s/best"):
        answer = anonymous.get(f"/api/v1{path}", headers=bound)
        assert is_a_problem(answer, 404, "project-not-found", "Token 'bound' is bound to project 'lab'")
    for path in ("/tokens", "/audit"):
        answer = anonymous.get(f"/api/v1{path}", headers=bound)
        assert is_a_problem(answer, 403, "forbidden", "bound to project 'lab'")


def test_on_this_machine_no_token_is_needed_but_one_that_is_sent_is_checked(api):
    assert api.get("/api/v1/projects").status_code == 200
    assert api.get("/api/v1/projects", headers=bearing("thiessen_wrong")).status_code == 401
    named = bearing(token_of(api.app.state.house.store, "ann", Scope.ADMIN))
    assert api.post("/api/v1/projects", json={"name": "lab"}, headers=named).status_code == 201
    assert api.post("/api/v1/projects", json={"name": "zoo"}).status_code == 201

    told = [
        (line["who"], line["action"], line["subject"]) for line in api.get("/api/v1/audit").json()["audit"]
    ]

    assert told == [
        ("anonymous", "project.created", "project zoo"),
        ("ann", "project.created", "project lab"),
        ("console", "token.created", "token ann"),
    ]


def test_the_audit_is_read_page_by_page_to_its_beginning(guarded):
    for name in "abc":
        guarded.post("/api/v1/tokens", json={"name": name, "scopes": ["read"]})
    guarded.delete("/api/v1/tokens/b")

    pages, cursor = [], ""
    while cursor is not None:
        page = guarded.get(f"/api/v1/audit?limit=2{cursor and f'&cursor={cursor}'}").json()
        pages.append([f"{line['action']} {line['subject']}" for line in page["audit"]])
        cursor = page["next"]

    assert pages == [
        ["token.revoked token b", "token.created token c"],
        ["token.created token b", "token.created token a"],
        ["token.created token root", "project.created project lab"],
        [],
    ]


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "x-forwarded-proto"])
def test_an_open_server_refuses_what_a_proxy_passes_on(api, header):
    answer = api.get("/api/v1/projects", headers={header: "203.0.113.9"})

    assert is_a_problem(answer, 403, "forwarded", "THIESSEN_REQUIRE_TOKENS=true")
    assert api.get("/healthz", headers={header: "203.0.113.9"}).status_code == 200


def test_a_server_that_wants_tokens_may_stand_behind_a_proxy_under_any_name(guarded):
    headers = {"x-forwarded-for": "203.0.113.9", "host": "search.example"}

    assert guarded.get("/api/v1/projects", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://[evil"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://127.0.0.1"},
    ],
)
def test_a_page_of_another_site_changes_nothing_even_without_a_body(api, headers):
    for path in (f"/api/v1/leases/{'0' * 32}/release", "/api/v1/projects", "/logout"):
        answer = api.post(path, headers=headers)
        assert is_a_problem(answer, 403, "foreign-origin", "another site")


@pytest.mark.parametrize("path", ["/api/v1/projects", "/healthz", "/", "/static/x/y.css", "/nothing"])
def test_no_answer_is_for_other_sites(api, path):
    headers = api.get(path, headers={"origin": "http://evil.example"}).headers

    assert headers.get_list("x-content-type-options") == ["nosniff"]
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize("headers", [{}, {"origin": "http://127.0.0.1"}, {"sec-fetch-site": "same-origin"}])
def test_our_own_pages_and_other_programs_are_not_foreign(api, headers):
    assert api.post("/api/v1/projects", json={"name": "lab"}, headers=headers).status_code == 201


def test_who_asks_too_often_is_told_when_to_come_back(database, admin):
    with serving(database, require_tokens=True, requests_per_second=1) as client:
        client.app.state.gate._rates._clock = lambda: 1000.0
        other = bearing(token_of(client.store, "other", Scope.READ))
        client.headers.update(bearing(admin))
        answers = [client.get("/api/v1/projects") for _ in range(3)]

        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert is_a_problem(answers[2], 429, "too-many-requests", "token 'root' asks more often")
        assert answers[2].headers["retry-after"] == "1"
        assert client.get("/api/v1/projects", headers=other).status_code == 200
        assert [client.get("/healthz").status_code for _ in range(3)] == [200, 200, 429]


def test_no_limit_is_no_limit(database):
    with serving(database, requests_per_second=0) as client:
        assert {client.get("/healthz").status_code for _ in range(50)} == {200}


def test_who_guesses_tokens_is_stopped_and_who_was_let_in_goes_on(guarded, anonymous):
    guarded.app.state.gate._wrong._clock = lambda: 1000.0
    assert guarded.get("/api/v1/projects").status_code == 200
    guarded.app.state.gate._clock = lambda: 1e9  # so long afterwards that it must be looked up again

    guesses = [anonymous.get("/", headers=bearing(f"thiessen_{guess}")) for guess in range(12)]

    assert [guess.status_code for guess in guesses] == [401] * 10 + [429] * 2
    assert is_a_problem(guesses[-1], 429, "too-many-requests", "tokens that are not valid")
    assert guesses[-1].headers["retry-after"] == "6"
    assert guarded.get("/api/v1/projects").status_code == 200


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("no:address", "no:address"),
    ],
)
def test_an_address_of_ipv6_is_its_network(host, address):
    assert address_of({"client": (host, 1)}) == address


def test_a_database_that_is_away_is_told_at_the_door_too(guarded, monkeypatch):
    async def gone(_):
        raise DatabaseUnavailable("The database does not answer: gone.")

    monkeypatch.setattr(guarded.store, "seen", gone)

    answer = guarded.get("/api/v1/projects")

    assert is_a_problem(answer, 503, "database-unavailable", "send it again")


@pytest.mark.parametrize("settings", [{"host": "0.0.0.0"}, {"require_tokens": True}])  # noqa: S104 - refused
def test_a_server_that_could_let_nobody_in_is_refused_with_the_remedy(database, settings):
    with pytest.raises(WrongSetting, match="thiessen token create admin --scope admin"):
        build(Settings(database=database, **settings))
