"""The functions of `thiessen.numbers` for each element of an array: the same operations, the same bits.

One by one a float costs a microsecond; a thousand at once cost some ten nanoseconds each. Nothing here is
numpy's own exp, log or power, whose last digits differ from machine to machine.
"""

from typing import Any, Final

import numpy as np

from thiessen import numbers
from thiessen.numbers import HUGE, LOGS, PER_STEP, ROOT_HALF, ROOTS

Array = np.ndarray[Any, np.dtype[Any]]


def exp_each(x: Array) -> Array:
    """Return `numbers.exp` of each element."""
    return _exp_of_sum_each(x, np.zeros_like(x))


def log_each(x: Array) -> Array:
    """Return `numbers.log` of each element. Raises ValueError unless all are above 0 (or NaN)."""
    if (x <= 0.0).any():
        raise ValueError(f"only numbers above 0 have a logarithm; got {x.min()!r}.")
    inside = x < np.inf
    return np.where(inside, _log_in_two_each(np.where(inside, x, 1.0))[0], x)


def power_each(base: Array, exponent: float) -> Array:
    """Return `numbers.power` of each element and one exponent."""
    inside = (base > 0.0) & (base < np.inf) & (abs(exponent) < HUGE)
    high, low = _log_in_two_each(np.where(inside, base, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):  # of a huge exponent, where another branch counts
        product, lost = numbers.product_in_two(exponent, high)
        powers = _exp_of_sum_each(product, lost + exponent * low)
    if not inside.all():
        others, which = np.unique(base[~inside], return_inverse=True)
        powers[~inside] = np.array([numbers.power(other, exponent) for other in others.tolist()])[which]
    return powers


def rounded_each(x: Array) -> Array:
    """Return each element as it reads with 12 significant digits: float(format(element, ".12g")).

    A whole number of 12 digits, times or by a power of ten up to 10**22, is rounded once, to the float that
    its text is read as. Which whole number it is, is known unless x lies next to the middle of two.
    """
    size = np.abs(x)
    above = np.searchsorted(_TENS, size, side="right") - 11  # digits before the point
    places = np.clip(12 - above, -22, 22)
    down, up = _TENS[11 + np.maximum(-places, 0)], _TENS[11 + np.maximum(places, 0)]
    scaled = size * up / down  # one of them is 1; off by at most 2**-13
    whole = np.rint(scaled)
    rounded = np.copysign(whole * down / up, x)
    unsure = (np.abs(np.abs(scaled - whole) - 0.5) < 2.0**-10) | (size < 1e-10) | (size >= 1e22)
    if unsure.any():
        rounded[unsure] = [float(format(each, ".12g")) for each in x[unsure].tolist()]
    return np.asarray(rounded)


def _exp_of_sum_each(x: Array, tail: Array) -> Array:
    inside = (x > -746.0) & (x < 710.0)
    reduced, tail = np.where(inside, x, 0.0), np.where(inside, tail, 0.0)
    n = np.floor(reduced * PER_STEP + 0.5)
    step = n.astype(np.int64)
    result = numbers.exp_from_table(reduced, tail, n, *_ROOTS[:, step & 31])
    k = step >> 5
    # Rounded, or overflowed, by the multiplication, as in the scalar form; elsewhere it is by 1.
    shift = np.where(k >= 1024, 1, np.where(k <= -1022, -128, 0))
    with np.errstate(over="ignore"):
        result = np.ldexp(result, k - shift) * np.ldexp(1.0, shift)
    return np.where(inside, result, np.where(np.isnan(x), x, np.where(x > 0.0, np.inf, 0.0)))


def _log_in_two_each(x: Array) -> tuple[Array, Array]:
    m, k = np.frexp(x)
    small = m < ROOT_HALF
    m, k = np.where(small, 2.0 * m, m), k - small
    n = (128.0 / m + 0.5).astype(np.int64)
    high, low = numbers.log_from_table(m, k, n, *_LOGS[:, n - min(LOGS)])
    return high, low


_ROOTS: Final = np.array(ROOTS).T
_LOGS: Final = np.array([LOGS[n] for n in sorted(LOGS)]).T
_TENS: Final = np.array([float(f"1e{power}") for power in range(-11, 23)])  # exact from 1 on
