import html
import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from app.dashboard.pages.new import _checked
from app.dashboard.sent import Form
from app.dashboard.study_form import OF_A_ROW, choices_of, document_of, form_of, options, written
from app.lifecycle import draft
from thiessen.contract import StudySpec
from thiessen.study_text import WrongText, read

SCHEMA = {"type": "object", "properties": {"lr": {"type": "number"}}, "additionalProperties": False}
GOOD = {
    "name": "digits",
    "task": "t",
    "space-0-name": "lr",
    "space-0-type": "float",
    "space-0-low": "0",
    "space-0-high": "1",
}
FULL = {
    **GOOD, "rows": "4", "space-0-low": "1e-4", "space-0-log": "on",
    "space-1-name": "layers", "space-1-type": "int", "space-1-low": "1", "space-1-high": "8",
    "space-2-name": "act", "space-2-type": "categorical", "space-2-choices": "relu, tanh, 3",
    "space-3-name": "bias", "space-3-type": "boolean",
    "strategy": "biased_random:thesis", "direction": "maximize", "max_trials": "7", "max_gpu_hours": "2.5",

    "max_updates": "5000", "max_seconds": "90.5", "target": "0.9",
    "seed": "3", "max_running": "2", "max_attempts": "1", "gpus": "1", "gpu_memory_gb": "12",
    "stopping": "threshold", "stopping-metric": "loss", "stopping-threshold": "4",
    "deadline": "2099-01-31T18:00:00Z", "priority": "20", "tags": "a, b", "notes": "mine",
}  # fmt: skip
TEXT = """name: digits
task: t
space:
  lr: {type: float, low: 0, high: 1}
max_trials: 9
"""


def register(api):
    task = {
        "name": "t",
        "version": "7",
        "schema": SCHEMA,
        "spaces": {"sgd": {"lr": {"type": "float", "low": 0.5, "high": 2}}},
    }
    told = {"incarnation": "i", "slots": [{"name": "a"}, {"name": "b"}], "tasks": [task]}
    assert api.put("/api/v1/workers/w", json=told).status_code == 200


def post(api, path="/new", **form):
    return api.post(path, data=form, follow_redirects=False)


def study_of(api, name="digits"):
    return api.get(f"/api/v1/studies/{name}").json()


def wrong_at(page, field):
    return html.unescape(page.split(f'id="wrong-{field}">')[1].split("</p>")[0])


def test_the_form_offers_tasks_strategies_and_spaces_to_begin_with(api):
    register(api)
    page = html.unescape(api.get("/new").text)

    assert '<option value="t">version 7</option>' in page
    assert [key in page for key in ("biased_random, preset adaptive", "quasi_random", "optuna:tpe")] == [
        True
    ] * 3
    assert "100 trials on 2 slots: 50 rounds, one after the other." in page
    begun = html.unescape(api.get(*re.findall('href="(./new[?][^"]*)"', page)).text)
    for field, value in (
        ("name", "t"),
        ("space-0-name", "lr"),
        ("space-0-low", "0.5"),
        ("space-0-high", "2"),
    ):
        assert f'name="{field}" type="text" value="{value}"' in begun
    assert api.get("/new?task=t&space=nothing").status_code == 200


def test_the_first_option_is_the_usual_strategy():
    document, _ = document_of(Form({name: [text] for name, text in GOOD.items()}))
    usual = draft.spec(StudySpec.model_validate(document | {"strategy": "biased_random"}))
    assert draft.spec(StudySpec.model_validate(document)) == usual
    assert options()[0].key == "biased_random:adaptive"


@pytest.mark.row(265)
def test_a_form_creates_the_study_that_it_says(api):
    answer = post(api, **FULL)

    assert (answer.status_code, answer.headers["location"]) == (303, "./studies/digits")
    found = study_of(api)
    assert found["space"] == {
        "lr": {"type": "float", "low": 0.0001, "high": 1.0, "log": True},
        "layers": {"type": "int", "low": 1, "high": 8},
        "act": {"type": "categorical", "choices": ["relu", "tanh", 3]},
        "bias": {"type": "boolean"},
    }
    assert found["strategy"]["acceptance"] is not None
    assert found["requires"] == {"gpus": 1, "gpu_memory_gb": 12.0, "labels": {}}
    assert found["stopping"] == {"rule": "threshold", "metric": "loss", "threshold": 4.0, "warm_up": 0.0}
    for name in ("direction", "notes"):
        assert found[name] == FULL[name]
    for name in (
        "max_trials", "max_gpu_hours", "max_updates", "max_seconds", "target", "seed", "max_running",
        "max_attempts", "priority",
    ):  # fmt: skip
        assert found[name] == float(FULL[name])
    assert (found["tags"], found["deadline"]) == (["a", "b"], "2099-01-31T18:00:00Z")
    assert post(api, **FULL).status_code == 303  # the same again is the same study
    events = api.get("/api/v1/studies/digits/events").json()["events"]
    assert [each["kind"] for each in events] == ["study.created"]


