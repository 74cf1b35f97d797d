"""What a child prints: passed on line by line, with its last lines kept."""

import logging
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Final

from worker.logs import PRINTED

MOST_KEPT: Final = 10_000  # bytes, and so at most as many characters as a heartbeat takes
MOST_READ: Final = 65_536

log = logging.getLogger(PRINTED)


class Output:
    """The read end of a child's standard output and error, emptied by a thread until the child is gone."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self._kept = b""
        self._unfinished = b""  # a line whose end has not come
        self._about: Mapping[str, object] = {}
        self._has_ended = False
        self._lock = threading.Lock()
        os.set_blocking(pipe.fileno(), False)
        threading.Thread(target=self._follow, name="output", daemon=True).start()

    def tail(self) -> str:
        """Return the last lines of all that was printed until now."""
        self._read()
        lines = self._kept[-MOST_KEPT:]
        if len(self._kept) > MOST_KEPT:
            lines = lines[lines.find(b"\n") + 1 :]
        return _text(lines)[-MOST_KEPT:]

    def begin(self, about: Mapping[str, object]) -> None:
        """Forget what was printed: another attempt prints from now on, which the log names so."""
        self._read()
        self._kept = b""
        self._about = about

    def _follow(self) -> None:
        while not self._has_ended:
            wait([self._pipe])
            self._read()
        self._pipe.close()

    def _read(self) -> None:
        """Read what there is; `tail` does so too, for the thread may lag behind what the child has said."""
        with self._lock, suppress(BlockingIOError):  # the other one has read it
            while not self._has_ended:
                text = os.read(self._pipe.fileno(), MOST_READ)
                self._has_ended = not text
                self._kept = (self._kept + text)[-MOST_KEPT - 1 :]
                self._pass_on(text)

    def _pass_on(self, text: bytes) -> None:
        *lines, self._unfinished = (self._unfinished + text).split(b"\n")
        if self._unfinished and (self._has_ended or len(self._unfinished) > MOST_KEPT):
            lines, self._unfinished = [*lines, self._unfinished], b""
        for line in lines:
            log.info("%s", _text(line).rpartition("\r")[2], extra=self._about)


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace").replace("\0", "\N{SYMBOL FOR NULL}")
