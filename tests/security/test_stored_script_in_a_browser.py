"""What strangers have stored, in a browser: on every page it is text, and no policy has to save anybody."""

from collections import deque
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import _programs, address_of
from tests.dashboard.conftest import LEFT, chromium, every_figure  # noqa: F401 - a fixture

EVIL_HOST = "http://e.vil"
REFUSED = "the server responded with a status of"  # which the browser tells of each
SCRIPT = """<img src=x onerror="window.pwned='img'"><script>window.pwned='script'</script>"""
MARKUP = """<a href="http://e.vil">link</a><b>bold</b>"""
TEMPLATE = "{{7*7}}${7*7}%{7*7}"
EVIL = f"""'">{SCRIPT}{MARKUP}{TEMPLATE}"""
SHORT = "<svg onload=window.pwned='svg'>"
LINK = "<a href='http://e.vil'>z</a>"  # as long as a figure leaves a name
LED_AWAY = """() => [...document.querySelectorAll("a, area, form")].some(
  link => [...link.attributes].some(each => each.value.startsWith("http://e.vil")))"""
WATCH = """() => {
  window.violated = [];
  document.addEventListener("securitypolicyviolation", event => violated.push(event.violatedDirective));
}"""
LINKS = "links => links.map(link => link.href)"
PLACES = {  # where strangers write, and a page that shows it
    "notes of a study": "/studies/s",
    "a choice": "/studies/s/trials",
    "a dimension": "/studies/s/trials",
    "a fault": "/studies/s/trials/1",
    "a traceback": "/studies/s/trials/1",
    "a log": "/studies/s/trials/2",
    "notes of a trial": "/studies/s/trials/0",
    "notes of a comparison": "/comparisons/c",
    "a label of a worker": "/workers/w",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a server in which whatever takes a text has one that would be a script."""
    folder = tmp_path_factory.mktemp("scripts")
    with _programs(folder) as start:
        process = start("serve", "--database", f"sqlite:///{folder}/test.db", "--port", "0")
        address = address_of(process)
        with httpx.Client(base_url=f"{address}/api/v1", timeout=60) as api:
            fill(api)
        yield address


def fill(api):
    def post(path, method="POST", **body):
        answer = api.request(method, path, json=body)
        assert answer.is_success, (path, answer.text)
        return answer.json() if answer.content else None

    space = {
        LINK: {"type": "float", "low": 0, "high": 1},
        f"a dimension {SHORT}": {"type": "categorical", "choices": [f"a choice {EVIL}", SHORT, LINK]},
    }
    attributes = {f"attribute{EVIL}"[:100]: EVIL}
    config = dict(zip(space, (0.5, f"a choice {EVIL}"), strict=True))
    offer = {"name": "t", "version": EVIL[:100], "description": f"a task {EVIL}"}
    slot = {"name": f"cpu{LINK}"}
    labels = {f"key{SHORT}": f"a label of a worker {EVIL}"}
    post("/workers/w", "PUT", incarnation="i", tasks=[offer], labels=labels, slots=[slot])
    remarks = {"notes": f"notes of a study {EVIL}", "attributes": attributes}
    terms = {"task": "t", "space": space, "strategy": "random"}
    post("/studies", name="s", max_trials=40, max_attempts=1, **terms, **remarks)
    ended = [{"config": config, "outcome": {"value": 0.5}, "notes": f"notes of a trial {EVIL}"}]
    number = next(iter(space))
    ended += [{"config": config | {number: at / 20}, "outcome": {"value": at}} for at in range(12)]
    post("/studies/s/trials", trials=ended[:1])
    for trial in (1, 2):
        wish = {"worker": "w", "incarnation": "i", "request_id": str(trial), "tasks": ["t"], "slot": slot}
        [lease] = post("/leases", **wish, lease_for=3600, environment={SHORT: EVIL[:200]})["leases"]
        points = [{"step": step, "metrics": {f"loss{LINK}": 1 / step}} for step in (1, 2, 3)]
        post(f"/leases/{lease['lease_id']}/heartbeat", reports=points, log_tail=f"a log {EVIL}")
        if trial == 1:
            fault = {"message": f"a fault {EVIL}", "traceback": f"a traceback {EVIL}"}
            post(f"/leases/{lease['lease_id']}/fail", kind="error", retry=False, **fault)
    post("/studies/s/trials", trials=ended[1:])
    arms = [{"label": label, "settings": {"kind": f"{label}{EVIL}"}} for label in "ab"]
    post("/comparisons", name="c", arms=arms, budget={"trials": 1}, replicates=1, **terms)
    post("/comparisons/c", "PATCH", notes=f"notes of a comparison {EVIL}")
    made = post("/optuna/studies", name=f"of optuna {EVIL}", directions=["minimize"])
    post(f"/optuna/studies/{made['id']}/trials", trials=[{}])


@pytest.fixture
def page(chromium):  # noqa: F811 - that very fixture
    """A page; what it says on its console fails the test."""
    opened = chromium.new_page(viewport={"width": 1440, "height": 900})
    complaints = []
    opened.on("console", lambda said: complaints.append(said.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("dialog", lambda dialog: complaints.append(dialog.message))
    opened.on(
        "request", lambda asked: complaints.append(asked.url) if asked.url.startswith(EVIL_HOST) else None
    )
    opened.add_init_script(f"({WATCH})()")
    yield opened
    opened.close()
    assert [each for each in complaints if LEFT not in each and REFUSED not in each] == []


def is_unharmed(page):
    """Return whether all of a page is ours: nothing ran, was stopped, leads away or was made of a text."""
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("window.violated") == []
    assert not page.evaluate(LED_AWAY)
    assert page.locator("[src='x'], [onload], [onerror], [onclick]").count() == 0
    assert "49" not in page.title()
    return True


def test_every_page_and_every_figure_shows_what_strangers_wrote_as_text(served, page):
    seen, ahead = set(), deque(["/"])
    while ahead:
        path = ahead.popleft()
        page.goto(f"{served}{path}")
        page.wait_for_load_state("load")
        every_figure(page)
        for figure in page.query_selector_all("[data-table] summary"):
            figure.click()
        assert is_unharmed(page), path
        for link in page.eval_on_selector_all("a[href]", LINKS):
            to = urlsplit(link)
            kind = leads_to(to.path)
            if link.startswith(f"{served}/") and kind and kind not in seen:
                seen.add(kind)
                ahead.append(to.path)

    assert len(seen) > 20, seen


def leads_to(path):
    """Return what a page is of: one page of each kind is enough."""
    parts = path.removesuffix("/").split("/")
    is_file = path.startswith(("/api/", "/static/", "/openapi", "/metrics", "/healthz"))
    return None if is_file else tuple("0" if part.isdigit() else part for part in parts)


@pytest.mark.parametrize("place", PLACES)
def test_what_strangers_wrote_is_there_to_be_read(served, page, place):
    page.goto(f"{served}{PLACES[place]}")

    assert f"{place} " in page.content()
    shown = page.evaluate("document.body.textContent")
    assert (SHORT if place == "a dimension" else SCRIPT) in shown
    assert "49" not in shown.split(f"{place} ", 1)[1][: len(EVIL)]


def test_the_address_of_a_page_is_no_markup_either(served, page):
    for path in (
        "/studies/s/trials?filter=",
        "/studies/s?x=",
        "/login?next=",
        "/studies/",
        "/compare?study=",
    ):
        page.goto(f"{served}{path}{SCRIPT}{LINK}")
        assert page.evaluate("window.pwned") is None
        assert page.evaluate("window.violated") == []
        assert not page.evaluate(LED_AWAY)
