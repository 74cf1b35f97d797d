"""The page of a report that a command writes, in a browser without a network."""

from html.parser import HTMLParser

from tests.comparison.test_written import WICKED, a_report
from tests.conftest import wait_until
from thiessen.cli.compare.page import page as written
from thiessen.figures import REPORTED

DRAWN = "document.querySelectorAll('figure .js-plotly-plot:has(.main-svg)').length"
SECTIONS = "[...document.querySelectorAll('h2')].map(each => each.innerText)"


class Read(HTMLParser):
    """What a browser makes of a page: its tags, and its words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words += data


def test_a_written_page_draws_each_figure_without_a_network_and_fits_a_phone(see, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(written(a_report()), encoding="utf-8")

    page = see(file.as_uri(), width=360)

    wait_until(lambda: page.evaluate(DRAWN) >= len(REPORTED))
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert page.evaluate(SECTIONS) == ["Verdicts", "Fairness", "Figures", "Tables"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_nothing_of_a_report_becomes_markup_on_a_written_page():
    page = Read(written(a_report()))

    assert "img" not in {tag for tag, _ in page.tags}
    assert not [each for _, attributes in page.tags for each in attributes if each.startswith("on")]
    assert WICKED.partition("\n")[0] in page.words
    assert "No significant difference between a_1 and b.2" in page.words
