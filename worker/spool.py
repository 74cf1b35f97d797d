"""Results and curves on disk until the server has them: neither an outage nor a kill takes them."""

import fcntl
import logging
import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, takewhile
from pathlib import Path
from secrets import token_hex
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from thiessen.client import Client
from thiessen.contract import Failure, HeartbeatAnswer, Outcome, Point
from thiessen.errors import InvalidRequest, LeaseLost, Refused, ResultDiffers, ServerFailed, TooManyRequests
from worker.disk import flush, opened

FOR_GOOD: Final = (LeaseLost, ResultDiffers, InvalidRequest)  # refusals that asking again does not change
MOST_POINTS: Final = 1000  # of one heartbeat
MOST_BYTES: Final = 500_000  # of one heartbeat, a quarter of what a server takes
MOST_FAILURES: Final = 5  # of the server to take a curve, then it gets the ending without
FORGOTTEN_SECONDS: Final = 24 * 3600.0  # since an empty file was touched: whose it was must be gone

log = logging.getLogger("thiessen.worker")


class Result(BaseModel):
    """What the server does not know yet of an attempt, how it ended if it has, and whom to tell."""

    model_config = ConfigDict(frozen=True)

    server: str
    lease_id: str
    name: str  # of the attempt, for people
    points: list[Point] = Field(default=[])
    log_tail: str | None = None
    ending: Outcome | Failure | None = None

    _told: int = PrivateAttr(default=0)  # points
    _failures: int = PrivateAttr(default=0)  # of the server, to take the curve

    def tell(self, client: Client) -> None:
        """Tell the server, the curve first. Raises ServerUnreachable, ServerFailed, Refused."""
        self._tell_curve(client)
        if isinstance(self.ending, Failure):
            client.fail(self.lease_id, self.ending)
        elif self.ending is not None:
            client.complete(self.lease_id, self.ending)

    def _tell_curve(self, client: Client) -> None:
        """Send the points and what was printed last. Refused, or failed often, they are left out."""
        log_tail = self.log_tail
        try:
            while self._told < len(self.points) or log_tail is not None:
                self._told += tell_points(client, self.lease_id, self.points[self._told :], log_tail)[0]
                log_tail = None
        except TooManyRequests:
            raise
        except (ServerFailed, Refused) as error:
            self._failures += 1
            if isinstance(error, ServerFailed) and self._failures < MOST_FAILURES:
                raise
            rest = len(self.points) - self._told
            log.warning("%s: %d points of the curve are left out: %s", self.name, rest, error)


def tell_points(
    client: Client, lease_id: str, points: Sequence[Point], log_tail: str | None
) -> tuple[int, HeartbeatAnswer]:
    """Send as many points as one heartbeat takes; return how many, and the answer. Raises as Client does."""
    sizes = accumulate(len(point.model_dump_json()) for point in points[:MOST_POINTS])
    size = max(sum(1 for _ in takewhile(lambda size: size <= MOST_BYTES, sizes)), min(len(points), 1))
    return size, client.heartbeat(lease_id, list(points[:size]), log_tail)


def state_folder() -> Path:
    """Return where this user's programs keep what they need again."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "thiessen"


def usual_folder() -> Path:
    """Return where this user's results are kept."""
    return state_folder() / "results"


def kept_in(folder: Path) -> Iterator[tuple[Path, float, Result | None]]:
    """Yield each file with the time it was written and what it keeps; what cannot be read is logged."""
    for file in [*folder.glob("*.json"), *folder.glob("*.jsonl")]:
        try:
            yield file, file.stat().st_mtime, _read(file)
        except FileNotFoundError:  # another worker has just told it
            continue
        except (OSError, ValueError) as error:
            log.warning("%s is left alone: it cannot be read: %s", file, error)


