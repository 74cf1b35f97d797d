from itertools import islice, product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest
from scipy.stats.qmc import Sobol, discrepancy

from thiessen.search import Landscape, QuasiRandom, Stream
from thiessen.search.quasi_random import scrambled, sobol
from thiessen.search.strategy import MAX_DRAWS
from thiessen.space import Boolean, Float, Int, Space

UNLIKELY = 0.001  # a chi-squared or Kolmogorov test on fixed seeds fails below this
words = st.integers(0, 2**32 - 1)


def points(number, dimensions, seed):
    return list(islice(sobol(0, dimensions, seed), number))


def propose(landscape, turn, *, seed=0, trial=0):
    return QuasiRandom().propose(landscape.space, landscape, turn, Stream(seed, trial))


@given(seed=st.integers(0, 2**53 - 1), dimensions=st.integers(1, 12), power=st.integers(0, 6))
def test_the_first_two_to_the_k_points_have_one_in_each_interval_of_that_width(seed, dimensions, power):
    for axis in zip(*points(2**power, dimensions, seed), strict=True):
        assert sorted(int(coordinate * 2**power) for coordinate in axis) == list(range(2**power))


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 16, 32])
def test_in_two_dimensions_every_elementary_box_has_one_point(rows):
    columns = 32 // rows
    boxes = sorted((int(x * rows), int(y * columns)) for x, y in points(32, 2, seed=7))
    assert boxes == list(product(range(rows), range(columns)))


def test_they_are_spread_more_evenly_than_random_points():
    streams = [Stream(seed, 0) for seed in range(20)]
    ours = fmean(discrepancy(points(64, 5, seed)) for seed in range(20))
    theirs = fmean(
        discrepancy([[stream.uniform() for _ in range(5)] for _ in range(64)]) for stream in streams
    )
    assert ours < theirs / 3


@pytest.mark.parametrize("turn", [0, 1, 5])
def test_each_point_is_uniform_over_studies(turn):
    found = [next(sobol(turn, 2, seed)) for seed in range(1_000)]
    assert kstest([x for x, _ in found], "uniform").pvalue > UNLIKELY
    quarters = [
        sum((x < 0.5, y < 0.5) == half for x, y in found) for half in product((True, False), repeat=2)
    ]
    assert chisquare(quarters).pvalue > UNLIKELY


@given(one=words, other=words, key=st.text(max_size=5))
def test_scrambling_keeps_exactly_the_leading_digits_that_two_numbers_share(one, other, key):
    assert (one ^ other).bit_length() == (scrambled(one, key) ^ scrambled(other, key)).bit_length()


def test_every_digit_is_flipped_by_a_coin_of_its_own():
    flips = [scrambled(0, f"{key}") for key in range(1_000)]
    others = [scrambled(1 << 31, f"{key}") ^ flip for key, flip in enumerate(flips)]  # of another first digit
    for place in range(31):
        assert (
            chisquare([sum(other >> place & 1 == coin for other in others) for coin in (0, 1)]).pvalue > 1e-4
        )
        assert chisquare([sum(flip >> place & 1 == coin for flip in flips) for coin in (0, 1)]).pvalue > 1e-4


def test_unscrambled_the_points_are_those_of_the_sobol_sequence(monkeypatch):
    monkeypatch.setattr("thiessen.search.quasi_random.scrambled", lambda digits, _: digits)
    found = [[coordinate - 2**-33 for coordinate in point] for point in points(64, 7, seed=0)]
    assert found == Sobol(7, scramble=False).random_base2(6).tolist()


def test_a_point_is_found_by_its_turn():
    assert next(sobol(100_000, 3, 1)) == next(islice(sobol(99_990, 3, 1), 10, None))


def test_the_seed_of_the_study_and_the_turn_decide_and_nothing_else():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    first, same, other = (propose(landscape, 3, seed=s, trial=t) for s, t in [(1, 0), (1, 99), (2, 0)])
    assert first == same
    assert first != other


def test_an_inactive_dimension_keeps_its_coordinate():
    free = Landscape(Space(flag=Boolean(), child=Float(0.0, 1.0), x=Float(0.0, 1.0)))
    tied = Landscape(Space(flag=Boolean(), child=Float(0.0, 1.0, when={"flag": [True]}), x=Float(0.0, 1.0)))
    for turn in range(20):
        without, within = propose(free, turn).config, propose(tied, turn).config
        assert within == without if without["flag"] else within == {"flag": False, "x": without["x"]}


def test_a_taken_point_is_passed_over_for_the_next_one():
    landscape = Landscape(Space(x=Float(0.0, 1.0)))
    landscape.take(propose(landscape, 0).config)
    proposal = propose(landscape, 0)
    assert (proposal.config, proposal.reasons.refused) == (propose(landscape, 1).config, 1)


def test_a_rare_config_that_remains_is_found_after_the_most_draws():
    landscape = Landscape(Space(n=Int(0, 9_999)))
    for n in range(9_999):
        landscape.take({"n": n})
    proposal = propose(landscape, 9_999)
    assert (proposal.config, proposal.reasons.refused) == ({"n": 9_999}, MAX_DRAWS)


def test_the_largest_space_has_a_point():
    landscape = Landscape(Space(**{f"x{axis}": Float(0.0, 1.0) for axis in range(256)}))
    assert len(set(propose(landscape, 1_000).config.values())) == 256
