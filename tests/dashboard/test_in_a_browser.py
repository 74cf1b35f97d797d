"""The dashboard as a person sees it: a real server, and Chromium."""

import shutil

import httpx
import pytest
from playwright.sync_api import sync_playwright

from chores.browser import NAMES, REMEDY
from tests.conftest import wait_until
from thiessen.figures.theme import THEMES

SPACE = {
    "lr": {"type": "float", "low": 1e-4, "high": 1, "log": True},
    "hidden": {"type": "int", "low": 1, "high": 64},
}
EVERY_FIGURE = "[...document.querySelectorAll('.plot')].every(plot => plot.data)"
DRAWN = """() => [...document.querySelectorAll('[data-figure]')].map(card => [
  card.dataset.figure, card.querySelectorAll('.plot .scatterlayer .point').length])"""
SHIFTS = """() => { window.shifted = 0; new PerformanceObserver(list => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({type: 'layout-shift', buffered: true}); }"""


@pytest.fixture(scope="module")
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    assert path is not None, REMEDY
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
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
            [lease] = post("/leases", **sent, slot={"name": "cuda:0"})["leases"]
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
        page.on("requestfailed", lambda request: complaints.append(f"{request.url} failed"))
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


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_every_figure_draws_what_the_interface_answers(served, see, width, theme):
    page = see(f"{served}/studies/s", width, theme)
    every_figure(page)

    expected = {}
    for name in ("landscape", "history", "slice", "parallel", "importance", "curves", "timeline"):
        answer = httpx.get(f"{served}/api/v1/studies/s/figures/{name}", params={"theme": theme})
        expected[name] = marks(answer.json())
    assert expected["history"] >= 13  # each trial that has ended, what runs, and the star

    assert dict(page.evaluate(DRAWN)) == expected
    plot = page.query_selector(".of-landscape .plot")
    assert plot.get_attribute("aria-label").startswith("Landscape. The loss of the nearest trial")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ground = page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
    surface = THEMES[theme].surface
    assert ground == f"rgb({', '.join(str(int(surface[at : at + 2], 16)) for at in (1, 3, 5))})"
    assert page.evaluate("document.querySelector('.plot').layout.paper_bgcolor") == surface


def test_a_choice_draws_another_landscape_and_is_kept_in_the_address(served, see):
    page = see(f"{served}/studies/s?x=hidden&y=lr")
    every_figure(page)
    axis = "document.querySelector('.of-landscape .plot').layout.xaxis.title.text"
    assert page.evaluate(axis).startswith("hidden")

    see.refusal = "status of 422"  # which the browser tells too
    page.select_option("select[name=y]", "hidden")  # the same twice
    page.wait_for_selector(".of-landscape .plot:has-text('give two different dimensions')")
    page.select_option("select[name=x]", "lr")
    wait_until(lambda: page.evaluate(EVERY_FIGURE) and page.evaluate(axis).startswith("lr"))

    assert page.url.endswith("?x=lr&y=hidden&others=best")


def test_what_happens_in_a_study_comes_by_itself_and_nothing_jumps(served, see):
    page = see(f"{served}/studies/s")
    every_figure(page)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(100)
    before = page.evaluate("window.shifted")
    trial = {"config": {"lr": 0.5, "hidden": 60}, "outcome": {"value": 0.25}}
    httpx.post(f"{served}/api/v1/studies/s/trials", json={"trials": [trial]}).raise_for_status()

    page.wait_for_selector("#best:has-text('0.25')")
    wait_until(lambda: "0.25" in page.inner_text(".of-history [data-caption]"))

    assert page.evaluate("window.shifted") == before


def test_copying_says_so_and_home_and_trial_are_quiet(served, see, chromium):
    del chromium
    page = see(served)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("button[data-copy]")
    page.wait_for_selector("button:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == '{"lr": 0.1, "hidden": 5}'

    trial = see(f"{served}/studies/s/trials/12", 390)
    assert "boom" in trial.inner_text("#attempts")
    assert trial.evaluate("document.documentElement.scrollWidth") == 390


def test_without_scripts_a_study_says_all_but_its_figures(served, chromium):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/studies/s")

    assert "thiessen study figure s history" in page.inner_text(".of-history")
    assert page.locator("button[data-copy]:visible").count() == 0
    page.click("#best summary")
    assert page.inner_text("#best-JSON") == '{"lr": 0.1, "hidden": 5}'
    page.context.close()
