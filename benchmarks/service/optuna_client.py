#!/usr/bin/env python3
"""A client process of Optuna: asks and tells in turn, with the random sampler."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import optuna

from benchmarks.service import rhythm
from benchmarks.service.optuna_storage import STUDY, distributions, opened
from benchmarks.service.space import loss


def main() -> None:
    """Work as the command line says: kind of storage, its address, seconds."""
    kind, address, seconds = sys.argv[1:]
    sampler = optuna.samplers.RandomSampler()
    study = optuna.load_study(study_name=STUDY, storage=opened(kind, address), sampler=sampler)
    space = distributions()

    def cycle() -> tuple[float, float]:
        begun = time.perf_counter()
        trial = study.ask(space)
        asked, found = rhythm.milliseconds_since(begun), loss(trial.params)
        begun = time.perf_counter()
        study.tell(trial, found)
        return asked, rhythm.milliseconds_since(begun)

    rhythm.work(cycle, float(seconds))


if __name__ == "__main__":
    main()
