"""Spaces that nobody declares: what a trial asks for is what the study searches."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.programs import Program, Step, programs
from thiessen import Boolean, Categorical, Float, Int, Ordinal, Space, Study, Trial, minimize, open_study
from thiessen.errors import JournalDiffers, JournalError
from thiessen.integrations import KNOWN
from thiessen.journal import document
from thiessen.search.record import Record
from thiessen.search.strategy import StrategyError
from thiessen.space import MAX_DIMENSIONS, OpenSpace, SpaceError

SEARCHES = st.sampled_from(
    [
        {"name": "biased_random"},
        {"name": "biased_random", "preset": "thesis"},
        {"name": "biased_random", "pending": "believer", "neighbours": 2},
        {"name": "biased_random", "pending": "liar_mean"},
        {"name": "random"},
    ]
)


def branching(trial: Trial) -> float:
    lr = trial.float("lr", 1e-5, 1, log=True)
    if trial.boolean("deep"):
        return abs(trial.int("layers", 2, 8) - 4) + (math.log10(lr) + 1) ** 2
    return 3 + lr


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def record(path: Path) -> Record:
    return Record.from_json(document(lines(path)), KNOWN)


def proposals(path: Path) -> list[Any]:
    return [entry["trial"] for entry in lines(path) if "trial" in entry]


@pytest.mark.row(241)
def test_a_program_says_what_it_searches_while_it_runs() -> None:
    study = minimize(branching, trials=60, journal=None)
    assert set(study.space.dimensions) == {"lr", "deep", "layers"}
    assert all(("layers" in each.config) == each.config["deep"] for each in study.results())
    assert study.best is not None
    assert study.best.value is not None
    assert study.best.value < 0.1


def test_a_trial_has_what_was_asked_for_and_no_more() -> None:
    with open_study(None, "open", trials=3) as study:
        study.optimize(branching, trials=2)
        trial = study.ask()
        assert dict(trial) == trial.config == {}
        lr = trial.float("lr", 1e-5, 1, log=True)
        assert dict(trial) == {"lr": lr}
        assert trial.float("lr", 1e-5, 1, log=True) == lr
        with pytest.raises(KeyError):
            trial["deep"]


@pytest.mark.row(241)
def test_once_it_is_known_an_open_space_is_searched_as_a_declared_one(tmp_path: Path) -> None:
    space = Space(lr=Float(1e-4, 1.0, log=True), n=Int(1, 8), opt=Categorical(("sgd", "adam")))

    def asking(trial: Trial) -> float:
        lr, n = trial.float("lr", 1e-4, 1.0, log=True), trial.int("n", 1, 8)
        return (math.log10(lr) + 2) ** 2 + abs(n - 3) + (trial.categorical("opt", ["sgd", "adam"]) == "adam")

    first = minimize(asking, trials=40, journal=tmp_path / "open.jsonl", seed=3).results()[0]
    with open_study(tmp_path / "declared.jsonl", space, trials=40, seed=3) as declared:
        declared.enqueue(first.config)
        declared.optimize(asking)
    found = [
        [(each["config"], each["reasons"]) for each in proposals(tmp_path / name)[1:]]
        for name in ("open.jsonl", "declared.jsonl")
    ]
    assert found[0] == found[1]


def test_what_no_trial_has_had_is_the_same_for_the_same_seed_trial_and_name() -> None:
    def first(seed: int, name: str) -> float:
        return open_study(None, "open", seed=seed).ask().float(name, 0, 1)

    assert first(0, "a") == first(0, "a")
    assert len({first(0, "a"), first(1, "a"), first(0, "b")}) == 3
    with open_study(None, "open") as study:
        assert study.ask().float("a", 0, 1) != study.ask().float("a", 0, 1)


def test_every_kind_of_dimension_can_be_asked_for() -> None:
    def each(trial: Trial) -> float:
        real, whole = trial.float("real", 0, 1), trial.int("whole", 2, 10, step=4)
        assert type(real) is float
        assert type(whole) is int
        assert trial.categorical("choice", ["a", None, 1.5]) in {"a", None, 1.5}
        assert trial.ordinal("level", [1, 3, 9]) in {1, 3, 9}
        return real + whole + trial.boolean("on")

    space = minimize(each, trials=20, journal=None).space
    assert space.dimensions == {
        "real": Float(0, 1),
        "whole": Int(2, 10, 4),
        "choice": Categorical(("a", None, 1.5)),
        "level": Ordinal((1, 3, 9)),
        "on": Boolean(),
    }


def test_a_wider_range_widens_the_space() -> None:
    def wider(trial: Trial) -> float:
        low, high = (0, 1) if trial.number < 5 else (0.5, 4)
        x, n = trial.float("x", low, high), trial.int("n", int(4 * low), 4 * high, step=2)
        assert low <= x <= high
        return (x - 3) ** 2 + n

    with open_study(None, "open", trials=30) as study:
        study.optimize(wider, trials=5)
        assert study.space.dimensions == {"x": Float(0, 1), "n": Int(0, 4, 2)}
        study.optimize(wider)
        assert study.space.dimensions == {"x": Float(0, 4), "n": Int(0, 16, 2)}
        assert study.best is not None
        assert abs(study.best.config["x"] - 3) < 0.5  # type: ignore[operator]


LOWS = st.integers(-50, 50)


@st.composite
def ints(draw: st.DrawFn) -> Int:
    low = draw(LOWS)
    return Int(low, low + draw(st.integers(0, 60)), draw(st.integers(1, 9)))


@given(ints(), ints())
def test_the_wider_of_two_ranges_holds_the_values_of_both(one: Int, other: Int) -> None:
    wider = OpenSpace({"n": one}).holding({"n": other}).dimensions["n"]
    values = set(wider.values() or ())
    assert {*one.values(), *other.values()} <= values
    assert wider.canonical() == OpenSpace({"n": other}).holding({"n": one}).dimensions["n"].canonical()
    steps = [low - one.low for low in {*one.values(), *other.values()}]
    assert len(values) == 1 or wider.step == math.gcd(*steps)  # type: ignore[attr-defined] # no finer than it must be


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda trial: trial.int("x", 0, 1), "'x' is Float"),
        (lambda trial: trial.float("x", 0.1, 1, log=True), "give what is another thing another name"),
        (lambda trial: trial.categorical("kind", ["a", "c"]), "'kind' is Categorical"),
        (lambda trial: trial.ordinal("kind", ["a", "b"]), "'kind' is Categorical"),
        (lambda trial: trial.float("x", 2, 1), "'x': low 2 is above high 1"),
        (lambda trial: trial.float("x", -1e308, 1.7e308), "'x': the range"),
        (lambda trial: trial.float("", 0, 1), "no name of a dimension"),
        (lambda trial: trial.float("n" * 101, 0, 1), "no name of a dimension"),
        (lambda trial: trial.float(7, 0, 1), "no name of a dimension"),
        (lambda trial: trial.categorical("new", "abc"), "'new': choices is a list"),
        (lambda trial: trial.categorical("new", []), "'new': choices is a list"),
        (lambda trial: trial.int("new", 0, 1.5), "use a float"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_asked_for(ask: Any, said: str) -> None:
    with open_study(None, "open") as study:
        with study.ask() as trial:
            trial.float("x", 0, 1)
            trial.categorical("kind", ["a", "b"])
            trial.tell(1.0)
        trial = study.ask()
        with pytest.raises(SpaceError, match=said):
            ask(trial)
        assert trial.config == {}
        assert 0 <= trial.float("x", 0, 1) <= 1


def test_a_trial_has_one_value_for_a_name() -> None:
    trial = open_study(None, "open").ask()
    trial.float("x", 0, 1)
    with pytest.raises(SpaceError, match="asked for 'x' as"):
        trial.float("x", 0, 2)


def test_choices_in_another_order_are_the_same_choices() -> None:
    with open_study(None, "open", trials=2) as study:
        for choices in (["a", "b"], ["b", "a"]):
            with study.ask() as trial:
                assert trial.categorical("kind", choices) in choices
                trial.tell(1.0)

        assert [each.state for each in study.results()] == ["succeeded", "succeeded"]
        assert list(study.space.dimensions) == ["kind"]


def test_a_space_has_no_more_dimensions_than_any() -> None:
    trial = open_study(None, "open").ask()
    for at in range(MAX_DIMENSIONS):
        trial.float(f"x{at}", 0, 1)
    with pytest.raises(SpaceError, match=f"0 to {MAX_DIMENSIONS} dimensions"):
        trial.float("one more", 0, 1)


def test_of_two_that_asked_at_once_for_different_things_the_later_is_refused() -> None:
    with open_study(None, "open", trials=3) as study:
        one, other = study.ask(), study.ask()
        one.float("x", 0, 1)
        other.int("x", 0, 1)
        one.tell(1.0)
        with pytest.raises(SpaceError, match="'x' is Float"):
            other.tell(2.0)
        assert study.ended == 1


def test_a_declared_space_answers_with_what_it_declares() -> None:
    space = Space(
        lr=Float(1e-5, 1, log=True),
        deep=Boolean(),
        layers=Int(2, 8, when={"deep": [True]}),
        size=Ordinal([1, 2]),
    )
    study = open_study(None, space, trials=20)
    for trial in study:
        with trial:
            assert trial.float("lr", 1e-5, 1, log=True) == trial["lr"]
            assert trial.ordinal("size", [1, 2]) == trial["size"]
            if trial.boolean("deep"):
                assert trial.int("layers", 2, 8) == trial["layers"]
            else:
                with pytest.raises(SpaceError, match="'layers' is inactive"):
                    trial.int("layers", 2, 8)
            with pytest.raises(SpaceError, match="declared as"):
                trial.float("lr", 1e-5, 1)
            with pytest.raises(SpaceError, match="'momentum' is not a dimension"):
                trial.float("momentum", 0, 1)
            trial.tell(1.0)


def test_what_is_enqueued_is_given_where_it_fits() -> None:
    with open_study(None, "open", trials=3) as study:
        study.enqueue({"lr": 0.25, "layers": 99, "unasked": "x"})
        trial = study.ask()
        assert trial.float("lr", 0, 1) == 0.25
        assert 1 <= trial.int("layers", 1, 4) <= 4
        trial.tell(1.0)
        assert study.results()[0].config == {"lr": 0.25, "layers": trial["layers"]}
        assert set(study.space.dimensions) == {"lr", "layers"}
        with pytest.raises(SpaceError, match="cannot be written as JSON"):
            study.enqueue({"lr": math.inf})


def test_a_trial_tried_elsewhere_brings_its_dimensions() -> None:
    with open_study(None, "open") as study:
        with pytest.raises(SpaceError, match=r"no dimension is known for \['lr'\]"):
            study.add({"lr": 0.1}, 1.0)
        study.add({"lr": 0.1}, 1.0, Space(lr=Float(0, 1), unused=Boolean()))
        study.add({"lr": 0.2}, 2.0)
        with pytest.raises(SpaceError, match=r"'lr' cannot be 3\.0"):
            study.add({"lr": 3.0}, 2.0)
        assert study.space.dimensions == {"lr": Float(0, 1)}
        assert [each.config for each in study.results()] == [{"lr": 0.1}, {"lr": 0.2}]
    with open_study(None, Space(x=Float(0, 1))) as study, pytest.raises(SpaceError, match="was declared"):
        study.add({"x": 0.1}, 1.0, Space(x=Float(0, 1)))


@pytest.mark.parametrize("strategy", ["grid", "quasi_random"])
def test_who_lays_out_the_whole_space_needs_to_know_it(strategy: str, tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match=f"{strategy} lays .* Declare the space"):
        open_study(tmp_path / "x.jsonl", "open", strategy=strategy)


def test_a_study_is_open_because_it_was_said(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    with pytest.raises(JournalError, match='or "open"'):
        open_study(path)
    with pytest.raises(SpaceError, match='give the space, or "open"'):
        open_study(path, "opne")  # type: ignore[arg-type]
    open_study(path, "open").close()
    with open_study(path) as study:
        assert study.space.is_open
    with pytest.raises(JournalDiffers, match="whose space is"):
        open_study(path, Space(x=Float(0, 1)))


def test_a_borrowed_strategy_searches_an_open_space() -> None:
    study = minimize(branching, trials=15, journal=None, strategy="optuna:tpe")
    assert study.ended == 15


def test_a_journal_that_was_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    minimize(branching, trials=10, journal=path)
    entries = lines(path)
    [told] = [each["observation"] for each in entries if each.get("observation", {}).get("seq") == 1]
    told["asked"]["config"]["lr"] = 0.5
    changed = Record.from_json(document(entries), KNOWN)
    first = next(found for found in changed.replay() if found)
    assert str(first[0]).startswith("The config asked for of trial 0 was stored as {'lr': 0.5")


def in_one_go(program: Program, search: Any, path: Path | None, trials: int) -> Study:
    return minimize(
        program, trials=trials, journal=path, strategy=search, seed=5, catch=ZeroDivisionError, progress=False
    )


@settings(max_examples=25)
@given(programs(), SEARCHES, st.integers(1, 29))
@example(Program((Step("x", "float", (0.0, 1.0), 0, 1),)), {"name": "biased_random"}, 7)
def test_what_is_gone_on_with_is_as_in_one_go_and_replays(
    tmp_path_factory: pytest.TempPathFactory, program: Program, search: Any, first: int
) -> None:
    folder = tmp_path_factory.mktemp("journals")
    whole, parts = folder / "whole.jsonl", folder / "parts.jsonl"
    in_one_go(program, search, whole, 30).close()
    in_one_go(program, search, parts, first).close()
    in_one_go(program, search, parts, 30).close()
    assert proposals(whole) == proposals(parts)
    assert [each for each in record(whole).replay() if each] == []


@settings(max_examples=25)
@given(programs(), SEARCHES, st.lists(st.integers(0, 3), min_size=10, max_size=40))
def test_trials_that_overlap_replay(
    tmp_path_factory: pytest.TempPathFactory, program: Program, search: Any, order: list[int]
) -> None:
    path = tmp_path_factory.mktemp("journals") / "x.jsonl"
    running: list[Trial] = []
    with open_study(path, "open", trials=60, strategy=search) as study:
        for turn in order:
            if turn >= len(running):
                running.append(study.ask())
                continue
            with running.pop(turn) as trial:
                try:
                    trial.tell(program(trial))
                except ZeroDivisionError as error:
                    trial.fail(str(error))
    found = record(path)
    assert [each for each in found.replay() if each] == []
    again = Record.from_json(json.loads(json.dumps(found.to_json())), KNOWN)
    assert again == found


KILLED = """
import os, signal, sys
from tests.thiessen.test_open_space import branching
from thiessen import minimize

def dies(trial):
    value = branching(trial)
    if trial.number == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return value

minimize(dies, trials=30, journal=sys.argv[1])
"""


@pytest.mark.parametrize("number", [0, 1, 17])
def test_killed_in_the_middle_it_goes_on_with_the_same_proposals(tmp_path: Path, number: int) -> None:
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    minimize(branching, trials=30, journal=whole).close()
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(killed), str(number)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    minimize(branching, trials=30, journal=killed).close()
    assert lines(killed) == lines(whole)
