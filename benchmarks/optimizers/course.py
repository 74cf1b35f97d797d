"""A training by CPU time: what each process does, whatever its environment. numpy alone."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.optimizers.problems import JUDGED, Read, read

AT_ONCE = 1000  # cases, when a loss is computed
LOOKS = 30  # at the loss, in equal parts of the time, whether it has left the plateau
LEFT = 0.9  # of the plateau: below it has left
Loss = Callable[[np.ndarray, np.ndarray], float]
Update = Callable[[np.ndarray, np.ndarray], object]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A training that a process is asked for."""

    problem: str  # a file
    method: str
    settings: dict[str, Any]
    seconds: float  # of CPU time in updates
    steps: int = 0  # after which the loss is wanted too; 0: of no number
    packages: tuple[str, ...] = ()  # whose versions are told


@dataclass(frozen=True, kw_only=True)
class Course:
    """What came of it."""

    steps: int  # done when the time was up
    seconds: float
    train: float  # loss then
    test: float
    after_steps: float | None  # loss after the steps that were asked for
    plateau: float
    left: float | None  # seconds after which it was first seen below the plateau
    versions: dict[str, str]


def wanted() -> tuple[Wanted, Read]:
    """Return what the command line asks for."""
    asked = Wanted(**json.loads(sys.argv[1]))
    return asked, read(Path(asked.problem))


def run(asked: Wanted, problem: Read, update: Update, loss: Loss) -> None:
    """Train, and print what came of it. The choice of cases and the update are on the clock, nothing else."""
    batches, (inputs, targets) = problem.batches(), problem.train
    spent, done, found, after, left, looks = 0.0, 0, None, None, None, 0
    while found is None or done < asked.steps:
        begun = time.process_time()
        cases = next(batches)
        update(inputs[cases], targets[cases])
        spent += time.process_time() - begun
        done += 1
        if left is None and spent * LOOKS >= looks * asked.seconds and spent <= asked.seconds:
            looks += 1
            left = spent if loss(inputs[:AT_ONCE], targets[:AT_ONCE]) < LEFT * problem.plateau else None
        if done == asked.steps:
            after = mean(loss, problem.train)
        if spent >= asked.seconds and found is None:
            found = (done, spent, mean(loss, problem.train), mean(loss, problem.test))
    steps, seconds, train, test = found
    versions = {package: version(package) for package in asked.packages}
    course = Course(
        steps=steps,
        seconds=seconds,
        train=train,
        test=test,
        after_steps=after,
        plateau=problem.plateau,
        left=left,
        versions=versions,
    )
    print(json.dumps(asdict(course)))


def mean(loss: Loss, part: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the mean loss of the first cases of a part."""
    inputs, targets = (array[:JUDGED] for array in part)
    pieces = range(0, len(inputs), AT_ONCE)
    sums = [
        loss(inputs[at : at + AT_ONCE], targets[at : at + AT_ONCE]) * len(inputs[at : at + AT_ONCE])
        for at in pieces
    ]
    return sum(sums) / len(inputs)
