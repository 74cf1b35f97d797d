"""Numbers and names as figures show them."""

import math
from datetime import UTC, datetime
from typing import Final

from thiessen.space import Scalar

DIGITS: Final = 4  # significant ones
LONGEST: Final = 28  # characters of a name
WIDE: Final = 58  # characters of a line under a title: what a phone has room for
RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(number: float | None) -> str:
    """Return a number with few digits, as it can be pasted; a dash where there is none."""
    if number is None or math.isnan(number):
        return "–"  # noqa: RUF001 - the sign for what is unknown
    if number == 0 or 0.01 <= abs(number) < 100_000:
        return f"{number:.{DIGITS}g}"
    mantissa, _, exponent = f"{number:.{DIGITS - 1}e}".partition("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def tick(number: float) -> str:
    """Return a number as it stands at an axis."""
    if number == 0 or 0.01 <= abs(number) < 100_000:
        return f"{number:.{DIGITS}g}"
    mantissa, _, exponent = short(number).partition("e")
    power = f"10{exponent.translate(RAISED)}"
    return power if mantissa == "1" else f"{mantissa}·{power}"


def name(text: Scalar, longest: int = LONGEST) -> str:
    """Return a name or a choice, cut to a length, so that no part of it is read as markup."""
    plain = " ".join(str(text).split()) or "''"
    cut = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    return cut.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def count(many: int, thing: str) -> str:
    """Return how many there are: 1 trial, 12,400 trials."""
    return f"{many:,} {thing}{'' if many == 1 else 's'}"


def lines(sentence: str, wide: int = WIDE) -> list[str]:
    """Return a sentence broken into lines."""
    found: list[str] = []
    for word in sentence.split(" "):
        if found and len(found[-1]) + 1 + len(word) <= wide:
            found[-1] += " " + word
        else:
            found.append(word)
    return found


def instant(seconds: float) -> str:
    """Return a time as plotly reads it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
