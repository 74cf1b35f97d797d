import math
from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from thiessen.search import Grid, Landscape, Random, Stream
from thiessen.space import Boolean, Categorical, Float, Int, Space

UNLIKELY = 0.001  # a chi-squared or Kolmogorov test on a fixed stream fails below this


def propose(landscape, *, seed=0, trial=0):
    return Random().propose(landscape.space, landscape, trial, Stream(seed, trial))


@given(data=st.data(), trial=st.integers(0, 999))
def test_a_proposal_is_the_first_config_of_its_stream(data, trial, mixed_spaces, a_config):
    landscape = Landscape(data.draw(mixed_spaces))
    assert propose(landscape, seed=5, trial=trial).config == a_config(landscape.space, seed=5, trial=trial)


@given(data=st.data())
def test_losses_change_nothing(data, mixed_spaces, a_landscape):
    space = data.draw(mixed_spaces)
    ours, theirs = (a_landscape(space, losses)[0] for losses in ([1.0, 2.0], [None, -5.0]))
    assert propose(ours, trial=9) == propose(theirs, trial=9)


@pytest.mark.row(3)
def test_proposals_are_uniform_over_trials_on_the_declared_scale():
    space = Space(x=Float(-1.0, 3.0), lr=Float(1e-4, 1.0, log=True), kind=Categorical(("a", "b", "c")))
    landscape = Landscape(space)
    configs = [propose(landscape, trial=trial).config for trial in range(3_000)]

    assert kstest([config["x"] for config in configs], "uniform", args=(-1, 4)).pvalue > UNLIKELY
    assert kstest([math.log10(config["lr"]) for config in configs], "uniform", args=(-4, 4)).pvalue > UNLIKELY
    assert chisquare(list(Counter(config["kind"] for config in configs).values())).pvalue > UNLIKELY


@pytest.mark.row(3)
def test_where_one_dimension_does_not_matter_it_finds_a_narrow_valley_that_a_grid_misses():
    landscape = Landscape(Space(a_1=Float(0.0, 1.0), a_2=Float(0.0, 1.0)))
    grid, same = Grid.for_budget(landscape.space, 100), Stream(0, 0)
    laid = {grid.propose(landscape.space, landscape, turn, same).config["a_1"] for turn in range(100)}
    ours, theirs = [], []
    for seed in range(200):
        drawn = {propose(landscape, seed=seed, trial=trial).config["a_1"] for trial in range(100)}
        assert (len(drawn), len(laid)) == (100, 10)

        valley = Stream(seed, 100).uniform()
        ours.append(min(narrow(a_1 - valley) for a_1 in drawn))
        theirs.append(min(narrow(a_1 - valley) for a_1 in laid))

    assert fmean(ours) < fmean(theirs) / 2


def narrow(offset, width=0.02):
    """Return the loss of a valley in a plain: 0 in its middle, 1 outside."""
    return min(abs(offset) / width, 1.0)


def test_two_dimensions_are_drawn_independently():
    landscape = Landscape(Space(a=Int(0, 3), b=Int(0, 3)))
    pairs = Counter(tuple(propose(landscape, trial=trial).config.values()) for trial in range(3_200))
    assert len(pairs) == 16
    assert chisquare(list(pairs.values())).pvalue > UNLIKELY


def test_an_inactive_dimension_does_not_shift_the_stream_of_the_others():
    free = Landscape(Space(flag=Boolean(), child=Float(0.0, 1.0), x=Float(0.0, 1.0)))
    tied = Landscape(Space(flag=Boolean(), child=Float(0.0, 1.0, when={"flag": [True]}), x=Float(0.0, 1.0)))
    for trial in range(50):
        without, within = propose(free, trial=trial).config, propose(tied, trial=trial).config
        assert within == without if without["flag"] else within == {"flag": False, "x": without["x"]}


def test_a_taken_config_is_passed_over_and_counted():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.take(propose(landscape).config)
    assert propose(landscape).reasons.refused == 1


def test_near_the_end_what_remains_is_equally_likely():
    landscape = Landscape(Space(n=Int(0, 1_999)))
    for n in range(3, 2_000):
        landscape.take({"n": n})
    chosen = Counter(propose(landscape, trial=trial).config["n"] for trial in range(150))
    assert set(chosen) == {0, 1, 2}
    assert chisquare(list(chosen.values())).pvalue > UNLIKELY
