"""One device and the child process that trains on it."""

import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait

from worker.child import Broke, Message, Order, main

_spawn = multiprocessing.get_context("spawn")


class Slot:
    """Runs one order at a time in a child process, which is replaced when it breaks."""

    def __init__(self, device: str, threads: int) -> None:
        self.device = device
        self._threads = threads
        self._child: multiprocessing.process.BaseProcess | None = None
        self._orders: Connection
        self._lifeline: Connection

    def begin(self, order: Order) -> None:
        """Send an order to the child, started now if there is none."""
        if self._child is None:
            self._start()
        self._orders.send(order)

    def messages(self, seconds: float) -> Iterator[Message]:
        """Yield what the child says within `seconds`; the death of the child is a Broke."""
        child = self._child
        if child is None:
            return
        ready = wait([self._orders, child.sentinel], timeout=seconds)
        try:
            while self._orders.poll():
                yield self._orders.recv()
        except (EOFError, OSError):
            pass  # it died in mid-sentence: said below
        if child.sentinel in ready:
            yield self._obituary(child)

    def stop(self) -> None:
        """Kill the child, whatever it is doing."""
        if self._child is not None:
            self._child.kill()
            self._child.join()
            self._orders.close()
            self._lifeline.close()
            self._child = None

    def _start(self) -> None:
        self._orders, orders = _spawn.Pipe()
        lifeline, self._lifeline = _spawn.Pipe(duplex=False)
        self._child = _spawn.Process(
            target=main, args=(orders, lifeline, self.device, self._threads), name=f"slot-{self.device}"
        )
        self._child.start()
        orders.close()
        lifeline.close()

    def _obituary(self, child: multiprocessing.process.BaseProcess) -> Broke:
        child.join()
        code = child.exitcode or 0
        self.stop()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return Broke("error", f"The training process died with {how}.")
