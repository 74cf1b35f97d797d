"""What the routes need of the rest: built once by main, kept on the application."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request

from app.lifecycle.follow import Followers
from app.lifecycle.hearing import Hearing
from app.storage import Store


@dataclass(frozen=True, kw_only=True)
class House:
    """The store, and the values of settings that steps depend on."""

    store: Store
    lease_for: timedelta
    hearing: Hearing
    followers: Followers
    allow_private_webhooks: bool


def _the_house(request: Request) -> House:
    return cast("House", request.app.state.house)


TheHouse = Annotated[House, Depends(_the_house)]
"""A route that asks for it gets the house."""
