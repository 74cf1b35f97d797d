"""Ask strategies of other packages: in threads of their own, and without waiting for ever.

A thread cannot be stopped. So only a few think at once and only a few requests wait. What a thread comes to
when nobody waits any more is for the next request of the same turn: a slow strategy gets on, and the leases
of other studies are not held up by it.
"""

from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from threading import BoundedSemaphore, Lock, Thread
from typing import Final

from thiessen.search import Proposal

Think = Callable[[], Proposal]
Thought = Future[Proposal]


class Unready(Exception):  # noqa: N818 - says what happened
    """There is no proposal yet; the message says why, as what goes on with 'it'."""


class Thinkers:
    """As many threads as may think at once, and as many requests as may wait for them."""

    def __init__(self, *, most: int, patience_seconds: float) -> None:
        self._patience_seconds = patience_seconds
        self._idle = BoundedSemaphore(most)
        self._seats = BoundedSemaphore(most)
        self._thoughts: dict[Hashable, tuple[int, Thought]] = {}  # of each study the last, until it is heard
        self._lock = Lock()

    def ask(self, study: Hashable, turn: int, think: Think) -> Proposal:
        """Return what thinking comes to. Raises Unready, and whatever thinking raises."""
        if not self._seats.acquire(blocking=False):
            raise Unready("enough requests wait for it already")
        try:
            thought = self._thought(study, turn, think)
            wait([thought], self._patience_seconds)
        finally:
            self._seats.release()
        if not thought.done():
            raise Unready(f"it has thought for {self._patience_seconds:g} seconds and goes on")
        with self._lock:
            if self._thoughts.get(study) == (turn, thought):
                del self._thoughts[study]
        return thought.result()

    def _thought(self, study: Hashable, turn: int, think: Think) -> Thought:
        """Return the thought of this turn, under way or not yet heard, or begin it."""
        with self._lock:
            begun, thought = self._thoughts.get(study, (None, None))
            if thought is None or begun != turn:
                thought = self._begin(think)
                self._thoughts[study] = turn, thought
            return thought

    def _begin(self, think: Think) -> Thought:
        if not self._idle.acquire(blocking=False):
            raise Unready("enough others think already")
        thought: Thought = Future()
        # A daemon: the server stops without it.
        Thread(target=self._finish, args=(thought, think), name="borrowed-strategy", daemon=True).start()
        return thought

    def _finish(self, thought: Thought, think: Think) -> None:
        try:
            proposal = think()
        except BaseException as error:  # noqa: BLE001 - it belongs to who asks
            self._idle.release()
            thought.set_exception(error)
        else:
            self._idle.release()
            thought.set_result(proposal)


THINKERS: Final = Thinkers(most=4, patience_seconds=5.0)
"""Those of this process: a request that meets four slow studies is answered before its client gives up."""
