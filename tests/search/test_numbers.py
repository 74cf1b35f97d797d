import math
import operator

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from thiessen import numbers
from thiessen.elementwise import exp_each, log_each, power_each, rounded_each
from thiessen.numbers import Stream, exp, log, normal_quantile, power, trial_seed, uniform_of

WORD = 2**64 - 1
LARGEST = math.nextafter(math.inf, 0)
SMALLEST = math.nextafter(0, 1)
UNLIKELY = 0.001  # a chi-squared or Kolmogorov test on a fixed stream fails below this

seeds = st.integers(0, 2**53 - 1)
positive = st.floats(SMALLEST, LARGEST)
near_one = st.builds(lambda sign, size: 1 + sign * 2.0**size, st.sampled_from([-1, 1]), st.floats(-52, -1))
exponents_of_e = st.one_of(st.floats(-746, 709.78), st.floats(-1, 1), st.floats(-745.2, -708))
bases = st.one_of(positive, near_one, st.floats(0, 1, exclude_min=True))
mpmath.mp.prec = 200


def philox(counter, key):
    """Philox4x64-10 as Salmon et al. (2011) print it."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(0xD2E7470EE14C6C93 * c0, 2**64)
        high1, low1 = divmod(0xCA5A826395121157 * c2, 2**64)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & WORD, (k1 + 0xBB67AE8584CAA73B) & WORD
    return [c0, c1, c2, c3]


def ulps(ours, truth):
    """How far a result is from the truth, in units of the last place of the truth."""
    nearest = float(truth)
    if math.isinf(nearest) or math.isinf(ours):
        return 0.0 if ours == nearest else math.inf
    return float(abs(mpmath.mpf(ours) - truth) / math.ulp(nearest))


def around(x, count=40):
    """The floats next to x, in order."""
    for _ in range(count):
        x = math.nextafter(x, -math.inf)
    for _ in range(2 * count):
        yield x
        x = math.nextafter(x, math.inf)


def never_falls(function, xs):
    values = [function(x) for x in xs]
    return all(map(operator.le, values, values[1:]))


# Streams


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
    words = [word for block in range(1, 11) for word in philox((block, 0, 0, 0), (trial, seed))]

    assert [stream.uniform() for _ in words] == [(word >> 11) / 2**53 for word in words]


@pytest.mark.parametrize(
    ("seed", "trial", "words"),
    [
        (0, 0, ["02f4ba6408e4d89b", "3dd62b0b9ca8c5b2", "1c8667a55d902e79"]),
        (2**53 - 1, 7, ["da173cef2cb5d82f", "ebae89326695ea4d", "b54a758ecf49dcb3"]),
    ],
)
def test_a_stream_gives_the_same_words_for_ever(seed, trial, words):
    stream = Stream(seed, trial)
    assert [f"{word:016x}" for word in stream.ahead(len(words)).tolist()] == words


def test_a_stream_gives_the_same_numbers_for_ever():
    stream = Stream(seed=2**53 - 1, trial=7)
    assert [stream.uniform().hex() for _ in range(3)] == [
        "0x1.b42e79de596bbp-1",
        "0x1.d75d1264cd2bdp-1",
        "0x1.6a94eb1d9e93bp-1",
    ]
    assert [stream.normal().hex() for _ in range(3)] == [
        "-0x1.b71d3fe376dd9p-1",
        "0x1.70b8b274e725fp+0",
        "0x1.2e1fe026d8a81p-3",
    ]
    assert [stream.integer(1_000) for _ in range(5)] == [713, 143, 205, 752, 404]


@given(
    calls=st.lists(
        st.sampled_from([Stream.uniform, Stream.normal, lambda stream: stream.integer(7)]), max_size=80
    )
)
def test_every_call_spends_one_word(calls):
    mixed, plain = Stream(seed=3, trial=1), Stream(seed=3, trial=1)
    for call in calls:
        call(mixed)
        plain.uniform()
    assert mixed.spent == len(calls)
    assert mixed.uniform() == plain.uniform()


@given(looks=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=5))
def test_who_looks_ahead_sees_the_words_that_come_and_spends_what_is_told(looks):
    looking, plain = Stream(seed=3, trial=1), Stream(seed=3, trial=1)
    for count, spent in looks:
        seen = uniform_of(looking.ahead(count)).tolist()
        looking.spend(min(spent, count))
        assert seen[: min(spent, count)] == [plain.uniform() for _ in range(min(spent, count))]
    assert looking.uniform() == plain.uniform()


@given(seed=seeds, trial=st.integers(0, 10**6))
def test_neighbouring_seeds_and_trials_have_streams_of_their_own(seed, trial):
    keys = [(seed, trial), (seed + 1, trial), (seed, trial + 1), (seed + 1, trial + 1)]
    assert len({Stream(*key).uniform() for key in keys}) == len(keys)


def test_uniform_numbers_are_uniform_and_below_one():
    stream = Stream(seed=0, trial=0)
    drawn = [stream.uniform() for _ in range(10_000)]

    assert 0 <= min(drawn) <= max(drawn) < 1
    assert kstest(drawn, "uniform").pvalue > UNLIKELY


def test_integers_are_equally_likely():
    stream = Stream(seed=0, trial=0)
    drawn = [stream.integer(7) for _ in range(7_000)]
    assert chisquare([drawn.count(value) for value in range(7)]).pvalue > UNLIKELY


def test_normal_numbers_are_normal():
    stream = Stream(seed=0, trial=0)
    drawn = [stream.normal() for _ in range(10_000)]

    assert kstest(drawn, "norm").pvalue > UNLIKELY
    # The first four moments, within four standard errors of them: sqrt(1, 2, 15, 96) / 100.
    moments = [sum(number**order for number in drawn) / len(drawn) for order in (1, 2, 3, 4)]
    errors = [0.04, 0.0566, 0.155, 0.392]
    assert all(
        abs(ours - truth) < error for ours, truth, error in zip(moments, (0, 1, 0, 3), errors, strict=True)
    )


@pytest.mark.parametrize(("word", "side"), [(0, -1), (WORD, 1)])
def test_the_smallest_and_the_largest_word_stay_in_range(word, side):
    stream = Stream(seed=0, trial=0)
    stream._words = np.full(3, word, np.uint64)

    assert stream.uniform() == (0 if word == 0 else 1 - 2.0**-53)
    assert stream.integer(2**53) == (0 if word == 0 else 2**53 - 1)
    assert stream.normal() == pytest.approx(side * 8.209536151601387, rel=1e-14)


@given(p=st.one_of(st.floats(2.0**-53, 1 - 2.0**-53), st.floats(-53, -1).map(lambda size: 2.0**size)))
def test_the_normal_quantile_is_true_to_1e_15(p):
    truth = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(p) - 1)
    assert abs(normal_quantile(p) - truth) <= 1e-15 * abs(truth)


@given(p=st.floats(2.0**-53, 0.5))
def test_the_normal_quantile_is_its_own_mirror_image(p):
    p = 1 - (1 - p)  # so that both are floats
    assert normal_quantile(1 - p) == -normal_quantile(p) or p == 0


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


# Elementary functions, against 200 bits


@given(x=exponents_of_e)
def test_exp_is_within_one_ulp(x):
    assert ulps(exp(x), mpmath.exp(x)) < 1


@given(x=st.one_of(positive, near_one))
def test_log_is_within_one_ulp(x):
    assert ulps(log(x), mpmath.log(x)) < 1


@given(x=near_one)
def test_the_logarithm_that_powers_start_from_is_true_to_68_bits(x):
    high, low = numbers._log_in_two(x)
    truth = mpmath.log(x)
    assert abs(mpmath.mpf(high) + low - truth) <= abs(truth) * mpmath.mpf(2) ** -68


@given(base=bases, size=st.one_of(st.floats(-746, 710), st.floats(-1, 1)), plain=st.floats(-50, 50))
def test_power_is_within_one_ulp_however_large_its_logarithm(base, size, plain):
    for exponent in (plain, size / math.log(base) if base != 1 else plain):
        assert ulps(power(base, exponent), mpmath.mpf(base) ** exponent) < 1


def test_the_hardest_known_cases_are_within_one_ulp():
    # Lefevre & Muller (2001): the arguments whose exp and log are nearest to the middle of two floats.
    assert ulps(exp(7.5417527749959590085206221e-10), mpmath.exp(7.5417527749959590085206221e-10)) < 1
    assert ulps(exp(709.782712893384), mpmath.exp(709.782712893384)) < 1
    hard = float.fromhex("0x1.62a88613629b6p+678")
    assert ulps(log(hard), mpmath.log(hard)) < 1


def test_the_seams_of_the_argument_reductions_do_not_show():
    for k in range(-34_400, 32_768, 7):
        assert never_falls(exp, around((k + 0.5) * math.log(2) / 32))
    for n in range(91, 182):
        assert never_falls(log, around(128 / (n - 0.5)))
        assert never_falls(log, around(128 / (n - 0.5) * 2.0**-20))


@given(x=st.one_of(exponents_of_e, st.floats(-1e-9, 1e-9)))
def test_exp_never_falls(x):
    assert never_falls(exp, around(x))


@given(x=st.one_of(positive, near_one))
def test_log_never_falls(x):
    assert never_falls(log, [x for x in around(x) if x > 0])


@given(base=st.floats(1e-6, 1), exponent=st.floats(0.1, 50))
def test_a_power_never_falls_with_its_base(base, exponent):
    assert never_falls(lambda base: power(base, exponent), around(base))


@given(x=positive)
def test_powers_have_their_exact_points(x):
    assert power(x, 0.0) == 1.0
    assert power(x, 1.0) == x
    assert power(1.0, x) == power(1.0, -x) == 1.0
    assert power(0.0, x) == 0.0


@given(n=st.integers(-1074, 1023))
def test_powers_of_two_are_exact(n):
    assert power(2.0, float(n)) == math.ldexp(1.0, n)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (exp(0.0), 1.0),
        (exp(-0.0), 1.0),
        (exp(SMALLEST), 1.0),
        (exp(-746.0), 0.0),
        (exp(-745.1332191019412), 0.0),
        (exp(-745.1332191019411), SMALLEST),
        (exp(math.nextafter(709.782712893384, 710)), math.inf),
        (exp(LARGEST), math.inf),
        (exp(-LARGEST), 0.0),
        (exp(math.inf), math.inf),
        (exp(-math.inf), 0.0),
        (log(1.0), 0.0),
        (log(math.inf), math.inf),
        (log(SMALLEST), -744.4400719213812),
        (log(LARGEST), 709.782712893384),
        (power(0.0, 0.0), 1.0),
        (power(math.nan, 0.0), 1.0),
        (power(1.0, math.nan), 1.0),
        (power(-2.0, 1.0), -2.0),
        (power(10.0, 308.5), math.inf),
        (power(10.0, -324.0), 0.0),
        (power(0.5, 1e300), 0.0),
        (power(0.5, -1e300), math.inf),
        (power(math.nextafter(1, 0), 2.0**63), 0.0),
        (power(math.nextafter(1, 2), 2.0**62), math.inf),
        (power(2.0, math.inf), math.inf),
        (power(2.0, -math.inf), 0.0),
        (power(0.5, math.inf), 0.0),
        (power(math.inf, 0.5), math.inf),
        (power(math.inf, -0.5), 0.0),
        (power(0.0, math.inf), 0.0),
        (power(LARGEST, SMALLEST), 1.0),
    ],
)
def test_the_ends_of_the_range(result, expected):
    assert result == expected


def test_nan_stays_nan():
    assert all(
        math.isnan(result)
        for result in (exp(math.nan), log(math.nan), power(math.nan, 2.0), power(2.0, math.nan))
    )


@pytest.mark.parametrize("x", [0.0, -0.0, -1.0, -math.inf])
def test_a_logarithm_of_nothing_or_less_is_refused(x):
    with pytest.raises(ValueError, match="above 0"):
        log(x)


@pytest.mark.parametrize(("base", "exponent"), [(-1.0, 0.5), (-2.0, 2.0), (0.0, -1.0), (0.0, -math.inf)])
def test_a_power_that_is_not_a_number_is_refused(base, exponent):
    with pytest.raises(ValueError, match="base above 0"):
        power(base, exponent)


@pytest.mark.parametrize(
    ("result", "bits"),
    [
        (exp(1.0), "0x1.5bf0a8b145769p+1"),
        (exp(-0.1), "0x1.cf46d99d52b3ap-1"),
        (exp(0.35), "0x1.6b4802c805decp+0"),
        (exp(-3.7), "0x1.9511fc6871044p-6"),
        (exp(123.456), "0x1.1428e1cbc0143p+178"),
        (exp(-744.0), "0x0.0000000000002p-1022"),
        (log(2.0), "0x1.62e42fefa39efp-1"),
        (log(0.1), "-0x1.26bb1bbb55515p+1"),
        (log(0.999), "-0x1.064670d979b73p-10"),
        (log(1e-310), "-0x1.64e69394d9508p+9"),
        (log(6.02e23), "0x1.b6094e92cca28p+5"),
        (power(0.37, 4.2), "0x1.f761a452ec54dp-7"),
        (power(10.0, -3.0), "0x1.0624dd2f1a9fcp-10"),
        (power(1.0000001, 1e9), "0x1.349445c228792p+144"),
        (power(123.4, -150.5), "0x0.0000015ce2e38p-1022"),
        (normal_quantile(0.3), "-0x1.0c7e39582c5fap-1"),
        (normal_quantile(0.01), "-0x1.29c5c4630ff0ep+1"),
        (normal_quantile(1e-14), "-0x1.e9a3e40341034p+2"),
    ],
)
def test_the_functions_give_the_same_bits_for_ever(result, bits):
    assert result.hex() == bits


# The same for each element of an array

anything = st.one_of(
    st.floats(),
    st.floats(-750, 712),
    st.floats(0, 1),
    near_one,
    st.floats(-1074, 1023).map(lambda size: 2.0**size),
    st.sampled_from([0.0, -0.0, SMALLEST, -SMALLEST, LARGEST, math.inf, -math.inf, math.nan, 710.0, -746.0]),
)


def same_bits(each, one_by_one):
    """Whether two lists hold the same floats, zeros with their sign; all NaN are one."""
    return [number.hex() for number in each.tolist()] == [number.hex() for number in one_by_one]


@given(xs=st.lists(anything, max_size=40))
def test_exp_of_each_is_exp(xs):
    assert same_bits(exp_each(np.array(xs, float)), map(exp, xs))


@given(xs=st.lists(anything, max_size=40))
def test_log_of_each_is_log_and_refuses_what_it_refuses(xs):
    above = [x for x in xs if not x <= 0]
    assert same_bits(log_each(np.array(above, float)), map(log, above))
    if len(above) < len(xs):
        with pytest.raises(ValueError, match="above 0"):
            log_each(np.array(xs))


@given(
    bases=st.lists(anything.map(abs), max_size=40),
    exponent=st.one_of(anything, st.floats(0, 1e7), st.sampled_from([1.0, 2.0**63, 1.0 + 1e5 / 0.3])),
)
def test_the_power_of_each_is_the_power(bases, exponent):
    bases = [base for base in bases if base > 0 or not exponent < 0]
    assert same_bits(power_each(np.array(bases, float), exponent), (power(base, exponent) for base in bases))


decimals = st.builds(  # next to the middle of two numbers of 12 digits
    lambda digits, tens: float(f"{digits}5e{tens}"), st.integers(10**11, 10**12 - 1), st.integers(-25, 12)
)


@given(xs=st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1), decimals)))
def test_each_is_rounded_to_12_digits_as_its_text_is(xs):
    assert same_bits(rounded_each(np.array(xs, float)), (float(format(x, ".12g")) for x in xs))
