"""What is sent to be taken for something else: a header, a path, a statement, a formula, a template."""

import csv
import io
import re
import socket

import pytest

from tests.conftest import _programs, address_of
from thiessen.cli.output import _csv

STUDY = {"name": "s", "task": "t", "space": {"x": {"type": "float", "low": 0, "high": 1}}, "max_trials": 3}
SPLITS = (
    "a%0d%0aSet-Cookie:%20a=b", "a%0aX-Injected:%20b", "a%e5%98%8a%e5%98%8dX-Injected:b", "%00",
    "a%22;b=%22c",
)  # fmt: skip
OUTSIDE = (
    "../app/main.py", "..%2f..%2fpyproject.toml", "%2e%2e/%2e%2e/etc/passwd", "....//etc/passwd",
    "..%5c..%5cx", "/etc/passwd", "%2fetc%2fpasswd", "style.css%00.png", "style.css/../../main.py",
    "~root/.bashrc", "C:%5cx",
)  # fmt: skip
STATEMENTS = (
    "' OR '1'='1", "s'; DROP TABLE studies; --", 's" OR 1=1 --', "%", "_", "s%' ESCAPE '", "\\",
    "1 UNION SELECT 1", "s') OR ('a'='a", "*", "s--",
)  # fmt: skip
NAMED = (  # pages and calls whose answers may say in a header what they are of
    "/api/v1/studies/{}/export", "/api/v1/studies/{}/figures/history", "/studies/{}", "/projects/{}/",
    "/api/v1/comparisons/{}/report?format=csv", "/projects/{}/studies/s", "/login?next=/{}",
    "/static/{}/style.css", "/api/v1/studies?cursor={}", "/{}",
)  # fmt: skip


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The port of a server: what is sent to it goes through no client that could mend it."""
    folder = tmp_path_factory.mktemp("injection")
    with _programs(folder) as start:
        process = start("serve", "--database", f"sqlite:///{folder}/test.db", "--port", "0")
        yield int(address_of(process).rpartition(":")[2])


def sent(port, line, *headers):
    """Return the status, the headers and the body of the answer to a request of these very bytes."""
    head = "\r\n".join([f"{line} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers, "", ""])
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(head.encode("latin-1"))
        with connection.makefile("rb") as answer:
            first, _, body = answer.read().partition(b"\r\n\r\n")
    status, *lines = first.decode("latin-1").split("\r\n")
    return int(status.split()[1]), [each.partition(": ")[::2] for each in lines], body


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("path", NAMED)
def test_no_name_becomes_a_header(port, path, name):
    status, headers, _ = sent(port, f"GET {path.format(name)}", "Accept: text/html")

    assert status in {200, 303, 404, 422}
    assert not [key for key, _ in headers if key.lower() in {"set-cookie", "x-injected"}]
    assert not [value for _, value in headers if re.search("Injected|Cookie", value)]


@pytest.mark.parametrize("value", ["a\x00b", "a b", "a;b", "a" * 200, "<script>", "\xff", "%0d%0aX: y"])
def test_no_id_that_is_sent_comes_back_unless_it_is_one(port, value):
    _, headers, _ = sent(port, "GET /healthz", f"X-Request-Id: {value}".replace("\x00", "\x01"))

    assert value not in [each for _, each in headers]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize(
    "root", ["/static/", "/static/0123456789abcdef/", "/docs/", "/", "/studies/", "/api/v1/"]
)
def test_no_path_leads_out_of_what_is_served(port, root, path):
    status, _, body = sent(port, f"GET {root}{path}")

    assert status in {400, 404, 422}
    assert not re.search(rb"root:|def build|\[project\]", body)


@pytest.mark.parametrize("text", STATEMENTS)
def test_no_text_is_a_part_of_a_statement(api, text):
    api.post("/api/v1/studies", json=STUDY | {"tags": ["t"]}).raise_for_status()
    api.post("/api/v1/studies/s/trials", json={"trials": [{"config": {"x": 0.5}}]}).raise_for_status()
    asked = (
        ("/api/v1/studies", {"q": text}), ("/api/v1/studies", {"tag": text}),
        ("/api/v1/studies", {"state": text}), ("/api/v1/studies", {"cursor": text}),
        ("/api/v1/studies/s/trials", {"sort": text}),
        ("/api/v1/studies/s/trials", {"cursor": text}), ("/api/v1/optuna/studies", {"name": text}),
        ("/api/v1/best", {"comparison": text}), ("/studies/s/trials", {"filter": text}),
        ("/studies/s/trials", {"sort": text}), ("/compare", {"study": text}),
    )  # fmt: skip

    for path, query in asked:
        answer = api.get(path, params=query)
        assert answer.status_code in {200, 404, 422}, (path, query, answer.text)
        if answer.status_code == 200 and path == "/api/v1/studies":
            assert answer.json()["studies"] == []
        if path == "/api/v1/optuna/studies":
            assert answer.json()["studies"] == []
    assert api.get("/api/v1/studies/s").json()["counts"]["queued"] == 1


def test_a_template_in_a_text_is_a_text(api):
    sums = "{{7*7}} {% for x in [1] %} ${7*7} #{7*7} <%= 7*7 %> {0.__class__} %(a)s"
    api.post("/api/v1/studies", json=STUDY | {"name": "sums", "notes": sums}).raise_for_status()

    page = api.get("/studies/sums", headers={"accept": "text/html"}).text

    assert "{{7*7}} {% for x in [1] %} ${7*7} #{7*7}" in page
    assert api.get("/api/v1/studies/sums").json()["notes"] == sums


def test_no_cell_that_a_command_writes_is_computed_by_a_spreadsheet():
    rows = [
        {"notes": text, "config": {"a": text}, "loss": -0.5} for text in ("=1+1", "+1", "-1", "@a", "\tx")
    ]

    for told in csv.DictReader(io.StringIO(_csv(rows))):
        assert told["notes"].startswith("'")
        assert told["config.a"].startswith("'")
        assert told["loss"] == "-0.5"
