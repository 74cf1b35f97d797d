"""One device, or several, and the child process that trains there."""

import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final, Literal

import psutil

from thiessen.contract import Failure
from worker.child import MOST_TEXT, STACKS, Leave, Message, Order, Place, Prune, Taken, main
from worker.output import Output

MOST_TRIALS: Final = 200  # of one child: what leaks a little ends with it
STACKS_SECONDS: Final = 0.5  # how long a child that hangs may take to say where
KERNEL_COUNTS: Final = Path("/proc/vmstat")

# On Linux a child is the copy of a process that has imported torch, which takes seconds, and no task.
if sys.platform == "linux":
    _processes = multiprocessing.get_context("forkserver")
    _processes.set_forkserver_preload(["worker.child"])
else:
    _processes = multiprocessing.get_context("spawn")


class Slot:
    """Runs one order at a time in a child process, which is replaced when it breaks or has trained many."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._child: multiprocessing.process.BaseProcess | None = None
        self._untaken: Order | None = None  # what a child that was idle was sent and has not read yet
        self._output: Output | None = None
        self._trials = 0  # of this child
        self._kernel_kills = 0  # when the attempt began
        self._orders: Connection
        self._lifeline: Connection

    @property
    def device(self) -> str:
        """Return the name of the slot's device, or devices."""
        return self.place.device

    def begin(self, order: Order) -> None:
        """Send an order to the child; one that is missing, or died while it was idle, is started first."""
        if self._child is not None and not self._child.is_alive():
            self.stop()
        if self._child is not None and self._trials >= MOST_TRIALS:
            self.stop()
        self._untaken = None if self._child is None else order  # of a new child every death counts
        if self._child is None:
            self._start()
        self._trials += 1
        self._kernel_kills = _kernel_kills()
        if self._output is not None:
            self._output.begin({**order.about, "slot": self.device})
        with suppress(OSError):  # it has just died: `messages` sees that
            self._orders.send(order)

    def printed(self) -> str:
        """Return the last lines that the child has printed since it began."""
        return "" if self._output is None else self._output.tail()

    def messages(self, seconds: float) -> Iterator[Message]:
        """Yield what the child says within `seconds`; its death is a Failure, unless it had not begun."""
        child = self._child
        if child is None:
            return
        wait([self._orders, child.sentinel], timeout=seconds)
        is_dead = not child.is_alive()  # asked of the process: what it forked may hold its pipes open
        with suppress(EOFError, OSError):  # it died in mid-sentence: said below
            while self._orders.poll():
                message: Message = self._orders.recv()
                if isinstance(message, Taken):
                    self._untaken = None
                yield message
        if is_dead and self._untaken is not None:  # no fault of the order: another child is started
            self.stop()
            self.begin(self._untaken)
        elif is_dead:
            yield self._obituary(child)

    def prune(self) -> None:
        """Tell the child to end what it trains: its next report raises Pruned in the task."""
        self._tell(Prune())

    def leave(self) -> None:
        """Tell the child to end what it trains at its next checkpoint."""
        self._tell(Leave())

    def memory(self) -> int:
        """Return how many bytes of memory the child has, with all that it started."""
        if self._child is None or self._child.pid is None:
            return 0
        return sum(_resident(process) for process in _family(self._child.pid))

    def proportional_memory(self) -> int:
        """Return the same, with what several of them share counted once; costs more to know."""
        if self._child is None or self._child.pid is None:
            return 0
        return sum(_proportional(process) for process in _family(self._child.pid))

    def stacks(self) -> str:
        """Return where the child is, as it says when it is asked; empty when it does not say."""
        before = self.printed()
        if self._child is None or self._child.pid is None:
            return ""
        with suppress(ProcessLookupError):
            os.kill(self._child.pid, STACKS)
        deadline = time.monotonic() + STACKS_SECONDS
        while self.printed() == before and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.02)  # for the rest of it
        return _traceback(self.printed())

    def renew(self) -> None:
        """Start a child, in the place of the one there was."""
        self.stop()
        self._start()

    def stop(self) -> None:
        """Kill the child and whatever it has started."""
        if self._child is not None:
            if self._child.pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._child.pid, signal.SIGKILL)
            self._child.kill()  # where it had not yet made a group of its own
            self._child.join()
            self._child.close()
            self._orders.close()
            self._lifeline.close()
            self._child = None

    def _tell(self, order: Prune | Leave) -> None:
        with suppress(OSError):  # it has just died: `messages` says so
            self._orders.send(order)

    def _start(self) -> None:
        self._orders, orders = _processes.Pipe()
        lifeline, self._lifeline = _processes.Pipe(duplex=False)
        printed, output = _processes.Pipe(duplex=False)
        self._child = _processes.Process(
            target=main,
            args=(orders, lifeline, output, self.place),
            name=f"slot-{self.device}",
        )
        with _interrupts_blocked():  # Ctrl-C on a terminal is this process's business
            self._child.start()
        orders.close()
        lifeline.close()
        output.close()
        self._output = Output(printed)
        self._trials = 0

    def _obituary(self, child: multiprocessing.process.BaseProcess) -> Failure:
        code = child.exitcode or 0
        printed = self.printed()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        message = f"The training process died with {how}."
        kind: Literal["error", "out_of_memory"] = "error"
        if code == -signal.SIGKILL and _kernel_kills() > self._kernel_kills:
            kind = "out_of_memory"
            message = (
                "The kernel killed the training process: "
                "the machine, or its control group, had no memory left."
            )
        return Failure(kind=kind, message=message, traceback=_traceback(printed))


def _family(pid: int) -> list[psutil.Process]:
    try:
        child = psutil.Process(pid)
        return [child, *child.children(recursive=True)]
    except psutil.Error:
        return []


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _proportional(process: psutil.Process) -> int:
    try:
        told = process.memory_full_info()
        return int(getattr(told, "pss", told.rss))
    except psutil.Error:
        return 0


def _kernel_kills() -> int:
    """Return how many processes the kernel has killed for want of memory; 0 where it does not tell."""
    try:
        found = re.search(r"^oom_kill (\d+)$", KERNEL_COUNTS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _traceback(printed: str) -> str:
    """Return what faulthandler wrote at the end of what was printed."""
    found = re.search(
        r"^(Fatal Python error|Current thread|Thread 0x).*\Z", printed, re.MULTILINE | re.DOTALL
    )
    return found[0][-MOST_TEXT:] if found else ""


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread; a process started meanwhile inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
