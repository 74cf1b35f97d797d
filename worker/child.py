"""What runs in a slot's child process: it trains what it is sent, and dies with its parent."""

import io
import logging
import math
import os
import random
import signal
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from operator import index
from typing import Final, Literal

import numpy as np
import torch

from thiessen import contract
from thiessen.contract import Failure, Outcome, Point
from thiessen.space import Config
from worker.tasks import Checkpoint, Diverged, Pruned, Task, installed
from worker.tasks.alone import NoCheckpoint

NON_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # as the wire writes them
MOST_TEXT: Final = 10_000  # characters, as the wire takes them


@dataclass(frozen=True, kw_only=True)
class Order:
    """Train this."""

    task: str
    config: Config
    seed: int


@dataclass(frozen=True)
class Prune:
    """End what is under way, as pruned."""


@dataclass(frozen=True)
class Taken:
    """The order is read: what happens from now on happens to its attempt."""


Ending = Outcome | Failure
Message = Point | Ending


def main(orders: Connection, lifeline: Connection, output: Connection, device: str, threads: int) -> None:
    """Train each order that comes, until the parent closes the pipe or is gone."""
    os.setsid()  # a group of its own, so that all it starts can be ended with it
    _print_to(output)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    torch.set_num_threads(threads)
    tasks = installed()
    while True:
        try:
            order: Order | Prune = orders.recv()
        except EOFError:
            return
        if isinstance(order, Prune):  # it came when the attempt had just ended
            continue
        orders.send(Taken())
        orders.send(_attempt(tasks[order.task], order, _Context(orders, torch.device(device), order.seed)))


@dataclass
class _Context:
    """What a task may ask of its surroundings; see worker.tasks.Context."""

    orders: Connection
    device: torch.device
    seed: int
    checkpoint: Checkpoint = field(default_factory=NoCheckpoint)
    logger: logging.Logger = field(default_factory=lambda: logging.getLogger("thiessen.task"))
    last_step: int = field(default=-1)
    is_pruned: bool = field(default=False)

    def expect(self, steps: int) -> None:
        """Take no notice yet."""

    def report(self, step: int, **metrics: float) -> None:
        """Send a point; what is wrong with it is raised here, in the task.

        Raises TypeError, ValueError, and Pruned when the trial is not worth going on with.
        """
        point = _point(index(step), metrics)
        if point.step <= self.last_step:
            raise ValueError(f"step {step} was reported after step {self.last_step}; steps rise.")
        self.last_step = point.step
        self.orders.send(point)
        while self.orders.poll():
            self.is_pruned = isinstance(self.orders.recv(), Prune)
        if self.is_pruned:
            raise Pruned


def _point(step: int, metrics: dict[str, float]) -> Point:
    values = {name: float(value) for name, value in metrics.items()}
    written = {name: NON_FINITE.get(str(value), value) for name, value in values.items()}
    return Point.model_validate({"step": step, "metrics": written})


def _attempt(task: Task, order: Order, context: _Context) -> Ending:
    """Train once; the one place where anything a task may raise is caught."""
    random.seed(order.seed)
    np.random.seed(order.seed % 2**32)  # noqa: NPY002 - for tasks that use numpy's global state
    torch.manual_seed(order.seed)
    try:
        return _outcome(float(task.train(order.config, context)))
    except Diverged:
        return contract.Diverged(diverged="too large")
    except Pruned as pruned:
        return contract.Pruned(pruned=True, value=_finite(pruned.value))
    except (MemoryError, torch.OutOfMemoryError) as error:
        return _failure("out_of_memory", error)
    except Exception as error:  # noqa: BLE001 - a task may raise anything; the slot goes on
        return _failure("error", error)


def _outcome(value: float) -> Outcome:
    if math.isfinite(value):
        return contract.Value(value=value)
    return contract.Diverged.model_validate({"diverged": str(value)})


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _failure(kind: Literal["error", "out_of_memory"], error: BaseException) -> Failure:
    message = _clean(f"{type(error).__name__}: {error}")[:MOST_TEXT]
    return Failure(kind=kind, message=message, traceback=_clean(traceback.format_exc())[-MOST_TEXT:])


def _clean(text: str) -> str:
    """Return the text as the wire takes it: no half of a surrogate pair, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def _print_to(output: Connection) -> None:
    """Send what this process and all that it starts print through a pipe, line by line."""
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output.fileno(), stream.fileno())
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    output.close()


def _die_with_parent(lifeline: Connection) -> None:
    """End this process and all it started when the parent is gone, in whatever way it went."""
    with suppress(EOFError, OSError):
        lifeline.recv()
    os.killpg(0, signal.SIGKILL)
