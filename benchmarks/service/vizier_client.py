#!/usr/bin/env python3
"""A client process of OSS Vizier: asks and tells in turn."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from vizier.service import clients, pyvizier

from benchmarks.service import rhythm

OWNER, STUDY, LOSS = "bench", "bench", "loss"


def main() -> None:
    """Work as the command line says: port, seconds."""
    port, seconds = sys.argv[1:]
    clients.environment_variables.server_endpoint = f"localhost:{port}"
    study = clients.Study.from_resource_name(f"owners/{OWNER}/studies/{STUDY}")
    told = pyvizier.Measurement(metrics={LOSS: 0.5})

    def cycle() -> tuple[float, float]:
        begun = time.perf_counter()
        [trial] = study.suggest(count=1, client_id=f"client-{os.getpid()}")
        asked = rhythm.milliseconds_since(begun)
        begun = time.perf_counter()
        trial.complete(told)
        return asked, rhythm.milliseconds_since(begun)

    rhythm.work(cycle, float(seconds))


if __name__ == "__main__":
    main()
