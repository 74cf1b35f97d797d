"""Sweep files of Weights & Biases, as studies."""

import math
import re
import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from thiessen.cli.failure import CommandFailed
from thiessen.cli.main import build
from thiessen.cli.study_file import read
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

SWEEP = """\
program: train.py
name: my lines
description: How many.
method: bayes
metric:
  name: val_loss
  goal: maximize
  target: 0.9
run_cap: 20
parameters:
  lr:
    distribution: log_uniform_values
    min: 1e-5
    max: 1.0
  layers:
    min: 1
    max: 8
  model:
    parameters:
      nesterov:
        values: [true, false]
early_terminate:
  type: hyperband
  min_iter: 2
"""


@pytest.fixture
def made(tmp_path):
    """Reads a sweep file, some lines of which are others."""

    def make(sweep=SWEEP, **lines):
        for before, after in lines.items():
            sweep = re.sub(rf"(?m)^( *){before}:.*$", lambda found, after=after: found[1] + after, sweep)
        file = tmp_path / "sweep.yaml"
        file.write_text(sweep)
        return read(file)

    return make


@pytest.fixture
def searched(made):
    """Returns the dimension that is made of a parameter."""

    def make(parameter, method="random"):
        parameters = {"x": parameter, "other": {"values": [1, 2]}}
        spec = made(yaml.safe_dump({"method": method, "parameters": parameters}))
        return Space.from_json({name: each.model_dump() for name, each in spec.space.items()}).dimensions["x"]

    return make


@pytest.mark.row(280)
def test_a_sweep_file_is_a_study(made):
    spec = made()

    assert (spec.name, spec.task, spec.notes) == ("my-lines", "program", "How many.")
    assert (spec.strategy, spec.direction, spec.target, spec.max_trials) == (
        "biased_random",
        "maximize",
        0.9,
        20,
    )
    assert spec.stopping.model_dump() == {
        "rule": "successive_halving", "metric": "val_loss", "min_step": 2.0, "eta": 3,
    }  # fmt: skip
    space = Space.from_json({name: each.model_dump() for name, each in spec.space.items()})
    assert space.dimensions == {
        "lr": Float(1e-5, 1.0, log=True), "layers": Int(1, 8), "model.nesterov": Boolean(),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameter", "dimension"),
    [
        ({"value": 3}, Categorical([3])),
        ({"values": ["sgd", "adam"]}, Categorical(["sgd", "adam"])),
        ({"values": [64, 16, 32]}, Ordinal([16, 32, 64])),
        ({"values": [1, "auto"]}, Categorical([1, "auto"])),
        ({"distribution": "categorical", "values": ["a"]}, Categorical(["a"])),
        ({"min": 1, "max": 4}, Int(1, 4)),
        ({"min": 1, "max": 4.0}, Float(1, 4.0)),
        ({"distribution": "uniform", "min": 1, "max": 4}, Float(1, 4)),
        ({"distribution": "log_uniform", "min": -2, "max": 0}, Float(math.exp(-2), 1.0, log=True)),
        ({"distribution": "inv_log_uniform", "min": 0, "max": 2}, Float(math.exp(-2), 1.0, log=True)),
        ({"distribution": "inv_log_uniform_values", "min": 0.1, "max": 2}, Float(0.1, 2, log=True)),
        ({"distribution": "q_uniform", "min": 0, "max": 1, "q": 0.25}, Ordinal([0.0, 0.25, 0.5, 0.75, 1.0])),
        ({"distribution": "q_uniform", "min": 16, "max": 64, "q": 16}, Int(16, 64, 16)),
        ({"distribution": "q_log_uniform_values", "min": 8, "max": 128}, Int(8, 128, log=True)),
    ],
)
def test_a_parameter_is_a_dimension(searched, parameter, dimension):
    assert Space(x=searched(parameter)).to_json() == Space(x=dimension).to_json()


@given(st.data())
def test_what_a_rounded_uniform_parameter_may_be_is_searched(data):
    from thiessen.cli.sweep import BETWEEN

    step = data.draw(st.sampled_from([0.1, 0.05, 0.25, 1, 3, 10]))
    low = data.draw(st.floats(-50, 50))
    high = low + data.draw(st.floats(2 * step, 20 * step))
    drawn = data.draw(st.floats(low, high))
    values = BETWEEN["q_uniform"](low, high, step).values()

    assert any(math.isclose(round(drawn / step) * step, each, abs_tol=1e-9) for each in values)
    assert all(low - step <= each <= high + step for each in values)


