"""What a person does with a figure: replay it, walk it, read it as a table, take it along."""

import math
import re

import httpx
import pytest

from tests.conftest import wait_until
from tests.dashboard.conftest import every_figure

LANDSCAPE = ".of-landscape"
READOUT = f"{LANDSCAPE} .readout"
PNG = b"\x89PNG\r\n\x1a\n"


CAPTIONS = "[...document.querySelectorAll('[data-caption]')].every(caption => caption.textContent)"


def settled(page):
    """Wait until every figure is drawn and listens."""
    every_figure(page)
    wait_until(lambda: page.evaluate(CAPTIONS))


def texts(page, kind):
    return page.eval_on_selector(f".of-{kind} .plot", "plot => plot.data.flatMap(trace => trace.text ?? [])")


def shown(page, kind="landscape"):
    """Return the numbers of the trials that a figure has marks of."""
    found = [words.split()[1] for words in texts(page, kind) if words.startswith("trial ")]
    return {int(number.rstrip(":")) for number in found}


def centres(page, what):
    """Return where the middles of these are on the screen."""
    boxes = page.eval_on_selector_all(
        what, "found => found.map(each => each.getBoundingClientRect().toJSON())"
    )
    return [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]


def key(page, *names):
    for name in names:
        page.keyboard.press(name)


@pytest.mark.row(266)
def test_a_landscape_and_its_history_are_replayed_by_the_slider_and_by_the_address(served, see):
    page = see(f"{served}/studies/s")
    settled(page)
    now = shown(page)
    assert page.inner_text("[data-moment]") == "as it is now"

    page.focus(".replay [data-after]")
    key(page, "Home", *["ArrowRight"] * 5)
    wait_until(lambda: shown(page) == shown(page, "history") == set(range(5)))

    assert page.inner_text("[data-moment]") == "after 5 of 13 trials"
    assert page.get_attribute(".replay [data-after]", "aria-valuetext") == "after 5 of 13 trials"
    assert page.url.endswith("/studies/s?after=5")
    scale = "plot => plot.data.find(trace => trace.name === 'value').marker.colorbar.ticktext[0]"
    assert page.eval_on_selector(f"{LANDSCAPE} .plot", scale) == "1"

    again = see(page.url)  # a link shows the same
    settled(again)
    assert shown(again) == shown(again, "history") == set(range(5))
    assert again.eval_on_selector(".replay [data-after]", "slider => slider.value") == "5"

    again.emulate_media(reduced_motion="reduce")  # who wants no motion steps and does not play
    wait_until(lambda: not again.is_visible("[data-play]"))
    again.focus(".replay [data-after]")
    key(again, "ArrowRight")
    wait_until(lambda: shown(again) == set(range(6)))

    page.click("[data-play]")  # to the end
    wait_until(lambda: page.inner_text("[data-play]") == "Play")
    assert page.inner_text("[data-moment]") == "as it is now"
    assert shown(page) == now
    assert page.url.endswith("/studies/s")


def test_a_landscape_is_walked_by_keys_from_the_best_on_and_opens_a_trial(served, see):
    page = see(f"{served}/studies/s?candidates=8&colour=rank")
    settled(page)
    assert page.input_value("[name=candidates]") == "8"
    assert "colours go by rank" in page.inner_text(f"{LANDSCAPE} [data-caption]")

    page.focus(f"{LANDSCAPE} .plot")
    key(page, "ArrowRight")
    assert page.inner_text(READOUT) == "trial 1: 1 at lr 0.1, hidden 5, 1 of 6 by value"
    [ring] = centres(page, f"{LANDSCAPE} .ring")
    assert min(math.dist(ring, mark) for mark in centres(page, f"{LANDSCAPE} .scatterlayer .point")) < 2

    key(page, "End", "ArrowRight")
    assert page.inner_text(READOUT) == "trial 8: 3 at lr 1, hidden 12, 6 of 6 by value"
    key(page, "ArrowLeft", "Enter")
    page.wait_for_url("**/studies/s/trials/4")


def test_what_is_pointed_at_is_told_below_the_figure_and_covers_nothing(served, see):
    page = see(f"{served}/studies/s")
    settled(page)
    page.locator(f"{LANDSCAPE} .scatterlayer .point").first.hover(force=True)

    wait_until(lambda: page.inner_text(READOUT) == "trial 0: 3 at lr 1, hidden 4")
    assert page.get_attribute(f"{READOUT} a", "href") == "../studies/s/trials/0"
    assert page.locator(".hoverlayer .hovertext").count() == 0
    assert page.locator(".modebar-btn[data-title^='Share']").count() == 0


def test_a_figure_is_read_as_a_table_and_taken_along_with_its_caption(served, see, tmp_path):
    page = see(f"{served}/studies/s")
    settled(page)
    for kind in ("landscape", "history", "slice", "parallel", "importance", "curves", "timeline"):
        table = httpx.get(f"{served}/api/v1/studies/s/figures/{kind}").json()["layout"]["meta"]["table"]
        page.click(f".of-{kind} [data-table] summary")
        cells = f".of-{kind} [data-table] tbody td"
        wait_until(lambda rows=table["rows"], cells=cells: page.locator(cells).count() == sum(map(len, rows)))
    assert page.locator(f"{LANDSCAPE} tbody tr").first.inner_text().split() == [
        "1",
        "succeeded",
        "1",
        "0.1",
        "5",
    ]

    with page.expect_download() as download:
        page.click(f"{LANDSCAPE} [data-save=svg]")
    download.value.save_as(tmp_path / "s.svg")
    assert download.value.suggested_filename == "s-landscape.svg"
    words = " ".join(re.sub("<[^>]*>", " ", (tmp_path / "s.svg").read_text()).split())
    assert "Landscape" in words
    assert "The loss of the nearest trial" in words

    with page.expect_download() as download:
        page.click(f"{LANDSCAPE} [data-save=png]")
    download.value.save_as(tmp_path / "s.png")
    assert (tmp_path / "s.png").read_bytes()[:8] == PNG
    assert (tmp_path / "s.png").stat().st_size > 10_000  # more than an empty sheet
