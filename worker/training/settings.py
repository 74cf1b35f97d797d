"""What a config chooses by name, and the settings that come with the name."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TypeVar

T = TypeVar("T")


def chosen(kind: str, table: Mapping[str, Callable[..., T]], name: str, **settings: object) -> T:
    """Build what the table has under a name. Raises ValueError that names what is wrong and what there is."""
    if name not in table:
        raise ValueError(f"There is no {kind} {name!r}. Choose one of {sorted(table)}.")
    known = list(signature(table[name]).parameters)
    try:
        signature(table[name]).bind(**settings)
    except TypeError as error:
        raise ValueError(
            f"The {kind} {name!r} cannot be set up: {error}. Its settings are {known}."
        ) from None
    return table[name](**settings)


def above_zero(name: str, value: float) -> None:
    """Raise ValueError unless the value of this setting is above 0 and finite."""
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} is {value!r}: it must be finite and above 0.")


def share(name: str, value: float) -> None:
    """Raise ValueError unless the value of this setting lies from 0 to below 1."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value!r}: it must be from 0 to below 1.")
