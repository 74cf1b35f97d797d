"""What runs in a slot's child process: it trains what it is sent, and dies with its parent."""

import math
import os
import random
import signal
import threading
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Literal

import numpy as np
import torch

from thiessen.space import Config
from worker.tasks import Diverged, Task, installed


@dataclass(frozen=True, kw_only=True)
class Order:
    """Train this."""

    task: str
    config: Config
    seed: int


@dataclass(frozen=True)
class Reported:
    """A point of the learning curve."""

    step: int
    metrics: dict[str, float]


@dataclass(frozen=True)
class Trained:
    """The task returned this loss, finite or not, or said that the config diverged."""

    loss: float
    diverged: bool = False


@dataclass(frozen=True)
class Broke:
    """The task raised, or its process died."""

    kind: Literal["error", "out_of_memory"]
    message: str
    traceback: str = ""


Message = Reported | Trained | Broke


def main(orders: Connection, lifeline: Connection, device: str, threads: int) -> None:
    """Train each order that comes, until the parent closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    torch.set_num_threads(threads)
    tasks = installed()
    while True:
        try:
            order: Order = orders.recv()
        except EOFError:
            return
        orders.send(_attempt(tasks[order.task], order, _Context(orders, torch.device(device), order.seed)))


@dataclass
class _Context:
    """What a task may ask of its surroundings; see worker.tasks.Context."""

    orders: Connection
    device: torch.device
    seed: int
    last_step: int = field(default=-1)

    def report(self, step: int, **metrics: float) -> None:
        if step <= self.last_step:
            raise ValueError(f"step {step} was reported after step {self.last_step}; steps rise.")
        self.last_step = step
        self.orders.send(Reported(step, {name: float(value) for name, value in metrics.items()}))


def _attempt(task: Task, order: Order, context: _Context) -> Trained | Broke:
    """Train once; the one place where anything a task may raise is caught."""
    random.seed(order.seed)
    np.random.seed(order.seed % 2**32)  # noqa: NPY002 - for tasks that use numpy's global state
    torch.manual_seed(order.seed)
    try:
        return Trained(float(task.train(order.config, context)))
    except Diverged:
        return Trained(math.nan, diverged=True)
    except (MemoryError, torch.OutOfMemoryError) as error:
        return Broke("out_of_memory", _sentence(error), traceback.format_exc())
    except Exception as error:  # noqa: BLE001 - a task may raise anything; the slot goes on
        return Broke("error", _sentence(error), traceback.format_exc())


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _die_with_parent(lifeline: Connection) -> None:
    """End this process when the parent's end of the lifeline closes, in whatever way the parent went."""
    try:
        lifeline.recv()
    except (EOFError, OSError):
        os._exit(1)
