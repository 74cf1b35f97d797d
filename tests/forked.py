"""Our commands in processes of their own, made of one that has imported all that a server needs.

That spares some hundred tests the imports, nearly two seconds of a processor each. What is decided when a
module is imported is decided already: a program with a failpoint is started the long way.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
from pathlib import Path

NURSERY = multiprocessing.get_context("forkserver")
NURSERY.set_forkserver_preload(["app.commands", "app.serving", "tests.forked", "thiessen.cli.main"])


class Forked:
    """What tests ask of a process that they started."""

    def __init__(self, command: tuple[str, ...], log: Path, environment: dict[str, str]) -> None:
        log.touch()
        self.log = log
        self._process = NURSERY.Process(target=_be, args=(command, log, environment))
        self._process.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.poll() is None:
            raise subprocess.TimeoutExpired("thiessen", timeout)
        return self.poll()

    def kill(self) -> None:
        self._process.kill()


def _be(command: tuple[str, ...], log: Path, environment: dict[str, str]) -> None:
    """Become a program of ours, in a process that was forked for it."""
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(output, number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["thiessen", *command]
    runpy.run_module("thiessen.cli", run_name="__main__")
