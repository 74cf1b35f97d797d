import json
import re
import tomllib

import httpx
import pytest
import typer
from typer.testing import CliRunner

from tests.conftest import address_of
from thiessen.cli.failure import CommandFailed
from thiessen.cli.main import build
from thiessen.client import Client
from thiessen.contract import LeaseRequest, Loss, OfferedTask, Pruned, Value, WorkerSpec
from thiessen.errors import Unauthorized
from thiessen.search import History, Observed, Proposed, Random, Stream
from thiessen.search.record import Record
from thiessen.space import Float, Space
from thiessen.version import __version__

STUDY = """
name = "s"
task = "t"
max_trials = 2

[space.x]
type = "float"
low = 0
high = 1
"""
COMMANDS = [
    ("serve",), ("worker",), ("demo",), ("best",), ("replay",), ("run",), ("doctor",),
    ("compare", "run"), ("compare", "plan"), ("compare", "list"), ("compare", "show"), ("compare", "watch"),
    ("compare", "report"), ("compare", "pause"), ("compare", "resume"), ("compare", "stop"),
    ("compare", "extend"), ("compare", "delete"), ("compare", "profile"), ("compare", "studies"),
    ("fleet", "ray"),
    ("study", "create"), ("study", "list"), ("study", "show"), ("study", "watch"), ("study", "pause"),
    ("study", "resume"), ("study", "stop"), ("study", "extend"), ("study", "export"), ("study", "import"),
    ("study", "figure"), ("study", "delete"), ("study", "schema"),
    ("trial", "show"), ("trial", "why"), ("trial", "retry"), ("trial", "cancel"),
    ("db", "upgrade"), ("db", "check"), ("db", "backup"), ("task", "list"), ("task", "space"),
    ("optuna", "import"), ("optuna", "export"),
    ("token", "create"), ("token", "list"), ("token", "revoke"),
]  # fmt: skip


def run(*arguments):
    return CliRunner().invoke(build(), [str(argument) for argument in arguments])


@pytest.mark.parametrize("command", [(), ("best",), ("study",), ("study", "create")])
def test_help_is_had_by_the_short_option_too(command):
    assert run(*command, "-h").output == run(*command, "--help").output
    assert run(*command, "-h").exit_code == 0


def test_the_list_of_commands_is_complete():
    app = typer.main.get_command(build())
    names = {(name,) for name, command in app.commands.items() if not hasattr(command, "commands")} | {
        (group, name) for group in app.commands for name in getattr(app.commands[group], "commands", {})
    }

    assert names == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command):
    said = run(*command, "--help")

    assert said.exit_code == 0
    assert f"Example: thiessen {' '.join(command)}" in said.output


def test_the_version_is_printed():
    assert run("--version").output.strip() == __version__


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_study_file_becomes_a_study_once(server, tmp_path, suffix):
    file = tmp_path / f"study.{suffix}"
    space = {"x": {"type": "float", "low": 0, "high": 1}}
    document = {"name": "s", "task": "t", "max_trials": 2, "space": space}
    file.write_text(STUDY if suffix == "toml" else json.dumps(document))

    for _ in range(2):
        said = run("study", "create", file, "--server", server.url)
        assert said.output == (
            "Study s is active: 2 trials of task t.\nNo worker has registered task 't' yet; there are none.\n"
        )


def test_the_progress_and_the_best_of_a_study_are_shown(server, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('strategy = { name = "grid", levels = 3 }' + STUDY)
    run("study", "create", file, "--server", server.url)
    assert "No trial of s has succeeded yet." in run("best", "s", "--server", server.url).output
    for number, loss in enumerate((0.5, 0.25)):
        request = LeaseRequest(worker="w", incarnation="i", request_id=str(number), tasks=["t"])
        server.complete(server.lease(request)[0].lease_id, Loss(loss=loss))

    shown = run("study", "show", "s", "--server", server.url).output
    best = run("best", "s", "--top", 1, "--server", server.url).output

    assert "s: completed (max_trials)\n2 of 2 trials finished (2 succeeded" in shown
    assert "\nproposed by grid (levels 3)\n" in shown
    assert re.search(r"│\s+1 │ 0.25 │\s+1 │", best)
    assert "│  0.5 │" not in best


def test_a_study_whose_task_nobody_offers_is_created_and_says_so(server, tmp_path):
    server.register("w", WorkerSpec(incarnation="i", tasks=[OfferedTask(name="classifier")]))
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace('task = "t"', 'task = "clasifier"'))

    said = run("study", "create", file, "--server", server.url).output

    assert "Study s is active: 2 trials of task clasifier." in said
    assert "No worker has registered task 'clasifier' yet; the nearest is 'classifier'." in said


