"""The way of a person through the dashboard of a server that wants tokens, while a real worker trains."""

import csv
import os
from pathlib import Path

from typer.testing import CliRunner

from tests.conftest import address_of, wait_until
from tests.dashboard.conftest import every_figure
from thiessen.cli.main import build

STRANGE_TASKS = Path(__file__).parents[1] / "worker" / "strange_tasks"
STUDY = """
name: mine
task: takes
max_trials: 4
space:
  x: {type: float, low: 0, high: 1}
  seconds: {type: float, low: 0.1, high: 0.3}
"""


def token_of(database, *scopes):
    wanted = [part for scope in scopes for part in ("--scope", scope)]
    command = ["token", "create", "-".join(scopes), *wanted, "--database", database]
    return CliRunner().invoke(build(), command).stdout.strip()


def test_from_signing_in_to_taking_the_results_along(database, programs, see, tmp_path):
    person, worker = token_of(database, "read", "submit"), token_of(database, "work")
    server = programs("serve", "--database", database, "--port", "0", THIESSEN_REQUIRE_TOKENS="true")
    address = address_of(server)

    see.refusal = "status of 401"  # which the browser tells too
    page = see(f"{address}/new/yaml")  # which comes after signing in
    page.fill("#token", "thiessen_wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=alert]:has-text('This token is not valid here')")
    page.fill("#token", person)
    page.keyboard.press("Enter")
    page.wait_for_selector("#text")
    [cookie] = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")

    page.fill("#text", STUDY)
    page.click("button.main")
    page.wait_for_selector("h1:text-is('mine')")
    assert f"thiessen worker --server {address}" in page.inner_text("main")

    path = os.pathsep.join([str(STRANGE_TASKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    programs("worker", "--server", address, "--devices", "cpu", PYTHONPATH=path, THIESSEN_TOKEN=worker)
    page.wait_for_selector("#head:has-text('4 of 4')", timeout=60_000)  # by itself
    every_figure(page)
    assert page.locator(".of-landscape .scatterlayer .point").count() >= 4
    page.click("summary:has-text('Extend')")
    page.fill("#extend-max_trials", "6")
    page.keyboard.press("Enter")
    page.wait_for_selector("#head:has-text('6 of 6')", timeout=60_000)

    with page.expect_download() as download:
        page.click(".of-landscape [data-table] summary")
        page.click(".of-landscape a:has-text('Every trial as CSV')")
    download.value.save_as(tmp_path / "mine.csv")
    assert len(list(csv.DictReader((tmp_path / "mine.csv").read_text().splitlines()))) == 6

    page.click("#trials button[data-insert]")  # rows come when they are asked for
    page.click("#trials a:text-is('5')")
    page.wait_for_selector("h1:text-is('Trial 5')")
    assert page.inner_text("#proposal .lead")
    assert "cpu" in page.inner_text("#attempts")
    page.click("text=Access")
    page.click("text=Sign out")
    page.wait_for_selector("#token")
    page.goto(f"{address}/studies/mine")
    wait_until(lambda: "/login" in page.url)
