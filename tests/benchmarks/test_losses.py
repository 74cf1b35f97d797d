import importlib.machinery
import importlib.util
import itertools
import json
import math
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.optimizers.course import Course, Wanted, run
from benchmarks.optimizers.problems import SMALL, Read, read, written

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "optimizers" / "losses"


@pytest.fixture(scope="module")
def losses():
    loader = importlib.machinery.SourceFileLoader("losses", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("losses", loader))
    sys.modules["losses"] = module  # where its dataclasses look for themselves
    loader.exec_module(module)
    return module


def printed(*arguments):
    ran = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def a_course(train):
    return Course(
        steps=1,
        seconds=1.0,
        train=train,
        test=1.0,
        after_steps=None,
        plateau=1.0,
        left=None,
        versions={},
    )


@pytest.mark.parametrize("problem", ["curves", "cifar10"])
def test_every_method_has_a_row_and_every_peer_a_bar(problem):
    lines = printed("--quick", "--only", problem, "KFAC", "torch Adam")

    assert len([line for line in lines if line.startswith(("KFAC  ", "torch Adam  "))]) == 2
    [bar] = [line for line in lines if line.startswith(f"{problem}: KFAC beside torch Adam")]
    assert bar.endswith(("met", "MISSED"))
    assert lines[-1].startswith("torch ")


def test_without_its_files_a_problem_is_left_out_and_it_says_where_they_are_to_be_had(tmp_path):
    [line] = [line for line in printed("--only", "mnist", "KFAC", "--data", tmp_path) if "Left out" in line]

    assert f"MNIST is not in {tmp_path}" in line
    assert "https://" in line


def test_of_several_tries_the_lowest_loss_counts_and_none_that_is_no_number_or_failed(losses, monkeypatch):
    found = iter([a_course(math.nan), None, a_course(3.0), a_course(2.0)])
    monkeypatch.setattr(losses, "trained", lambda *_: next(found))
    method = losses.Method(name="Adam", tries=losses.rates(1.0, 2.0, 3.0, 4.0))

    assert losses.best(method, Path(), 1.0, steps=0, quick=False) == ({"lr": 4.0}, a_course(2.0))


@pytest.mark.parametrize(("steps", "asked"), [(60, 60), (2, 0)])
def test_ours_goes_on_for_as_many_steps_as_kfac_jax_took_unless_those_were_few(
    losses, monkeypatch, steps, asked
):
    seen = {}

    def trained(method, _settings, _file, _seconds, wanted):
        seen[method.name] = wanted
        return replace(a_course(1.0), steps=steps)

    monkeypatch.setattr(losses, "trained", trained)
    losses.table(["kfac-jax", "KFAC", "torch Adam"], Path(), 1.0, quick=False)

    assert seen == {"kfac-jax": 0, "KFAC": asked, "Adam": 0}


def test_a_training_that_fails_says_why(losses, tmp_path, capsys):
    method = losses.Method(name="Adam", tries=losses.rates(-1.0))
    written(SMALL["mnist"], tmp_path / "x.npz", None)

    assert losses.trained(method, {"lr": -1.0}, tmp_path / "x.npz", 0.0, 0) is None
    assert "Invalid learning rate: -1.0" in capsys.readouterr().err


def test_a_course_ends_with_its_time_and_goes_on_for_the_steps_that_are_asked_for(capsys):
    cases = np.zeros((4, 1), np.float32)
    problem, updates = Read(layers=[], weights=[], batch=2, train=(cases, cases), test=(cases, cases)), []
    asked = Wanted(problem="", method="", settings={}, seconds=0.0, steps=5)

    run(asked, problem, lambda *batch: updates.append(batch), lambda *_: float(len(updates)))

    told = json.loads(capsys.readouterr().out)
    assert (told["steps"], told["train"], told["after_steps"]) == (1, 1.0, 5.0)
    assert len(updates) == 5


@pytest.mark.parametrize(("falls_to", "left"), [(0.63, None), (0.62, 7.0)])  # nine tenths of ln 2 are 0.624
def test_a_course_tells_when_the_loss_was_off_its_plateau(capsys, monkeypatch, falls_to, left):
    monkeypatch.setattr(time, "process_time", itertools.count(0.0).__next__)  # a second for each update
    cases, classes = np.zeros((4, 1), np.float32), np.array([0, 1, 0, 1])
    problem = Read(layers=[], weights=[], batch=2, train=(cases, classes), test=(cases, classes))
    asked, updates = Wanted(problem="", method="", settings={}, seconds=30.0), []

    run(
        asked,
        problem,
        lambda *batch: updates.append(batch),
        lambda *_: falls_to if len(updates) >= 7 else 1.0,
    )

    told = json.loads(capsys.readouterr().out)
    assert told["plateau"] == pytest.approx(math.log(2))
    assert told["left"] == left


def test_the_plateau_of_pictures_is_the_loss_of_their_mean():
    pictures = np.array([[0.2, 1.0], [0.6, 1.0]], np.float32)
    problem = Read(layers=[], weights=[], batch=2, train=(pictures, pictures), test=(pictures, pictures))

    assert problem.plateau == pytest.approx(-0.4 * math.log(0.4) - 0.6 * math.log(0.6), abs=1e-6)


def test_what_is_written_is_read_again_and_everybody_sees_the_same_batches(tmp_path):
    provenance = written(SMALL["cifar10"], tmp_path / "x.npz", None)
    first, second = read(tmp_path / "x.npz"), read(tmp_path / "x.npz")

    assert "digits" in provenance
    assert first.classifies
    assert first.train[0].mean() == pytest.approx(0, abs=1e-5)
    assert first.train[0].std() == pytest.approx(1, rel=1e-3)
    assert [weight.shape for weight in first.weights] == [
        (4, 1, 3, 3), (4,), (8, 4, 3, 3), (8,), (10, 32), (10,),
    ]  # fmt: skip
    ours, theirs = first.batches(), second.batches()
    epoch = [next(ours) for _ in range(15)]
    assert all(np.array_equal(batch, next(theirs)) for batch in epoch)
    assert len(np.unique(np.concatenate(epoch))) == len(first.train[0])
