"""Numbers that are the same on every machine: random streams and elementary functions.

Proposals are recomputed on other machines, where exp, log and pow of the C library or of numpy may differ in
the last bit. Here is nothing but + - * / sqrt, comparisons and exact operations (frexp, ldexp, integers): the
the same wherever floats are IEEE 754 doubles. Irrational constants are summed from their series in integers.
What takes a `Number` does the same for each element of an array: `thiessen.elementwise` is made of it.
"""

import hashlib
import math
from typing import Any, Final

Number = Any  # a float, or an array of them


class Stream:
    """Random numbers for one proposal: Philox words keyed by the study's seed and the trial's number.

    Each call spends exactly one 64-bit word, the next one, whatever it makes of it; but `ahead` spends none.
    """

    def __init__(self, seed: int, trial: int) -> None:
        self.seed: Final = seed  # for what all trials of a study share
        self.spent = 0  # words
        self._philox = _philox((seed << 64) | trial)
        self._words = self._philox.random_raw(_BLOCK)

    def uniform(self) -> float:
        """Return the next number, uniform in [0, 1), with 53 random bits."""
        return (self._next() >> 11) * 2.0**-53

    def integer(self, below: int) -> int:
        """Return a number of 0 ... below - 1; their probabilities differ by at most 2**-64."""
        return self._next() * below >> 64

    def normal(self) -> float:
        """Return the next number of the standard normal distribution; none is beyond 8.3."""
        # The midpoints of 2**52 equal intervals: as likely as their mirror images, and never 0 or 1.
        return normal_quantile(((self._next() >> 12) + 0.5) * 2.0**-52)

    def ahead(self, count: int) -> Any:
        """Return the next words as an array, to look at before some of them are spent."""
        import numpy as np

        missing = self.spent + count - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, self._philox.random_raw(max(missing, _BLOCK))])
        return self._words[self.spent : self.spent + count]

    def spend(self, count: int) -> None:
        """Go on behind so many of the words that were looked at."""
        self.spent += count

    def _next(self) -> int:
        if self.spent == len(self._words):
            self.ahead(1)
        word: int = self._words.item(self.spent)
        self.spent += 1
        return word


def uniform_of(words: Number) -> Number:
    """Return the numbers that `Stream.uniform` makes of words."""
    return (words >> 11) * 2.0**-53


def integer_of(word: int, below: int) -> int:
    """Return the number that `Stream.integer` makes of a word."""
    return word * below >> 64


def trial_seed(study_seed: int, trial: int) -> int:
    """Return the seed a trial trains with: below 2**53, so that JSON and torch both keep it exact."""
    digest = hashlib.sha256(f"{study_seed}:{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


def hashed(key: str, bits: int) -> int:
    """Return `bits` random bits that depend on nothing but the key, rounded up to whole bytes."""
    return int.from_bytes(hashlib.shake_256(key.encode()).digest((bits + 7) // 8), "big")


def exp(x: float) -> float:
    """Return e**x: to 1 unit in the last place, inf where it overflows, exactly 1 at 0."""
    return _exp_of_sum(x, 0.0)


def log(x: float) -> float:
    """Return ln x: to 1 unit in the last place, exactly 0 at 1. Raises ValueError unless x is above 0."""
    if 0.0 < x < math.inf:
        return _log_in_two(x)[0]
    if x <= 0.0:
        raise ValueError(f"only numbers above 0 have a logarithm; got {x!r}.")
    return x  # inf or NaN


def power(base: float, exponent: float) -> float:
    """Return base**exponent: to 1 unit in the last place, inf where it overflows.

    Exactly 1 for exponent 0, the base for exponent 1. Raises ValueError for other powers of a negative base,
    and for 0 to a negative exponent.
    """
    if not (0.0 < base < math.inf and -HUGE < exponent < HUGE):
        return _power_at_the_edge(base, exponent)
    high, low = _log_in_two(base)
    product, lost = product_in_two(exponent, high)
    return _exp_of_sum(product, lost + exponent * low)


def normal_quantile(p: float) -> float:
    """Return what a standard normal falls below with probability p, 0 < p < 1, to 1e-15 of itself.

    Algorithm AS 241, PPND16 (Wichura 1988, Applied Statistics 37, 477-484): rational functions of p - 1/2
    near the middle, of sqrt(-ln p) in the tails.
    """
    q = p - 0.5
    if -0.425 <= q <= 0.425:
        r = 0.180625 - q * q
        return (
            q
            * (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r
                + 45921.953931549871457) * r + 13731.693765509461125) * r + 1971.5909503065514427) * r
                + 133.14166789178437745) * r + 3.387132872796366608)
            / (((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) * r
                + 21213.794301586595867) * r + 5394.1960214247511077) * r + 687.1870074920579083) * r
                + 42.313330701600911252) * r + 1.0)
        )  # fmt: skip
    r = math.sqrt(-log(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        size = (
            (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r
                + 0.24178072517745061177) * r + 1.27045825245236838258) * r + 3.64784832476320460504) * r
                + 5.7694972214606914055) * r + 4.6303378461565452959) * r + 1.42343711074968357734)
            / (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r
                + 0.0151986665636164571966) * r + 0.14810397642748007459) * r + 0.68976733498510000455) * r
                + 1.6763848301838038494) * r + 2.05319162663775882187) * r + 1.0)
        )  # fmt: skip
    else:
        r -= 5.0
        size = (
            (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r
                + 1.24266094738807843860e-3) * r + 0.026532189526576123093) * r + 0.29656057182850489123) * r
                + 1.7848265399172913358) * r + 5.4637849111641143699) * r + 6.6579046435011037772)
            / (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r
                + 1.8463183175100546818e-5) * r + 7.868691311456132591e-4) * r + 0.0148753612908506148525) * r
                + 0.13692988092273580531) * r + 0.59983220655588793769) * r + 1.0)
        )  # fmt: skip
    return -size if q < 0.0 else size


