import ast
import html
import json
import re
import shlex
from hashlib import sha256
from urllib.parse import urljoin

import pytest
import yaml

from app.dashboard import static_files


def create(api, project="default", **changed):
    study = {
        "name": "s",
        "task": "t",
        "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 2,
    }
    answer = api.post(f"/api/v1/projects/{project}/studies", json=study | changed)
    assert answer.status_code == 201


def finish_one(api, loss):
    request = {"worker": "w", "incarnation": "i", "request_id": f"r{loss}", "tasks": ["t"]}
    lease_id = api.post("/api/v1/leases", json=request).json()["leases"][0]["lease_id"]
    assert api.post(f"/api/v1/leases/{lease_id}/complete", json={"loss": loss}).status_code == 204


def test_an_empty_dashboard_says_what_to_do_next(api):
    page = api.get("/").text

    assert "thiessen study create" in page


@pytest.mark.row(264)
def test_the_home_page_lists_studies_with_their_progress(api):
    create(api)
    finish_one(api, 0.25)

    page = api.get("/").text

    assert 'href="studies/s"' in page
    assert "1 of 2" in page
    assert "1 study is active; 0 trials run now." in page
    assert "0.25" in page


def test_the_pages_name_the_strategy_with_the_settings_that_are_not_the_usual_ones(api):
    create(api, strategy={"name": "grid", "levels": 5})

    for path in ("/", "/studies/s"):
        assert "grid (levels 5)" in api.get(path).text


def test_a_study_page_shows_the_best_config_and_the_newest_trials_first(api):
    create(api)
    finish_one(api, 0.5)
    finish_one(api, 0.125)

    page = api.get("/studies/s").text

    assert "2 of 2</strong> finished · max_trials" in page
    best, trials = page.split('id="best"')[1].split('id="trials"')
    assert "0.125" in best
    assert "0.5<" not in best
    assert trials.index('studies/s/trials/1"') < trials.index('studies/s/trials/0"')


def test_a_best_config_can_be_pasted_in_four_formats(api):
    space = {"x": {"type": "float", "low": 0, "high": 1}, "how": {"type": "categorical", "choices": ["a b'"]}}
    create(api, space=space)
    finish_one(api, 0.5)
    config = api.get("/api/v1/studies/s/best").json()["best"][0]["config"]

    copies = re.findall(r'<pre id="best-(\w+)">(.*?)</pre>', api.get("/studies/s").text, re.DOTALL)

    found = {form: html.unescape(text) for form, text in copies}
    assert json.loads(found["JSON"]) == config
    assert yaml.safe_load(found["YAML"]) == config
    assert ast.literal_eval(found["Python"].removeprefix("config = ")) == config
    assert shlex.split(found["Command"]) == [f"--{name}={value}" for name, value in config.items()]


def test_the_trials_of_a_state_are_listed_page_by_page(api):
    create(api, max_trials=40)
    for at in range(27):
        finish_one(api, at + 1.0)

    first = api.get("/studies/s/trials", params={"state": "succeeded"}).text
    [older] = re.findall(r'href="([^"]*cursor=[^"]*)"', first)
    second = api.get("/studies/s/trials" + html.unescape(older)).text

    numbers = [re.findall(r'studies/s/trials/(\d+)">\1', page) for page in (first, second)]
    assert numbers == [[str(at) for at in range(26, 1, -1)], ["1", "0"]]
    assert "No trial is so." in api.get("/studies/s/trials", params={"state": "failed"}).text


def test_a_study_without_a_result_says_what_to_do_in_place_of_figures(api):
    create(api)
    assert "data-figure" not in api.get("/studies/s").text
    assert "thiessen worker --server" in api.get("/studies/s").text

    finish_one(api, 0.5)

    figures = re.findall('data-figure="([a-z]+)"', api.get("/studies/s").text)
    assert figures == ["history", "slice", "importance", "curves", "timeline"]  # those of one dimension


def test_a_page_renews_itself_only_while_something_may_happen(api):
    create(api, max_trials=1)
    for path in ("/", "/studies/s"):
        assert "data-moving" in api.get(path).text
        assert '<noscript><meta http-equiv="refresh"' in api.get(path).text

    finish_one(api, 0.5)

    for path in ("/", "/studies/s", "/studies/s/trials/0"):
        assert "data-moving" not in api.get(path).text
        assert "http-equiv" not in api.get(path).text


