"""What no honest client sends: all of it is answered, nothing of it breaks what comes after."""

import gzip
import itertools
import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.fuzz.conftest import X

JSON = {"content-type": "application/json"}
MOST_SAID = 64_000  # bytes of an error
HOLE = '"@"'  # where a hostile value goes
NUMBERS = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "1e999": "1e999",
    "-0.0": "-0.0",
    "1e-400": "1e-400",
    "2**63": str(2**63),
    "-2**63-1": str(-(2**63) - 1),
    "2**64": str(2**64),
    "401 digits": "1" + "0" * 400,
    "5001 digits": "1" + "0" * 5000,
    "huge exponent": "1e" + "9" * 400,
    "true": "true",
    "null": "null",
    "text": '"1"',
    "list": "[1]",
    "object": '{"a": 1}',
}
TEXTS = {
    "NUL": "a\\u0000b",
    "half a pair": "\\ud800",
    "pair the wrong way": "\\udfff\\ud800",
    "combining": "e\\u0301",
    "right to left": "\\u202e\\u05d0\\u2066",
    "emoji": "\\ud83d\\ude00",
    "SQL": "'; DROP TABLE studies; --",
    "SQL pattern": "%_\\\\",
    "format": "%s{0}${x}{{7*7}}",
    "markup": "<script>alert(1)</script>",
    "newlines": "a\\r\\nSet-Cookie: a=b",
    "path": "../../etc/passwd",
    "empty": "",
    "blank": " \\t ",
    "long": "x" * 100_000,
}
TIMES = [
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00+14:00",
    "0001-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z",
    "2027-02-30T00:00:00Z",
    "2027-01-31",
    "2027-01-31T00:00:00",
    "2027-01-31T00:00:00+99:99",
    "1700000000",
    "0",
    "",
    "now",
]
PATHS = [
    "/studies/%2e%2e",
    "/studies/..%2f..",
    "/studies/%00",
    "/studies/%ff",
    "/studies/a%0d%0ab",
    "/studies/%f0%9f%98%80",
    "//studies",
    "/studies//",
    "/studies/s/",
    "/studies/s;a=b",
    "/studies/s%3Ftop=1",
    "/studies/" + "a" * 5000,
    "/studies/s/trials/-1",
    "/studies/s/trials/2147483648",
    f"/studies/s/trials/{2**63}",
    "/studies/s/trials/1e3",
    "/studies/s/trials/%D9%A3",
    f"/webhooks/{2**31}",
    f"/webhooks/{2**64}",
    "/webhooks/0",
    "/leases/" + "F" * 32,
    "/studies?cursor=" + "9" * 18,
    "/studies?cursor=" + "9" * 400,
    "/studies?cursor=%D9%A3",
    "/studies?cursor=abc",
    "/studies?cursor=-1",
    "/studies?cursor=",
    "/tokens?cursor=" + "9" * 18,
    "/audit?cursor=" + "9" * 18,
    "/projects?cursor=" + "9" * 18,
    "/webhooks?after=2147483647",
    f"/webhooks?after={2**63}",
    f"/studies/s/events?after={2**63}",
    "/studies/s/events?after=2147483647",
    "/studies/s/events?after=-1",
    "/studies?limit=0",
    "/studies?limit=1&limit=2",
    f"/studies?limit={2**63}",
    "/studies?limit=NaN",
    "/studies?tag=%25",
    "/studies?tag=%00",
    "/studies?state=gone",
    "/studies?unknown=1",
    "/studies?a[]=1&&&=",
    "/studies/s/best?top=1e999",
    "/best?top=" + "9" * 5000,
    "/best?" + "a=1&" * 5000,
    "/best?comparison=gone",
    "/comparisons/%00",
    "/comparisons/" + "a" * 5000,
    "/comparisons/gone/report?format=html",
    "/comparisons?limit=101",
    "/profile",
    "/profile?comparison=gone&comparison=gone",
    "/profile?" + "comparison=a&" * 5000,
    "/projects/%2e/studies",
    "/projects/default/studies/..%2fs",
]
URLS = [
    "http://[",
    "http://[::1",
    "http://x:99999/",
    f"http://{'a' * 64}.com/",
    f"http://{'a.' * 200}",
    "http://a..b/",
    "http://@/",
    "http://:80/",
    "http://%00/",
    "http://0x7f.1/",
    "http://[fe80::1%25eth0]/",
    "http://xn--/",
    "http://127.0.0.1:abc/",
    "http://127.0.0.1:0/",
    "http://user:secret@127.0.0.1/",
    "file:///etc/passwd",
    "http://" + "a" * 3000,
    "HTTP://127.0.0.1/",
    "http://xn--a/",
]
_names = itertools.count()


