"""Studies in this process: asked and told, minimised, stopped and gone on with."""

import json
import math
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from thiessen import Categorical, Float, Int, Pruned, Space, Study, Trial, minimize, open_study
from thiessen.cli.main import build
from thiessen.errors import Ended, InvalidRequest, JournalDiffers, JournalError, ResultDiffers
from thiessen.integrations import KNOWN
from thiessen.journal import Journal
from thiessen.search.record import Record
from thiessen.space import SpaceError

SPACE = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 8))


def bowl(trial: Trial) -> float:
    return float((math.log10(trial["lr"]) + 1) ** 2 + abs(trial["layers"] - 3))


def configs(study: Study) -> list[Any]:
    return [each.config for each in study.results()]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(path: Path) -> Record:
    entries = lines(path)
    document = entries[0] | {
        "trials": [entry["trial"] for entry in entries if "trial" in entry],
        "observations": [entry["observation"] for entry in entries if "observation" in entry],
    }
    return Record.from_json(document, KNOWN)


@pytest.mark.row(238)
def test_ten_lines_find_a_good_config(tmp_path: Path) -> None:
    study = minimize(bowl, SPACE, trials=60, journal=tmp_path / "bowl.jsonl")
    assert study.ended == study.max_trials == 60
    assert study.best is not None
    assert study.best.value == min(each.value for each in study.results() if each.value is not None)
    assert study.best.value < 0.05
    assert study.best.config["layers"] == 3


def test_the_journal_is_named_after_the_objective(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    minimize(bowl, SPACE, trials=2)
    assert (tmp_path / "bowl.jsonl").exists()


def test_a_lambda_has_no_journal_that_another_one_would_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ValueError, match=r"a lambda has no name for a journal.*journal=None"):
        minimize(lambda _: 1.0, SPACE, trials=2)

    assert minimize(lambda _: 1.0, SPACE, trials=2, journal=None).ended == 2
    assert minimize(lambda _: 1.0, SPACE, trials=2, journal="runs/one.jsonl").ended == 2
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


@pytest.mark.parametrize("trials", [0, -1, "5", 2.0])
def test_a_number_of_trials_that_is_none_is_refused(trials: Any) -> None:
    with pytest.raises(ValueError, match="trials is how many there will be in all, an integer from 1"):
        minimize(bowl, SPACE, trials=trials, journal=None)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", 2**53])
def test_a_seed_that_is_none_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed is what decides every proposal, an integer from 0"):
        minimize(bowl, SPACE, trials=2, seed=seed, journal=None)


@pytest.mark.parametrize("value", ["0.3", None, {"loss": 0.3}, (0.3, 1)])
def test_an_objective_that_returns_no_number_is_told_so(value: Any) -> None:
    with pytest.raises(TypeError, match=r"which is no number. Does the objective return its value"):
        minimize(lambda _: value, SPACE, trials=2, journal=None)


def test_a_study_that_cannot_begin_leaves_no_journal_behind(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"mistyped is new: give the space.*name a journal that is there"):
        open_study(tmp_path / "mistyped.jsonl")

    assert list(tmp_path.iterdir()) == []


def test_where_no_trial_is_left_the_bar_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"
    minimize(bowl, SPACE, trials=2, journal=path, progress=True)
    assert "none is left to try" not in capsys.readouterr().err

    minimize(bowl, SPACE, trials=2, journal=path, progress=True)

    told = " ".join(capsys.readouterr().err.split())
    assert "All 2 trials of bowl have ended before: none is left to try." in told