def test_where_large_values_are_good_the_value_stands_beside_the_loss(server, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text('direction = "maximize"' + STUDY)
    run("study", "create", file, "--server", server.url)
    endings = (Value(value=0.75), Pruned(pruned=True, value=0.5))
    for number, ending in enumerate(endings):
        request = LeaseRequest(worker="w", incarnation="i", request_id=str(number), tasks=["t"])
        server.complete(server.lease(request)[0].lease_id, ending)

    shown = run("study", "show", "s", "--server", server.url).output
    best = run("best", "s", "--server", server.url).output

    assert "(1 succeeded, 0 diverged, 1 pruned, 0 failed, 0 cancelled)" in shown
    assert "best loss -0.75 (value 0.75) in trial 0" in shown
    assert re.search(r"rank ┃\s+loss ┃\s+value ┃", best)
    assert re.search(r"│\s+1 │ -0.75 │\s+0.75 │\s+0 │", best)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = = 1\n", "cannot be parsed: .*line 1"),
        ("name = 's'", "task: is missing"),
        (STUDY.replace("float", "flaot"), "space.x: .*'flaot'"),
        (STUDY.replace("max_trials = 2", "max_trials = 0"), "max_trials: is at least 1; got 0"),
    ],
)
def test_a_wrong_study_file_is_refused_naming_the_place(tmp_path, text, said):
    file = tmp_path / "study.toml"
    file.write_text(text)

    refused = run("study", "create", file)

    assert isinstance(refused.exception, CommandFailed)
    assert re.search(said, str(refused.exception)), refused.exception


def test_what_the_server_refuses_is_said(server, tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(STUDY.replace("high = 1", "high = -1"))

    for command in (("study", "create", file), ("study", "show", "nobody"), ("best", "no/body")):
        refused = run(*command, "--server", server.url)
        assert isinstance(refused.exception, CommandFailed), command
        assert re.search(r"swap them|no study 'nobody'|Nothing is at|name", str(refused.exception)), command


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "127.0.0.1:9", "http://[", "ftp://x"])
def test_a_server_that_does_not_answer_is_named(address):
    refused = run("study", "show", "s", "--server", address)

    assert isinstance(refused.exception, CommandFailed)
    assert address in str(refused.exception)


def test_a_file_that_is_not_there_is_named(tmp_path):
    refused = run("study", "create", tmp_path / "none.toml")

    assert "cannot read" in str(refused.exception)


def test_a_port_in_use_and_a_wrong_database_end_serve_with_a_sentence(programs, tmp_path):
    first = programs("serve", "--database", f"sqlite:///{tmp_path}/a.db", "--port", "0")

    port = address_of(first).rsplit(":", 1)[1]
    for options, said in (
        (("--port", port, "--database", f"sqlite:///{tmp_path}/b.db"), f"Cannot listen on 127.0.0.1:{port}"),
        (("--port", "0", "--database", f"sqlite:///{tmp_path}/a.db"), "Another server owns"),
        (("--port", "0", "--database", "mysql://x"), "not a database address"),
    ):
        refused = programs("serve", *options)
        assert refused.wait(120) == 1
        assert said in refused.log.read_text()
    assert not (tmp_path / "b.db").exists()


def test_the_schema_is_upgraded_by_hand_too(database):
    from app.storage.schema import OLDEST, revisions

    assert run("db", "upgrade", "--database", database).output == (
        f"The database is at schema {revisions()[-1]}, for servers that know {OLDEST} or a later one.\n"
    )


