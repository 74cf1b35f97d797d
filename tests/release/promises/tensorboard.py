"""With `tensorboard`, beside a worker: an attempt is in TensorBoard's files."""

import subprocess
import sys
from pathlib import Path

from thiessen import Client
from thiessen.contract import StudySpec

address = sys.argv[1]
command = Path(sys.prefix) / "bin" / "thiessen"
space = {"x1": {"type": "float", "low": 0.0, "high": 1.0}}
with Client(address) as client:
    client.create_study(
        StudySpec.model_validate({"name": "board", "task": "function", "max_trials": 1, "space": space})
    )
    tracked = ["worker", "--server", address, "--max-trials", "1", "--track", "tensorboard:runs"]
    subprocess.run([command, *tracked], check=True, timeout=300)
[events] = Path("runs/board/trial-0/attempt-1").rglob("*tfevents*")
assert b"value" in events.read_bytes()
