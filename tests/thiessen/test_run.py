"""The command that searches over the arguments of any program."""

import json
import math
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.conftest import address_of, wait_until
from thiessen import Categorical, Float, Int, Space, open_study
from thiessen.cli.main import build
from thiessen.client import Client
from thiessen.contract import StudyChanges

SPACE = Space(lr=Float(1e-5, 1.0, log=True), layers=Int(1, 8))
DIMENSIONS = ("--lr", "float(1e-5,1,log)", "--layers", "int(1,8)")
BOWL = """#!/bin/sh
# as a program of another language: --lr LR --layers LAYERS
awk "BEGIN { d = $4 - 3; print \\"begins\\"; printf \\"loss: %.17g\\\\n\\", $2 + d * d }"
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def script(text, name="train.sh"):
    Path(name).write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
    Path(name).chmod(0o755)
    return f"./{name}"


def run(*arguments, code=0):
    """Run the command; return what it says, of a failure the sentence."""
    said = CliRunner().invoke(build(), ["run", *map(str, arguments)])
    assert said.exit_code == code, said.output + str(said.exception)
    return said.output if code == 0 else said.output + str(said.exception)


def entries(journal="train.jsonl"):
    return [json.loads(line) for line in Path(journal).read_text().splitlines()]


def observations(journal="train.jsonl"):
    """Return what came of each trial, with what was told besides."""
    return [entry["observation"] | entry for entry in entries(journal) if "observation" in entry]


def bowl(trial):
    return trial["lr"] + (trial["layers"] - 3) ** 2


@pytest.mark.row(240)
def test_a_program_is_searched_as_a_function_is_and_gone_on_with():
    train = script(BOWL)
    said = run("--trials", 8, train, *DIMENSIONS)
    assert "train: 8 of 8 trials have ended (8 succeeded)." in said
    again = run("--trials", 12, train, *DIMENSIONS)

    alone = open_study(None, SPACE, trials=12).optimize(bowl)
    trials = [entry["trial"]["config"] for entry in entries() if "trial" in entry]
    assert trials == [each.config for each in alone.results()]
    assert [each["loss"] for each in observations()] == pytest.approx([e.value for e in alone.results()])
    assert f"in trial {alone.best.number}. Once more:" in again
    assert run("--trials", 12, train, *DIMENSIONS) == again  # nothing is left to try


def test_the_last_line_runs_the_best_once_more():
    train = script(BOWL)
    *_, best, command = run("--trials", 4, train, *DIMENSIONS).splitlines()
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602 - ours
    value = float(ran.stdout.split("loss:")[1])
    assert best.startswith(f"Best: {value:.6g} in trial ")
    assert command.startswith("THIESSEN_SEED=")


def test_values_come_by_the_environment_too():
    train = script('env | grep ^THIESSEN_ | sort > "env-$THIESSEN_TRIAL"; echo $THIESSEN_LR')
    run("--trials", 2, "--dimension", "lr=float(0,1)", "--dimension", "model.size=choice(s,m)", train)
    alone = open_study(
        None, Space(**{"lr": Float(0.0, 1.0), "model.size": Categorical(["s", "m"])}), trials=2
    )
    for trial in alone.optimize(lambda trial: trial["lr"]).results():
        told = dict(line.split("=", 1) for line in Path(f"env-{trial.number}").read_text().splitlines())
        assert json.loads(told["THIESSEN_CONFIG"]) == trial.config
        assert float(told["THIESSEN_LR"]) == trial.config["lr"]
        assert told["THIESSEN_MODEL_SIZE"] == trial.config["model.size"]
        assert (told["THIESSEN_TRIAL"], told["THIESSEN_SEED"]) == (str(trial.number), str(trial.seed))
        assert not Path(told["THIESSEN_RESULT"]).parent.exists()


def test_what_stands_in_no_argument_is_said_when_it_is_run_once_more():
    train = script("echo $THIESSEN_LR")
    command = run("--trials", 2, "--dimension", "lr=float(0,1)", train).splitlines()[-1]
    assert command.startswith("THIESSEN_LR=0.")
    assert 'THIESSEN_CONFIG=\'{"lr": 0.' in command


def test_a_program_is_not_given_the_token(monkeypatch):
    monkeypatch.setenv("THIESSEN_TOKEN", "thiessen_secret")
    train = script("echo ${THIESSEN_TOKEN:-1.5}")
    run("--trials", 1, train, "--x", "int(1,8)")
    assert observations()[0]["loss"] == 1.5


@pytest.mark.parametrize(
    ("does", "outcome", "value", "message"),
    [
        ("echo loss: 1.5", "succeeded", 1.5, ""),
        ("echo loss=1.5; echo saved to model.pt", "succeeded", 1.5, ""),
        ("echo 'Loss : 2'; echo '  value: -1.5e-3  '", "succeeded", -0.0015, ""),
        ("echo 1; echo .5", "succeeded", 0.5, ""),
        ("printf 'loss: 1\\r\\n'", "succeeded", 1.0, ""),
        ("printf 3", "succeeded", 3.0, ""),
        ("printf '50 %%\\rloss: 2\\rbye\\n'", "succeeded", 2.0, ""),
        ("echo loss: 1; echo 2 > $THIESSEN_RESULT", "succeeded", 2.0, ""),
        ('echo \'{"loss": 2, "epochs": 3}\' > $THIESSEN_RESULT', "succeeded", 2.0, ""),
        ("echo '{\"value\": NaN}' > $THIESSEN_RESULT", "diverged", None, ""),
        ("echo loss: nan", "diverged", None, ""),
        ("echo loss=-Infinity", "diverged", None, ""),
        ("echo loss: 1; exit 80", "diverged", None, ""),
        ("echo loss: 4; exit 81", "pruned", 4.0, ""),
        ("exit 81", "pruned", None, ""),
        ("echo loss: inf; exit 81", "pruned", None, ""),
        ("echo loss: 1; echo oh no >&2; exit 3", "failed", None, "it exited with 3:\noh no"),
        ("echo only printed; exit 1", "failed", None, "it exited with 1:\nonly printed"),
        ("kill -SEGV $$", "failed", None, "it was ended by SIGSEGV"),
        ("echo epoch 3 took 2.5 s", "failed", None, "let it print a last line such as 'loss: 0.123'"),
        ("echo val_loss: 3", "failed", None, "told no value"),
        ("echo loss: 1; echo much > $THIESSEN_RESULT", "failed", None, "no number, .*: 'much'"),
        ("echo '{\"acc\": 2}' > $THIESSEN_RESULT", "failed", None, "no JSON object with a loss or a value"),
        ("echo '{\"loss\": null}' > $THIESSEN_RESULT", "failed", None, "no number"),
    ],
)
def test_a_program_says_what_came_of_its_trial(does, outcome, value, message):
    """The first trial does so; the second one tells a value, so that the command has a best."""
    train = script(f"if [ $THIESSEN_TRIAL = 1 ]; then echo 9; exit; fi\n{does}")
    run("--trials", 2, train, "--x", "int(1,8)")
    told = observations()[0]
    assert (told["outcome"], told["loss"]) == (outcome, value)
    assert not message or re.search(message, told["message"])


def test_a_pattern_says_where_the_value_is():
    train = script("echo 'acc 0.5 f1 0.25'; echo 'acc 0.75 f1 0.5'; echo done in 3 s; echo 3")
    run("--trials", 1, "--loss-from", r"^acc (\S+)", "--maximize", train, "--x", "int(1,8)")
    assert observations()[0]["loss"] == -0.75  # the last match, and large is good
    run("--trials", 1, "--journal", "b.jsonl", "--loss-from", r"[\d.]+ s$", train, "--x", "int(1,8)", code=1)
    run("--trials", 1, "--journal", "c.jsonl", "--loss-from", r"[\d.]+(?= s$)", train, "--x", "int(1,8)")
    assert observations("c.jsonl")[0]["loss"] == 3


def test_a_command_line_that_is_wrong_ends_the_search_at_once():
    train = script("echo unrecognized arguments: --epohcs >&2; exit 2")
    said = run(train, "--x", "int(1,8)", "--epohcs", 3, code=1)
    assert "the first 3 trials all failed. The last one: it exited with 2:\nunrecognized arguments" in said
    assert len(observations()) == 2  # the third is tried again when the command is mended


def test_failures_among_values_are_told_and_nothing_ends():
    train = script("[ $(( THIESSEN_TRIAL % 4 )) = 0 ] && echo 1 && exit; echo bad >&2; exit 1")
    said = run("--trials", 8, train, "--x", "int(1,99)")
    assert "8 of 8 trials have ended (6 failed, 2 succeeded)" in said
    assert "The last failure: it exited with 1:\nbad" in said


def test_what_a_failed_program_printed_is_told_without_colours_and_steers_no_terminal():
    rubbish = r"printf 'a \033[31mred\033[0m \033]0;title\007 \377 word\n' >&2"
    train = script(f"[ $(( THIESSEN_TRIAL % 4 )) = 0 ] && echo 1 && exit; {rubbish}; exit 1")

    said = run("--trials", 8, train, "--x", "int(1,99)")

    assert "it exited with 1:\na red \\x1b]0;title\\x07 \ufffd word" in said


def test_nothing_that_succeeds_is_no_success():
    said = run("--trials", 2, script("exit 80"), "--x", "int(1,8)", code=1)
    assert "2 of 2 trials have ended (2 diverged).\nNone has succeeded." in said


def test_a_trial_that_takes_too_long_is_ended_with_all_it_started():
    train = script("[ $THIESSEN_TRIAL = 1 ] && echo 1 && exit; sleep 1000 & echo $! > child; wait")
    run("--trials", 2, "--time-limit", 0.2, train, "--x", "int(1,8)")
    assert observations()[0]["message"].endswith("it took longer than the 0.2 s of --time-limit")
    wait_until(lambda: not is_alive(int(Path("child").read_text())))


def test_what_ignores_the_first_signal_is_killed(monkeypatch):
    monkeypatch.setattr("thiessen.cli.program.GRACE_SECONDS", 0.2)
    train = script("[ $THIESSEN_TRIAL = 1 ] && echo 1 && exit; trap '' TERM; while :; do sleep 0.1; done")
    run("--trials", 2, "--time-limit", 0.2, train, "--x", "int(1,8)")
    assert "--time-limit" in observations()[0]["message"]


def test_several_run_at_a_time():
    train = script("""touch at-$THIESSEN_TRIAL
