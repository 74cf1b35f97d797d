"""What schemathesis cannot know: names of what exists, leases that live, and where its checks err about us.

It is loaded by schemathesis itself, in a process of its own; the test gives it the server by the environment.
"""

import itertools
import os
import random
import re
from http import HTTPStatus
from pathlib import Path

import httpx
import schemathesis
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import ignored_auth

SHARE = 0.7  # of the cases that get what exists; the others keep what was made up
X = {"x": {"type": "float", "low": 0, "high": 1}}
WRONG_LET_IN, INVALID_TAKEN, VALID_REFUSED = "ST401", "ST201", "ST202"  # as schemathesis numbers its failures
BEYOND_SCHEMAS = re.compile(r"is an integer[.;]|pattern .\^\[\^.{1,3}x00\]|no text has the character NUL")
UNHEARD = "x-schemathesis-unknown-property"

_chance = random.Random(1)
_numbers = itertools.count()
_server = httpx.Client(
    base_url=f"{os.environ['THIESSEN_URL']}/api/v1",
    headers={"authorization": f"Bearer {os.environ['THIESSEN_TOKEN']}"},
    timeout=30,
)
_answers = Path(os.environ["THIESSEN_ANSWERS"]).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115


def fresh():
    return f"fresh-{next(_numbers)}"


def posted(path, **body):
    answer = _server.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


def a_study(at):
    name = fresh()
    return posted(f"{at}/studies", name=name, task=name, space=X, strategy="random")["name"]


def a_comparison(at):
    name, arms = fresh(), [{"label": label, "settings": {"kind": label}} for label in "ab"]
    spent = {"budget": {"trials": 1}, "replicates": 1, "strategy": "random"}
    return posted(f"{at}/comparisons", name=name, task=name, space=X, arms=arms, **spent)["name"]


def a_trial(at, name):
    [added] = posted(f"{at}/studies/{name}/trials", trials=[{"config": {"x": _chance.random()}}])["trials"]
    return added["trial"]


def a_lease():
    task = a_study("")
    wish = {"worker": "w", "incarnation": "i", "request_id": fresh(), "tasks": [task]}
    return posted("/leases", **wish)["leases"][0]["lease_id"]


def a_project():
    return posted("/projects", name=fresh())["name"]


def a_token():
    return posted("/tokens", name=fresh(), scopes=["read"])["name"]


def a_webhook():
    return posted("/webhooks", url="http://127.0.0.1:9/")["id"]


def a_study_of_optuna(at):
    return posted(f"{at}/optuna/studies", name=fresh(), directions=["minimize"])["id"]


def a_trial_of_optuna(at):
    [added] = posted(f"{at}/optuna/studies/{a_study_of_optuna(at)}/trials", trials=[{}])["trials"]
    return added["id"]


def a_worker():
    name = fresh()
    _server.put(f"/workers/{name}", json={"incarnation": "i", "tasks": [{"name": "t"}]}).raise_for_status()
    return name


def name_what_exists(path, parameters):
    at = ""
    if path.endswith("/projects/{project}"):
        parameters["project"] = a_project()
    elif "project" in parameters:
        parameters["project"] = "default"
        at = "/projects/default"
    if "{lease_id}" in path:
        parameters["lease_id"] = a_lease()
    elif "/webhooks/" in path:
        parameters["webhook_id"] = a_webhook()
    elif "/tokens/" in path:
        parameters["name"] = a_token()
    elif "/workers/" in path:
        parameters["name"] = a_worker()
    elif "/tasks/" in path:
        a_worker()
        parameters["name"] = "t"
    elif "{name}" in path:
        parameters["name"] = a_comparison(at) if "/comparisons/" in path else a_study(at)
        if "number" in parameters:
            parameters["number"] = a_trial(at, parameters["name"])


def name_what_optuna_has(parameters):
    at = ""
    if "project" in parameters:
        parameters["project"] = "default"
        at = "/projects/default"
    if "study_id" in parameters:
        parameters["study_id"] = a_study_of_optuna(at)
    if "trial_id" in parameters:
        parameters["trial_id"] = a_trial_of_optuna(at)


def fit_together(path, body):
    for each in (body, *body.get("trials", [])):
        write_as_optuna(each)
    if path.endswith("/studies"):
        body |= {"name": fresh()}


