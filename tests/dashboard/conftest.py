"""What the tests of the dashboard share: a browser, a server with trials in most states, and visitors."""

import shutil

import httpx
import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import sync_playwright

from app.domain.access import CONSOLE
from app.domain.project import Quotas
from app.lifecycle import access, projects
from app.main import build
from app.settings import Settings
from chores.browser import FLAGS, NAMES, REMEDY
from tests.conftest import wait_until

SPACE = {
    "lr": {"type": "float", "low": 1e-4, "high": 1, "log": True},
    "hidden": {"type": "int", "low": 1, "high": 64},
}
EVERY_FIGURE = "[...document.querySelectorAll('.plot')].every(plot => plot.data)"
DRAWN = """() => [...document.querySelectorAll('[data-figure]')].map(card => [
  card.dataset.figure, card.querySelectorAll('.plot .scatterlayer .point').length])"""
LEFT = "net::ERR_ABORTED"  # what was under way when the page was left, as its stream of events always is
SHIFTS = """() => { window.shifted = 0; new PerformanceObserver(list => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({type: 'layout-shift', buffered: true}); }"""


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    assert path is not None, REMEDY
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def served(server):
    """The address of a server with a study that has trials in most states."""
    with httpx.Client(base_url=f"{server.url}/api/v1") as api:

        def post(path, **sent):
            answer = api.post(path, json=sent)
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

        post("/studies", name="s", task="t", space=SPACE, max_trials=9, max_attempts=1, strategy="random")
        outcomes = [{"value": 3.0}, {"value": 1.0}, {"diverged": "nan"}, {"pruned": True, "value": 4.0}] * 3
        configs = [{"lr": 10.0 ** -(at % 4), "hidden": 4 + at} for at in range(len(outcomes))]
        trials = [{"config": each, "outcome": end} for each, end in zip(configs, outcomes, strict=True)]
        post("/studies/s/trials", trials=trials)
        for request in ("failed", "running"):
            sent = {"worker": "w", "incarnation": "i", "request_id": request, "tasks": ["t"]}
            patience = {"lease_for": 3600}  # it runs for as long as the test, however slow the machine
            [lease] = post("/leases", **sent, **patience, slot={"name": "cuda:0"})["leases"]
            reports = [{"step": step, "metrics": {"loss": 1 / step}} for step in (1, 2, 3)]
            post(f"/leases/{lease['lease_id']}/heartbeat", reports=reports)
            if request == "failed":
                post(f"/leases/{lease['lease_id']}/fail", kind="error", message="boom", traceback="line 1")
    return server.url


@pytest.fixture
def see(chromium):
    """Opens a page; whatever its console says fails the test."""
    opened, complaints = [], []

    def open_page(address, width=1440, theme="light"):
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        opened.append(page)
        page.on("console", lambda said: complaints.append(said.text) if said.type != "log" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "requestfailed",
            lambda request: complaints.append(f"{request.url} failed") if request.failure != LEFT else None,
        )
        page.add_init_script(f"({SHIFTS})()")
        page.goto(address)
        return page

    open_page.refusal = "none is expected"
    yield open_page
    for page in opened:
        page.close()
    assert [each for each in complaints if open_page.refusal not in each] == []


def every_figure(page):
    """Walk down the page, as figures are loaded when they come near, and wait for all of them."""
    for card in page.query_selector_all("[data-figure]"):
        card.scroll_into_view_if_needed()
    wait_until(lambda: page.evaluate(EVERY_FIGURE))


def marks(figure):
    """Return how many marks plotly is to draw of a figure."""
    drawn = 0
    for trace in figure["data"]:
        if trace["type"] == "scatter" and "markers" in trace.get("mode", ""):
            drawn += sum(x is not None and y is not None for x, y in zip(trace["x"], trace["y"], strict=True))
    return drawn


@pytest.fixture
def visitor(database):
    """Gives browsers before a server that wants tokens, each with a token of these scopes."""
    with TestClient(build(Settings(database=database, insecure=True)), base_url="http://127.0.0.1") as first:
        store = first.app.state.house.store
        first.app.state.gate.tokens_required = True
        store.write(lambda tx: projects.create(tx, CONSOLE, "lab", Quotas()))
        made = {}

        def browser(*scopes, project=None):
            name = "-".join(["a", *scopes, *filter(None, [project])])
            if name not in made:
                _, made[name] = store.write(
                    lambda tx: access.create(tx, CONSOLE, name=name, scopes=scopes, project=project)
                )
            headers = {"accept": "text/html,*/*;q=0.8", "authorization": f"Bearer {made[name]}"}
            return TestClient(
                first.app, base_url="http://127.0.0.1", headers=headers, follow_redirects=False,
                raise_server_exceptions=False,
            )  # fmt: skip

        yield browser