for turn in $(seq 500); do [ -e at-2 ] && echo $THIESSEN_TRIAL && exit; sleep 0.01; done""")
    run("--trials", 9, "--jobs", 3, train, "--x", "int(1,99)")  # the first ends only beside the third
    assert sorted(each["loss"] for each in observations()) == list(range(9))


def test_what_trials_print_can_be_kept():
    train = script("echo loss: 1; echo careful >&2")
    run("--trials", 1, "--logs", "printed", train, "--x", "int(1,8)")
    assert Path("printed/trial-0.out").read_text() == "loss: 1\n"
    assert Path("printed/trial-0.err").read_text() == "careful\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["./nothing", "--x", "int(1,8)"], "there is no program './nothing' here"),
        (["plain.py", "--x", "int(1,8)"], "as in thiessen run python ./plain.py"),
        (["./nameless", "--x", "int(1,8)"], "cannot start ./nameless: Exec format error"),
        (["./train.sh"], "1e-5,1,log)'. There are float, int, choice, ordinal, boolean, flag"),
        (["--study", "s", "./train.sh", "--x", "int(1,8)"], "--study names a study on a server"),
        (
            ["--server", "http://127.0.0.1:1", "--journal", "j", "./train.sh", "--x", "int(1,8)"],
            "one of them",
        ),
        (["--loss-from", "(", "./train.sh", "--x", "int(1,8)"], "is no regular expression"),
        (["--strategy", "psychic", "./train.sh", "--x", "int(1,8)"], "psychic"),
        (["--logs", "train.sh/deeper", "./train.sh", "--x", "int(1,8)"], "Choose other --logs"),
        (["--server", "nowhere", "./train.sh", "--x", "int(1,8)"], "is not an address"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_tried(arguments, said):
    script("echo 1")
    script("no interpreter", "nameless")
    Path("nameless").write_text("no interpreter")
    Path("plain.py").write_text("print(1)")
    assert said in run(*arguments, code=1)


def test_another_space_needs_another_journal():
    train = script("echo 1")
    run("--trials", 1, train, "--x", "int(1,8)")
    assert "Give another journal, or delete this one" in run(train, "--x", "int(1,9)", code=1)


def test_other_fixed_arguments_need_another_journal_and_another_interpreter_needs_none():
    train = "train.py"
    Path(train).write_text("print(1)")
    space = ("--x", "int(1,8)")
    run("--trials", 1, "python3", train, "--epochs", 10, *space)

    refused = run("python3", train, "--epochs", 20, *space, code=1)

    assert "whose command is train.py --epochs 10 --x '{x}'; here it is train.py --epochs 20" in refused
    assert "Give another journal, or delete this one" in refused
    assert "2 of 2 trials" in run("--trials", 2, sys.executable, train, "--epochs", 10, *space)


def test_a_journal_from_before_that_does_not_know_its_arguments_goes_on():
    train = script("echo 1")
    run("--trials", 1, train, "--x", "int(1,8)")
    head, *others = Path("train.jsonl").read_text().splitlines(keepends=True)
    head = json.loads(head)
    del head["study"]["command"]
    Path("train.jsonl").write_text(json.dumps(head) + "\n" + "".join(others))

    assert "2 of 2 trials" in run("--trials", 2, train, "--y", "1", "--x", "int(1,8)")


def test_the_study_is_named_after_the_file_that_runs():
    Path("my train.py").write_text("print(1)")
    run("--trials", 1, "python3", "my train.py", "--x", "int(1,8)")
    assert Path("my-train.jsonl").exists()
    run("--trials", 1, "echo", "x=int(1,8)", "--loss-from-is-its-own", code=1)
    assert Path("echo.jsonl").exists()


WAITING = """
trap 'echo $THIESSEN_TRIAL >> told; exit 7' INT TERM
touch began-$THIESSEN_TRIAL
if [ ! -e go ]; then while :; do sleep 0.02; done; fi
echo $THIESSEN_TRIAL
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reaches_the_programs_first_and_the_search_goes_on_later(programs, jobs, number, code):
    train = script(WAITING)
    command = ("run", "--trials", "4", "--jobs", str(jobs), train, "--x", "int(1,99)")
    process = programs(*command)
    wait_until(lambda: all(Path(f"began-{trial}").exists() for trial in range(jobs)))
    process.send_signal(number)
    assert process.wait(timeout=120) == code
    assert "Stopped: 0 of 4 trials have ended. The same command again goes on." in process.log.read_text()
    assert sorted(Path("told").read_text().split()) == ["0", "1"][:jobs]
    assert observations() == []

    Path("go").touch()
    run(*command[1:])
    assert sorted(each["loss"] for each in observations()) == [0, 1, 2, 3]
    alone = open_study(None, Space(x=Int(1, 99)), trials=4).optimize(lambda trial: trial.number)
    proposed = [entry["trial"]["config"] for entry in entries() if "trial" in entry]
    assert jobs > 1 or proposed == [each.config for each in alone.results()]


