"""What pages name is there: files and what is in them, links with their anchors, chores, commands."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import markdown
import pytest

from app.main import build
from app.settings import Settings
from experiments.catalogue import EXPERIMENTS

HOUSE = Path(__file__).parents[2]
DOCS = HOUSE / "docs"
PAGES = sorted(
    str(page.relative_to(HOUSE))
    for page in (*HOUSE.glob("*.md"), *DOCS.glob("**/*.md"), HOUSE / "migrations" / "README.md")
)
NOW = [page for page in PAGES if page != "CHANGELOG.md"]  # which speaks of what was, too
ROOMS = "app|benchmarks|chores|docs|experiments|migrations|optimizers|tests|thiessen|worker"
NAMED = re.compile(rf"(?<![\w./-])(?:{ROOMS})/[\w./-]*\w/?(?!-?\*|[\w<{{…])")
MADE_LATER = {"thiessen/search/around_best.py", "benchmarks/.runs"}  # by a reader, by a run
LINK = re.compile(r"(?<!\\)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^()\s]*)\)")
FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\| \d+ \| (.*?) \|", re.MULTILINE)
PLACE = re.compile(r"`([\w/]+\.py)` `(\w+)`")
MAKE = re.compile(r"`(?:[A-Z_]+=\S+ )?make ([a-z-]+)")
BENCHMARK = re.compile(r"benchmarks/[a-z_/]*[a-z_](?![\w./-])(?: +--?[\w-]+(?: [\w,:/=.]+)?)*")


def text(page):
    return (HOUSE / page).read_text()


def prose(page):
    """Return the page without its blocks and its code."""
    return re.sub(r"`[^`\n]*`", "`code`", FENCED.sub("", text(page)))


@cache
def anchors(page, of_github):
    """Return the anchors of a page, as its site has them or as GitHub does."""
    written = set(re.findall(r'<a id="([^"]+)"', text(page)))
    if of_github:
        headings = re.findall(r"^#+ (.*)$", FENCED.sub("", text(page)), re.MULTILINE)
        return written | {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
    known = markdown.Markdown(extensions=["toc", "tables", "attr_list", "pymdownx.superfences"])
    known.convert(text(page))
    left, found = list(known.toc_tokens), set(written)
    while left:
        token = left.pop()
        found.add(token["id"])
        left += token["children"]
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((HOUSE / page).parent / path).resolve() if path else HOUSE / page
        assert target.exists(), link
        if anchor:
            to = str(target.relative_to(HOUSE))
            assert anchor in anchors(to, of_github=not page.startswith("docs/")), link


@pytest.mark.parametrize("page", NOW)
def test_every_file_that_is_named_is_there(page):
    named = {path for code in re.findall(r"`([^`\n]+)`", text(page)) for path in NAMED.findall(code)}

    assert not {path for path in named - MADE_LATER if not (HOUSE / path.rstrip("/")).exists()}


def test_every_step_on_the_paths_of_a_trial_and_of_a_request_is_there():
    steps = STEP.findall(text("docs/explanation/rooms.md"))
    places = [place for step in steps for place in PLACE.findall(step)]

    assert len(places) == len(steps) > 30
    for path, name in places:
        assert re.search(rf"^ *(?:async )?(?:def|class) {name}\b", text(path), re.MULTILINE), (
            f"{path}: {name}"
        )


def test_the_layers_of_a_request_are_told_in_their_order(tmp_path):
    app = build(Settings(database=f"sqlite:///{tmp_path}/x.db"))
    app.state.house.store.close()
    request = text("docs/explanation/rooms.md").split("\n## The path of a request\n")[1]
    told = [name for step in STEP.findall(request) for _, name in PLACE.findall(step)]

    layers = [layer.cls.__name__ for layer in app.user_middleware]
    assert [name for name in told if name in layers] == layers


def test_every_chore_that_is_named_is_one():
    chores = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))

    assert {
        (page, chore) for page in PAGES for chore in MAKE.findall(text(page)) if chore not in chores
    } == set()


def commands():
    """Return the benchmarks that pages name, each with the options that it is given there."""
    found = {}
    for page in [*NOW, "Makefile"]:
        for command in BENCHMARK.findall(text(page)):
            path, *words = command.split()
            if (HOUSE / path).is_file():
                found.setdefault(path, set()).update(word for word in words if word.startswith("--"))
    return found


def test_the_pages_with_figures_name_what_prints_them():
    for page in (
        "docs/reference/figures.md",
        "docs/explanation/service-figures.md",
        "docs/explanation/how-search-is-judged.md",
        "docs/decisions/0008-the-default-search.md",
        "docs/decisions/0012-bands-of-comparisons.md",
    ):
        assert [found for found in BENCHMARK.findall(text(page)) if (HOUSE / found.split()[0]).is_file()], (
            page
        )
    assert "`make proof` prints the tables again" in text("docs/explanation/proofs.md")


@pytest.mark.parametrize(("path", "options"), commands().items())
def test_a_benchmark_begins_and_knows_its_options(path, options):
    script = f"import runpy; known = runpy.run_path({path!r}); assert callable(known['main'])"
    begun = subprocess.run(
        [sys.executable, "-c", script], cwd=HOUSE, capture_output=True, text=True, check=False
    )

    assert begun.returncode == 0, begun.stderr
    assert {option for option in options if f'"{option}"' not in text(path)} == set()


def test_the_measurements_of_the_service_are_those_that_its_page_names():
    named = set(
        re.findall(r"benchmarks/service/run --only ([\w-]+)", text("docs/explanation/service-figures.md"))
    )
    known = re.search(
        r"^MEASUREMENTS = \{\n(.*?)^\}", text("benchmarks/service/run"), re.MULTILINE | re.DOTALL
    )[1]

    assert named == set(re.findall(r'^    "([\w-]+)"', known, re.MULTILINE))


def test_every_experiment_that_is_named_is_one():
    named = {
        name for page in NOW for name in re.findall(r"python -m experiments run ([a-z][\w-]*)", text(page))
    }

    assert named
    assert named <= set(EXPERIMENTS)