@pytest.mark.row(8)
def test_a_journal_is_replayed_by_the_command(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"
    minimize(bowl, SPACE, trials=12, journal=path)
    with path.open("a") as torn:
        torn.write('{"trial": {"num')

    def replayed() -> Any:
        return CliRunner().invoke(build(), ["replay", str(path)])

    assert "12" in replayed().output
    path.write_text(path.read_text().replace('"loss":', '"loss":9', 1))
    assert replayed().exit_code == 1


def test_its_proposals_are_those_of_the_search_and_replay(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"
    minimize(bowl, SPACE, trials=40, journal=path, seed=3)
    found = record(path)
    assert found.proposals == 40
    assert not any(found.replay())


def test_a_trial_is_a_mapping_and_has_a_seed_of_its_own() -> None:
    study = open_study(None, SPACE, trials=2)
    first, second = study.ask(), study.ask()
    assert dict(**first) == first.config
    assert len(first) == 2
    assert (first.number, second.number) == (0, 1)
    assert first.seed == open_study(None, SPACE).ask().seed
    assert len({first.seed, second.seed, open_study(None, SPACE, seed=1).ask().seed}) == 3


def test_ask_and_tell_until_the_budget_is_used_up() -> None:
    study = open_study(None, SPACE, trials=3)
    for trial in study:
        with trial:
            trial.tell(bowl(trial))
    assert [each.number for each in study.results()] == [0, 1, 2]
    with pytest.raises(Ended, match="has all its 3 trials"):
        study.ask()
    study.extend(4)
    assert study.ask().number == 3


def test_a_space_without_a_config_left_ends_the_study() -> None:
    study = open_study(None, Space(kind=Categorical(["a", "b"])), trials=10)
    study.optimize(lambda _: 1.0)
    assert study.ended == 2
    with pytest.raises(Ended, match="every config"):
        study.ask()


@pytest.mark.row(238)
def test_more_trials_go_on_where_fewer_ended(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"
    minimize(bowl, SPACE, trials=10, journal=path)
    asked: list[int] = []

    def counted(trial: Trial) -> float:
        asked.append(trial.number)
        return bowl(trial)

    more = minimize(counted, SPACE, trials=25, journal=path)
    assert asked == list(range(10, 25))
    assert configs(more) == configs(minimize(bowl, SPACE, trials=25, journal=None))


def test_what_raised_is_tried_again_when_the_study_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"

    def broken(trial: Trial) -> float:
        if trial.number == 4:
            raise ZeroDivisionError
        return bowl(trial)

    with pytest.raises(ZeroDivisionError):
        minimize(broken, SPACE, trials=10, journal=path)
    with open_study(path) as study:
        assert study.ended == 4
    mended = minimize(bowl, SPACE, trials=10, journal=path)
    assert configs(mended) == configs(minimize(bowl, SPACE, trials=10, journal=None))


def test_a_caught_error_fails_its_trial(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"

    def sometimes(trial: Trial) -> float:
        if trial.number == 1:
            raise ZeroDivisionError("by nothing")
        return bowl(trial)

    study = minimize(sometimes, SPACE, trials=3, journal=path, catch=ZeroDivisionError)
    assert [each.state for each in study.results()] == ["succeeded", "failed", "succeeded"]
    assert [entry["message"] for entry in lines(path) if "message" in entry] == [
        "ZeroDivisionError: by nothing"
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_a_value_that_is_not_finite_means_diverged(value: float) -> None:
    study = open_study(None, SPACE, trials=1).optimize(lambda _: value)
    assert [(each.state, each.value) for each in study.results()] == [("diverged", None)]
    assert study.best is None


def test_an_objective_that_returns_nothing_is_told_so() -> None:
    with pytest.raises(TypeError, match="trial 0 was told None, which is no number"):
        open_study(None, SPACE).optimize(lambda _: None)  # type: ignore[arg-type, return-value]


def test_a_trial_left_untold_is_told_so() -> None:
    with pytest.raises(ValueError, match="trial 0 ended untold"), open_study(None, SPACE).ask():
        pass


def test_large_values_are_good_where_the_study_maximises(tmp_path: Path) -> None:
    path = tmp_path / "bowl.jsonl"
    with open_study(path, SPACE, trials=30, direction="maximize") as study:
        study.optimize(lambda trial: -bowl(trial))
        best = study.best
    assert best is not None
    assert best.value == max(each.value for each in study.results() if each.value is not None)
    assert best.loss == -best.value
    assert configs(study) == configs(minimize(bowl, SPACE, trials=30, journal=None))
    with open_study(path) as again:
        assert (again.direction, again.best) == ("maximize", best)


def test_the_ranking_is_by_loss_then_by_number() -> None:
    study = open_study(None, SPACE, trials=4)
    for value in (2.0, 1.0, 1.0, math.nan):
        with study.ask() as trial:
            trial.tell(value)
    assert [each.number for each in study.ranking()] == [1, 2, 0]
    assert [each.number for each in study.ranking(1)] == [1]
    assert study.best == study.ranking(1)[0]


def test_an_enqueued_config_is_tried_next_and_survives(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    mine = {"lr": 0.5, "layers": 2}
    with open_study(path, SPACE, trials=5) as study:
        with study.ask() as trial:
            trial.tell(1.0)
        assert study.enqueue(mine) == 1
        assert lines(path)[-1] == {"trial": {"number": 1, "origin": "enqueued", "config": mine}}
        assert study.enqueue(mine) == 1  # it has its trial
        with pytest.raises(SpaceError, match="'layers'"):
            study.enqueue({"lr": 0.5, "layers": 20})
    with open_study(path) as again:
        assert again.ask().config == mine
        assert again.ask().number == 2


def test_what_was_tried_elsewhere_teaches_beside_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    mine = {"lr": 0.5, "layers": 2}
    with open_study(path, SPACE, trials=1) as study:
        assert study.add(mine, 0.25) == 0
        assert study.add({"lr": 0.25, "layers": 2}, math.nan) == 1
        assert study.add(mine, 0.125) == 0  # it has its trial
        with pytest.raises(SpaceError, match="'layers'"):
            study.add({"lr": 0.5, "layers": 20}, 0.0)
    with open_study(path) as again:
        assert [(each.state, each.value) for each in again.results()] == [
            ("succeeded", 0.25),
            ("diverged", None),
        ]
        with again.ask() as trial:
            assert trial.number == 2
            trial.tell(1.0)
        with pytest.raises(Ended, match="all its 1 trials"):
            again.ask()
        assert again.best == again.results()[0]
    assert not any(record(path).replay())


def test_a_second_telling_is_the_same_or_refused(tmp_path: Path) -> None:
    with open_study(tmp_path / "runs.jsonl", SPACE) as study:
        trial = study.ask()
        trial.tell(1.0)
        trial.tell(1.0)
        with pytest.raises(ResultDiffers, match="trial 0"):
            trial.tell(2.0)
    assert len([entry for entry in lines(tmp_path / "runs.jsonl") if "observation" in entry]) == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"space": Space(lr=Float(1e-4, 0.5, log=True), layers=Int(1, 8))}, "space"),
        ({"seed": 1}, "seed"),
        ({"strategy": "random"}, "strategy"),
        ({"direction": "maximize"}, "direction"),
        ({"stopping": {"rule": "median", "metric": "loss"}}, "stopping"),
    ],
)
def test_a_journal_of_another_study_is_refused(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    open_study(path, SPACE).close()
    with pytest.raises(JournalDiffers, match=f"of runs holds a study whose {named} is"):
        open_study(path, **{"space": SPACE, **change})
    open_study(path, SPACE).close()  # the refused one let go of it


def test_a_grid_stays_as_fine_as_its_first_budget_made_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    space = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0))
    first = minimize(lambda _: 1.0, space, trials=9, journal=path, strategy="grid")
    again = minimize(lambda _: 1.0, space, trials=100, journal=path, strategy="grid")
    assert configs(first) == configs(again)
    assert len(configs(first)) == 9


def test_a_new_journal_needs_a_space_and_a_closed_one_says_so(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="runs is new: give the space"):
        open_study(tmp_path / "runs.jsonl")
    study = open_study(tmp_path / "runs.jsonl", SPACE)
    study.close()
    with pytest.raises(JournalError, match="was closed"):
        study.ask()


def test_a_file_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text('{"some": "log"}\n')
    with pytest.raises(JournalError, match="the journal of runs cannot be read: the document: format is 1"):
        open_study(tmp_path / "runs.jsonl", SPACE)


def test_curves_stop_trials_that_fall_behind(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    rule = {"rule": "median", "metric": "loss", "min_curves": 3}

    def course(trial: Trial) -> float:
        level = 1.0 if trial.number < 5 else 2.0
        for step in range(1, 4):
            trial.report(step, loss=level / step, other=math.nan)
        return level / 3

    study = minimize(course, SPACE, trials=7, journal=path, stopping=rule)
    assert [each.state for each in study.results()] == ["succeeded"] * 5 + ["pruned"] * 2
    assert study.results()[-1].value == 2.0  # the last it reported
    [*_, last] = lines(path)
    assert last["curve"] == [[1, {"loss": 2.0, "other": "nan"}]]
    more = minimize(course, SPACE, trials=8, journal=path, stopping=rule)  # curves are remembered
    assert more.results()[-1].state == "pruned"


def test_steps_of_a_curve_rise_and_rules_are_checked() -> None:
    trial = open_study(None, SPACE).ask()
    trial.report(1, loss=1.0)
    with pytest.raises(ValueError, match="trial 0 reports step 1 after step 1"):
        trial.report(1, loss=1.0)
    with pytest.raises(InvalidRequest, match="percentile"):
        open_study(None, SPACE, stopping={"rule": "median", "metric": "loss", "percentile": 101})


def test_an_objective_may_prune_itself() -> None:
    def early(_: Trial) -> float:
        raise Pruned(4.0)

    study = open_study(None, SPACE, trials=1).optimize(early)
    assert [(each.state, each.value) for each in study.results()] == [("pruned", 4.0)]


@pytest.mark.row(8)
def test_several_threads_try_each_trial_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    together: set[int] = set()
    seen: list[int] = []
    barrier = threading.Barrier(3, timeout=20)

    def slowly(trial: Trial) -> float:
        if trial.number < 3:
            barrier.wait()  # only if three run at a time
        together.add(threading.get_ident())
        seen.append(trial.number)
        return bowl(trial)

    study = minimize(slowly, SPACE, trials=50, journal=path, n_jobs=3)
    assert sorted(seen) == list(range(50))
    assert len(together) == 3
    assert study.ended == 50
    assert not any(record(path).replay())


def test_an_error_in_a_thread_ends_the_others() -> None:
    def broken(trial: Trial) -> float:
        if trial.number == 5:
            raise ZeroDivisionError
        time.sleep(0.001)
        return 1.0

    study = open_study(None, SPACE, trials=10_000)
    with pytest.raises(ZeroDivisionError):
        study.optimize(broken, n_jobs=2)
    assert study.ended < 1000


def test_so_many_more_trials() -> None:
    study = open_study(None, SPACE, trials=10)
    assert study.optimize(bowl, trials=4).ended == 4
    assert study.optimize(bowl, trials=4, n_jobs=2).ended == 8
    assert study.optimize(bowl, trials=4).ended == 10


def test_a_data_frame_has_a_row_for_each_trial() -> None:
    frame = open_study(None, SPACE, trials=5).optimize(bowl).dataframe()
    assert list(frame.columns) == ["state", "value", "lr", "layers"]
    assert frame.index.name == "trial"
    assert len(frame) == 5
    assert frame["layers"].between(1, 8).all()


def test_a_bar_is_shown_on_demand(capfd: pytest.CaptureFixture[str]) -> None:
    open_study(None, SPACE, trials=5).optimize(bowl, progress=False)
    open_study(None, SPACE, trials=5).optimize(bowl)
    assert capfd.readouterr().err == ""
    open_study(None, SPACE, trials=5).optimize(bowl, progress=True)
    assert "5/5" in (shown := capfd.readouterr().err)
    assert "best" in shown


@given(
    operations=st.lists(
        st.sampled_from(["ask", "tell", "nan", "prune", "fail", "enqueue", "reopen"]), max_size=40
    ),
    seed=st.integers(0, 100),
)
@settings(deadline=None)
def test_whatever_happens_the_journal_is_the_study(
    operations: list[str], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A study that is opened anew knows what the old one did, and replays."""
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.unlink(missing_ok=True)
    study, running = open_study(path, SPACE, trials=12, seed=seed), list[Trial]()
    numbers = random.Random(seed)
    ends: dict[str, Callable[[Trial], None]] = {
        "tell": lambda trial: trial.tell(numbers.random()),
        "nan": lambda trial: trial.tell(math.nan),
        "prune": lambda trial: trial.prune(numbers.random()),
        "fail": lambda trial: trial.fail("for no reason"),
    }
    for operation in [*operations, "reopen"]:
        try:
            if operation == "ask":
                running.append(study.ask())
            elif operation == "enqueue":
                study.enqueue({"lr": 0.5, "layers": numbers.randint(1, 8)})
            elif operation == "reopen":
                known, best = study.results(), study.best
                study.close()
                study = open_study(path, SPACE, trials=12, seed=seed)
                assert (study.results(), study.best) == (known, best)
                begun = [entry["trial"]["number"] for entry in lines(path) if "trial" in entry]
                assert begun == list(range(len(begun)))
                assert len(begun) <= 12
                running = []
            elif running:
                ends[operation](running.pop(numbers.randrange(len(running))))
        except Ended:
            assert operation in {"ask", "enqueue"}
    study.close()
    assert not any(record(path).replay())


def story(path: Path) -> list[dict[str, Any]]:
    with Journal(path) as journal:
        return journal.entries


SCRIPT = """
import sys, time
from thiessen import Float, Int, Space, minimize
space = Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 8))
def train(config):
    time.sleep(float(sys.argv[2]))
    return (config["lr"] - 0.1) ** 2 + config["layers"]
minimize(train, space, trials=60, journal=sys.argv[1])
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_at_any_moment_the_same_script_goes_on(how: signal.Signals, tmp_path: Path) -> None:
    """The proposals are those of a run that nobody disturbed, and nothing told is told again."""
    script, path = tmp_path / "script.py", tmp_path / "killed.jsonl"
    script.write_text(SCRIPT)
    kills, moments = 0, random.Random(0)
    while True:
        before = len(story(path)) if path.exists() else 0
        with subprocess.Popen(
            [sys.executable, script, path, "0.01"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            enough = before + moments.randint(3, 30)
            while process.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < enough):
                time.sleep(0.002)
            time.sleep(moments.random() * 0.01)
            process.send_signal(how)
            if process.wait(timeout=120) == 0:
                break
            kills += 1
            assert len(story(path)) > before
    assert kills >= 3
    subprocess.run([sys.executable, script, tmp_path / "whole.jsonl", "0"], check=True)
    assert story(path) == story(tmp_path / "whole.jsonl")
