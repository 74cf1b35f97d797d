"""Figures over HTTP."""

import plotly.graph_objects as go
import pytest

from app.lifecycle import figures
from tests.api.conftest import post
from thiessen.figures import COMPARED, FIGURES

SPACE = {
    "lr": {"type": "float", "low": 1e-4, "high": 1.0, "log": True},
    "hidden": {"type": "int", "low": 1, "high": 64},
}


def read(api, figure, study="s", project=None, headers=None, **query):
    place = "" if project is None else f"projects/{project}/"
    path = f"/api/v1/{place}studies/{study}/figures/{figure}"
    return api.get(path, params=query, headers=headers or {})


def drawn(api, figure, **query):
    answer = read(api, figure, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def trace(figure, name):
    [found] = [each for each in figure["data"] if each.get("name") == name]
    return found


@pytest.fixture
def study(api):
    """A study with imported trials, one that runs, and one that waits."""
    post(api, "studies", name="s", task="t", space=SPACE, max_trials=9, strategy="random")
    outcomes = [{"value": 3.0}, {"value": 1.0}, {"diverged": "nan"}, {"pruned": True, "value": 4.0}]
    trials = [
        {"config": {"lr": 10.0 ** -(at % 4), "hidden": 4 + at}, "outcome": outcome}
        for at, outcome in enumerate(outcomes)
    ]
    post(api, "studies/s/trials", trials=trials)
    post(api, "studies/s/trials", trials=[{"config": {"lr": 0.5, "hidden": at}} for at in (7, 8)])
    return api


def lease(api, request="r"):
    sent = {"worker": "node-1", "incarnation": "i", "request_id": request, "tasks": ["t"]}
    [leased] = post(api, "leases", **sent, slot={"name": "cuda:0"}).json()["leases"]
    return leased["lease_id"]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_study_whose_trials_asked_for_nothing_yet_has_its_figures_or_is_told_why_not(api, figure):
    post(api, "optuna/studies", name="open", directions=["minimize"])

    answer = read(api, figure, study="open")

    if figure in {"landscape", "slice", "parallel", "interaction"}:
        assert answer.status_code == 422
        assert "no trial has asked for a dimension yet" in answer.json()["detail"]
    else:
        assert answer.status_code == 200


@pytest.mark.parametrize("figure", FIGURES)
def test_plotly_draws_each_figure(study, figure):
    for theme in ("light", "dark"):
        found = drawn(study, figure, theme=theme)
        assert len(go.Figure(found).data) == len(found["data"])
        assert found["layout"]["meta"]["figure"] == figure


def test_a_figure_shows_what_has_finished_what_runs_and_what_waits(study):
    lease(study)
    found = drawn(study, "history")

    assert trace(found, "succeeded")["y"] == [3.0, 1.0]
    assert trace(found, "best so far")["x"] == [0, 1, 5]
    for state, number in [("pruned", 3), ("diverged", 2), ("running", 4), ("queued", 5)]:
        assert trace(found, state)["x"] == [number]


def test_the_choices_of_a_figure_are_parameters(study):
    found = drawn(study, "landscape", x="hidden", y="lr", others="ignored", theme="dark")

    assert found["layout"]["xaxis"]["title"]["text"] == "hidden"
    assert "projection" in found["layout"]["meta"]["caption"]
    assert found["layout"]["paper_bgcolor"] == "#14181c"


def test_the_past_of_a_study_changes_when_a_trial_ends_and_not_with_every_event(study):
    then = read(study, "history", after=2)
    begun = lease(study)
    again = read(study, "history", after=2)
    post(study, f"leases/{begun}/complete", value=0.5)
    later = read(study, "history", after=2)

    assert trace(then.json(), "succeeded")["y"] == [3.0, 1.0]
    assert not {"running", "queued", "diverged"} & set(trace_names(then.json()))
    assert then.headers["etag"] == again.headers["etag"] != later.headers["etag"]
    assert [each.json()["layout"]["meta"]["finished"] for each in (again, later)] == [4, 5]
    assert trace(drawn(study, "history", after=99), "succeeded")["y"] == [3.0, 1.0, 0.5]


def test_slots_have_their_attempts_with_what_came_of_them(study):
    begun = lease(study, "a")
    post(study, f"leases/{begun}/complete", value=2.0)
    post(study, f"leases/{lease(study, 'b')}/fail", kind="error", message="boom", retry=False)
    lease(study, "c")
    found = drawn(study, "timeline")

    assert found["layout"]["yaxis"]["ticktext"] == ["node-1 cuda:0"]
    told = [text.split(",")[:2] for text in found["data"][-1]["text"]]
    assert told == [["trial 4", " succeeded"], ["trial 5", " error"], ["trial 6", " running"]]
    assert "3 attempts on 1 slot" in found["layout"]["meta"]["caption"].lower()


def test_curves_are_those_of_the_last_attempt_that_reported(study):
    assert study.patch("/api/v1/studies/s/trials/5", json={"state": "cancelled"}).is_success
    first = lease(study, "a")
    post(study, f"leases/{first}/heartbeat", reports=[{"step": 1, "metrics": {"loss": 9.0}}])
    post(study, f"leases/{first}/fail", kind="error", message="boom")
    again = lease(study, "b")
    points = [{"step": step, "metrics": {"loss": value}} for step, value in ((1, 5.0), (2, "NaN"), (3, 4.0))]
    post(study, f"leases/{again}/heartbeat", reports=points)
    lines = [each for each in drawn(study, "curves")["data"] if each["name"] == "running"]
    assert [line["y"] for line in lines] == [[5.0, None, 4.0, None]]

    post(study, f"leases/{again}/complete", value=4.0)
    assert "trial 4" in trace_names(drawn(study, "curves", metric="loss"))


def test_the_curves_of_some_trials_stand_out(study):
    begun = lease(study, "a")
    post(study, f"leases/{begun}/heartbeat", reports=[{"step": 1, "metrics": {"loss": 9.0}}])

    assert "trial 4" not in trace_names(drawn(study, "curves"))
    assert "trial 4" in trace_names(drawn(study, "curves", trials=[4, 99]))
    refused = study.get("/api/v1/studies/s/figures/curves", params={"trials": list(range(21))})
    assert (refused.status_code, "trials" in refused.json()["detail"]) == (422, True)


def trace_names(found):
    return [each.get("name") for each in found["data"]]


def test_candidates_of_the_latest_proposals_are_marked(api):
    post(
        api,
        "studies",
        name="s",
        task="t",
        space=SPACE,
        max_trials=40,
        strategy={"name": "biased_random", "preset": "thesis"},
    )
    for at in range(12):
        post(api, f"leases/{lease(api, str(at))}/complete", value=float(at % 5))
    lease(api, "last")

    found = drawn(api, "landscape", candidates=32)
    assert len(trace(found, "kept")["x"]) == 13
    refused = [
        len(api.get(f"/api/v1/studies/s/trials/{number}").json()["reasons"]["last_refused"])
        for number in range(13)
    ]
    [marked] = [each["x"] for each in found["data"] if each["name"] == "refused" and "text" in each]
    assert len(marked) == sum(refused) > 0
    assert "kept" not in trace_names(drawn(api, "landscape", candidates=0))


def test_a_figure_is_drawn_once_until_something_happens(study, monkeypatch):
    calls = []
    monkeypatch.setattr(
        figures, "figure", lambda *asked: calls.append(asked[0]) or {"data": [], "layout": {}}
    )

    for figure in ("slice", "slice", "history", "history"):
        drawn(study, figure)
    assert calls == ["slice", "history"]
    lease(study, "a")  # no trial has ended by that, but one runs
    drawn(study, "slice")
    drawn(study, "history")
    assert calls == ["slice", "history", "history"]
    drawn(study, "slice", theme="dark")
    assert calls[3:] == ["slice"]
    post(study, "studies/s/trials", trials=[{"config": {"lr": 0.3, "hidden": 9}, "outcome": {"value": 1.0}}])
    drawn(study, "slice")
    assert calls[4:] == ["slice"]


def test_no_more_figures_are_kept_than_there_is_room_for(study):
    kept = study.app.state.house.figures
    kept._most_bytes = 1
    for figure in ("slice", "history", "parallel"):
        drawn(study, figure)

    assert len(kept._kept) == 1


def test_a_figure_that_is_known_is_not_sent_again(study):
    first = read(study, "history")
    tag = first.headers["etag"]

    again = read(study, "history", headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert first.headers["cache-control"] == "private, no-cache"
    assert read(study, "history", theme="dark", headers={"If-None-Match": tag}).status_code == 200
    lease(study)
    assert read(study, "history", headers={"If-None-Match": tag}).status_code == 200


def test_studies_have_figures_of_their_own_also_one_that_takes_the_name_of_another(api):
    def history(value):
        post(api, "studies", name="s", task="t", space=SPACE, max_trials=9)
        trial = {"config": {"lr": 0.3, "hidden": 9}, "outcome": {"value": value}}
        post(api, "studies/s/trials", trials=[trial])
        return trace(drawn(api, "history"), "succeeded")["y"]

    assert history(1.0) == [1.0]
    assert api.delete("/api/v1/studies/s", params={"purge": True}).is_success
    assert read(api, "history").status_code == 404
    assert history(2.0) == [2.0]


def test_figures_of_a_project_are_under_its_path(study):
    post(study, "projects", name="vision")
    post(study, "projects/vision/studies", name="s", task="t", space=SPACE)

    assert read(study, "history", project="vision").json()["data"] == []
    assert read(study, "history", project="vision").json()["layout"]["meta"]["caption"] == (
        "No trial has finished yet."
    )
    assert read(study, "history", project="absent").status_code == 404


@pytest.mark.parametrize(
    ("figure", "query", "said"),
    [
        ("landscap", {}, "figure: is 'history', 'landscape'"),
        ("landscape", {"x": "depth"}, "x: 'depth' is no dimension of the space; it has lr, hidden"),
        ("landscape", {"x": "lr", "y": "lr"}, "x and y are both 'lr'"),
        ("landscape", {"x": ""}, "x"),
        ("landscape", {"x": "x" * 101}, "x"),
        ("landscape", {"candidates": 33}, "candidates"),
        ("landscape", {"others": "worst"}, "others"),
        ("history", {"theme": "blue"}, "theme"),
        ("history", {"after": -1}, "after"),
        ("history", {"colour": "hue"}, "colour"),
        ("curves", {"trials": [2**31]}, "trials"),
        ("curves", {"trials": [-1]}, "trials"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(study, figure, query, said):
    answer = read(study, figure, **query)

    assert answer.status_code == 422
    assert answer.json()["type"].endswith("invalid-request")
    assert said in answer.json()["detail"]


def test_the_figures_are_listed_in_the_openapi_document_with_an_example(api):
    document = api.get("/openapi.json").json()
    call = document["paths"]["/api/v1/studies/{name}/figures/{figure}"]["get"]
    [path] = [each for each in call["parameters"] if each["name"] == "figure"]

    assert path["schema"]["enum"] == list(FIGURES)
    assert path["schema"].get("examples") == ["landscape"] or path["examples"]
    assert document["components"]["schemas"]["Figure"]["examples"]


def compared(api, figure, *names, headers=None, **query):
    sent = [("study", name) for name in names] + list(query.items())
    return api.get(f"/api/v1/compare/{figure}", params=sent, headers=headers or {})


@pytest.mark.parametrize("figure", COMPARED)
def test_plotly_draws_each_figure_of_several_studies(study, figure):
    post(study, "studies", name="other", task="t", space=SPACE)
    for theme in ("light", "dark"):
        answer = compared(study, figure, "s", "other", theme=theme)
        assert answer.status_code == 200, answer.text
        assert len(go.Figure(answer.json()).data) == len(answer.json()["data"]) > 0
        assert answer.json()["layout"]["meta"]["figure"] == figure


def test_a_figure_of_several_studies_is_kept_until_a_trial_of_one_of_them_ends(study):
    post(study, "studies", name="other", task="t", space=SPACE)
    first = compared(study, "arms", "s", "other").headers["etag"]

    again = compared(study, "arms", "s", "other", headers={"if-none-match": first})
    assert (again.status_code, again.content) == (304, b"")
    assert compared(study, "arms", "other", "s").headers["etag"] != first
    done = {"config": {"lr": 0.1, "hidden": 3}, "outcome": {"value": 0.5}}
    post(study, "studies/other/trials", trials=[done])
    assert compared(study, "arms", "s", "other").headers["etag"] != first


def test_what_cannot_be_compared_is_refused_with_the_reason(study):
    post(study, "studies", name="up", task="t", space=SPACE, direction="maximize")
    for names, status, said in (
        (["s"], 422, "study"),
        (["s", "nobody"], 404, "nobody"),
        (["s", "up"], 422, "direction"),
        (["s"] * 7, 422, "study"),
        (["s", "no name"], 422, "study"),
    ):
        answer = compared(study, "arms", *names)
        assert (answer.status_code, said in answer.json()["detail"]) == (status, True), answer.text
