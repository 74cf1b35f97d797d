"""The names and numbers in the addresses of pages."""

import re
from typing import Final

from app.domain.errors import StudyNotFound
from thiessen.contract.words import NAME

MOST_NUMBER: Final = 2**31 - 1  # of a trial: what the databases count with


def check_study(name: str) -> None:
    """Raise StudyNotFound if no study can have this name."""
    if not re.fullmatch(NAME, name):
        raise StudyNotFound(name)


def trial_number(said: str) -> int | None:
    """Return the number of a trial, None if none can have it."""
    is_number = re.fullmatch("[0-9]{1,10}", said) is not None and int(said) <= MOST_NUMBER
    return int(said) if is_number else None