def fresh():
    return f"n{next(_names)}"


def a_study(**changed):
    return {"name": fresh(), "task": "nobody", "space": {"x": X}} | changed


def creating(**changed):
    return "POST", "/studies", a_study(**changed)


def comparing(**changed):
    arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
    usual = {"name": fresh(), "task": "nobody", "space": {"x": X}, "arms": arms}
    return "POST", "/comparisons", usual | {"budget": {"trials": 1}, "replicates": 1} | changed


def asking(**changed):
    wish = {"worker": "w", "incarnation": "i", "request_id": fresh(), "tasks": ["none"]}
    return "POST", "/leases", wish | changed


def adding(**changed):
    return "POST", "/studies/s/trials", {"trials": [{"config": {"x": 0.5}} | changed]}


def offer(**changed):
    return {"incarnation": "i", "tasks": [{"name": "t"} | changed]}


LEASE = "/leases/" + "0" * 32
NUMERIC = {
    "max_trials": lambda: creating(max_trials="@"),
    "max_running": lambda: creating(max_running="@"),
    "max_gpu_hours": lambda: creating(max_gpu_hours="@"),
    "max_updates": lambda: creating(max_updates="@"),
    "max_seconds": lambda: creating(max_seconds="@"),
    "target": lambda: creating(target="@"),
    "seed": lambda: creating(seed="@"),
    "priority": lambda: creating(priority="@"),
    "deadline": lambda: creating(deadline="@"),
    "attribute": lambda: creating(attributes={"a": ["@"]}),
    "low of a float": lambda: creating(space={"x": X | {"low": "@"}}),
    "high of a log float": lambda: creating(space={"x": X | {"low": 1, "high": "@", "log": True}}),
    "high of an int": lambda: creating(space={"x": {"type": "int", "low": 0, "high": "@"}}),
    "step of an int": lambda: creating(space={"x": {"type": "int", "low": 0, "high": 9, "step": "@"}}),
    "choice": lambda: creating(space={"x": {"type": "categorical", "choices": ["@", "b"]}}),
    "condition": lambda: creating(space={"x": {"type": "boolean"}, "y": X | {"when": {"x": ["@"]}}}),
    "levels": lambda: creating(strategy={"name": "grid", "levels": "@"}),
    "neighbours": lambda: creating(strategy={"name": "biased_random", "neighbours": "@"}),
    "version": lambda: creating(strategy={"name": "random", "version": "@"}),
    "percentile": lambda: creating(stopping={"rule": "median", "metric": "m", "percentile": "@"}),
    "gpus": lambda: creating(requires={"gpus": "@", "gpu_memory_gb": "@"}),
    "changed max_trials": lambda: ("PATCH", "/studies/s", {"max_trials": "@"}),
    "changed max_gpu_hours": lambda: ("PATCH", "/studies/s", {"max_gpu_hours": "@"}),
    "changed max_updates": lambda: ("PATCH", "/studies/s", {"max_updates": "@"}),
    "trials of a comparison": lambda: comparing(budget={"trials": "@"}),
    "seconds of a comparison": lambda: comparing(budget={"seconds": "@"}),
    "replicates": lambda: comparing(replicates="@"),
    "setting of all arms": lambda: comparing(settings={"y": "@"}),
    "within": lambda: comparing(within="@"),
    "config": lambda: adding(config={"x": "@"}),
    "value": lambda: adding(outcome={"value": "@"}),
    "loss": lambda: adding(outcome={"loss": "@"}),
    "pruned at": lambda: adding(outcome={"pruned": True, "value": "@"}),
    "max": lambda: asking(max="@"),
    "lease_for": lambda: asking(lease_for="@"),
    "wait_seconds": lambda: asking(wait_seconds="@"),
    "slot": lambda: asking(slot={"name": "a", "gpus": "@", "gpu_memory_gb": "@"}),
    "step": lambda: ("POST", f"{LEASE}/heartbeat", {"reports": [{"step": "@", "metrics": {"m": 1.0}}]}),
    "metric": lambda: ("POST", f"{LEASE}/heartbeat", {"reports": [{"step": 1, "metrics": {"m": "@"}}]}),
    "result": lambda: ("POST", f"{LEASE}/complete", {"loss": "@"}),
    "offered": lambda: ("PUT", "/workers/w", offer(dimensions={"x": {"minimum": "@"}})),
    "days": lambda: ("POST", "/tokens", {"name": fresh(), "scopes": ["read"], "days": "@"}),
    "quota": lambda: ("POST", "/projects", {"name": fresh(), "max_running": "@", "max_studies": "@"}),
}  # fmt: skip
WRITTEN = {
    "name": lambda: creating(name="@"),
    "task": lambda: creating(task="@"),
    "notes": lambda: creating(notes="@"),
    "tag": lambda: creating(tags=["@"]),
    "attribute": lambda: creating(attributes={"a": {"@": ["@"]}}),
    "name of an attribute": lambda: creating(attributes={"@": 1}),
    "dimension": lambda: creating(space={"@": X}),
    "type": lambda: creating(space={"x": {"type": "@"}}),
    "choices": lambda: creating(space={"x": {"type": "ordinal", "choices": ["@", 1]}}),
    "strategy": lambda: creating(strategy="@"),
    "setting": lambda: creating(strategy={"name": "grid", "@": "@"}),
    "name of levels": lambda: creating(strategy={"name": "grid", "levels": {"@": 1}}),
    "metric": lambda: creating(stopping={"rule": "median", "metric": "@"}),
    "label": lambda: creating(requires={"labels": {"@": "@"}}),
    "unknown field": lambda: creating(**{"@": 1}),
    "noted": lambda: ("PATCH", "/studies/s", {"notes": "@", "attributes": {"@": "@"}}),
    "config": lambda: adding(config={"@": "@"}),
    "trial's notes": lambda: adding(notes="@", attributes={"a": "@"}),
    "environment": lambda: asking(environment={"@": "@"}),
    "slot": lambda: asking(slot={"name": "@"}),
    "worker": lambda: asking(worker="@", incarnation="@", request_id="@"),
    "log": lambda: ("POST", f"{LEASE}/heartbeat", {"log_tail": "@"}),
    "reported": lambda: ("POST", f"{LEASE}/heartbeat", {"reports": [{"step": 1, "metrics": {"@": 1.0}}]}),
    "fault": lambda: ("POST", f"{LEASE}/fail", {"kind": "error", "message": "@", "traceback": "@"}),
    "labels": lambda: ("PUT", "/workers/w", offer() | {"labels": {"@": "@"}, "slots": [{"name": "@"}]}),
    "version": lambda: ("PUT", "/workers/w", offer(version="@", description="@")),
    "offered": lambda: ("PUT", "/workers/w", offer(schema={"properties": {"@": {"enum": ["@"]}}})),
    "token": lambda: ("POST", "/tokens", {"name": "@", "scopes": ["read"]}),
    "scope": lambda: ("POST", "/tokens", {"name": fresh(), "scopes": ["@"]}),
    "project": lambda: ("POST", "/projects", {"name": "@"}),
    "url": lambda: ("POST", "/webhooks", {"url": "http://127.0.0.1/@"}),
    "kind": lambda: ("POST", "/webhooks", {"url": "http://127.0.0.1/", "kinds": ["@"]}),
}  # fmt: skip
EVERY_LIST = (
    "/studies?limit=1000", "/studies/s", "/studies/s/best", "/studies/s/events?limit=1000", "/best",
    "/workers", "/tasks", "/tokens", "/projects", "/webhooks", "/audit",
)  # fmt: skip


