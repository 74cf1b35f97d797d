"""Replay a study: its proposals are computed again in a process of their own, from its record alone."""

import asyncio
import json
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final, cast

from app.domain.errors import ReplayUnavailable
from app.lifecycle.recompute import Replayed

REPLAY_SECONDS: Final = 300.0

_PROGRAM: Final = (sys.executable, "-P", "-m", "app.lifecycle.recompute")


class Replays:
    """One at a time: a replay keeps a core busy that requests may need."""

    def __init__(self) -> None:
        self._busy = asyncio.Lock()

    async def replay(self, record: AsyncIterator[bytes]) -> Replayed:
        """Return what comes of a record. Raises ReplayUnavailable."""
        if self._busy.locked():
            raise ReplayUnavailable("Another replay is under way, and a server does one at a time")
        async with self._busy:
            try:
                async with asyncio.timeout(REPLAY_SECONDS):
                    return await _replayed(record)
            except TimeoutError:
                raise ReplayUnavailable(
                    f"The replay took longer than {REPLAY_SECONDS:g} seconds and was stopped; "
                    "ask for fewer trials with `first`, or do it elsewhere: thiessen replay NAME --server URL"
                ) from None


async def _replayed(record: AsyncIterator[bytes]) -> Replayed:
    process = await asyncio.create_subprocess_exec(*_PROGRAM, stdin=PIPE, stdout=PIPE)
    try:
        return await _told(process, record)
    finally:
        with suppress(ProcessLookupError):  # it has ended
            process.kill()
        await process.wait()


async def _told(process: Process, record: AsyncIterator[bytes]) -> Replayed:
    ear, mouth = cast("StreamWriter", process.stdin), cast("StreamReader", process.stdout)
    with suppress(ConnectionError):  # it died; that is told below
        async for piece in record:
            ear.write(piece)
            await ear.drain()
    ear.close()
    said = await mouth.read()
    if await process.wait() != 0:
        raise ReplayUnavailable("The process of the replay failed; the server's log says why")
    return Replayed(**json.loads(said))