@pytest.fixture
def a_record(tmp_path):
    """Writes the record of four proposals by random search, each told its loss before the next."""

    def write(change=lambda _: None, **study):
        space = Space(x=Float(0.0, 1.0))
        history, trials, observations = History(space), [], []
        for number in range(4):
            proposal = Random().propose(space, history.landscape, number, Stream(1, number))
            trials.append(Proposed(number=number, config=proposal.config, watermark=number, turn=number))
            observations.append(Observed(seq=number + 1, trial=number, outcome="succeeded", loss=0.5))
            history.number(proposal.config)
            history.observe(observations[-1])
        record = Record(
            space=space,
            strategy=Random(),
            seed=1,
            duplicates="forbid",
            failures_repel=True,
            trials=trials,
            observations=observations,
        )
        document = record.to_json()
        document["study"] |= study
        change(document)
        file = tmp_path / "record.json"
        file.write_text(json.dumps(document))
        return file

    return write


def test_a_record_whose_proposals_are_computed_again_says_how_many(a_record):
    said = run("replay", a_record())

    assert (said.exit_code, said.stdout) == (0, "All 4 proposals match.\n")


def test_a_record_of_another_seed_names_the_first_proposal_that_differs(a_record):
    said = run("replay", a_record(seed=2))

    assert said.exit_code == 1
    sentence = (
        r"^0 of 4 proposals match. The config of trial 0 was stored as {'x': .* After it 3 more differ.$"
    )
    assert re.match(sentence, str(said.exception))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document.pop("format"), "record.json is not the record of a study: the document: "),
        (
            lambda document: document["trials"][1].update(watermark=3),
            "record.json is not the whole record of a study: observation 2 of trial 1",
        ),
        (
            lambda document: document["study"].update(strategy={"name": "optuna:tpe"}),
            "cannot be replayed: the strategy 'optuna:tpe' draws numbers that are not ours",
        ),
    ],
)
def test_a_record_that_cannot_be_replayed_is_refused_with_the_reason(change, said, a_record):
    assert re.search(said, str(run("replay", a_record(change)).exception))


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "\xff"], ids=["broken", "deep", "bytes"])
def test_a_file_that_is_no_json_is_refused_as_such(text, tmp_path):
    file = tmp_path / "record.json"
    file.write_bytes(text.encode("latin-1"))

    assert "record.json is not JSON: " in str(run("replay", file).exception)


def test_a_record_that_is_not_there_is_named(tmp_path):
    said = str(run("replay", tmp_path / "missing.json").exception)

    assert said == (
        f"cannot read {tmp_path}/missing.json: No such file or directory. "
        "With --server it is the name of a study."
    )


def test_a_server_elsewhere_without_tokens_is_refused_with_the_command_that_lets_it_start(
    database, programs, monkeypatch
):
    serve = ("serve", "--host", "0.0.0.0", "--port", "0", "--database", database)  # noqa: S104 - wants tokens
    refused = programs(*serve)
    assert refused.wait(120) == 1
    command = refused.log.read_text().split("start again: ")[1].strip()

    made = run(*command.split()[1:], *([] if "--database" in command else ["--database", database]))
    secret = made.stdout.strip()
    served = programs(*serve)
    address = f"http://127.0.0.1:{address_of(served).rsplit(':', 1)[1]}"

    monkeypatch.delenv("THIESSEN_TOKEN", raising=False)
    assert "This server wants a token" in str(run("best", "s", "--server", address).exception)
    monkeypatch.setenv("THIESSEN_TOKEN", f"{secret[:-4]}0000")
    assert "This token is not valid here" in str(run("best", "s", "--server", address).exception)
    monkeypatch.setenv("THIESSEN_TOKEN", secret)
    assert "There is no study 's'" in str(run("best", "s", "--server", address).exception)
    assert secret.removeprefix("thiessen_")[:8] not in refused.log.read_text() + served.log.read_text()