def ask(victim, method, path, body=None, **headers):
    return victim.request(method, f"/api/v1{path}", content=body, headers=JSON | headers)


def is_borne(answer):
    """Return whether it is an answer that the interface documents: no fault, and every refusal a problem."""
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        assert len(answer.content) < MOST_SAID
        document = answer.json()
        assert document["status"] == answer.status_code
        assert {"type", "title", "detail", "request_id"} <= document.keys()
    return True


def still_serves(victim):
    """Return whether everything that is stored can still be read."""
    answers = [ask(victim, "GET", path) for path in EVERY_LIST]
    assert [answer.status_code for answer in answers] == [200] * len(EVERY_LIST)
    assert all(answer.json() for answer in answers)
    return True


@pytest.mark.parametrize("field", NUMERIC)
def test_a_number_that_is_none_or_too_large_is_stored_or_refused(victim, field):
    for number in NUMBERS.values():
        method, path, body = NUMERIC[field]()
        assert is_borne(ask(victim, method, path, json.dumps(body).replace(HOLE, number)))
    assert still_serves(victim)


@pytest.mark.parametrize("field", WRITTEN)
def test_a_text_that_no_database_or_reader_likes_is_stored_or_refused(victim, field):
    for text in TEXTS.values():
        method, path, body = WRITTEN[field]()
        assert is_borne(ask(victim, method, path, json.dumps(body).replace("@", text)))
    assert still_serves(victim)


