"""What figures are made of: numbers of many trials at once are those of one after the other."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.figures.studies import many
from thiessen import Boolean, Categorical, Float, Int, Space
from thiessen.figures import landscape, marks
from thiessen.figures.trials import running_medians

ROUGH = st.integers(-3, 3).map(float)  # many are equal
SPACES = {
    "numbers": Space(lr=Float(1e-4, 1.0, log=True), layers=Int(1, 9), rest=Float(0.0, 1.0)),
    "few points": Space(a=Int(1, 12), b=Int(1, 12), c=Int(1, 3)),
    "choices": Space(kind=Categorical(list("abcd")), way=Boolean(), lr=Float(0.0, 1.0)),
    "conditions": Space(
        kind=Categorical(["a", "b"]),
        lr=Float(0.0, 1.0),
        damping=Float(0.0, 1.0, when={"kind": ["b"]}),
        rest=Float(0.0, 1.0),
    ),
}


@given(st.lists(ROUGH | st.floats(-1e308, 1e308), max_size=70), st.lists(st.integers(0, 70), max_size=20))
def test_medians_of_the_first_are_those_that_numpy_finds_one_by_one(numbers, firsts):
    firsts = [min(first, len(numbers)) for first in firsts]

    found = running_medians(np.array(numbers, float), np.array(firsts, np.int64))

    for first, median in zip(firsts, found.tolist(), strict=True):
        if first == 0:
            assert np.isnan(median)
            continue
        ordered = sorted(numbers[:first])
        low, high = ordered[(first - 1) // 2], ordered[first // 2]
        assert median == (low if first % 2 else min(max(low * 0.5 + high * 0.5, low), high))


@given(st.lists(ROUGH | st.just(np.nan), min_size=1, max_size=60), st.integers(1, 70))
def test_the_best_are_those_that_sorting_all_finds(losses, many_of_them):
    losses = np.array(losses)
    known = np.where(np.isnan(losses), np.inf, losses)

    found = marks.best(losses, many_of_them)

    assert found.tolist() == np.argsort(known, kind="stable")[:many_of_them].tolist()


@pytest.mark.parametrize("neighbours", [1, 5])
@pytest.mark.parametrize("space", SPACES)
def test_of_many_trials_those_that_are_looked_at_say_the_same_as_all_of_them(space, neighbours):
    trials = many(3000, SPACES[space], seed=4)
    trials = replace(trials, neighbours=neighbours)
    names = list(trials.space.dimensions)
    for x, y in pairwise(names):
        section = landscape.Section(trials, x, y)
        points = section.points(*np.random.default_rng(2).random((2, 50)).round(2))
        losses, nearest = section.expected(points)
        worst = np.nanmax(trials.counted)
        every = trials.landscape.nearest_each(points, neighbours=neighbours)

        assert len(section._model(points)) < len(trials.landscape)
        assert nearest == [each.trial for each in every]
        expected = [np.nan if each.diverged else each.estimate(worst) for each in every]
        assert losses.tolist() == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
