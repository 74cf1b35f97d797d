"""Our own commands as processes of another: started in a folder, and never left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from thiessen.cli.failure import CommandFailed

START_SECONDS: Final = 120.0  # a cold disk can make the first import of torch slow
STOP_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.2
TAIL_LINES: Final = 5
PREFIX: Final = "THIESSEN_"
OF_THE_MACHINE: Final = ("THIESSEN_DATA_DIR",)


class Process:
    """One of our commands; it stops when it is told to, or when this process is gone, however that went."""

    def __init__(self, folder: Path, *command: str, keeps: Collection[int] = (), **environment: str) -> None:
        self.name = command[0]
        self._log = folder / f"{self.name}.log"
        self._start = self._log.stat().st_size if self._log.exists() else 0
        tether, self._tether = (
            os.pipe()
        )  # its end is there when this process has closed the other one, or died
        # -P: a folder named `app` where the user happens to stand must not be imported.
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(  # nosec B603 - our own program
                [sys.executable, "-P", "-m", "thiessen.cli.tethered", *command],
                stdin=tether,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | environment,
                pass_fds=tuple(keeps),
                start_new_session=True,  # Ctrl-C reaches this process alone, which then stops them in order
            )
        os.close(tether)

    @property
    def ended(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def said(self) -> str:
        """Return what it has written since it was started."""
        with self._log.open("rb") as log:
            log.seek(self._start)
            return log.read().decode(errors="replace")

    def tail(self) -> str:
        """Return its last lines, as the end of a sentence."""
        lines = self.said().strip().splitlines()[-TAIL_LINES:]
        return f"\n  {self.name}: " + "\n  ".join(lines) if lines else ""

    def wait(self) -> None:
        """Wait until it ends by itself."""
        self._process.wait()

    def stop(self) -> None:
        """Let it end in order; kill it when that takes too long. Once is enough."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._tether)


@contextmanager
def running(folder: Path, *command: str) -> Iterator[Process]:
    """Run one of our commands until the block ends; if the block fails, show the end of its log."""
    process = Process(folder, *command)
    try:
        yield process
    except CommandFailed as failure:
        raise CommandFailed(f"{failure}{process.tail()}") from failure
    finally:
        process.stop()


def address(server: Process) -> str:
    """Return where a server says it listens, once it is ready. Raises CommandFailed."""
    from thiessen.client import Client

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.ended is not None:
            raise CommandFailed("the server could not start.")
        if found := re.search(r"Serving at (http://\S+)", server.said()):
            with Client(found[1]) as client:
                if client.is_ready():
                    return found[1]
        time.sleep(POLL_SECONDS)
    raise CommandFailed(f"the server was not ready after {START_SECONDS:.0f} seconds.")


def forget_other_servers() -> None:
    """Leave out of the environment what is meant for another server: this process has one of its own."""
    for name in [each for each in os.environ if each.startswith(PREFIX) and each not in OF_THE_MACHINE]:
        del os.environ[name]


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let a termination end the block as Ctrl-C does: everything it started is stopped."""

    def interrupt(number: int, frame: object) -> None:
        del frame
        raise KeyboardInterrupt(number)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def made(folder: Path) -> Path:
    """Return a folder, which is made where it is not there. Raises CommandFailed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailed(f"cannot use {folder}: {error.strerror}. Choose another --folder.") from error
    return folder