def test_a_study_of_another_project_is_created_there_and_one_may_be_named_new(api):
    api.post("/api/v1/projects", json={"name": "lab"})

    answer = post(api, "/projects/lab/new", **GOOD | {"name": "new"})

    assert answer.headers["location"] == "../../projects/lab/studies/new"
    assert "<h1>new</h1>" in api.get("/projects/lab/studies/new").text
    assert "New study" in api.get("/projects/lab/new").text


@pytest.mark.row(265)
@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"name": ""}, "name", "This is needed."),
        ({"name": "no name"}, "name", "Letters, digits, dot"),
        ({"name": "taken", "max_trials": "5"}, "name", "A study 'taken' exists with another"),
        ({"task": ""}, "task", "This is needed."),
        ({"space-0-low": "x"}, "space-0-low", "A number is needed."),
        ({"space-0-low": "2"}, "space-0-low", "low 2 is above high 1; swap them."),
        ({"space-0-low": "", "space-0-type": "int"}, "space-0-low", "This is needed."),
        ({"space-0-type": "int", "space-0-low": "0.5"}, "space-0-low", "A whole number is needed."),
        ({"space-0-type": "categorical"}, "space-0-choices", "At least 1 is"),
        ({"space-0-type": "odd"}, "space-0-name", "'odd'"),
        ({"space-0-name": ""}, "space-0-name", "This is needed."),
        ({"space-1-name": "lr", "space-1-low": "0"}, "space-1-name", "Another dimension has this name."),
        ({"space-0-name": "other"}, "space-0-name", "not one of task 't'"),
        ({"strategy": "rndom"}, "strategy", "did you mean 'random'?"),
        ({"max_trials": "many"}, "max_trials", "A whole number is needed."),
        ({"max_trials": "0"}, "max_trials", "At least 1."),
        ({"max_gpu_hours": "-1"}, "max_gpu_hours", "Above 0"),
        ({"deadline": "tomorrow"}, "deadline", "A time is written out with its offset"),
        ({"stopping": "median"}, "stopping-metric", "This is needed."),
        ({"stopping": "odd", "stopping-metric": "m"}, "stopping", "'odd'"),
        ({"gpus": "x"}, "gpus", "A whole number is needed."),
        ({"tags": "a b"}, "tags", "Letters, digits, dot"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_typed_is_lost(api, changed, field, said):
    register(api)
    assert post(api, **GOOD | {"name": "taken"}).status_code == 303
    form = GOOD | changed

    answer = post(api, **form)

    assert answer.status_code in {409, 422}
    assert said in wrong_at(answer.text, field)
    assert f'<a href="#{field}">' in answer.text.split('id="faults"')[1].split("</section>")[0]
    for name in (
        "name",
        "task",
        "max_trials",
        "deadline",
        "tags",
        "space-0-name",
        "space-0-low",
        "space-1-name",
    ):
        if name in form:
            assert f'id="{name}" name="{name}" type="text" value="{form[name]}"' in answer.text
    is_folded = field in {"deadline", "stopping-metric", "stopping", "gpus", "tags"}
    assert ('<details class="advanced" open>' in answer.text) >= is_folded
    assert api.get("/api/v1/studies").json()["studies"][1:] == []


def test_the_summary_names_each_field_as_its_label_does(api):
    page = post(api, **GOOD | {"name": "", "space-0-low": "x", "gpus": "x"}).text

    told = re.findall(
        '<a href="#([^"]*)">([^<]*): [^<]*</a>', page.split('id="faults"')[1].split("</section>")[0]
    )
    assert told == [
        ("name", "Name"),
        ("space-0-low", "Dimension 1, low"),
        ("gpus", "GPUs that a slot must have"),
    ]
    for field, label in told[::2]:
        assert f'<label for="{field}">{label}</label>' in page


def test_a_quota_is_told_at_no_field(api):
    api.post("/api/v1/projects", json={"name": "lab", "max_studies": 0})

    answer = post(api, "/projects/lab/new", **GOOD)

    assert answer.status_code == 409
    assert "has its 0 studies" in answer.text


def test_more_rows_and_a_check_create_nothing(api):
    longer = post(api, "/new/more", **GOOD | {"rows": "3"})
    assert (longer.status_code, longer.text.count('class="dimension"')) == (200, 6)
    assert 'id="space-0-name" name="space-0-name" type="text" value="lr"' in longer.text
    assert post(api, "/new/more", **GOOD | {"rows": "999"}).text.count('class="dimension"') == 256

    checked = post(api, "/new/check", **GOOD | {"name": "no name", "max_trials": "4"})
    assert (checked.status_code, wrong_at(checked.text, "task")) == (200, "")
    assert "Letters" in wrong_at(checked.text, "name")
    assert "No worker is connected" in checked.text
    assert api.get("/api/v1/studies").json()["studies"] == []


def test_text_creates_a_study_and_the_same_as_a_sweep(api):
    assert post(api, "/new/yaml", text=TEXT.replace("\n", "\r\n")).headers["location"] == "../studies/digits"
    assert study_of(api)["max_trials"] == 9
    sweep = "name: tuned\nmethod: random\nparameters: {lr: {min: 0.0, max: 1.0}}\n"
    assert post(api, "/new/yaml", text=sweep).headers["location"] == "../studies/tuned"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TEXT.replace("float", "flaot"), 4, "space.lr"),
        (TEXT.replace("9", "0"), 5, "max_trials"),
        (TEXT.replace("task: t\n", ""), None, "task: is missing"),
        ("name: [\n", 2, "while parsing"),
        ("a: &a [1]\nb: *a\n", 2, "write it out here"),
        (TEXT.replace("high: 1", "high: -1"), None, "swap them"),
        (TEXT + "strategy: rndom\n", None, "did you mean"),
        ("", None, "the document"),
        ("x" * 100_001, None, "is longer than 100,000 characters"),
        (TEXT.replace("digits", "taken"), None, "exists with another"),
    ],
)
def test_what_is_wrong_in_a_text_is_told_with_its_line_and_the_text_stays(api, text, line, said):
    post(api, **GOOD | {"name": "taken"})

    answer = post(api, "/new/yaml", text=text)

    assert answer.status_code in {409, 422}
    faults = html.unescape(answer.text.split('id="faults"')[1].split("</section>")[0])
    assert said in faults
    assert (f"Line {line}:" in faults) if line else ("Line" not in faults)
    if line and line <= len(text.splitlines()):
        assert f"<code>{text.splitlines()[line - 1].strip()}</code>" in faults
    assert html.unescape(answer.text.split('rows="24"')[1].split(">\n", 1)[1].split("</textarea>")[0]) == text


