"""The pages that a person works with, by keyboard and on a phone."""

import httpx

from tests.conftest import wait_until
from tests.dashboard.conftest import DRAWN, every_figure, marks

SPACE = "{lr: {type: float, low: 0, high: 1}}"


def test_a_study_is_created_by_keyboard_alone(server, see):
    page = see(f"{server.url}/new")
    see.refusal = "status of 422"  # which the browser tells too
    page.focus("#name")
    page.keyboard.type("no name")
    page.keyboard.press("Tab")
    page.wait_for_selector("#wrong-name:has-text('Letters, digits')")  # by itself, once the field is left
    assert page.get_attribute("#name", "aria-invalid") == "true"
    assert page.inner_text("#wrong-task") == ""  # nobody has been there yet
    page.keyboard.type("t")
    page.keyboard.press("Enter")

    page.wait_for_selector("#faults")
    assert page.evaluate("document.activeElement.id") == "faults"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the first fault leads to its field
    wait_until(lambda: page.evaluate("document.activeElement.id") == "name")
    page.keyboard.press("Control+a")
    page.keyboard.type("mine")
    page.focus("#space-0-name")
    for said in ("lr", None, "1e-3", "1"):
        if said:
            page.keyboard.type(said)
        page.keyboard.press("Tab")
    page.keyboard.press("Space")  # a logarithmic scale
    page.select_option("#space-1-type", "categorical")
    assert page.is_visible("#space-1-choices")
    assert not page.is_visible("#space-1-low")
    page.focus("#max_trials")
    page.keyboard.press("Enter")

    page.wait_for_url(f"{server.url}/studies/mine")
    study = httpx.get(f"{server.url}/api/v1/studies/mine").json()
    assert study["space"] == {"lr": {"type": "float", "low": 0.001, "high": 1.0, "log": True}}
    assert study["max_trials"] == 100


def test_yaml_with_a_wrong_line_is_told_and_the_form_takes_what_is_mended(server, see):
    page = see(f"{server.url}/new/yaml")
    see.refusal = "status of 422"
    page.fill("#text", f"name: mine\ntask: t\nmax_trials: 0\nspace: {SPACE}\n")
    page.click("button.main")

    page.wait_for_selector("#faults:has-text('Line 3')")
    assert page.inner_text("#faults code") == "max_trials: 0"
    page.fill("#text", page.input_value("#text").replace(": 0\n", ": 9\n"))
    page.click("button:has-text('Form')")
    page.wait_for_selector("#space-0-name")
    assert (page.input_value("#space-0-name"), page.input_value("#max_trials")) == ("lr", "9")
    page.click("button.main")
    page.wait_for_url(f"{server.url}/studies/mine")


def test_every_new_page_fits_a_phone_and_is_quiet(served, see):
    told = {"incarnation": "i", "slots": [{"name": "cuda:0"}], "tasks": [{"name": "t"}]}
    httpx.put(f"{served}/api/v1/workers/w", json=told).raise_for_status()
    httpx.post(f"{served}/api/v1/tokens", json={"name": "long-" * 15, "scopes": ["work"]}).raise_for_status()
    settings = ("/settings/tokens", "/settings/projects")
    paths = ("/workers", "/workers/w", "/new", "/new/yaml", "/compare", *settings)
    for path in paths:
        page = see(f"{served}{path}", 390, "dark")
        assert page.evaluate("document.documentElement.scrollWidth") == 390, path
        [current] = page.query_selector_all(".bar [aria-current]") or [None]
        assert (current is None) == path.startswith("/new")
        page.close()

    page = see(f"{served}/workers")
    page.click("text=Drain")
    page.wait_for_selector(".worker .state:has-text('draining')")
    assert page.url.endswith("/workers#worker-w")


def test_chosen_studies_stand_side_by_side(served, see):
    study = httpx.get(f"{served}/api/v1/studies/s").json()
    other = {name: study[name] for name in ("task", "space")} | {"name": "other", "max_trials": 5}
    httpx.post(f"{served}/api/v1/studies", json=other).raise_for_status()
    page = see(served)
    page.check("[aria-label='Compare other']")
    page.check("[aria-label='Compare s']")
    page.click("text=Compare chosen")
    page.wait_for_url("**/compare?study=other&study=s")
    every_figure(page)

    query = {"study": ["other", "s"]}
    expected = {
        name: marks(httpx.get(f"{served}/api/v1/compare/{name}", params=query).json())
        for name in ("arms", "interaction")
    }
    assert expected["interaction"] >= 12
    assert dict(page.evaluate(DRAWN)) == expected
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("text=Copy link")
    page.wait_for_selector("button:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