def test_tokens_are_made_listed_and_revoked_in_the_database(database):
    made = run("token", "create", "node-7", "--scope", "work", "--days", "90", "--database", database)

    assert re.fullmatch(r"thiessen_[A-Za-z0-9_-]{43}\n", made.stdout)
    assert made.stderr == "Token node-7 may work. Keep it; it is not shown again:\n"
    line = run("token", "list", "--database", database).stdout
    assert re.fullmatch(r"node-7: work, made [-0-9]+ [:0-9]+ by console, until [-0-9]+ [:0-9]+\n", line)
    assert run("token", "revoke", "node-7", "--database", database).stdout == "Token node-7 is revoked.\n"
    assert "revoked" in run("token", "list", "--database", database).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "a b", "--scope", "read"), "name: String should match pattern"),
        (("create", "ann", "--scope", "write"), "got 'write'"),
        (("create", "ann", "--scope", "read", "--project", "nowhere"), "There is no project 'nowhere'"),
        (("create", "server", "--scope", "read"), "that name is the server's own"),
        (("revoke", "ann"), "There is no token 'ann'"),
    ],
)
def test_a_token_that_cannot_be_ends_the_command_with_a_sentence(database, arguments, said):
    refused = run("token", *arguments, "--database", database)

    assert isinstance(refused.exception, CommandFailed)
    assert said in str(refused.exception)


def test_what_is_no_token_is_refused_without_being_repeated():
    with pytest.raises(Unauthorized) as refused:
        Client("http://127.0.0.1:9", token="thiessen_a b")  # noqa: S106 - no token

    assert "a b" not in str(refused.value)


def test_while_a_server_owns_a_file_its_tokens_are_made_over_http(server, database):
    made = run("token", "create", "ann", "--scope", "read", "--database", database)

    if database.startswith("sqlite"):
        assert "Another server owns" in str(made.exception)
    else:
        assert made.stdout.startswith("thiessen_")
    asked = httpx.post(f"{server.url}/api/v1/tokens", json={"name": "bob", "scopes": ["read"]})
    assert asked.json()["token"].startswith("thiessen_")


OFFER = OfferedTask.model_validate(
    {
        "name": "train",
        "version": "1",
        "description": "Train it.",
        "spaces": {
            "adam": {
                "lr": {"type": "float", "low": 1e-5, "high": 1, "log": True},
                "a b": {"type": "boolean"},
            },
            "odd": {"rule": {"type": "categorical", "choices": ["a", None]}},
            "sgd": {"rule": {"type": "categorical", "choices": ['a"b', "é"]}},
        },
    }
)


@pytest.fixture
def offering(server):
    assert "No worker has registered a task yet" in run("task", "list", "--server", server.url).output
    server.register("w", WorkerSpec(incarnation="i", tasks=[OFFER, OfferedTask(name="bare")]))
    return server


def test_the_tasks_that_workers_can_train_are_listed(offering):
    listed = run("task", "list", "--server", offering.url).output

    assert re.search(r"│ train\s+│ 1\s+│\s+1 │ adam, odd, sgd\s+│ Train it. ", listed)
    assert re.search(r"│ bare\s", listed)


@pytest.mark.parametrize(("options", "chosen"), [((), "adam"), (("--optimizer", "sgd"), "sgd")])
def test_a_suggested_space_is_printed_as_a_study_file(offering, tmp_path, options, chosen):
    file = tmp_path / "study.toml"
    file.write_text(run("task", "space", "train", *options, "--server", offering.url).output)

    created = run("study", "create", file, "--server", offering.url).output

    assert created.startswith(f"Study train-{chosen} is active: 40 trials of task train.\n")
    space = tomllib.loads(file.read_text())["space"]
    assert space == OFFER.model_dump(exclude_unset=True)["spaces"][chosen]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tran",), "No worker has registered a task 'tran'; the nearest is 'train'"),
        (("train", "--optimizer", "adm"), "suggests no space for 'adm'; the nearest is 'adam'"),
        (("bare",), "task 'bare' suggests no space"),
        (("train", "--optimizer", "odd"), "null"),
    ],
)
def test_a_space_that_cannot_be_printed_is_refused_with_what_there_is(offering, arguments, said):
    refused = run("task", "space", *arguments, "--server", offering.url)

    assert isinstance(refused.exception, CommandFailed)
    assert said in str(refused.exception)
