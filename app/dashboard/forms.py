"""Forms: what a person may do on a page, what was typed, and what is answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated, Final, Literal
from urllib.parse import parse_qs

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from app.domain.errors import InvalidRequest

MOST_FIELDS: Final = 100

Typed = Mapping[str, str]
Kind = Literal["number", "text", "lines", "check"]


@dataclass(frozen=True)
class Field:
    """One question of a form."""

    name: str
    label: str
    kind: Kind = "text"
    value: str = ""
    hint: str = ""
    scope: str = "submit"  # who has not got it is not asked


@dataclass(frozen=True)
class Action:
    """One thing that a person may do here: a button, or one with a form behind it."""

    do: str
    words: str  # of the button
    says: str = ""
    fields: Sequence[Field] = ()
    button: str = ""  # of the form, where it says something else
    is_grave: bool = False  # cannot be taken back
    key: str = ""
    wrong: str = ""  # why it was refused

    @property
    def is_plain(self) -> bool:
        """Return whether the button does it, and asks nothing before."""
        return not self.says and not self.fields


@dataclass(frozen=True)
class Done:
    """What a form came to: in a sentence, and the page that shows it, from that of the form."""

    said: str
    to: str
    leaves: bool = False  # as there is nothing more to see where the form was


def refused(actions: Sequence[Action], typed: Typed, why: str) -> list[Action]:
    """Return the actions again: the one that was refused says why, and has kept what was typed.

    One that is not offered any more leaves its words alone.
    """
    if typed.get("do") not in {each.do for each in actions}:
        return [Action("", "", wrong=why), *actions]
    return [
        replace(
            each,
            wrong=why,
            fields=[replace(field, value=typed.get(field.name, "")) for field in each.fields],
        )
        if each.do == typed.get("do")
        else each
        for each in actions
    ]


def wants_page(request: Request) -> bool:
    """Return whether the answer is to be a page, as without scripts; those take JSON."""
    return "text/html" in request.headers.get("accept", "")


def answered(request: Request, done: Done) -> Response:
    """Return what was done: the way to a page, so that loading it again does not do it again."""
    if wants_page(request):
        return RedirectResponse(done.to, HTTPStatus.SEE_OTHER)
    return JSONResponse({"said": done.said, "to": done.to if done.leaves else None})


async def _typed(request: Request) -> Typed:
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:  # of either: not UTF-8, or very many fields
        raise InvalidRequest(
            f"The form cannot be read: it is UTF-8, with at most {MOST_FIELDS} fields."
        ) from None
    return {name: values[0].replace("\r\n", "\n") for name, values in fields.items()}


TheForm = Annotated[Typed, Depends(_typed)]
"""A route that asks for it gets what was typed, by the names of the fields."""
