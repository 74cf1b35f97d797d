"""The pages of comparisons, and what their forms do."""

import html
import re

import pytest

X = {"type": "float", "low": 0, "high": 1}
TEXT = """name: two
task: t
space:
  x: {type: float, low: 0, high: 1}
arms:
  - label: a
    settings: {kind: a}
  - label: b
    settings: {kind: b}
budget: {trials: 2}
replicates: 8
strategy: random
confirm: {seeds: 2}
"""
ONCE = {"budget": {"trials": 1}, "confirm": {"seeds": 1}}
PAGE = {"accept": "text/html"}


class Bench:
    """Creates comparisons, as small as they can be, and trains what is leased."""

    def __init__(self, api) -> None:
        self.api = api
        self.wishes = 0

    def create(self, name="c", home="", **changed):
        sent = {
            "name": name,
            "task": "t",
            "space": {"x": X, "y": X},
            "arms": [{"label": each, "settings": {"kind": each}} for each in "ab"],
            "budget": {"trials": 2},
            "replicates": 2,
            "strategy": "random",
            "confirm": {"seeds": 2},
        }
        answer = self.api.post(f"/api/v1{home}/comparisons", json=sent | changed)
        assert answer.status_code == 201, answer.text

    def train(self, most=1000):
        """Train until nothing is left, or so many trials: arm a is the better one."""
        for _ in range(most):
            self.wishes += 1
            wish = {"worker": "w", "incarnation": "i", "request_id": f"r{self.wishes}", "tasks": ["t"]}
            leases = self.api.post("/api/v1/leases", json=wish).json()["leases"]
            if not leases:
                return
            path, config = f"/api/v1/leases/{leases[0]['lease_id']}", leases[0]["config"]
            points = [{"step": step, "metrics": {"loss": 1 / step}} for step in (1, 2, 3)]
            assert self.api.post(f"{path}/heartbeat", json={"reports": points}).is_success
            loss = config["x"] + 3 * (config["kind"] == "b")
            assert self.api.post(f"{path}/complete", json={"loss": loss}).is_success

    def told(self, name="c"):
        return self.api.get(f"/api/v1/comparisons/{name}").json()


@pytest.fixture
def bench(api):
    return Bench(api)


def text_of(answer):
    assert answer.status_code == 200, answer.text
    return words(answer)


def words(answer):
    main = answer.text.split("<main")[1].split("</main>")[0]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", main)).split())


def send(api, to="c", /, **form):
    return api.post(f"/comparisons/{to}", data=form, headers=PAGE, follow_redirects=False)


def figures(answer):
    return re.findall('data-figure="([^"]*)"', answer.text)


def test_the_list_is_empty_at_first_and_says_what_to_do(api):
    page = api.get("/comparisons")

    assert "No comparison yet" in text_of(page)
    assert 'href="./new/comparison"' in page.text
    assert "thiessen compare run FILE" in text_of(page)


def test_the_list_says_how_far_each_is_and_what_came_of_it(bench, api):
    bench.create("done", replicates=8, **ONCE)
    bench.train()
    bench.create("begun")
    bench.train(most=3)

    told = text_of(api.get("/comparisons"))

    assert told.index("begun") < told.index("done t")
    assert "1 comparison goes on." in told
    assert "0 of 4 searches ended, 0 of 8 runs trained" in told
    assert "a beats b at this budget." in told


def test_the_list_goes_on_to_older_ones_and_shows_one_state(bench, api, monkeypatch):
    monkeypatch.setattr("app.dashboard.summaries.comparisons.MOST_LISTED", 2)
    for name in ("alpha", "beta", "gamma"):
        bench.create(name)
    send(api, "beta", do="pause")

    page = api.get("/comparisons")
    [older] = re.findall('href="([^"]*before=[^"]*)"', page.text)

    assert [name in text_of(page) for name in ("alpha", "beta", "gamma")] == [False, True, True]
    assert "alpha" in text_of(api.get(html.unescape(older)))
    assert re.findall('comparisons/(\\w+)"', api.get("/comparisons?state=paused").text) == ["beta"]
    assert "No comparison is stopped" in text_of(api.get("/comparisons?state=stopped"))
    assert api.get("/comparisons?state=lost").status_code == 422


def test_a_comparison_without_a_result_says_what_it_waits_for(bench, api):
    bench.create()
    page = api.get("/comparisons/c")

    told = text_of(page)
    assert "Task t: 2 arms, 2 searches of 2 trials each, the best config of each confirmed 2 times" in told
    assert "No worker has registered task 't' yet" in told
    assert "No trial has finished yet" in told
    assert figures(page) == []
    assert "data-moving" in page.text


