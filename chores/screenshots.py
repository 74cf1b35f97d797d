"""Writes docs/images/dashboard/: every page of the dashboard, light and dark, on a desk and on a phone.

The pages are those of a real server with the studies of chores/sample.py, in Chromium.
"""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.service import servers
from chores import sample
from chores.browser import FLAGS, NAMES

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images" / "dashboard"
WIDTHS: Final = (1440, 390)
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
STUDY: Final = "studies/kfac-autoencoder"
PAGES: Final = {
    "home": "",
    "study": STUDY,
    "landscape": f"{STUDY}/landscape",
    "slices": f"{STUDY}/slices",
    "importance": f"{STUDY}/importance",
    "curves": f"{STUDY}/curves",
    "timeline": f"{STUDY}/timeline",
    "trials": f"{STUDY}/trials",
    "trial": f"{STUDY}/trials/12",
    "trials-compared": f"{STUDY}/compare?trials=3,9,12",
    "empty": "studies/hessian-free-rnn",
    "comparisons": "comparisons",
    "comparison": f"comparisons/{sample.FINISHED}",
    "comparison-running": f"comparisons/{sample.GOING_ON}",
    "comparison-new": "new/comparison",
    "studies-compared": "compare?study=kfac-autoencoder&study=sgd-autoencoder",
    "fleet": "workers",
    "worker": "workers/node-1",
    "new": "new",
    "new-yaml": "new/yaml",
    "tokens": "settings/tokens",
    "projects": "settings/projects",
    "access": "login",
}
DRAWN: Final = "[...document.querySelectorAll('.plot')].every(plot => plot.data)"
MOST_LOOKS: Final = 300
TRIALS: Final = 120
COLOURS: Final = 256  # a third of the bytes, and nobody sees it


def main() -> None:
    """Write all of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        servers.thiessen(database := f"sqlite:///{folder}/lab.db") as server,
        sync_playwright() as playwright,
    ):
        url = f"http://127.0.0.1:{server.port}"
        sample.fill(url, database, TRIALS)
        path = next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        shutil.rmtree(IMAGES, ignore_errors=True)
        IMAGES.mkdir(parents=True)
        for name, address in PAGES.items():
            for width in WIDTHS:
                for theme in THEMES:
                    _shoot(browser, f"{url}/{address}", IMAGES / f"{name}-{width}-{theme}.png", width, theme)
        browser.close()


def _shoot(browser: Browser, address: str, image: Path, width: int, theme: Literal["light", "dark"]) -> None:
    """Write a page as it is when all its figures are drawn."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    open_drawn(page, address)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(200)  # until the last labels stand
    picture = Image.open(BytesIO(page.screenshot(full_page=True)))
    picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(
        image, optimize=True
    )
    page.close()


def open_drawn(page: Page, address: str) -> None:
    """Go to a page and wait until all its figures are drawn. Raises RuntimeError where one never is."""
    page.goto(address)
    for card in page.query_selector_all("[data-figure]"):
        card.scroll_into_view_if_needed()
    for _ in range(MOST_LOOKS):
        if page.evaluate(DRAWN):
            return
        page.wait_for_timeout(100)
    raise RuntimeError(f"{address}: a figure is not drawn")


if __name__ == "__main__":
    main()