@pytest.mark.parametrize("time", TIMES)
def test_a_deadline_is_a_time_or_refused(victim, time):
    sent = a_study(deadline=time)

    assert is_borne(ask(victim, "POST", "/studies", json.dumps(sent)))
    assert is_borne(ask(victim, "PATCH", "/studies/s", json.dumps({"deadline": time})))
    assert ask(victim, "GET", f"/studies/{sent['name']}").status_code in {200, 404}
    assert still_serves(victim)


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        (b"[" * 100_000, {422}),
        (b'{"a":' * 100_000, {422}),
        (b'{"attributes":' + b"[" * 900 + b"]" * 900 + b"}", {422}),
        (b'{"attributes":{"a":' + b"[" * 250 + b"]" * 250 + b"}}", {200}),
        (b'{"notes": "' + b"x" * 10_000_000 + b'"}', {413}),
        (json.dumps({f"k{i}": i for i in range(100_000)}).encode(), {422}),
        (b'{"notes": "a", "notes": "b"}', {200}),  # the last one counts, as for most readers
        (b'{"notes": "' + b"\xff\xfe" + b'"}', {422}),
        (b"\xef\xbb\xbf{}", {422}),
        (b'{"notes": "a"} trailing', {422}),
        (b"\x00", {422}),
        (b"", {422}),
        (b'"notes"', {422}),
        (b"null", {422}),
        (b"{'notes': 'a'}", {422}),
        (b'{"notes": "\x01"}', {422}),
        (gzip.compress(b'{"notes": "a"}', mtime=0), {422}),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else "",
)
def test_a_body_that_is_no_document_is_refused(victim, body, statuses):
    answer = ask(victim, "PATCH", "/studies/s", body)

    assert is_borne(answer)
    assert answer.status_code in statuses, answer.text
    assert ask(victim, "GET", "/studies/s").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=a"},
        {"content-type": "application/json; charset=utf-7"},
        {"content-type": "application/json; charset=" + "x" * 4000},
        {"content-type": "application/xml"},
        {"content-type": ";"},
        {"content-type": "\xff/\xfe"},
        {"content-encoding": "gzip"},
        {"x-http-method-override": "DELETE"},
        {"x-forwarded-host": "evil.example"},
        {"x-request-id": "a" * 10_000},
        {"x-request-id": "a; rm -rf"},
        {"accept": "text/event-stream" + "," * 1000},
        {"idempotency-key": "\xff"},
        {"cookie": "thiessen_token=" + "x" * 5000},
        {"cookie": "\xff=\xfe;;;=; a"},
        {"origin": "http://[::1"},
        {"range": "bytes=0-99999999999999999999"},
        {"expect": "100-continue"},
    ],
    ids=lambda headers: str(headers)[:60],
)
def test_a_strange_header_changes_nothing(victim, headers):
    headers = [(name.encode(), value.encode("latin-1")) for name, value in (JSON | headers).items()]

    answer = victim.request("PATCH", "/api/v1/studies/s", content=b'{"notes": "h"}', headers=headers)

    assert is_borne(answer)
    assert ask(victim, "GET", "/studies/s").json()["archived_at"] is None


@pytest.mark.parametrize(
    "token", ["", "Bearer", "Bearer \xff", "Basic YTpi", "Bearer " + "x" * 5000, "bearer a b"]
)
def test_what_is_no_token_lets_nobody_in(victim, token):
    answer = victim.get("/api/v1/studies", headers={b"authorization": token.encode("latin-1")})

    assert is_borne(answer)
    assert answer.status_code in {401, 429}


@pytest.mark.parametrize(
    "path",
    PATHS,
    ids=lambda path: path[:40],
)
def test_a_path_that_leads_nowhere_is_refused(victim, path):
    for method in ("GET", "DELETE", "PATCH", "POST", "PUT"):
        assert is_borne(ask(victim, method, path, None if method in {"GET", "DELETE"} else b"{}"))
    assert ask(victim, "GET", "/studies/s").json()["archived_at"] is None


@pytest.mark.parametrize(
    "url",
    URLS,
)
def test_a_url_that_leads_nowhere_is_refused(victim, url):
    assert is_borne(ask(victim, "POST", "/webhooks", json.dumps({"url": url})))
    assert ask(victim, "GET", "/webhooks").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\nshort",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"G\x00T / HTTP/1.1\r\n\r\n",
    ],
    ids=lambda sent: repr(sent[:60]),
)
def test_what_is_not_even_http_ends_no_more_than_its_connection(victim, sent):
    address = urlsplit(str(victim.base_url))
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            said = connection.recv(100)
        except OSError:  # the server has hung up meanwhile
            said = b""

    assert not said.startswith(b"HTTP/1.1 5"), said
    assert ask(victim, "GET", "/studies/s").status_code == 200
