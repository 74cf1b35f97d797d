"""What the routes need of the rest: built once by main, kept on the application."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request

from app.lifecycle.columns import Histories
from app.lifecycle.comparison_reports import Reports
from app.lifecycle.figures import Figures
from app.lifecycle.follow import Followers
from app.lifecycle.hearing import Hearing
from app.lifecycle.judge import Judge
from app.lifecycle.memory import Memory
from app.lifecycle.replay import Replays
from app.lifecycle.waiting import Waiting
from app.storage import Store


@dataclass(frozen=True, kw_only=True)
class House:
    """The store, what this process remembers, and the values of settings that steps depend on."""

    store: Store
    lease_for: timedelta
    hearing: Hearing
    followers: Followers
    allow_private_webhooks: bool
    memory: Memory = field(default_factory=Memory)
    histories: Histories = field(default_factory=Histories)
    figures: Figures = field(default_factory=Figures)
    judge: Judge = field(default_factory=Judge)
    reports: Reports = field(default_factory=Reports)
    replays: Replays = field(default_factory=Replays)
    waiting: Waiting = field(default_factory=Waiting)
    # The workers that spoke since this was written down, and who spoke for each.
    heard: set[tuple[str, str]] = field(default_factory=set)
    closing: asyncio.Event = field(default_factory=asyncio.Event)  # set when the server stops

    def close(self) -> None:
        """Keep nobody waiting any longer: the server stops."""
        self.closing.set()
        self.followers.close()


async def _the_house(request: Request) -> House:
    return cast("House", request.app.state.house)


TheHouse = Annotated[House, Depends(_the_house)]
"""A route that asks for it gets the house."""
