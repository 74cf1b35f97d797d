"""How every page looks, with studies as a lab has them: to axe-core, and to a ruler."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from chores import sample
from chores.screenshots import PAGES, THEMES, WIDTHS
from tests.dashboard.conftest import every_figure

RULER = Path(__file__).with_name("ruler.js").read_text()


@pytest.fixture
def lab(server, database):
    """The address of a server with the studies of a lab."""
    sample.fill(server.url, database, trials=24)
    return server.url


@pytest.mark.row(264)
def test_no_page_has_a_serious_fault_or_a_label_that_is_cut(lab, see):
    found = {}
    for name, address in PAGES.items():
        for width, theme in zip(WIDTHS, THEMES, strict=True):
            page = see(f"{lab}/{address}", width, theme)
            every_figure(page)
            faults = [
                f"{each['id']}: {node['html'][:200]}"
                for each in Axe().run(page).response["violations"]
                if each["impact"] in {"serious", "critical"}
                for node in each["nodes"][:3]
            ]
            if told := faults + page.evaluate(RULER):
                found[name, width] = told
            page.close()

    assert found == {}
