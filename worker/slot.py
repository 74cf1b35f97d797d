"""One device and the child process that trains on it."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait

from thiessen.contract import Failure
from worker.child import Message, Order, Prune, Taken, main
from worker.output import Output

_spawn = multiprocessing.get_context("spawn")


class Slot:
    """Runs one order at a time in a child process, which is replaced when it breaks."""

    def __init__(self, device: str, threads: int) -> None:
        self.device = device
        self._threads = threads
        self._child: multiprocessing.process.BaseProcess | None = None
        self._untaken: Order | None = None  # what a child that was idle was sent and has not read yet
        self._output: Output | None = None
        self._orders: Connection
        self._lifeline: Connection

    def begin(self, order: Order) -> None:
        """Send an order to the child; one that is missing, or died while it was idle, is started first."""
        if self._child is not None and not self._child.is_alive():
            self.stop()
        self._untaken = None if self._child is None else order  # of a new child every death counts
        if self._child is None:
            self._start()
        if self._output is not None:
            self._output.forget()
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
                message: Taken | Message = self._orders.recv()
                if isinstance(message, Taken):
                    self._untaken = None
                else:
                    yield message
        if is_dead and self._untaken is not None:  # no fault of the order: another child is started
            self.stop()
            self.begin(self._untaken)
        elif is_dead:
            yield self._obituary(child)

    def prune(self) -> None:
        """Tell the child to end what it trains: its next report raises Pruned in the task."""
        with suppress(OSError):  # it has just died: `messages` says so
            self._orders.send(Prune())

    def stop(self) -> None:
        """Kill the child and whatever it has started."""
        if self._child is not None:
            if self._child.pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(self._child.pid, signal.SIGKILL)
            self._child.kill()  # where it had not yet made a group of its own
            self._child.join()
            self._orders.close()
            self._lifeline.close()
            self._child = None

    def _start(self) -> None:
        self._orders, orders = _spawn.Pipe()
        lifeline, self._lifeline = _spawn.Pipe(duplex=False)
        printed, output = _spawn.Pipe(duplex=False)
        self._child = _spawn.Process(
            target=main,
            args=(orders, lifeline, output, self.device, self._threads),
            name=f"slot-{self.device}",
        )
        with _interrupts_blocked():  # Ctrl-C on a terminal is this process's business
            self._child.start()
        orders.close()
        lifeline.close()
        output.close()
        self._output = Output(printed)

    def _obituary(self, child: multiprocessing.process.BaseProcess) -> Failure:
        code = child.exitcode or 0
        self.stop()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Failure(kind="error", message=f"The training process died with {how}.")


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread; a process started meanwhile inherits that."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
