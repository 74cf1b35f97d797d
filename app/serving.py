"""One process that serves, or several under a supervisor that keeps their number.

The first SIGTERM or SIGINT lets what is under way end; a second one ends everything at once.
"""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from multiprocessing import connection
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI

from app import logs
from app.connections import Connection
from app.main import build
from app.settings import Settings
from app.storage import DatabaseUnavailable

KEEP_ALIVE_SECONDS: Final = 75  # of a connection without a request: longer than between two heartbeats
FOR_REQUESTS: Final = 0.8  # of the time to stop; the rest is for the database
IN_A_HURRY: Final = 1  # the exit code after a second signal, or when the time to stop was not enough

FIRST_PAUSE: Final = 0.5  # seconds before a process that died is started again
LONGEST_PAUSE: Final = 30.0
LONG_LIFE: Final = 60.0  # a process that lived so long is started again without a longer pause
LOOK_SECONDS: Final = 0.2

log = logging.getLogger("thiessen.server")


def serve(settings: Settings, app: FastAPI, listener: socket.socket) -> None:
    """Answer what comes to the listener until a signal says stop; return when all is closed."""
    # Its access log tells paths, and lease ids with them; nothing here speaks websockets.
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        http=Connection,
        ws="none",
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    config.timeout_graceful_shutdown = settings.shutdown_seconds * FOR_REQUESTS  # type: ignore[assignment]
    _Server(config, app, settings.shutdown_seconds).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Exits with 0 when it is told to stop; uvicorn's own would let the signal kill it in the end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, shutdown_seconds: float) -> None:
        super().__init__(config)
        self._house = app.state.house
        self._shutdown_seconds = shutdown_seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del sig, frame
        if self.should_exit:
            os._exit(IN_A_HURRY)
        self.should_exit = True
        last_resort = threading.Timer(self._shutdown_seconds, _leave, [self._shutdown_seconds])
        last_resort.daemon = True
        last_resort.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._house.close()
        await super().shutdown(sockets)


def _leave(seconds: float) -> None:
    log.error("Not stopped within %g seconds: leaving. What was acknowledged is stored.", seconds)
    os._exit(IN_A_HURRY)


def supervise(settings: Settings, listener: socket.socket) -> None:
    """Keep as many processes as are set on one listener until a signal says stop; then stop them all."""
    stop = threading.Event()
    places = [_Place(settings, listener) for _ in range(settings.workers)]

    def finish(number: int, frame: FrameType | None) -> None:
        del number, frame
        if stop.is_set():
            os._exit(IN_A_HURRY)  # each process sees it, and takes it for its own second signal
        stop.set()

    signal.signal(signal.SIGTERM, finish)
    signal.signal(signal.SIGINT, finish)
    while not stop.is_set():
        connection.wait([place.process.sentinel for place in places if place.is_alive], LOOK_SECONDS)
        for place in places:
            place.keep()
    listener.close()  # else who comes now waits for nobody
    for place in places:
        place.process.terminate()
    for place in places:
        place.process.join()  # which bounds its own time to stop


class _Place:
    """A process, and after it died the next one: after a pause, which grows while they die young."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._pause = FIRST_PAUSE
        self._died_at: float | None = None
        self._start()

    @property
    def is_alive(self) -> bool:
        return self._died_at is None

    def keep(self) -> None:
        """Start another process where one has died and its pause is over."""
        if self._died_at is None and not self.process.is_alive():
            self._died_at = time.monotonic()
            self._pause = next_pause(self._pause, lived=self._died_at - self._began_at)
            log.error(
                "Process %d ended with %s; the next starts in %g s.",
                self.process.pid, self.process.exitcode, self._pause,
            )  # fmt: skip
        elif self._died_at is not None and time.monotonic() >= self._died_at + self._pause:
            self._start()

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork would inherit threads and connections half
        self.process: SpawnProcess = spawn.Process(
            target=_work, args=(self._settings, self._listener), daemon=True
        )
        self.process.start()
        self._began_at = time.monotonic()
        self._died_at = None


def next_pause(pause: float, *, lived: float) -> float:
    """Return how long to wait for the next start of a process that waited `pause` for its last."""
    return FIRST_PAUSE if lived >= LONG_LIFE else min(pause * 2, LONGEST_PAUSE)


def _work(settings: Settings, listener: socket.socket) -> None:
    """Serve as one of several."""
    os.setpgrp()  # Ctrl-C reaches the supervisor alone, who passes it on once
    threading.Thread(target=_follow_the_supervisor, daemon=True).start()
    logs.configure(settings.log_format, settings.log_level)
    try:
        app = build(settings)
    except DatabaseUnavailable as error:
        log.error("%s", error)  # noqa: TRY400 - the sentence says it all
        raise SystemExit(1) from None
    serve(settings, app, listener)


def _follow_the_supervisor() -> None:
    supervisor = multiprocessing.parent_process()
    if supervisor is not None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)
