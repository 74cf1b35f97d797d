"""Our commands in processes of their own, each a fork of one that has imported all that they need.

That spares some hundred tests the imports, up to three seconds of a processor each. What is decided when
Python starts or a module is imported is decided already: see `is_possible`.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from threading import Lock

from app.failpoint import VARIABLE as FAILPOINT

NURSERY = Path(__file__).with_name("nursery.py")
asking = Lock()


def is_possible(environment: dict[str, str]) -> bool:
    """Whether a fork is what a program with this environment would be."""
    folders = environment.get("PYTHONPATH", "").split(os.pathsep)
    return FAILPOINT not in environment and not any(
        Path(folder, "sitecustomize.py").exists() for folder in folders
    )


class Forked:
    """What tests ask of a process that they started."""

    def __init__(self, command: tuple[str, ...], log: Path, environment: dict[str, str]) -> None:
        log.touch()
        self.log = log
        self._ended = log.with_suffix(".ended")
        asked = {
            "command": command,
            "environment": environment,
            "folder": str(Path.cwd()),
            "log": str(log),
            "ended": str(self._ended),
        }
        with asking:
            nursery = _nursery()
            nursery.stdin.write(json.dumps(asked) + "\n")
            nursery.stdin.flush()
            self.pid = int(nursery.stdout.readline())

    def poll(self) -> int | None:
        return int(self._ended.read_text()) if self._ended.exists() else None

    returncode = property(poll)

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("thiessen", timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _nursery() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-P", str(NURSERY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(process.communicate)  # nobody asks any more, so it ends
    return process