class _Key:
    """A key as Philox asks a seed for it. Given a bare key, it first gathers entropy that it does not use."""

    def __init__(self, key: int) -> None:
        self._words = key & 2**64 - 1, key >> 64

    def generate_state(self, n_words: int, dtype: Any) -> Any:
        import numpy as np

        return np.array(self._words[:n_words], dtype)


def _philox(key: int) -> Any:
    import numpy as np

    np.random.bit_generator.ISeedSequence.register(_Key)
    return np.random.Philox(_Key(key))  # type: ignore[arg-type]


def _exp_of_sum(x: float, tail: float) -> float:
    """Return exp(x + tail) for a tail of at most an ulp or so of x.

    With x + tail = n ln(2)/32 + r and |r| <= ln(2)/64, and n = 32 k + j, it is 2**k 2**(j/32) exp(r)
    (after Tang 1989, ACM Transactions on Mathematical Software 15, 144-157).
    """
    if not -746.0 < x < 710.0:
        return x if x != x else (math.inf if x > 0.0 else 0.0)  # noqa: PLR0124 - NaN
    n = math.floor(x * PER_STEP + 0.5)
    result = exp_from_table(x, tail, n, *ROOTS[n & 31])
    k = n >> 5
    if -1022 < k < 1024:
        return math.ldexp(result, k)
    # Rounded, or overflowed, by the multiplication: ldexp raises, and rounds differently on some systems.
    return math.ldexp(result, k - 1) * 2.0 if k > 0 else math.ldexp(result, k + 128) * 2.0**-128


def exp_from_table(x: Number, tail: Number, n: Number, table_high: Number, table_low: Number) -> Number:
    """Return 2**(j/32) exp(r), see `_exp_of_sum`, from 2**(j/32) in two parts."""
    r = (x - n * _STEP_HIGH) + (tail - n * _STEP_LOW)  # the first difference is exact
    more = r + r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r / 720))))  # exp(r) - 1
    return table_high + (table_low + table_high * more)


def _log_in_two(x: float) -> tuple[float, float]:
    """Return ln x, 0 < x < inf, as a sum: the nearest number, and the rest to 2**-68 of the whole.

    With x = 2**k m and n/128 near 1/m, ln x = k ln 2 - ln(n/128) + ln(1 + u) with u = m n/128 - 1 below 2**-7
    (after Tang 1990, ACM Transactions on Mathematical Software 16, 378-400). u is exact, and so are its
    parts a + b, of which a is so short that its square is exact too.
    """
    m, k = math.frexp(x)
    if m < ROOT_HALF:
        m, k = 2.0 * m, k - 1
    n = int(128.0 / m + 0.5)
    high, low = log_from_table(m, k, n, *LOGS[n])
    return high, low