def test_a_comparison_that_is_done_has_verdicts_figures_and_a_table(bench, api):
    bench.create(replicates=8, **ONCE)
    bench.train()
    page = api.get("/comparisons/c")

    told = text_of(page)
    assert re.search(r"Verdict .* shown a beats b at this budget: \d", told)
    assert "data-moving" not in page.text
    assert figures(page) == ["expected", "ends", "interaction", "training", "sensitivity"]
    assert "of 7" in told.split("Is it fair?")[1][:20]
    [row] = re.findall(r"<tr>\s*<td class=\"cut\" title=\"a: random\">.*?</tr>", page.text, re.DOTALL)
    report = api.get("/api/v1/comparisons/c/report").json()
    assert f"{report['arms'][0]['headline']['mean']:.4g}" in row
    assert "trials/" in row


def test_a_verdict_without_replicates_enough_is_not_given(bench, api):
    bench.create()
    bench.train()

    told = text_of(api.get("/comparisons/c"))

    assert "beats" not in told
    assert "with care" not in told
    assert "below 8 there are neither bands nor verdicts" in told


def test_what_is_not_fair_is_told_with_an_icon_and_a_word(bench, api):
    bench.create(replicates=8, budget={"trials": 1}, confirm=None)
    bench.train()
    page = api.get("/comparisons/c")

    assert "fresh seeds: not met" in text_of(page)
    assert '<span class="state with-care">' in page.text
    assert 'class="state shown">' in page.text  # of checks that are met
    [verdicts] = re.findall(r'<ul class="verdicts leading">.*?</ul>', page.text, re.DOTALL)
    assert re.findall('class="state ([^"]*)"', verdicts) == ["with-care"]


def test_where_arms_looked_is_shown_only_in_dimensions_that_all_declare_alike(bench, api):
    bench.create("alike")
    arms = [{"label": "a", "space": {"z": X}}, {"label": "b", "space": {"z": {**X, "high": 2}}}]
    arms = [{**arm, "settings": {"kind": arm["label"]}} for arm in arms]
    bench.create("apart", space={"x": X}, arms=arms)
    bench.train()

    [query] = re.findall('compare/interaction" data-query="([^"]*)"', api.get("/comparisons/alike").text)
    assert re.fullmatch(r"study=alike\.a\.[12]&study=alike\.b\.[12]&x=x&y=y", html.unescape(query))
    assert api.get(f"/api/v1/compare/interaction?{html.unescape(query)}").status_code == 200
    assert "interaction" not in figures(api.get("/comparisons/apart"))


@pytest.mark.parametrize("figure", ["expected", "ends", "training", "sensitivity"])
def test_a_figure_comes_with_a_tag_and_is_not_sent_twice(bench, api, figure):
    bench.create()
    bench.train()
    path = f"/api/v1/comparisons/c/figures/{figure}"

    answer = api.get(path)
    again = api.get(path, headers={"if-none-match": answer.headers["etag"]})

    assert answer.json()["layout"]["meta"]["figure"] == figure
    assert (again.status_code, again.content) == (304, b"")
    dark = api.get(path, params={"theme": "dark"})
    assert dark.headers["etag"] != answer.headers["etag"]
    assert dark.json()["layout"]["paper_bgcolor"] != answer.json()["layout"]["paper_bgcolor"]


def test_a_figure_is_another_one_once_a_trial_has_ended(bench, api):
    bench.create()
    bench.train(most=1)
    before = api.get("/api/v1/comparisons/c/figures/expected").headers["etag"]
    bench.train(most=1)

    assert api.get("/api/v1/comparisons/c/figures/expected").headers["etag"] != before


def test_figures_that_there_are_not_are_refused(bench, api):
    bench.create()

    assert api.get("/api/v1/comparisons/nobody/figures/expected").status_code == 404
    assert api.get("/api/v1/comparisons/c/figures/landscape").status_code == 422
    assert api.get("/api/v1/comparisons/c/figures/ends?theme=grey").status_code == 422


