"""The first page: the search for studies, and the best so far as a line."""

import re

from hypothesis import given
from hypothesis import strategies as st

from app.dashboard.summaries.sparkline import HEIGHT, ROOM, WIDTH, sparkline


def create(api, name, **changed):
    study = {
        "name": name,
        "task": "t",
        "space": {"x": {"type": "float", "low": 0, "high": 1}},
        "max_trials": 9,
    }
    assert api.post("/api/v1/studies", json=study | changed).status_code == 201


def add(api, name, *values):
    trials = [{"config": {"x": at / 100}, "outcome": {"value": value}} for at, value in enumerate(values)]
    assert api.post(f"/api/v1/studies/{name}/trials", json={"trials": trials}).is_success


def listed(api, sought):
    return re.findall(r'<td><a href="studies/([^"]*)"', api.get("/", params={"q": sought}).text)


def test_studies_are_sought_by_the_beginning_of_their_name_or_by_a_tag(api):
    create(api, "kfac-one", tags=["paper"])
    create(api, "kfac-two")
    create(api, "adam", tags=["paper"])

    assert listed(api, "kfac") == ["kfac-two", "kfac-one"]
    assert listed(api, "#paper") == ["adam", "kfac-one"]
    assert listed(api, "") == ["adam", "kfac-two", "kfac-one"]
    for nobody in ("Kfac", "#pap", "x\x00", "<script>", "a b"):
        page = api.get("/", params={"q": nobody})
        assert (page.status_code, listed(api, nobody)) == (200, [])
        assert "No study is named so" in page.text
        assert "<script>" not in page.text


def test_each_study_has_its_measure_and_the_best_so_far(api):
    create(api, "s", direction="maximize")
    create(api, "judged", stopping={"rule": "threshold", "metric": "val_loss", "threshold": 5.0})
    add(api, "s", 1.0, 3.0, 2.0, 4.0)
    page = api.get("/").text

    assert "value, larger is better" in page
    assert "val_loss, smaller is better" in page
    assert page.count('<svg class="sparkline"') == 1
    assert 'aria-label="best so far, in 3 steps"' in page


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=2, max_size=30))
def test_the_line_falls_with_each_record_and_stays_in_its_room(losses):
    line = sparkline(list(enumerate(losses)), len(losses))

    records = sum(loss < min(losses[:at], default=float("inf")) for at, loss in enumerate(losses))
    heights = [float(y) for y in re.findall(r"(?:V|M[\d.]+ )([\d.]+)", line.path)]
    assert line.steps == len(heights) == records
    assert heights == sorted(heights)  # downwards on the screen
    assert all(ROOM <= y <= HEIGHT - ROOM for y in heights)
    assert (line.x, line.y) == (WIDTH - ROOM, heights[-1])
    assert sparkline(list(enumerate(losses))[:1], 1) is None
