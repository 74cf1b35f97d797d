"""Trials as a person finds, chooses and compares them: a real server, and Chromium."""

import re

import httpx
import pytest

from tests.dashboard.conftest import every_figure

TABS = [
    ("landscape", 1, 1440),
    ("slices", 3, 390),
    ("importance", 1, 390),
    ("curves", 2, 390),
    ("timeline", 2, 1440),
]


@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (390, "dark")])
def test_trials_are_filtered_chosen_and_compared(served, see, width, theme):
    page = see(f"{served}/studies/s", width, theme)
    page.click("nav.tabs >> text=Trials")
    page.wait_for_url("**/studies/s/trials")
    assert page.evaluate("document.documentElement.scrollWidth") == width

    page.fill("#line", "state:succeeded")
    page.press("#line", "Enter")
    page.wait_for_url("**/trials?filter=state%3Asucceeded")
    assert page.locator("#trials .state.succeeded").count() == page.locator("#trials tbody tr").count() == 6
    page.check("[aria-label='choose trial 9']")
    page.check("[aria-label='choose trial 5']")
    assert "trials=5%2C9" in page.url
    page.reload()
    assert page.is_checked("[aria-label='choose trial 5']")
    page.click("th >> text=trial")
    page.wait_for_url("**sort=number**")
    assert page.get_attribute("th:has-text('trial')", "aria-sort") == "ascending"
    page.fill("#line", "number<6")
    page.press("#line", "Enter")
    page.wait_for_url("**filter=number**")
    assert "9" in page.inner_text("#trials .note:has-text('Chosen on other pages')")
    page.click("text=Compare chosen")
    page.wait_for_url("**/compare?**")

    assert page.locator(".compared thead a").all_inner_texts() == ["5", "9"]
    every_figure(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_each_tab_draws_its_figures_and_nothing_jumps(served, see):
    for tab, figures, width in TABS:
        page = see(f"{served}/studies/s/{tab}?candidates=8", width)
        shifted = page.evaluate("window.shifted")
        every_figure(page)
        assert page.locator("[data-figure]").count() == figures
        moved = page.evaluate("window.shifted") - shifted
        assert moved < 0.005, (
            tab
        )  # a line more of a caption moves 0.01; the head may tell a new time of the end
        assert page.evaluate("document.documentElement.scrollWidth") == width, tab
        page.close()


def test_a_trial_has_its_curve_and_leads_to_its_neighbours(served, see):
    number = 13  # runs, with three reports
    page = see(f"{served}/studies/s/trials/{number}", 390)
    every_figure(page)

    answer = httpx.get(f"{served}/api/v1/studies/s/figures/curves", params={"trials": number})
    names = [each["name"] for each in answer.json()["data"]]
    assert f"trial {number}" in names
    assert page.evaluate("document.querySelector('.plot').data.map(each => each.name)") == names
    assert "Its last report, at step 3: loss 0.3333." in page.inner_text("#now")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.click("a[rel=prev]")
    page.wait_for_selector("h1:has-text('Trial 12')")
    assert re.search("Why it failed", page.inner_text("#now"))
