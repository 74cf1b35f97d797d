import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.tasks import function
from worker.tasks.alone import Alone
from worker.tasks.function import LANDSCAPES, train


def value_at(name, point, **settings):
    coordinates = {f"x{number}": float(each) for number, each in enumerate(point, 1)}
    return train({"function": name, "dimensions": len(point)} | coordinates | settings, Alone(seed=5))


@pytest.mark.parametrize("name", LANDSCAPES)
def test_the_least_value_is_where_it_is_said_to_be(name):
    landscape = LANDSCAPES[name]

    assert value_at(name, landscape.at(2)) == pytest.approx(landscape.least, abs=1e-9)


@pytest.mark.parametrize("name", LANDSCAPES)
@given(shares=st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_nothing_in_the_range_is_below_the_least_value(name, shares):
    landscape = LANDSCAPES[name]
    point = [landscape.low + share * (landscape.high - landscape.low) for share in shares]

    assert landscape.value(point) >= landscape.least - 1e-9


def test_how_many_steps_there_will_be_is_told_before_the_first():
    told = []

    class Watched(Alone):
        def expect(self, steps):
            told.append(steps)

        def report(self, step, **metrics):
            told.append((step, *metrics))

    train({"function": "sphere", "steps": 3}, Watched())

    assert told == [3, (1, "loss"), (2, "loss"), (3, "loss")]


def test_a_cone_is_the_distance_from_its_tip():
    assert value_at("cone", [3.0, 4.0]) == 5.0


def test_coordinates_beyond_the_dimensions_do_not_count():
    assert value_at("sphere", [1.0, 2.0], x3=9.0) == 5.0


def test_noise_comes_from_the_seed():
    config = {"function": "sphere", "noise": 0.5}

    values = [train(config, Alone(seed=seed)) for seed in (1, 1, 2)]

    assert values[0] == values[1] != values[2]


def test_the_curve_falls_to_the_value():
    context = Alone()

    value = train({"function": "cone", "x1": 0.5, "steps": 20}, context)

    losses = [told["loss"] for _, told in context.curve]
    assert losses == sorted(losses, reverse=True)
    assert [step for step, _ in context.curve] == list(range(1, 21))
    assert losses[-1] == value == 0.5


def test_it_takes_as_long_as_it_is_told(monkeypatch):
    slept = []
    monkeypatch.setattr(function.time, "sleep", slept.append)

    train({"seconds": 3.0, "steps": 4}, Alone())

    assert math.fsum(slept) == 3.0


def test_it_is_there_without_the_data_sets_and_networks():
    script = "import sys, worker.tasks.function; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert not {"sklearn", "worker.datasets", "worker.models"} & set(ran.stdout.split())
