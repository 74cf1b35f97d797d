"""With `ray`, beside a worker: a fleet with one slot trains a study of a server."""

import subprocess
import sys
from pathlib import Path

from thiessen import Client
from thiessen.contract import StudySpec

address = sys.argv[1]
command = [Path(sys.prefix) / "bin" / "thiessen", "fleet", "ray", "--server", address, "--address", "local"]
limits = ["--gpus-per-slot", "0", "--max-slots", "1", "--slot-idle-exit", "1", "--idle-exit", "1"]
space = {"x1": {"type": "float", "low": 0.0, "high": 1.0}}
with Client(address) as client:
    client.create_study(
        StudySpec.model_validate({"name": "fleet", "task": "function", "max_trials": 2, "space": space})
    )
    subprocess.run([*command, *limits], check=True, timeout=300)
    assert client.study("fleet").counts.succeeded == 2, client.trial("fleet", 0)