def test_a_form_becomes_text_and_a_text_becomes_a_form(api):
    page = post(api, "/new/to-yaml", **FULL).text
    text = html.unescape(page.split('aria-describedby="hint-text">\n')[1].split("</textarea>")[0])
    assert yaml.safe_load(text)["space"]["act"]["choices"] == ["relu", "tanh", 3]

    back = html.unescape(post(api, "/new/to-form", text=text).text)
    for name in (
        "name",
        "task",
        "space-0-low",
        "space-2-choices",
        "max_gpu_hours",
        "max_updates",
        "max_seconds",
        "stopping-metric",
        "tags",
        "priority",
    ):
        [value] = re.findall(f'id="{name}" name="{name}" type="text" value="([^"]*)"', back)
        assert choices_of(value) == choices_of(FULL[name])
    assert 'value="biased_random:thesis" checked' in back
    assert 'name="space-0-log" checked' in back

    when = TEXT.replace("high: 1}", "high: 1}\n  b: {type: boolean, when: {lr: [1]}}") + "retry: []\n"
    kept = html.unescape(post(api, "/new/to-form", text=when).text)
    assert "no room for retry, space.b.when" in kept
    assert when in kept
    assert "Line 5" in post(api, "/new/to-form", text=TEXT.replace("9", "0")).text
    assert "Another dimension" in post(api, "/new/to-yaml", **GOOD | {"space-1-name": "lr"}).text


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


@given(st.lists(SCALARS, min_size=1))
@example(["a, b", "c"])
@example(["true", True, "1", 1])
@example(["NaN", "[1]", '"'])
def test_choices_are_read_as_they_were_written(choices):
    found = choices_of(written(choices))
    assert [(type(each), each) for each in found] == [(type(each), each) for each in choices]


