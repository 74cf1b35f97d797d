import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from thiessen.search import Stream, trial_seed

WORD = 2**64 - 1
seeds = st.integers(0, 2**53 - 1)


def philox(counter, key):
    """Philox4x64-10 as Salmon et al. (2011) print it."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(0xD2E7470EE14C6C93 * c0, 2**64)
        high1, low1 = divmod(0xCA5A826395121157 * c2, 2**64)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & WORD, (k1 + 0xBB67AE8584CAA73B) & WORD
    return [c0, c1, c2, c3]


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        (
            (0, 0, 0, 0),
            (0, 0),
            ["16554d9eca36314c", "db20fe9d672d0fdc", "d7e772cee186176b", "7e68b68aec7ba23b"],
        ),
        (
            (WORD, WORD, WORD, WORD),
            (WORD, WORD),
            ["87b092c3013fe90b", "438c3c67be8d0224", "9cc7d7c69cd777b6", "a09caebf594f0ba0"],
        ),
    ],
)
def test_the_reference_here_gives_the_published_words(counter, key, words):
    assert [f"{word:016x}" for word in philox(counter, key)] == words


@given(seed=seeds, trial=st.integers(0, 10**6))
def test_a_stream_is_philox_keyed_by_trial_and_seed(seed, trial):
    stream = Stream(seed, trial)
    words = [word for block in (1, 2, 3) for word in philox((block, 0, 0, 0), (trial, seed))]

    assert [stream.uniform() for _ in words] == [(word >> 11) / 2**53 for word in words]


def test_a_stream_gives_the_same_numbers_for_ever():
    stream = Stream(seed=2**53 - 1, trial=7)
    assert [stream.uniform().hex() for _ in range(3)] == [
        "0x1.b42e79de596bbp-1",
        "0x1.d75d1264cd2bdp-1",
        "0x1.6a94eb1d9e93bp-1",
    ]


@given(seed=seeds, trial=st.integers(0, 10**6))
def test_neighbouring_seeds_and_trials_have_streams_of_their_own(seed, trial):
    keys = [(seed, trial), (seed + 1, trial), (seed, trial + 1), (seed + 1, trial + 1)]
    assert len({Stream(*key).uniform() for key in keys}) == len(keys)


def test_uniform_numbers_are_uniform_and_below_one():
    stream = Stream(seed=0, trial=0)
    numbers = [stream.uniform() for _ in range(10_000)]

    assert 0 <= min(numbers) <= max(numbers) < 1
    assert kstest(numbers, "uniform").pvalue > 0.001


def test_the_largest_word_stays_below_one(monkeypatch):
    stream = Stream(seed=0, trial=0)
    monkeypatch.setattr(stream, "_words", type("Words", (), {"random_raw": lambda _: WORD})())
    assert stream.uniform() == 1 - 2.0**-53


@pytest.mark.parametrize(
    ("seed", "trial", "expected"),
    [(0, 0, 6067409321135427), (1, 39, 610420650056596), (2**53 - 1, 999_999, 781756203800345)],
)
def test_the_seed_of_a_trial_is_the_same_for_ever(seed, trial, expected):
    assert trial_seed(seed, trial) == expected


@given(seed=seeds, trial=st.integers(0, 10**6))
def test_the_seed_of_a_trial_is_kept_exact_by_every_json_reader(seed, trial):
    assert 0 <= trial_seed(seed, trial) < 2**53
    assert trial_seed(seed, trial) != trial_seed(seed, trial + 1)