class Spool:
    """A folder with one file for each attempt. Workers may share it: to tell a result twice is harmless.

    A file has a line for each thing that was kept. When the server has all of it, the file is emptied and
    used again: to write into a file that is there costs the disk a third of making a new one.
    """

    def __init__(self, folder: Path) -> None:
        """Raises OSError when nothing can be kept there."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(f"no permission to read and write in {folder}")
        if folder.stat().st_mode & stat.S_IWOTH:
            log.warning(
                "%s can be written in by every user of this machine. Cure: chmod o-w %s", folder, folder
            )
        self.folder = folder
        self._mine = token_hex(8)
        self._files: dict[str, Path] = {}  # by lease
        self._free: list[Path] = []
        self._lock = threading.Lock()
        self._made = 0
        self._is_full = False

    def keep(self, result: Result) -> None:
        """Write down what is new of an attempt; when this returns, an ending is on the disk.

        Raises OSError.
        """
        line = result.model_dump_json(exclude_unset=True).encode() + b"\n"
        try:
            _append(self._file(result.lease_id), line, is_final=result.ending is not None)
        except OSError:
            self._is_full = True
            raise

    def keeps(self) -> bool:
        """Return whether results can be kept; asks the disk only after it had refused one."""
        if not self._is_full:
            return True
        probe = self.folder / f"{self._mine}.part"
        try:
            _append(probe, b" " * 65_536, is_final=True)
            self._is_full = False
        except OSError:
            return False
        finally:
            probe.unlink(missing_ok=True)
        return True

    def left(self, server: str) -> list[Result]:
        """Return what waits here for a server, the oldest first; what is no result is left out."""
        found: list[tuple[float, Result]] = []
        for file, written, result in kept_in(self.folder):
            if result is None:
                _forget(file, written)
            elif result.server == server:
                self._files[result.lease_id] = file
                found.append((written, result))
        return [result for _, result in sorted(found, key=lambda pair: pair[0])]

    def deliver(self, client: Client, result: Result) -> None:
        """Tell a result; once the server took it or refused it for good, it is removed.

        Raises ServerUnreachable, ServerFailed, Refused.
        """
        try:
            result.tell(client)
        except FOR_GOOD:
            self.drop(result.lease_id)
            raise
        self.drop(result.lease_id)

    def drop(self, lease_id: str) -> None:
        """Keep nothing of an attempt any more."""
        file = self._files.pop(lease_id, None)
        if file is None:
            return
        if not file.name.startswith(self._mine):
            _remove(file, lease_id)
            return
        try:
            os.truncate(file, 0)
        except OSError:  # gone, or on a disk that is
            return
        with self._lock:
            self._free.append(file)

    def close(self) -> None:
        """Remove the files that are empty."""
        for file in self._free:
            file.unlink(missing_ok=True)

    def _file(self, lease_id: str) -> Path:
        if lease_id not in self._files:
            with self._lock:
                if not self._free:
                    self._made += 1
                    self._free.append(self.folder / f"{self._mine}-{self._made}.jsonl")
                self._files[lease_id] = self._free.pop()
        return self._files[lease_id]


def _append(file: Path, line: bytes, *, is_final: bool) -> None:
    """Add a line, whole or not at all: what was written of it is taken back when there is no more room."""
    is_new = not file.exists()
    with _held(file, os.O_CREAT) as opened:
        size = os.fstat(opened).st_size
        try:
            left = memoryview(line)
            while left:  # a disk that is nearly full takes a part, and refuses the next
                left = left[os.write(opened, left) :]
            if is_final:
                os.fsync(opened)
        except OSError:
            os.truncate(file, size)
            raise
    if is_new and is_final:
        flush(file.parent)


def _remove(file: Path, lease_id: str) -> None:
    """Remove the file of an attempt, unless its worker uses it for another by now."""
    with suppress(FileNotFoundError), _held(file, 0):
        result = _read(file)
        if result is None or result.lease_id == lease_id:
            file.unlink()


@contextmanager
def _held(file: Path, flags: int) -> Iterator[int]:
    """Open a file to add to it, while no other process does so or removes it. Raises OSError."""
    while True:
        # Whoever reads the lease id can speak for this attempt.
        number = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | flags, 0o600)
        try:
            with suppress(OSError):  # some network disks know no locks
                fcntl.flock(number, fcntl.LOCK_EX)
            if file.exists() and file.stat().st_ino == os.fstat(number).st_ino:
                yield number
                return
        finally:
            os.close(number)


def _read(file: Path) -> Result | None:
    """Return all that a file has of its attempt, None when it is empty. Raises OSError, ValueError."""
    with opened(file) as content:
        if os.fstat(content.fileno()).st_uid != os.geteuid():
            raise PermissionError("it is of another user")
        lines = content.read().splitlines()
    parts = [part for line in lines if (part := _part(line)) is not None]
    if not parts:
        if lines:
            Result.model_validate_json(lines[0])
        return None
    points = {point.step: point for part in parts for point in part.points}
    last = parts[-1]
    return last.model_copy(update={"points": [points[step] for step in sorted(points)]})


def _part(line: bytes) -> Result | None:
    try:
        return Result.model_validate_json(line)
    except ValueError:
        return None  # half written: the process was killed meanwhile


def _forget(file: Path, written: float) -> None:
    if time.time() - written > FORGOTTEN_SECONDS:
        file.unlink(missing_ok=True)