NUMBERS = st.floats(-1e6, 1e6) | st.integers(-100, 100)
DIMENSIONS = st.one_of(
    st.builds(
        lambda low, high, log: {"type": "float", "low": low, "high": high, "log": log},
        NUMBERS,
        NUMBERS,
        st.booleans(),
    ),
    st.builds(
        lambda low, high: {"type": "int", "low": low, "high": high}, st.integers(-9, 9), st.integers(-9, 9)
    ),
    st.builds(
        lambda kind, choices: {"type": kind, "choices": choices},
        st.sampled_from(["categorical", "ordinal"]),
        st.lists(
            SCALARS.filter(lambda each: not isinstance(each, str) or len(each) < 100), min_size=1, max_size=4
        ),
    ),
    st.just({"type": "boolean"}),
)
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True)
STRATEGIES = ["random", "grid", "optuna:tpe", "biased_random", {"name": "biased_random", "preset": "thesis"}]
RULES = [{"rule": "median", "metric": "m"}, {"rule": "threshold", "metric": "m", "threshold": 2.5}]
NEEDS = {"gpus": st.integers(0, 9), "gpu_memory_gb": st.floats(0, 9)}
SPACES = st.dictionaries(st.text("äb_.7-", min_size=1, max_size=5), DIMENSIONS, min_size=1, max_size=4)
SPECS = st.fixed_dictionaries(
    {"name": NAMES, "task": NAMES, "space": SPACES},
    optional={
        "strategy": st.sampled_from(STRATEGIES),
        "direction": st.sampled_from(["minimize", "maximize"]),
        "max_trials": st.integers(1, 99),
        "target": NUMBERS,
        "seed": st.integers(0, 9),
        "max_gpu_hours": st.floats(0.001, 9),
        "max_updates": st.integers(1, 9),
        "max_seconds": st.floats(0.001, 9),
        "max_running": st.integers(1, 9),
        "max_attempts": st.integers(1, 9),
        "stopping": st.sampled_from(RULES),
        "requires": st.fixed_dictionaries({}, optional=NEEDS),
        "tags": st.lists(NAMES, max_size=3),
        "priority": st.integers(1, 100),
    },
)


@given(SPECS)
def test_a_study_that_a_form_has_room_for_comes_out_of_it_as_it_went_in(document):
    spec = StudySpec.model_validate(document)
    form, left = form_of(spec)
    assert left == []

    again, faults = document_of(form)

    assert faults == []
    found = StudySpec.model_validate(again)
    usual = {"strategy": {"name": "biased_random", "preset": "adaptive"}}
    expected = spec.model_dump() | (usual if spec.strategy == "biased_random" else {})
    assert found.model_dump() == expected


FIELDS = sorted({*FULL, "space-1-log", "space-1-choices"})


@given(st.dictionaries(st.sampled_from(FIELDS), st.text()))
@example({"rows": "1e999", "space-0-name": "x", "space-0-low": "1e999"})
@example({"max_trials": "9" * 5000, "space-0-name": "x", "space-0-type": "boolean", "name": "a", "task": "b"})
def test_whatever_a_form_says_it_is_a_study_or_is_told(typed):
    spec, faults = _checked(Form({name: [text] for name, text in typed.items()}))
    assert (spec is None) == bool(faults)


@given(
    st.text() | st.from_regex(r"([a-z]{1,3}: [\[\]{}&*!?|>'\"%@`\-0-9:,a-z ]{0,9}\n){1,4}", fullmatch=True)
)
@example("a: 2027-99-99")
@example("[" * 2000)
@example("a: " + "9" * 5000)
@example("? [a]\n: b")
@example("method: x\nparameters: 3")
def test_whatever_a_text_is_it_is_a_study_or_is_told(text):
    with pytest.raises(WrongText) as refused:
        read(text, "yaml", "s", has_aliases=False)
    assert str(refused.value)


@pytest.mark.parametrize("scopes", [["read"], ["read", "work"]])
def test_who_may_not_submit_sees_no_link_and_is_refused(visitor, scopes):
    reader = visitor(*scopes)

    for path in ("/", "/workers", "/compare"):
        assert "/new" not in reader.get(path).text
    assert "New study" in visitor("read", "submit").get("/workers").text
    assert "This needs the scope submit" in html.unescape(reader.get("/new").text)
    for path in ("/new", "/new/check", "/new/more", "/new/yaml", "/new/to-yaml", "/new/to-form"):
        assert post(reader, path, **GOOD | {"text": TEXT}).status_code == 403


def test_a_form_of_another_site_creates_nothing(visitor):
    admin = visitor("admin")
    for path in ("/new", "/new/yaml"):
        forged = admin.post(path, data=GOOD | {"text": TEXT}, headers={"sec-fetch-site": "cross-site"})
        assert forged.status_code == 403
    assert admin.get("/api/v1/studies").json()["studies"] == []


def test_what_is_typed_is_never_markup(api):
    evil = '"><script>alert(1)</script>'
    names = {
        "name",
        "task",
        "max_trials",
        "deadline",
        "tags",
        "notes",
        "stopping-metric",
        "strategy",
        "direction",
        "rows",
    }
    form = dict.fromkeys(names | {f"space-0-{part}" for part in OF_A_ROW}, evil)
    for path in ("/new", "/new/check", "/new/more", "/new/to-yaml", "/new/yaml", "/new/to-form"):
        page = post(api, path, **form, text=evil).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
    assert "<script>alert" not in api.get("/new", params={"task": evil[:90], "space": evil}).text
