"""What runs in a slot's child process: it trains what it is sent, and dies with its parent."""

import faulthandler
import io
import logging
import math
import os
import random
import signal
import sys
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from multiprocessing.connection import Connection
from operator import index
from pathlib import Path
from typing import Final, Literal

import numpy as np
import torch

from thiessen import contract
from thiessen.contract import Failure, Outcome, Point
from thiessen.contract.leases import metric
from thiessen.space import Config
from worker import checkpoint
from worker.devices import inside
from worker.functions import written
from worker.tasks import Diverged, Pruned, Released

MOST_TEXT: Final = 10_000  # characters, as the wire takes them
STACKS: Final = signal.SIGUSR2
"""Makes a child print where each of its threads is."""

EXPENDABLE: Final = 500  # to the kernel, where memory is short: the training ends, not the daemon
FULL: Final = (  # what torch says when there is no memory, in errors that say so in their text alone
    "out of memory",
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)

log = logging.getLogger("thiessen.task")


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a child trains, and what it can: the same for each of its trials."""

    device: str
    visible_gpus: str
    threads: int


@dataclass(frozen=True, kw_only=True)
class Order:
    """Train this."""

    task: str  # where it is written, as module:name
    config: Config
    seed: int
    attempt: int = 1
    folder: Path  # of checkpoints
    key: str  # of the trial's checkpoints
    checkpoint_seconds: float
    about: Mapping[str, object] = field(default_factory=dict)  # for the log: study, trial, attempt


@dataclass(frozen=True)
class Prune:
    """End what is under way, as pruned."""


@dataclass(frozen=True)
class Leave:
    """End what is under way at its next checkpoint."""


@dataclass(frozen=True)
class Taken:
    """The order is read: what happens from now on happens to its attempt."""


@dataclass(frozen=True)
class Length:
    """The training has so many steps."""

    steps: int


@dataclass(frozen=True)
class KeepsCheckpoints:
    """The task keeps checkpoints: told to leave, it is worth waiting for the next."""


@dataclass(frozen=True)
class GivenBack:
    """The task has left after a checkpoint."""


Ending = Outcome | Failure
Message = Taken | Point | Length | KeepsCheckpoints | GivenBack | Ending


def main(orders: Connection, lifeline: Connection, output: Connection, place: Place) -> None:
    """Train each order that comes, until the parent closes the pipe or is gone."""
    os.setsid()  # a group of its own, so that all it starts can be ended with it
    os.environ["CUDA_VISIBLE_DEVICES"] = place.visible_gpus  # CUDA reads it when it starts, which is later
    _print_to(output)
    faulthandler.enable()
    faulthandler.register(STACKS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(EXPENDABLE), encoding="ascii")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    torch.set_num_threads(place.threads)
    while True:
        try:
            order: Order | Prune | Leave = orders.recv()
        except EOFError:
            return
        if isinstance(order, Prune | Leave):  # it came when the attempt had just ended
            continue
        orders.send(Taken())
        orders.send(_attempt(_Context(orders, torch.device(inside(place.device)), order)))


@dataclass
class _Context:
    """What a task may ask of its surroundings; see worker.tasks.Context."""

    orders: Connection
    device: torch.device
    order: Order
    last_step: int = field(default=-1)
    is_pruned: bool = field(default=False)
    is_told_to_leave: bool = field(default=False)
    keeps_checkpoints: bool = field(default=False)

    @property
    def seed(self) -> int:
        return self.order.seed

    @property
    def logger(self) -> logging.Logger:
        return log

    @cached_property
    def checkpoint(self) -> checkpoint.Checkpoint:
        return checkpoint.Checkpoint(
            self.order.folder,
            self.order.key,
            seconds=self.order.checkpoint_seconds,
            is_leaving=self._is_leaving,
            tell=self._tell_of_checkpoints,
        )

    def expect(self, steps: int) -> None:
        """Tell how many steps there will be."""
        self.orders.send(Length(index(steps)))

    def report(self, step: int, **metrics: float) -> None:
        """Send a point; what is wrong with it is raised here, in the task.

        Raises TypeError, ValueError, and Pruned when the trial is not worth going on with.
        """
        point = _point(index(step), metrics)
        if point.step <= self.last_step:
            raise ValueError(f"step {step} was reported after step {self.last_step}; steps rise.")
        self.last_step = point.step
        self.orders.send(point)
        self._hear()
        if self.is_pruned:
            raise Pruned

    def _is_leaving(self) -> bool:
        self._hear()
        return self.is_told_to_leave

    def _hear(self) -> None:
        while self.orders.poll():
            order = self.orders.recv()
            self.is_pruned = self.is_pruned or isinstance(order, Prune)
            self.is_told_to_leave = self.is_told_to_leave or isinstance(order, Leave)

    def _tell_of_checkpoints(self) -> None:
        if not self.keeps_checkpoints:
            self.keeps_checkpoints = True
            self.orders.send(KeepsCheckpoints())


def _point(step: int, metrics: dict[str, float]) -> Point:
    written = {name: metric(value) for name, value in metrics.items()}
    return Point.model_validate({"step": step, "metrics": written})


def _attempt(context: _Context) -> Ending | GivenBack:
    """Train once; the one place where anything a task may raise is caught."""
    order = context.order
    random.seed(order.seed)
    np.random.seed(order.seed % 2**32)  # noqa: NPY002 - for tasks that use numpy's global state
    torch.manual_seed(order.seed)
    try:
        _begin(order)
        return _outcome(float(written(order.task).train(order.config, context)))
    except Diverged:
        return contract.Diverged(diverged="too large")
    except Pruned as pruned:
        return contract.Pruned(pruned=True, value=_finite(pruned.value))
    except Released:
        return GivenBack()
    except (MemoryError, torch.OutOfMemoryError) as error:
        return _failure("out_of_memory", error)
    except Exception as error:  # noqa: BLE001 - a task may raise anything; the slot goes on
        return _failure(_kind(error), error)


def _begin(order: Order) -> None:
    """Let a first attempt find no checkpoint of another trial; say of a later one that it begins anew."""
    if order.attempt == 1:
        with suppress(OSError):
            checkpoint.remove(order.folder, order.key)
    elif not checkpoint.left(order.folder, order.key):
        log.info("attempt %d begins at 0: no checkpoint is in %s", order.attempt, order.folder)


def _kind(error: Exception) -> Literal["error", "out_of_memory"]:
    is_of_memory = isinstance(error, RuntimeError | OSError) and any(text in str(error) for text in FULL)
    return "out_of_memory" if is_of_memory else "error"


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
    """Send what this process and all that it starts print or log through a pipe, line by line."""
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output.fileno(), stream.fileno())
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)
    output.close()
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(message)s", level=logging.WARNING)
    logging.getLogger("thiessen").setLevel(logging.INFO)


def _die_with_parent(lifeline: Connection) -> None:
    """End this process and all it started when the parent is gone, in whatever way it went."""
    with suppress(EOFError, OSError):
        lifeline.recv()
    os.killpg(0, signal.SIGKILL)
