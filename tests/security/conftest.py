"""A server that wants tokens, with two projects of which neither is to know anything of the other."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient

from app.domain.access import CONSOLE, Scope
from app.domain.rate import Rates
from app.lifecycle import access
from app.main import build
from app.settings import Settings
from app.storage import open_store
from app.storage.schema import prepare
from tests.conftest import BACKENDS, MovableClock, a_database

X = {"x": {"type": "float", "low": 0, "high": 1}}
PROJECTS = ("ours", "theirs")


@dataclass
class Two:
    """The server, called as whoever is named, and what each project has."""

    client: TestClient
    tokens: dict[str, str] = field(default_factory=dict)
    names: dict[str, dict[str, str]] = field(default_factory=dict)  # of what is in each project

    def ask(self, who, method, path, *, body=None, **headers):
        """Ask as the owner of a token; of nobody's without one."""
        if who is not None:
            headers = {"authorization": f"Bearer {self.tokens[who]}"} | headers
        sends = method not in {"GET", "HEAD", "DELETE"}
        return self.client.request(
            method, path, headers=headers, json=body or {} if sends else None, follow_redirects=False
        )

    def made(self, who, method, path, **body):
        answer = self.ask(who, method, path, body=body)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None


@pytest.fixture(scope="module", params=BACKENDS)
def database(request, tmp_path_factory):
    """The address of an empty database, here one for all tests of a file."""
    with a_database(request, request.param, tmp_path_factory.mktemp("security")) as address:
        yield address


@pytest.fixture(scope="module")
def two(database):
    with _serving(database) as found:
        for project in PROJECTS:
            fill(found, project)
        yield found


@contextmanager
def _serving(database):
    store = open_store(database)
    prepare(store)
    admin = store.write(lambda tx: access.create(tx, CONSOLE, name="root", scopes=[Scope.ADMIN]))[1]
    store.close()
    settings = Settings(
        database=database, require_tokens=True, requests_per_second=0, allow_private_webhooks=True
    )
    app = build(settings)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        app.state.gate._wrong = Rates(1e6, 1e6, lambda: 0.0)  # thousands are guessed from one address here
        found = Two(client, {"root": admin})
        make_tokens(found)
        yield found


def make_tokens(two):
    store = two.client.app.state.house.store
    for project in PROJECTS:
        two.made("root", "POST", "/api/v1/projects", name=project)

    def make(name, *scopes, **options):
        made = store.write(lambda tx: access.create(tx, CONSOLE, name=name, scopes=scopes, **options))
        two.tokens[name] = made[1]

    make("expired", *Scope, valid_for=timedelta(hours=1))
    MovableClock(store).advance(timedelta(hours=1, seconds=1))
    make("revoked", *Scope)
    store.write(lambda tx: access.revoke(tx, CONSOLE, "revoked"))
    for scope in Scope:
        make(f"only-{scope}", scope)
    for project in PROJECTS:
        make(f"all-of-{project}", *Scope, project=project)
        make(f"works-for-{project}", Scope.WORK, project=project)
    two.tokens["wrong"] = "thiessen_" + "A" * 43
    two.tokens["empty"] = ""


def fill(two, project):
    """Put one of everything into a project; what its names are none of the other has."""
    at, who = f"/api/v1/projects/{project}", f"all-of-{project}"
    name = {kind: f"{kind}-of-{project}" for kind in ("study", "comparison", "worker", "task", "optuna")}
    offer = {"name": name["task"], "version": f"version-of-{project}", "description": f"words-of-{project}"}
    told = {"incarnation": "i", "tasks": [offer], "labels": {"of": f"label-of-{project}"}}
    two.made(who, "PUT", f"/api/v1/workers/{name['worker']}", **told)
    told = {"tags": [f"tag-of-{project}"], "notes": f"notes-of-{project}"}
    two.made(
        who, "POST", f"{at}/studies",
        name=name["study"], task=name["task"], space=X, strategy="random", max_trials=9, **told,
    )  # fmt: skip
    two.made(
        who, "POST", f"{at}/studies/{name['study']}/trials",
        trials=[{"config": {"x": 0.25 * each}, "outcome": {"value": 0.5}} for each in (1, 2)],
    )  # fmt: skip
    arms = [{"label": label, "settings": {"kind": label}} for label in "ab"]
    two.made(
        who, "POST", f"{at}/comparisons",
        name=name["comparison"], task=name["task"], space=X, arms=arms, budget={"trials": 1}, replicates=1,
        strategy="random",
    )  # fmt: skip
    wish = {"worker": name["worker"], "incarnation": "i", "request_id": project, "studies": [name["study"]]}
    [lease] = two.made(f"works-for-{project}", "POST", "/api/v1/leases", **wish)["leases"]
    study = two.made(who, "POST", f"{at}/optuna/studies", name=name["optuna"], directions=["minimize"])["id"]
    [trial] = two.made(who, "POST", f"{at}/optuna/studies/{study}/trials", trials=[{}])["trials"]
    webhook = two.made("root", "POST", "/api/v1/webhooks", url="http://127.0.0.1:9/", project=project)
    two.names[project] = name | {
        "lease": lease["lease_id"], "optuna study": str(study), "optuna trial": str(trial["id"]),
        "webhook": str(webhook["id"]),
    }  # fmt: skip