def write_as_optuna(body):
    """Let what a storage of Optuna sends be what Optuna writes."""
    for name in {"user_attributes", "system_attributes"} & body.keys():
        body[name] = dict.fromkeys(body[name], '"text"')
    for name in body.get("params", {}):
        body["params"][name] = {
            "value": 0.5,
            "distribution": '{"name": "FloatDistribution", "attributes": {}}',
        }
    if body.get("values") is not None or body.get("state") == "complete":
        body["values"] = [0.5]


def mean_something(path, body):
    """Put into a body what fits together; the rest of it stays as it was made up."""
    if "/optuna/" in path:
        fit_together(path, body)
        return
    match path.rsplit("/", 1)[-1]:
        case "studies":
            body |= {"name": fresh(), "task": "t", "space": X, "strategy": "random"}
        case "comparisons":
            arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
            spent = {"budget": {"trials": 1}, "replicates": 1, "strategy": "random", "confirm": None}
            body |= {"name": fresh(), "task": "t", "settings": {}, "space": X, "arms": arms} | spent
        case "trials":
            for trial in body["trials"]:
                trial["config"] = {"x": _chance.random()}
        case "webhooks":
            body |= {"url": "http://127.0.0.1:9/", "project": "default", "study": None}
        case "heartbeat":
            body["reports"] = body.get("reports", [])[:1]
        case "tokens":
            body |= {"name": fresh(), "project": None}
        case "projects":
            body |= {"name": fresh()}


@schemathesis.hook
def before_call(context, case, kwargs):
    del context, kwargs
    path, body = case.operation.path, case.body
    if (
        isinstance(body, dict)
        and isinstance(body.get("wait_seconds"), int | float)
        and body["wait_seconds"] > 0.01
    ):
        body["wait_seconds"] = 0.01  # else most of the time would be waited
    if "/tokens/" in path and case.path_parameters.get("name") == "admin":
        case.path_parameters["name"] = a_token()  # not the one that all of this is asked with
    if path.endswith("/projects/{project}") and case.path_parameters.get("project") == "default":
        case.path_parameters["project"] = a_project()  # not the one in which all of this happens
    if (
        case.meta is None
        or case.meta.generation.mode is not GenerationMode.POSITIVE
        or (case.method != "DELETE" and _chance.random() > SHARE)  # what is gone was there only once
    ):
        return
    if "/optuna/" in path:
        name_what_optuna_has(case.path_parameters)
    elif "/compare/" in path:
        case.query["study"] = [a_study("/projects/default") for _ in range(2)]
        case.query.pop("x", None)
        case.query.pop("y", None)
        case.path_parameters |= {"figure": "arms"} | ({"project": "default"} if "project" in path else {})
    elif path.endswith(("/profile", "/profile/figure")):
        case.path_parameters |= {"project": "default"} if "project" in path else {}
        case.query["comparison"] = [a_comparison("/projects/default")]
    else:
        name_what_exists(path, case.path_parameters)
    if isinstance(body, dict) and (case.method == "POST" or "/optuna/" in path):
        mean_something(path, body)


@schemathesis.hook
def after_call(context, case, response):
    del context
    _answers.write(f"{case.method} {case.operation.path} {response.status_code}\n")
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        assert response.headers["content-type"] == ["application/problem+json"], response.headers
        assert response.json().keys() >= {"type", "title", "status", "detail", "request_id"}
    if (
        case.method == "PUT"
        and case.operation.path == "/api/v1/workers/{name}"
        and response.status_code == 200
    ):
        look_again(case.operation.schema)


def look_again(document):
    """Ask for the lists that a registration has changed: their calls take nothing that could vary."""
    for path in ("/api/v1/tasks", "/api/v1/workers"):
        case = document[path]["GET"].Case()
        answer = case.call(headers={"authorization": _server.headers["authorization"]})
        case.validate_response(answer, excluded_checks=[ignored_auth])  # which takes our token for made up


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Return whether it is a failure at all."""
    del context
    if failure.code == WRONG_LET_IN and "429" in failure.message:
        return False  # after ten wrong tokens an address is told to wait, whatever it sends
    if failure.code == VALID_REFUSED and BEYOND_SCHEMAS.search(response.text):
        return False  # to JSON Schema 1.0 is an integer, and it has no word for NUL deep inside a document
    # HTTP has everybody add headers: who does not know one passes over it.
    return not (failure.code == INVALID_TAKEN and UNHEARD in (case.headers or {}))