def test_a_program_that_ends_well_when_told_to_stop_has_its_value_kept(programs):
    train = script("trap 'echo 5; exit 0' INT; touch began; while :; do sleep 0.02; done")
    process = programs("run", train, "--x", "int(1,99)")
    wait_until(Path("began").exists)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    assert [each["loss"] for each in observations()] == [5.0]


def test_a_second_signal_ends_it_at_once(programs):
    train = script("trap 'touch told' INT; echo $$ > began; while :; do sleep 0.02; done")
    process = programs("run", train, "--x", "int(1,99)")
    wait_until(lambda: Path("began").exists() and Path("began").read_text())
    process.send_signal(signal.SIGINT)
    wait_until(Path("told").exists)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=5) == 130
    wait_until(lambda: not is_alive(int(Path("began").read_text())))


def is_alive(pid):
    """Return whether it runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_study_may_be_kept_on_a_server(server):
    train = script(BOWL)
    run("--trials", 4, "--server", server.url, train, *DIMENSIONS)
    said = run("--trials", 6, "--server", server.url, "--study", "train", train, *DIMENSIONS)
    assert "train: 6 of 6 trials have ended (6 succeeded)." in said
    columns = server.history("train").columns
    for value, lr, layers in zip(columns.value, columns.config["lr"], columns.config["layers"], strict=True):
        assert math.isclose(value, bowl({"lr": lr, "layers": layers}))
    assert not list(Path().glob("*.jsonl"))


def test_a_server_is_told_how_a_program_failed(server):
    train = script("[ $THIESSEN_TRIAL = 1 ] && echo 1 && exit; echo oh no >&2; exit 3")
    run("--trials", 2, "--server", server.url, train, "--x", "int(1,99)")
    [attempt] = server.trial("train", 0).attempts
    assert "it exited with 3:\noh no" in attempt.message


def test_a_stopped_program_gives_its_trial_back_to_the_server(server, programs):
    train = script(WAITING)
    command = ("run", "--trials", "2", "--server", server.url, train, "--x", "int(1,99)")
    process = programs(*command)
    wait_until(Path("began-0").exists)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    assert server.trial("train", 0).state == "queued"
    Path("go").touch()
    run(*command[1:])
    assert server.study("train").counts.succeeded == 2


def test_a_program_whose_study_was_stopped_is_ended(database, programs):
    served = programs("serve", "--database", database, "--port", "0", THIESSEN_LEASE_SECONDS="1")
    train = script("""[ $THIESSEN_TRIAL = 0 ] && echo 1 && exit
trap 'touch told; exit 7' TERM; touch began
while :; do sleep 0.02; done""")
    process = programs("run", "--trials", "9", "--server", address_of(served), train, "--x", "int(1,99)")
    wait_until(Path("began").exists)
    with Client(address_of(served)) as client:
        client.change_study("train", StudyChanges(state="stopped"))
    assert process.wait(timeout=120) == 0
    assert Path("told").exists()
    assert "The last failure: nobody wants it any more" in process.log.read_text()


def test_a_study_may_be_kept_in_a_database(database):
    run("--trials", 2, "--server", database, script("echo 1"), "--x", "int(1,8)")
    said = run("--trials", 3, "--server", database, script("echo 1"), "--x", "int(1,8)")
    assert "train: 3 of 3 trials have ended" in said
