"""The table of a study's trials, and trials side by side."""

import html
import re

import pytest

from thiessen.figures.theme import THEMES

SPACE = {
    "x": {"type": "float", "low": 0, "high": 1},
    "y": {"type": "int", "low": 0, "high": 99},
}
THRESHOLD = {"rule": "threshold", "metric": "loss", "threshold": 5.0}

FILTERS = [
    ("", [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
    ("state:pruned", [6, 3]),
    ("origin:imported", [4, 3, 2, 1, 0]),
    ("origin:imported state:succeeded", [4, 1, 0]),
    ("number>8", [11, 10, 9]),
    ("number>3 number<6 number<9", [5, 4]),
    ("state:succeeded number<4", [1, 0]),
    ("7", [7]),
    ("#7 state:diverged", [7]),
    ("2147483646", []),
    ("value<2.5", [8, 1, 4]),
    ("value>0.5 value<3", [1, 4]),
    ("state:succeeded value>2.5", [0]),
]
WRONG = [
    ({"filter": "x>0.5"}, "“x>0.5” would read the whole study"),
    ({"filter": "state:fail"}, "“fail” is no state; there are queued, running, succeeded"),
    ({"filter": "state:fail"}, "Did you mean failed?"),
    ({"state": "nonsense"}, "“nonsense” is no state"),
    ({"filter": "origin:"}, "“” is no origin"),
    ({"filter": "<script>"}, "“<script>” is no filter."),
    ({"filter": "<b"}, "“<b” is no filter"),
    ({"filter": "tag>1"}, "“tag” is nothing that trials are filtered by"),
    ({"filter": "value<nan"}, "“nan” is no number to compare values with"),
    ({"filter": "value<"}, "“” is no number to compare values with"),
    ({"filter": "number>99999999999"}, "“99999999999” is no number of a trial"),
    ({"filter": "2147483647"}, "“2147483647” is no number of a trial"),
    ({"filter": "value<1 number>3"}, "not on both"),
    ({"filter": "value<1 state:failed"}, "Only succeeded trials have a final value"),
    ({"cursor": "x"}, "cursor: it is broken"),
    ({"cursor": "\x00"}, "cursor: it is broken"),
    ({"sort": "colour"}, "not sorted by 'colour'"),
]
SORTS = [
    ("number", "trial", "ascending", list(range(12))),
    ("loss", "value", "ascending", [8, 1, 4, 0]),
    ("-loss", "value", "descending", [0, 4, 1, 8]),
    ("-finished", "finished", "descending", None),
]


@pytest.fixture
def study(api):
    """A study with a trial in each state, some of people and some of the strategy."""
    post(api, "studies", name="s", task="t", space=SPACE, max_trials=9, max_attempts=2, stopping=THRESHOLD)
    ends = [
        {"value": 3.0},
        {"value": 1.0},
        {"diverged": "inf"},
        {"pruned": True, "value": 4.0},
        {"value": 2.0},
    ]
    imported = [{"config": {"x": at / 10, "y": at}, "outcome": end} for at, end in enumerate(ends)]
    post(api, "studies/s/trials", trials=imported)
    fail = {"kind": "out_of_memory", "message": "no memory\nat all", "traceback": "line 1"}
    for at in range(2):
        post(api, f"leases/{lease(api, f'broken{at}')}/fail", **fail)
    bad = lease(api, "bad")
    post(api, f"leases/{bad}/heartbeat", reports=[{"step": 7, "metrics": {"loss": 9.0}}])
    post(api, f"leases/{bad}/complete", pruned=True)
    wild = lease(api, "wild")
    post(api, f"leases/{wild}/heartbeat", reports=[{"step": 3, "metrics": {"loss": 1.0}}])
    post(api, f"leases/{wild}/complete", diverged="nan")
    post(api, f"leases/{lease(api, 'good')}/complete", value=0.5)
    post(api, f"leases/{lease(api, 'again')}/fail", kind="error", message="boom")
    post(api, "studies/s/trials", trials=[{"config": {"x": 0.9, "y": at}} for at in (1, 2)])
    assert api.patch("/api/v1/studies/s/trials/11", json={"state": "cancelled"}).is_success
    runs = lease(api, "runs")  # the one that waits the longest: it is tried again
    post(api, f"leases/{runs}/heartbeat", reports=[{"step": 2, "metrics": {"loss": 1.0}}])
    return api


def post(api, path, **sent):
    answer = api.post(f"/api/v1/{path}", json=sent)
    assert answer.is_success, answer.text
    return answer.json() if answer.content else None


def lease(api, request):
    sent = {"worker": "w", "incarnation": "i", "request_id": request, "tasks": ["t"]}
    [leased] = post(api, "leases", **sent, slot={"name": "cuda:0"})["leases"]
    return leased["lease_id"]


def listed(answer):
    """Return the numbers of the table, as they stand."""
    return [
        int(number) for number in re.findall(r'class="number id"><a href="[^"]*/trials/(\d+)"', answer.text)
    ]


def reasons(answer):
    """Return the last column, by trial."""
    found = re.findall(r'<td class="why">(.*?)</td>', answer.text)
    return dict(zip(listed(answer), map(html.unescape, found), strict=True))


def test_a_line_filters_the_trials(study):
    for line, expected in FILTERS:
        answer = study.get("/studies/s/trials", params={"filter": line})

        assert (answer.status_code, listed(answer)) == (200, expected), line


def test_what_cannot_be_listed_is_told_in_the_page(study):
    for asked, said in WRONG:
        answer = study.get("/studies/s/trials", params=asked)

        assert (answer.status_code, listed(answer)) == (422, [])
        [told] = re.findall(r'id="wrong" role="alert">(.*?) <a', answer.text)
        assert said in html.unescape(told), asked


def test_a_heading_sorts_says_so_and_leads_to_the_other_way(study):
    for sort, column, order, expected in SORTS:
        answer = study.get("/studies/s/trials", params={"sort": sort})

        if expected is not None:
            assert listed(answer) == expected
        [(told, link)] = re.findall(
            rf'aria-sort="(\w+)"><a href="\?([^"]*)" data-keeps>{column}', answer.text
        )
        assert told == order
        turned = listed(study.get(f"/studies/s/trials?{link}"))
        assert turned == listed(answer)[::-1]


def test_where_large_values_are_good_the_order_is_that_of_values(api):
    post(api, "studies", name="s", task="t", space=SPACE, max_trials=9, direction="maximize")
    ends = [{"config": {"x": at / 10, "y": at}, "outcome": {"value": float(at)}} for at in range(4)]
    post(api, "studies/s/trials", trials=ends)

    best_first = api.get("/studies/s/trials", params={"sort": "loss", "filter": "value>0"})
    assert listed(best_first) == [3, 2, 1]
    assert 'aria-sort="descending"' in best_first.text


def test_each_state_says_why_in_a_line(study):
    assert reasons(study.get("/studies/s/trials")) == {
        11: "a person ended it before it was tried",
        10: "waits for the next free slot",
        9: "attempt 2 on w, cuda:0: step 2 so far",
        8: "finished on w, cuda:0 in 0 s",
        7: "its value was nan after step 3",
        6: "its loss at step 7, 9, is worse than 5, the threshold",
        5: "out of memory: no memory (2 attempts of 2)",
        4: "a person added it with its result",
        3: "a person added it with its result",
        2: "a person added it with its result",
        1: "a person added it with its result",
        0: "a person added it with its result",
    }


def test_what_is_chosen_stays_chosen_and_columns_too(study):
    answer = study.get(
        "/studies/s/trials", params={"trials": "3,7,7,x,5", "column": "y", "filter": "state:pruned"}
    )

    assert re.findall(r'name="trials" value="(\d+)"[^>]* checked', answer.text) == ["3"]
    assert re.findall(r'type="hidden" name="trials" value="(\d+)"', answer.text) == ["5", "7"]
    assert 'mono">y</th>' in answer.text
    assert 'mono">x</th>' not in answer.text
    links = re.findall(r'href="\?([^"]*)" data-keeps', answer.text)
    assert links
    for link in links:
        assert "column=y" in link
        assert "trials=3%2C5%2C7" in link
    many = study.get("/studies/s/trials", params={"trials": ",".join(map(str, range(50)))})
    assert many.text.count("%2C") == 19 * len(re.findall("data-keeps", many.text))


def test_trials_stand_side_by_side(study):
    answer = study.get("/studies/s/compare", params={"trials": ["1", "0,8,99"]})
    page = html.unescape(answer.text)

    assert re.findall(r'<th class="number"><a href="[^"]*/trials/(\d+)"', page) == ["0", "1", "8"]
    assert "There is no trial 99." in page
    x = re.search(r'class="mono">x</th>(.*?)</tr>', page, re.DOTALL)[1]
    assert re.findall("<strong>(.*?)</strong>", x)[:2] == ["0", "0.1"]
    assert 'data-query="trials=0&trials=1&trials=8"' in page
    assert "Choose trials in" in study.get("/studies/s/compare").text
    assert study.get("/studies/nobody/compare").status_code == 404


def test_the_colour_of_a_loss_is_that_of_the_figures(study):
    assert "swatch" not in study.get("/studies/s/trials").text  # no figure was drawn: the scale is not known
    study.get("/api/v1/studies/s/figures/history").raise_for_status()

    answer = study.get("/studies/s/trials", params={"sort": "loss"})
    fills = re.findall(r'class="by-day"[^>]* fill="(#\w+)"', answer.text)
    assert len(fills) == 4
    assert (fills[0], fills[-1]) == (THEMES["light"].losses[0], THEMES["light"].losses[-1])
    figure = study.get("/api/v1/studies/s/figures/slice").json()
    [marks] = [each for each in figure["data"] if each["name"] == "succeeded"][:1]
    places = dict(zip(marks["x"], marks["marker"]["color"], strict=True))
    assert fills[2] == THEMES["light"].losses[round(places[0.4] * (len(THEMES["light"].losses) - 1))]


def test_a_study_has_a_tab_for_each_thing_it_shows(study):
    tabs = ["overview", "landscape", "slices", "importance", "curves", "timeline", "trials"]
    for tab in tabs:
        page = study.get("/studies/s" + ("" if tab == "overview" else f"/{tab}")).text
        assert re.findall(r'aria-current="page">(\w+)</a>', page)[1:] == [tab.capitalize()]
        assert re.findall(r'href="\.\./(?:\.\./)?studies/s(?:/(\w+))?"', page.split("<nav class")[2])[:7] == [
            "" if each == "overview" else each for each in tabs
        ]
    landscape = study.get("/studies/s/landscape", params={"candidates": "8"}).text
    assert '<option value="8" selected>' in landscape
    assert re.findall('data-figure="([a-z]+)"', landscape) == ["landscape"]
    assert study.get("/studies/s/nothing").status_code == 404


def test_a_space_of_one_dimension_has_no_landscape_and_says_so(api):
    post(api, "studies", name="s", task="t", space={"x": SPACE["x"]}, max_trials=9)
    post(api, "studies/s/trials", trials=[{"config": {"x": 0.5}, "outcome": {"value": 1.0}}])

    page = api.get("/studies/s/landscape").text
    assert "data-figure" not in page
    assert "one dimension" in page


def test_the_overview_says_what_the_search_is_doing(study):
    page = study.get("/studies/s").text
    said = html.unescape(page.split('id="doing"')[1].split("</section>")[0])

    draws = [study.get(f"/api/v1/studies/s/trials/{at}").json()["reasons"]["draw"] for at in range(5, 10)]
    initial = draws.count("initial")
    assert initial == 3
    assert "It begins: so 3 of the last 5 proposals came about." in said
    assert "3 initial draws" in said
    assert "trial 8, 3 trials added since" in said


def test_the_best_at_an_end_of_a_range_is_told(api):
    post(api, "studies", name="s", task="t", space=SPACE, max_trials=9)
    post(api, "studies/s/trials", trials=[{"config": {"x": 0.995, "y": 0}, "outcome": {"value": 1.0}}])

    page = api.get("/studies/s").text
    assert "x is at its upper end, 1: widen it?; y is at its lower end, 0: widen it?" in page
    assert "Its trials were added, none was proposed." in page