def test_a_grid_goes_over_all_its_points(made):
    spec = made(
        "method: grid\nparameters:\n  a: {values: [1, 2, 3]}\n  b: {min: 1, max: 12}\n  c: {value: x}\n"
    )

    assert (spec.name, spec.strategy, spec.max_trials) == ("sweep", "grid", 36)
    assert made("method: random\nparameters: {a: {min: 0.5, max: 1}}\n").max_trials == 100


def test_brackets_below_a_last_step_begin_at_the_first(made):
    assert made(min_iter="max_iter: 27\n  s: 2").stopping.min_step == 3


@pytest.mark.row(280)
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"method": "method: hyperopt"}, r"line 4, method: is one of grid, random, bayes; got 'hyperopt'"),
        ({"method": "method: grid", "run_cap": ""}, r"line 11, parameters.lr: .*list some"),
        (
            {"distribution": "distribution: log_normal"},
            r"line 12, parameters.lr.distribution: .*log_uniform_values",
        ),
        ({"distribution": "distribution: cauchy"}, r"line 12, .*there are constant, categorical, uniform"),
        ({"max": "mu: 1"}, r"line 11, parameters.lr: has no max"),
        ({"min": "min: low"}, r"line 13, parameters.lr.min: is a number; got 'low'"),
        ({"min": "min: 0"}, r"line 11, parameters.lr: dimension 'lr': "),
        (
            {"values": "values: [[1, 2]]"},
            r"line 21, parameters.model.parameters.nesterov.values.0: .*single value",
        ),
        ({"values": "probabilities: [1]"}, r"line 21, .*probabilities: .*leave it out"),
        ({"values": "sigma: 1"}, r"line 20, .*nesterov: .*distribution: uniform"),
        ({"type": "type: envelope"}, r"line 23, early_terminate.type: is hyperband"),
        ({"min_iter": "eta: 1.5"}, r"line 24, early_terminate.eta: is an integer from 2"),
        ({"run_cap": "run_cap: many"}, 'line 9, run_cap: is an integer; got "many"'),
        ({"goal": "goal: up"}, r"line 7, metric.goal: is 'minimize' or 'maximize'; got .up."),
        ({"description": "controller: {type: local}"}, r"line 3, controller: is not known of a sweep"),
        ({"description": "command: ['${args_json}']"}, r"line 3, command.0: .*THIESSEN_CONFIG"),
    ],
)
def test_what_has_no_counterpart_is_refused_in_its_line(made, lines, said):
    with pytest.raises(CommandFailed, match=said):
        made(**lines)


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("command: ['${env}', '${program}', '${args}']",
         "/usr/bin/env train.py '--lr=float(1e-05,1.0,log)' '--layers=int(1,8)' '--model.nesterov=boolean()'"),  # noqa: E501
        ("command: ['${interpreter}', -u, '${program}', '${args_no_hyphens}']",
         "python -u train.py 'lr=float(1e-05,1.0,log)' 'layers=int(1,8)' 'model.nesterov=boolean()'"),
        ("command: ['./train', '${args_no_boolean_flags}']",
         "./train '--lr=float(1e-05,1.0,log)' '--layers=int(1,8)' --model.nesterov 'flag()'"),
    ],
)  # fmt: skip
def test_the_command_of_a_sweep_is_what_is_run(made, command, run):
    told = made(description=command).attributes["run"]

    assert told == rf"--loss-from '\bval_loss\s*[:=]\s*(\S+)' {run}"


def test_what_the_command_prints_works_on_the_study(server, tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text(
        "import sys\nlr = float(sys.argv[1].partition('=')[2])\nprint('val_loss:', 1 - (lr - 0.1) ** 2)\n"
    )
    (tmp_path / "sweep.yaml").write_text(
        SWEEP.replace("run_cap: 20", "run_cap: 3").replace("target: 0.9", "target: 1.5")
    )
    monkeypatch.chdir(tmp_path)

    said = CliRunner().invoke(build(), ["study", "create", "sweep.yaml", "--server", server.url]).output
    [_, command] = re.search("^(Try them: thiessen) (run .*)$", said, re.MULTILINE).groups()

    ran = CliRunner().invoke(build(), shlex.split(command))
    assert "3 of 3 trials have ended (3 succeeded)" in ran.output, ran.output
    assert server.study("my-lines").best.value > 0
