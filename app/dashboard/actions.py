"""What a person may do on a page, with a form each, and what is answered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal

from fastapi import Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from app.dashboard.sent import Form

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


def refused(actions: Sequence[Action], form: Form, why: str) -> list[Action]:
    """Return the actions again: the one that was refused says why, and has kept what was typed.

    One that is not offered any more leaves its words alone.
    """
    if form.one("do") not in {each.do for each in actions}:
        return [Action("", "", wrong=why), *actions]
    return [
        replace(
            each,
            wrong=why,
            fields=[replace(field, value=form.typed(field.name)) for field in each.fields],
        )
        if each.do == form.one("do")
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