def test_home_says_what_keeps_studies_from_going_on(api):
    create(api, max_attempts=1)
    assert "No worker is connected" in api.get("/").text

    api.put(
        "/api/v1/workers/w", json={"incarnation": "i", "slots": [{"name": "cpu"}], "tasks": [{"name": "u"}]}
    )
    assert "No worker has registered task" in api.get("/").text
    fail_one(api, "boom", "line 1")

    page = api.get("/").text
    assert "1 trial of s failed in all attempts." in page
    assert 'href="./studies/s/trials?filter=state:failed"' in page
    assert "1 worker connected · 0 of 1 slots busy" in page


def fail_one(api, message, traceback):
    request = {"worker": "w", "incarnation": "i", "request_id": f"f{len(message)}", "tasks": ["t"]}
    lease_id = api.post("/api/v1/leases", json=request).json()["leases"][0]["lease_id"]
    sent = {"kind": "error", "message": message, "traceback": traceback}
    assert api.post(f"/api/v1/leases/{lease_id}/fail", json=sent).status_code == 204


@pytest.mark.row(264)
def test_a_trial_says_why_it_was_proposed_and_how_its_attempts_ended(api):
    create(api, max_attempts=2)
    fail_one(api, "boom", "Traceback: line 1")
    finish_one(api, 0.5)
    trial = api.get("/api/v1/studies/s/trials/0").json()

    page = html.unescape(api.get("/studies/s/trials/0").text)

    assert trial["reasons"]["explanation"] in page
    assert re.search(r"Value 0\.5, rank 1 of 1\. Trained for \d+ s on w; 2 attempts in all\.", page)
    assert page.index("boom") < page.index("Traceback: line 1") < page.index("<strong>2</strong>")


@pytest.mark.parametrize("number", ["7", "x", "-1", "99999999999", "%00"])
def test_a_trial_that_is_not_there_is_a_page_too(api, number):
    create(api)

    answer = api.get(f"/studies/s/trials/{number}")

    assert (answer.status_code, "All studies" in answer.text) == (404, True)
    assert api.get("/studies/nobody/trials/0").status_code == 404


@pytest.mark.row(264)
def test_what_others_write_is_never_markup(api):
    """In each place that takes text: none of it reaches a page unescaped."""
    evil = "<script>alert(1)</script>"
    space = {evil: {"type": "categorical", "choices": [evil]}, "y": {"type": "float", "low": 0, "high": 1}}
    create(api, max_trials=3, max_attempts=1, notes=evil, space=space)
    fail_one(api, evil, evil)
    finish_one(api, 0.5)
    assert api.patch("/api/v1/studies/s/trials/0", json={"notes": evil}).status_code == 200

    for path in ("/", "/studies/s", "/studies/s/trials/0", "/studies/s/trials/1"):
        page = api.get(path, params={"x": evil, "others": evil}).text
        assert evil not in page
        assert "&lt;script&gt;" in page
    wrong = {"filter": evil, "sort": evil, "column": evil, "cursor": evil}
    for path in ("/studies/s/trials", "/studies/s/compare", f"/?q={evil}"):
        assert evil not in api.get(path, params=None if "?" in path else wrong | {"trials": "0,1"}).text, path
    assert "no page “&lt;b&gt;”" in api.get("/studies/s/<b>").text
    trial = api.get("/studies/s/trials/0").text
    assert trial.count("&lt;script&gt;alert(1)") >= 4  # its config, its notes, the message and the traceback


def test_each_project_has_pages_of_its_own(api):
    api.post("/api/v1/projects", json={"name": "lab"})
    create(api)
    create(api, project="lab", name="theirs")
    finish_one(api, 0.5)

    home = api.get("/projects/lab/").text
    assert 'href="studies/theirs"' in home
    assert 'href="studies/s"' not in home
    assert 'href="studies/theirs"' not in api.get("/").text
    study = api.get("/projects/lab/studies/theirs").text
    assert '<a href="../../../projects/lab/">Studies</a>' in study
    [address] = re.findall(r'data-address="([^"]*)"', api.get("/projects/default/studies/s").text)[:1]
    assert address == "../../../api/v1/projects/default/studies/s/figures/history"
    for path in ("studies/theirs", "projects/lab/studies/s", "projects/nobody/", "projects/%00/"):
        assert api.get(f"/{path}").status_code == 404, path


