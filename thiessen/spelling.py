"""What was meant by a name that is not known."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

MOST_NAMED: Final = 30
LONGEST: Final = 100  # characters of a name


def nearest(name: str, known: Collection[str]) -> str:
    """Return a suggestion for a name that is not among the known ones, or the first of these."""
    if close := get_close_matches(name, known, n=1):
        return f"the nearest is {close[0][:LONGEST]!r}"
    if not known:
        return "there are none"
    told = [each[:LONGEST] for each in sorted(known)[:MOST_NAMED]]
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there are {', '.join(told)}{more}"
