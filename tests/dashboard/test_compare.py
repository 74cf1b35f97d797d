import html
import re

import pytest

from thiessen.figures.arms import MOST_ARMS

XYZ = {name: {"type": "float", "low": 0, "high": 1} for name in "xyz"}


def study(api, name, *values, **changed):
    """Create a study with a finished trial of each value."""
    space = changed.get("space", {"x": XYZ["x"]})
    sent = {"name": name, "task": "t", "space": space, "max_trials": 9, "strategy": "random"} | changed
    assert api.post("/api/v1/studies", json=sent).status_code == 201
    trials = [
        {"config": dict.fromkeys(space, at / 10), "outcome": {"value": value}}
        for at, value in enumerate(values)
    ]
    if trials:
        assert api.post(f"/api/v1/studies/{name}/trials", json={"trials": trials}).status_code == 201


def text_of(answer):
    assert answer.status_code == 200, answer.text
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def compared(api, *names, **query):
    return api.get("/compare", params=[("study", name) for name in names] + list(query.items()))


def test_studies_are_chosen_by_boxes_where_none_is_named(api):
    assert "Nothing to compare yet" in text_of(api.get("/compare"))
    study(api, "a", 1.0)
    study(api, "b", 2.0)

    page = api.get("/compare").text

    assert re.findall('type="checkbox" name="study" value="([^"]*)">', page) == ["b", "a"]
    assert "data-figure" not in page
    assert 'value="a" checked' in compared(api, "a").text
    assert "One study alone cannot be compared" in text_of(compared(api, "a", "a"))


@pytest.mark.parametrize(
    ("direction", "said"),
    [
        ("minimize", "a has the lowest value, 0.25 after 2 trials; b 0.5 after 3."),
        ("maximize", "b has the highest value, 2 after 3 trials; a 1 after 2."),
    ],
)
def test_the_first_sentence_says_which_is_ahead_and_that_one_run_says_little(api, direction, said):
    study(api, "a", 0.25, 1.0, direction=direction)
    study(api, "b", 0.5, 2.0, 1.5, direction=direction)

    assert f"{said} One run of each says little" in text_of(compared(api, "a", "b"))


def test_what_is_not_alike_is_told_with_its_numbers(api):
    study(api, "a", 0.25, max_gpu_hours=2.0)
    study(api, "b", 0.5, 0.75, task="u")

    told = text_of(compared(api, "a", "b"))

    assert "6 of 10 alike" in told
    for line in (
        "GPU hours allowed differ 2 in a, none in b",
        "trials finished differ 1 in a, 2 in b",
        "tasks differ t in a, u in b",
        "trials allowed 9",
    ):
        assert line in told
    assert "none of which is ahead" in told  # of different tasks


def test_the_figures_are_of_these_studies_and_these_dimensions(api):
    for name in "ab":
        study(api, name, 0.25, 0.5, space=XYZ)

    page = compared(api, "b", "a", x="z").text

    [first, second] = re.findall(r'data-address="([^"]*)" data-query="([^"]*)"', page)
    assert first == ("./api/v1/compare/arms", "study=b&amp;study=a&amp;x=z")
    assert second[0] == "./api/v1/compare/interaction"
    assert re.findall("<option selected>(.)", page) == ["z", "x"]
    assert "<select" not in compared(api, "a", "nobody").text


def test_only_figures_that_can_be_drawn_are_there(api):
    study(api, "a", 0.25)
    study(api, "b", 0.25, space=XYZ)
    study(api, "up", 0.25, direction="maximize")
    study(api, "again", 0.25, space=XYZ)

    for names, figures in (
        (("a", "b"), ["arms"]),
        (("a", "up"), []),
        (("b", "again"), ["arms", "interaction"]),
    ):
        assert re.findall('data-figure="([^"]*)"', compared(api, *names).text) == figures


def test_names_that_are_none_and_too_many_are_told_beside_the_choice(api):
    names = [f"s{at}" for at in range(MOST_ARMS + 1)]
    for name in names:
        study(api, name)

    assert "There is no study named “nobody”." in text_of(compared(api, "s0", "nobody"))
    assert "At most 6 studies" in text_of(compared(api, *names))
    evil = compared(api, "s0", "<script>alert(1)</script>")
    assert "<script>alert" not in evil.text
    assert "&lt;script&gt;" in evil.text
    assert api.get("/compare?study=%00").status_code == 422
    assert api.get("/projects/nobody/compare").status_code == 404
