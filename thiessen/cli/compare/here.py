"""A server and a worker on this machine, for as long as a comparison takes; what dies is started again."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

from thiessen.cli.failure import CommandFailed
from thiessen.cli.outcome import in_words
from thiessen.cli.processes import POLL_SECONDS, START_SECONDS, Process, address, made
from thiessen.cli.studies import connected

T = TypeVar("T")

CALLED: Final[Mapping[str, str]] = {"serve": "server", "worker": "worker"}
MOST_DEATHS: Final = 10  # of the server, or of the worker, in one run of the command
LEASE_SECONDS: Final = "10"  # a trial of a worker that was killed is soon tried again


class Here:
    """Where a comparison runs on this machine: what asks the server sees to it that there is one."""

    def __init__(self, url: str, server: "_Kept", worker: "_Kept") -> None:
        self.url = url
        self._kept = (server, worker)

    def asked(self, ask: Callable[[], T]) -> T:
        """Return what the server answers; it, or the worker, is started again where it has died.

        Raises CommandFailed where that has happened too often, else what `ask` raises.
        """
        from thiessen.errors import ServerUnreachable

        until = time.monotonic() + START_SECONDS
        while True:
            for each in self._kept:
                each.revive()
            try:
                return ask()
            except ServerUnreachable:
                if time.monotonic() > until:
                    raise
                time.sleep(POLL_SECONDS)


@contextmanager
def house(
    folder: Path, *, port: int, slots: int, tasks: Sequence[str], tell: Callable[[str], None]
) -> Iterator[Here]:
    """Start a server and a worker that keep all they know in a folder; stop both. Raises CommandFailed."""
    with ExitStack() as stack:
        lock = stack.enter_context(_owned(made(folder), tell))
        server = _Kept(partial(_server, folder, lock, port), tell)
        stack.callback(server.stop)
        try:
            url = address(server.process)
        except CommandFailed as failure:
            raise CommandFailed(f"{failure}{server.process.tail()}") from failure
        server.start = partial(
            _server, folder, lock, urlsplit(url).port or port
        )  # where the worker looks for it
        known = _incarnations(url)
        worker = _Kept(partial(_worker, folder, lock, url, slots, tasks), tell)
        stack.callback(worker.stop)
        _until(lambda: worker.process.ended is not None or _incarnations(url) - known)
        if worker.process.ended is not None:
            raise CommandFailed(f"the worker could not start.{worker.process.tail()}")
        yield Here(url, server, worker)


class _Kept:
    """A process that is started again when it dies, a bounded number of times and said aloud."""

    def __init__(self, start: Callable[[], Process], tell: Callable[[str], None]) -> None:
        self.start = start
        self.process = start()
        self._tell = tell
        self._deaths = 0

    def revive(self) -> None:
        """Start it again if it has ended. Raises CommandFailed when that was once too often."""
        if (code := self.process.ended) is None:
            return
        how = f"the {CALLED[self.process.name]} {in_words(code)}"
        if self._deaths == MOST_DEATHS:
            raise CommandFailed(
                f"{how}, as {MOST_DEATHS} before it. The same command again goes on.{self.process.tail()}"
            )
        self._deaths += 1
        self._tell(
            f"{how[0].upper()}{how[1:]}; it is started again ({self._deaths} of at most {MOST_DEATHS} times)."
        )
        self.process.stop()
        self.process = self.start()

    def stop(self) -> None:
        """Let it end in order."""
        self.process.stop()


def _server(folder: Path, lock: int, port: int) -> Process:
    database = f"sqlite:///{folder / 'studies.db'}"
    command = ("serve", "--port", str(port), "--database", database)
    return Process(folder, *command, keeps=[lock], THIESSEN_LEASE_SECONDS=LEASE_SECONDS)


def _worker(folder: Path, lock: int, url: str, slots: int, tasks: Sequence[str]) -> Process:
    # One thread a slot: sums in another order are other sums, and a run would not repeat.
    slotted = ("--slots-per-device", str(slots), "--threads", "1")
    kept = ("--spool-dir", str(folder / "results"), "--checkpoint-dir", str(folder / "checkpoints"))
    offered = [word for task in tasks for word in ("--task", task)]
    return Process(folder, "worker", "--server", url, *slotted, *kept, *offered, keeps=[lock])


def _incarnations(url: str) -> set[str]:
    """Return each start of a worker that the server has heard of last."""
    with connected(url) as client:
        return {each.incarnation for each in client.workers()}


@contextmanager
def _owned(folder: Path, tell: Callable[[str], None]) -> Iterator[int]:
    """Yield the lock of a folder; a server and a worker that outlive this process hold it until they end.

    Raises CommandFailed.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _taken(descriptor):
            tell(f"Waiting for another command that works in {folder}, or for what it left to stop ...")
            if not _until(lambda: _taken(descriptor)):
                raise CommandFailed(
                    f"another command works in {folder}. Watch its dashboard, or choose another --folder."
                )
        yield descriptor
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _until(condition: Callable[[], object]) -> bool:
    """Return whether the condition holds in time."""
    deadline = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
