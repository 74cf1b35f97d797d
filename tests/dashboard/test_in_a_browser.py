"""The dashboard as a person sees it: a real server, and Chromium."""

import httpx
import pytest

from tests.conftest import wait_until
from tests.dashboard.conftest import DRAWN, EVERY_FIGURE, every_figure, marks
from thiessen.figures.theme import THEMES

TOO_SMALL = """() => [...document.querySelectorAll("main :is(a, button, input, select, summary, textarea)")]
    .map(each => [each.textContent.trim() || each.name, each.getBoundingClientRect()])
    .filter(([_, box]) => box.width && (box.width < 24 || box.height < 24))
    .map(([name, box]) => `${name}: ${box.width} x ${box.height}`)"""


@pytest.mark.parametrize(
    "path",
    [
        "",
        "studies/s",
        "studies/s/trials",
        "studies/s/trials/12",
        "studies/s/compare?trials=0&trials=1",
        "new",
    ],
)
def test_whatever_can_be_tapped_is_as_large_as_a_fingertip(served, chromium, path):
    page = chromium.new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    try:
        page.goto(f"{served}/{path}")
        page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")

        assert page.evaluate(TOO_SMALL) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 390
    finally:
        page.close()


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


@pytest.mark.row(264)
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

    assert page.evaluate("window.shifted") - before < 0.0005  # a number that has a digit more


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


@pytest.mark.row(264)
def test_without_scripts_a_study_says_all_but_its_figures(served, chromium):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{served}/studies/s")

    assert "thiessen study figure s history" in page.inner_text(".of-history")
    assert page.locator("button[data-copy]:visible").count() == 0
    page.click("#best summary")
    assert page.inner_text("#best-JSON") == '{"lr": 0.1, "hidden": 5}'
    page.context.close()
