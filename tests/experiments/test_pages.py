"""The pages of experiments say what was found, and nothing else."""

import json
import re
from pathlib import Path

import pytest

from experiments import page
from experiments.catalogue import ALL
from experiments.experiment import SIZES, from_json
from experiments.pictures import draw

HOUSE = Path(__file__).parents[2]
RUN = [each for each in ALL if page.is_kept(each)]


@pytest.fixture(params=RUN, ids=[each.name for each in RUN])
def experiment(request):
    return request.param


def test_a_page_is_what_was_kept_of_its_run(experiment, tmp_path):
    document = page.kept(experiment)

    assert (page.PAGES / f"{experiment.name}.md").read_text() == page.written(experiment, document)
    for picture in from_json(document["result"]).pictures:
        draw(picture, tmp_path / "drawn.svg")
        kept = (page.IMAGES / f"{experiment.name}-{picture.name}.svg").read_text()
        assert (tmp_path / "drawn.svg").read_text() == kept, "say `python -m experiments pages`"


def test_a_page_says_on_what_and_with_what_it_was_run(experiment):
    document = page.kept(experiment)

    assert document["size"] == "small"
    assert document["seconds"] > 0
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", document["date"])
    assert {"Python", "torch", "numpy"} <= document["versions"].keys()
    assert document["result"]["claims"]


@pytest.mark.parametrize("experiment", ALL, ids=[each.name for each in ALL])
def test_an_experiment_is_told_at_both_sizes_and_its_files_are_there(experiment):
    assert set(experiment.here) == set(SIZES)
    assert experiment.rows
    assert all((HOUSE / "experiments" / file).is_file() for file in experiment.files)


def test_every_page_and_picture_belongs_to_an_experiment():
    names = {each.name for each in RUN}
    pages = {file.stem for file in page.PAGES.glob("*.md")} - {"index"}
    kept = {file.stem for file in page.RESULTS.glob("*.json")}
    pictures = {
        f"{each.name}-{picture['name']}"
        for each in RUN
        for picture in json.loads((page.RESULTS / f"{each.name}.json").read_text())["result"]["pictures"]
    }

    assert pages == kept == names
    assert {file.stem for file in page.IMAGES.glob("*.svg")} == pictures


def test_the_index_counts_the_claims(tmp_path, monkeypatch):
    written = (page.PAGES / "index.md").read_text()
    monkeypatch.setattr(page, "PAGES", tmp_path)

    page.write_index(ALL)

    assert (tmp_path / "index.md").read_text() == written


def test_an_experiment_that_was_not_run_is_listed_as_such(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    monkeypatch.setattr(page, "PAGES", tmp_path)

    page.write_index(ALL[:1])

    _, _, listed = (tmp_path / "index.md").read_text().partition("## Not run yet")
    assert f"- {ALL[0].title}: `{ALL[0].name}`" in listed