def test_profiles_over_comparisons_are_a_figure(bench, api):
    for name in ("c", "d"):
        bench.create(name)
    bench.train()
    path = "/api/v1/profile/figure?comparison=c&comparison=d"

    answer = api.get(path)

    assert answer.json()["layout"]["meta"]["figure"] == "profile"
    assert api.get(path, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert api.get(f"{path}&over=seconds").headers["etag"] != answer.headers["etag"]
    assert api.get("/api/v1/profile/figure?comparison=nobody").status_code == 404


@pytest.mark.parametrize(("verb", "state"), [("pause", "paused"), ("stop", "stopped")])
def test_a_comparison_is_paused_or_stopped_and_resumed(bench, api, verb, state):
    bench.create()

    answer = send(api, do=verb)
    assert (answer.status_code, answer.headers["location"]) == (303, "c")
    assert bench.told()["state"] == state
    assert 'value="resume"' in api.get("/comparisons/c").text
    send(api, do="resume")
    assert bench.told()["state"] == "active"


def test_a_comparison_that_is_done_goes_on_when_it_is_extended(bench, api):
    bench.create()
    bench.train()
    assert "2 trials each" in text_of(api.get("/comparisons/c"))
    assert send(api, do="extend", budget="3", replicates="3").status_code == 303

    told = bench.told()

    assert (told["state"], told["spec"]["budget"], told["spec"]["replicates"]) == ("active", {"trials": 3}, 3)


@pytest.mark.parametrize(
    ("form", "status", "said"),
    [
        ({"do": "extend", "budget": "1", "replicates": "2"}, 422, "give at least as many"),
        ({"do": "extend", "budget": "many", "replicates": "2"}, 422, "budget"),
        ({"do": "extend", "budget": "2", "replicates": "x"}, 422, "Searches of each arm: a whole number"),
        (
            {"do": "delete", "name": "d"},
            422,
            "Nothing was deleted. To delete this comparison type its name: c",
        ),
        ({"do": "dance"}, 422, "No form here does “dance”"),
    ],
)
def test_what_is_refused_is_told_at_its_form_and_changes_nothing(bench, api, form, status, said):
    bench.create()
    before = bench.told()["spec"]

    answer = send(api, **form)

    assert answer.status_code == status
    assert said in words(answer)
    assert bench.told()["spec"] == before


def test_one_that_is_completed_cannot_be_paused(bench, api):
    bench.create()
    bench.train()

    answer = send(api, do="pause")

    assert answer.status_code == 409
    assert "is completed" in words(answer)
    assert 'value="pause"' not in api.get("/comparisons/c").text


def test_notes_and_tags_are_kept_and_nothing_in_them_is_markup(bench, api):
    bench.create()
    evil = "<script>alert(1)</script>"

    assert send(api, do="note", notes=evil, tags="one two").status_code == 303
    page = api.get("/comparisons/c").text

    assert evil not in page
    assert html.escape(evil) in page
    assert bench.told()["tags"] == ["one", "two"]


def test_a_comparison_is_deleted_by_its_name_and_purged_by_an_admin(bench, api):
    bench.create()
    bench.create("d")

    assert send(api, do="delete", name="c").headers["location"] == "../comparisons"
    assert "“" not in text_of(api.get("/comparisons/c"))
    assert not re.search('name="do"', api.get("/comparisons/c").text)
    assert send(api, "d", do="delete", name="d", purge="on").status_code == 303
    assert api.get("/comparisons/d").status_code == 404
    assert re.findall('/comparisons/(\\w+)"', api.get("/comparisons").text) == []


def test_a_comparison_that_there_is_not_is_told(api):
    for name in ("nobody", "%00", "a b"):
        answer = api.get(f"/comparisons/{name}")
        assert answer.status_code == 404
        assert "There is no comparison named" in words(answer)
    assert send(api, "nobody", do="pause").status_code == 404


def test_a_search_leads_back_to_its_comparison_which_alone_says_how_far_it_goes(bench, api):
    bench.create()
    page = api.get("/studies/c.a.1").text

    assert '<a href="../comparisons/c">c</a>' in page
    assert re.findall('name="do" value="(\\w+)"', page) == ["note"]
    [cell, *_] = re.findall('href="(../studies/[^"]*)"', api.get("/comparisons/c").text)
    assert cell == "../studies/c.a.1"


def test_home_shows_comparisons_that_go_on_and_their_searches_nowhere_else(bench, api):
    assert 'aria-label="Comparisons that go on" hidden' in api.get("/").text
    bench.create()
    page = api.get("/")

    assert 'href="./comparisons/c"' in page.text
    assert "0 of 4 searches ended" in text_of(page)
    assert "c.a.1" not in page.text
    assert re.search('href="./comparisons" *>Comparisons', page.text)


def test_another_project_has_comparisons_of_its_own(bench, api):
    assert api.post("/api/v1/projects", json={"name": "lab"}).status_code == 201
    bench.create("mine", home="/projects/lab")

    page = api.get("/projects/lab/comparisons/mine")

    assert "mine" in text_of(api.get("/projects/lab/comparisons"))
    assert "No comparison yet" in text_of(api.get("/comparisons"))
    assert 'href="../../../projects/lab/studies/mine.a.1"' in page.text
    assert api.get("/comparisons/mine").status_code == 404
    assert api.get("/projects/nobody/comparisons").status_code == 404


def test_the_costs_are_shown_before_anything_is_created(api):
    answer = api.post("/new/comparison", data={"text": TEXT, "kind": "yaml", "do": "preview"})

    told = text_of(answer)
    assert "two: what it costs Nothing is created yet." in told
    costs = re.findall("<dt>([^<]*)</dt><dd>([^<]*)</dd>", answer.text)
    assert costs == [("searches", "16"), ("trials of searches", "32"), ("runs that confirm", "32")]
    assert "Task t; searches x." in told
    assert "No worker has registered task “t” yet; there are none." in told
    assert api.get("/api/v1/comparisons").json()["comparisons"] == []


def create(api, text=TEXT, **form):
    return api.post(
        "/new/comparison", data={"text": text, "kind": "yaml", "do": "create"} | form, follow_redirects=False
    )


def seen(answer):
    [of] = re.findall('name="seen" value="([^"]*)"', answer.text)
    return of


def test_it_is_created_once_its_costs_were_seen(api):
    of = seen(create(api, do="preview"))
    answer = create(api, seen=of)

    assert (answer.status_code, answer.headers["location"]) == (303, "../comparisons/two")
    assert api.get("/api/v1/comparisons/two").json()["spec"]["replicates"] == 8


def test_a_text_that_changed_after_its_costs_were_seen_is_shown_again(api):
    of = seen(create(api, do="preview"))
    more = TEXT.replace("replicates: 8", "replicates: 100")

    answer = create(api, more, seen=of)

    assert answer.status_code == 200
    assert seen(answer) != of
    assert api.get("/api/v1/comparisons").json()["comparisons"] == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("replicates: 8", "replicates: 0", "Line 11: replicates: is at least 1; got 0"),
        ("label: b", "label: a", "two arms are called 'a'"),
        ("name: two", "name: [", "cannot be parsed"),
        ("{type: float, low: 0, high: 1}", "{type: float, low: 1, high: 0}", "space of arm 'a'"),
        ("task: t", "task: t\nmore: 1", "Line 3: more: is no field here"),
    ],
)
def test_what_is_wrong_is_told_at_its_line_and_what_was_typed_stays(api, old, new, said):
    answer = create(api, TEXT.replace(old, new), do="preview")

    assert answer.status_code == 422
    told = words(answer)
    assert "This is no comparison yet. Nothing was created." in told
    assert said in told or "cannot be parsed" in said
    assert html.escape(new.split("\n")[-1], quote=False) in answer.text


