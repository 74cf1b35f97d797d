"""Writes docs/images/landscape.gif: the landscape of a real study, trial by trial.

The study is that of `thiessen demo`. Its pictures are those that the dashboard replays, in Chromium.
"""

import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.service import servers
from chores.browser import FLAGS, NAMES
from chores.screenshots import open_drawn
from thiessen.cli.demo import STUDY

ANIMATION: Final = Path(__file__).parents[1] / "docs" / "images" / "landscape.gif"
TRIALS: Final = 40
WIDTH: Final = 760
HEIGHT: Final = 1000
PARTS: Final = (".of-landscape .plot", ".of-landscape .replay")
MILLISECONDS: Final = 250  # of a trial
LAST_MILLISECONDS: Final = 4000
COLOURS: Final = 256


def main() -> None:
    """Run the study, and write what its landscape was after each of its trials."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        demo = ["demo", "--trials", str(TRIALS), "--port", "0", "--folder", folder]
        subprocess.run(
            [sys.executable, "-m", "thiessen.cli", *demo], stdin=subprocess.DEVNULL, check=True, timeout=600
        )
        path = next(filter(None, map(shutil.which, NAMES)))
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        with servers.thiessen(f"sqlite:///{folder}/demo.db") as server:
            address = f"http://127.0.0.1:{server.port}/studies/{STUDY}/landscape?candidates=0"
            pictures = [_picture(page, f"{address}&after={after}") for after in range(1, TRIALS + 1)]
        browser.close()
    _write(pictures)


def _picture(page: Page, address: str) -> Image.Image:
    """Return the figure with the line below it that says after how many trials it is."""
    open_drawn(page, address)
    page.wait_for_timeout(200)  # until the last labels stand
    parts = [Image.open(BytesIO(page.locator(part).screenshot())).convert("RGB") for part in PARTS]
    picture = Image.new("RGB", (parts[0].width, sum(part.height for part in parts)), "white")
    top = 0
    for part in parts:
        picture.paste(part, (0, top))
        top += part.height
    return picture


def _write(pictures: list[Image.Image]) -> None:
    """Write the pictures as one animation, in the colours of the last."""
    palette = pictures[-1].quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    durations = [MILLISECONDS] * (len(frames) - 1) + [LAST_MILLISECONDS]
    frames[0].save(
        ANIMATION, save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True
    )


if __name__ == "__main__":
    main()
