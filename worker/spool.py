"""Results on disk until the server has them: neither an outage nor a kill takes them."""

import logging
import os
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from thiessen.client import Client
from thiessen.contract import Failure, Outcome
from thiessen.errors import InvalidRequest, LeaseLost, ResultDiffers

FOR_GOOD: Final = (LeaseLost, ResultDiffers, InvalidRequest)  # refusals that asking again does not change

log = logging.getLogger("thiessen.worker")


class Result(BaseModel):
    """How an attempt ended, and whom to tell."""

    model_config = ConfigDict(frozen=True)

    server: str
    lease_id: str
    name: str  # of the attempt, for people
    ending: Outcome | Failure

    def tell(self, client: Client) -> None:
        """Tell the server. Raises ServerUnreachable, ServerFailed, Refused."""
        if isinstance(self.ending, Failure):
            client.fail(self.lease_id, self.ending)
        else:
            client.complete(self.lease_id, self.ending)


def usual_folder() -> Path:
    """Return where this user's results are kept."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "thiessen" / "results"


class Spool:
    """A folder with one file for each result. Workers may share it: to tell a result twice is harmless."""

    def __init__(self, folder: Path) -> None:
        """Raises OSError when nothing can be kept there."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"no permission to write in {folder}")
        self._folder = folder

    def keep(self, result: Result) -> None:
        """Write a result down, whole or not at all; it is on the disk when this returns. Raises OSError."""
        file = self._file(result)
        part = file.with_suffix(".part")
        # Whoever reads the lease id can speak for this attempt.
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as written:
            written.write(result.model_dump_json(exclude_unset=True).encode())
            written.flush()
            os.fsync(written.fileno())
        part.rename(file)
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def left(self, server: str) -> list[Result]:
        """Return the results for a server that wait here, the oldest first; what is no result is left out."""
        found: list[tuple[float, Result]] = []
        for file in self._folder.glob("*.json"):
            try:
                result = Result.model_validate_json(file.read_bytes())
                found.append((file.stat().st_mtime, result))
            except FileNotFoundError:  # another worker has just told it
                continue
            except (OSError, ValueError) as error:
                log.warning("%s is left alone: it cannot be read: %s", file, error)
        return [result for _, result in sorted(found, key=lambda pair: pair[0]) if result.server == server]

    def deliver(self, client: Client, result: Result) -> None:
        """Tell a result; once the server took it or refused it for good, it is removed.

        Raises ServerUnreachable, ServerFailed, Refused.
        """
        try:
            result.tell(client)
        except FOR_GOOD:
            self._file(result).unlink(missing_ok=True)
            raise
        self._file(result).unlink(missing_ok=True)

    def _file(self, result: Result) -> Path:
        return self._folder / f"{result.lease_id}.json"