def test_toml_is_read_too(api):
    text = (
        'name = "two"\ntask = "t"\nbudget = {trials = 2}\n[space.x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'
    )
    text += '[[arms]]\nlabel = "a"\n[[arms]]\nlabel = "b"\n'

    page = create(api, text, kind="toml", do="preview")

    assert '<option value="toml" selected>' in page.text
    assert create(api, text, kind="toml", seen=seen(page)).status_code == 303


def test_a_name_that_is_taken_is_told(api):
    assert create(api, seen=seen(create(api, do="preview"))).status_code == 303
    other = TEXT.replace("replicates: 8", "replicates: 9")

    answer = create(api, other, seen=seen(create(api, other, do="preview")))

    assert answer.status_code == 409
    assert "exists with another replicates" in words(answer)


def test_who_only_reads_is_offered_nothing_to_press(visitor):
    api = visitor("submit", "read")
    Bench(api).create()
    reader = visitor("read")

    page = reader.get("/comparisons/c")

    assert "data-write" in api.get("/comparisons/c").text
    assert "data-write" not in page.text
    assert "New comparison" not in reader.get("/comparisons").text
    assert reader.post("/comparisons/c", data={"do": "pause"}).status_code == 403
    assert reader.get("/new/comparison").status_code == 403
    purge = {"do": "delete", "name": "c", "purge": "on"}
    assert "purge" not in api.get("/comparisons/c").text
    assert "admin" in words(api.post("/comparisons/c", data=purge))
    assert api.get("/comparisons/c").status_code == 200