def log_from_table(
    m: Number, k: Number, n: Number, table_high: Number, table_low: Number
) -> tuple[Number, Number]:
    """Return ln(2**k m) in two parts, see `_log_in_two`, from -ln(n/128) in two parts."""
    reciprocal = n * 2.0**-7
    top = (m + _ROUNDER) - _ROUNDER
    a = top * reciprocal - 1.0
    b = (m - top) * reciprocal
    u = a + b
    half_square = 0.5 * a * a
    start = k * _LN2_HIGH + table_high  # exact, and 0 or greater than u
    reached = start + u
    high = reached - half_square
    low = (
        (u * u * u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u * (1 / 6 - u * (1 / 7 - u * (1 / 8 - u / 9))))))
            - b * (a + 0.5 * b))
        + ((u - (reached - start)) + ((reached - high) - half_square))
        + (k * _LN2_LOW + table_low)
    )  # fmt: skip
    nearest = high + low
    return nearest, low - (nearest - high)


def product_in_two(exponent: Number, high: Number) -> tuple[Number, Number]:
    """Return the product and, exactly, what it rounds away (Dekker 1971): factors are halved to 26 bits."""
    product = exponent * high
    spread = _SPLIT * exponent
    exponent_top = spread - (spread - exponent)
    exponent_rest = exponent - exponent_top
    spread = _SPLIT * high
    top = spread - (spread - high)
    rest = high - top
    lost = (exponent_top * top - product) + exponent_top * rest + exponent_rest * top + exponent_rest * rest
    return product, lost


def _power_at_the_edge(base: float, exponent: float) -> float:
    """Return base**exponent where no logarithm is needed or there is none."""
    if base == 1.0 or exponent == 0.0:
        return 1.0
    if exponent == 1.0:
        return base
    if base != base or exponent != exponent:  # noqa: PLR0124 - NaN
        return math.nan
    if base < 0.0 or (base == 0.0 and exponent < 0.0):
        raise ValueError(f"{base!r} to the power {exponent!r} is no real number; give a base above 0.")
    return math.inf if (base > 1.0) == (exponent > 0.0) else 0.0


def _scaled_log(numerator: int, denominator: int) -> int:
    """Return 2**_BITS ln(numerator/denominator) = 2 artanh((n - d)/(n + d)) by its series, to a few units."""
    term = ((numerator - denominator) << _BITS) // (numerator + denominator)
    square, total, odd = term * term >> _BITS, 0, 1
    while abs(term) > 1:
        total += term // odd
        term, odd = term * square >> _BITS, odd + 2
    return 2 * total


def _scaled_exp(scaled: int) -> int:
    """Return 2**_BITS exp(scaled / 2**_BITS), to a few units, by its series."""
    term, total, order = 1 << _BITS, 0, 1
    while term:
        total += term
        term, order = (term * scaled >> _BITS) // order, order + 1
    return total


def _in_two(scaled: int, places: int) -> tuple[float, float]:
    """Return scaled / 2**_BITS as a number of so many binary places, and the rest."""
    high = scaled >> (_BITS - places)
    return math.ldexp(high, -places), math.ldexp(scaled - (high << (_BITS - places)), -_BITS)


_BLOCK: Final = 32  # words fetched at once: one by one they cost three times as much
_BITS: Final = 128
HUGE: Final = 2.0**63  # to this power even the neighbours of 1 are 0 or infinite
_SPLIT: Final = 2.0**27 + 1.0
_ROUNDER: Final = 1.5 * 2.0**28  # to add and subtract it rounds to a multiple of 2**-24
ROOT_HALF: Final = math.sqrt(0.5)
_LN2: Final = _scaled_log(2, 1)
# With 42 places, the multiples that occur and their sums are exact.
_LN2_HIGH, _LN2_LOW = _in_two(_LN2, 42)
_STEP_HIGH, _STEP_LOW = _in_two(_LN2 // 32, 42)
PER_STEP: Final = 1.0 / _STEP_HIGH
LOGS: Final = {n: _in_two(_scaled_log(128, n), 42) for n in range(91, 182)}  # -ln(n/128)
ROOTS: Final = [_in_two(_scaled_exp(j * _LN2 // 32), 52) for j in range(32)]  # 2**(j/32)
