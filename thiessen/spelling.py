"""What was meant by a name that is not known."""

from collections.abc import Collection
from difflib import get_close_matches


def nearest(name: str, known: Collection[str]) -> str:
    """Return a suggestion for a name that is not among the known ones, or all of these."""
    if close := get_close_matches(name, known, n=1):
        return f"the nearest is {close[0]!r}"
    return f"there are {', '.join(sorted(known))}" if known else "there are none"