LINK = r'(?:href|src|action|formaction|data-address|data-check)="([^"]*)"(?: data-query="([^"]*)")?'


def test_every_page_has_relative_links_alone(api):
    """So that they stay behind the prefix of a proxy."""
    create(api)
    finish_one(api, 0.5)

    api.post("/api/v1/projects", json={"name": "lab"})
    create(api, project="lab", name="theirs")
    theirs = [
        "/projects/lab/",
        "/projects/lab/studies/theirs",
        "/projects/nobody/",
        "/projects/lab/studies/s",
        "/projects/lab/studies/theirs/trials",
        "/projects/lab/workers",
        "/projects/lab/workers/w",
        "/projects/lab/compare?study=theirs&study=s",
        "/projects/lab/new",
        "/projects/lab/new/yaml",
    ]
    create(api, name="other")
    api.put("/api/v1/workers/w", json={"incarnation": "i", "tasks": [{"name": "t"}]})
    ours = ["/workers", "/workers/w", "/workers/nobody", "/compare", "/compare?study=s&study=other"]
    ours += ["/settings/tokens", "/settings/projects", "/new", "/new/yaml"]
    tabs = [
        "",
        "/landscape",
        "/trials",
        "/trials/0",
        "/trials/9",
        "/compare?trials=0",
        "/compare",
        "/nothing",
    ]
    for path in ("/", "/docs", "/login", *(f"/studies/s{each}" for each in tabs), *ours, *theirs):
        found = re.findall(LINK, api.get(path).text)
        links = [f"{address}?{query}" if query else address for address, query in found]
        assert links
        for link in links:
            assert not link.startswith(("/", "http")), (path, link)
            if link.startswith("#"):
                continue
            assert api.get(urljoin(f"http://127.0.0.1{path}", html.unescape(link))).status_code in {
                200,
                405,
            }, link


def test_files_of_pages_are_kept_for_good_under_one_digest_of_their_contents(api):
    page = api.get("/studies/s").text + api.get("/").text
    [style] = set(re.findall(r'href="\.\./(static/[0-9a-f]{16}/style\.css)"', page))
    assert style == static_files.address("style.css")

    answer = api.get(f"/{style}", headers={"accept-encoding": "identity"})

    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    whole = b"".join(sha256(each.read_bytes()).digest() for each in sorted(static_files.FOLDER.iterdir()))
    assert sha256(whole).hexdigest().startswith(style.split("/")[1])
    assert static_files.address("page.js").split("/")[1] == style.split("/")[1]  # whose modules are beside it
    assert api.get(f"/{style}").headers["content-encoding"] == "gzip"
    assert api.get(f"/{style}").text == answer.text
    for wrong in ("static/0123456789abcdef/style.css", style.replace("style.css", "pages.py")):
        assert api.get(f"/{wrong}").status_code == 404


def test_plotly_comes_from_its_package(api):
    script = api.get(f"/{static_files.address('plotly.js')}").text

    assert "window.Plotly = Plotly" in script[-2000:]


def test_an_unknown_study_is_a_page_too_and_escapes_what_was_asked(api):
    answer = api.get("/studies/<script>alert(1)</script>")

    assert answer.status_code == 404
    assert "<script>" not in api.get("/studies/%3Cscript%3E").text
    assert api.get("/studies/%00").status_code == 404


def test_the_page_of_the_api_shows_every_call_with_an_example(api):
    page = api.get("/docs").text

    for path, operations in api.get("/openapi.json").json()["paths"].items():
        for method in operations:
            assert f"<code>{method.upper()} {path}</code>" in page
    with_body = [
        operation
        for operations in api.get("/openapi.json").json()["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    assert page.count("<pre>") == len(with_body) > 5


OF_STUDY = ["", "/landscape", "/trials", "/trials/0", "/compare?trials=0"]
PAGES = [
    "/", "/docs", "/login", "/workers", "/workers/w", "/compare", "/settings/tokens", "/settings/projects",
    "/new", "/new/yaml", *(f"/studies/s{each}" for each in OF_STUDY),
]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_pages_load_nothing_from_elsewhere(api, path):
    create(api)
    finish_one(api, 0.5)
    answer = api.get(path)

    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "http://" not in answer.text.replace("http://127.0.0.1", "")
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", answer.text)
