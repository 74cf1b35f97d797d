"""With `worker`: what devices there are, and a trial of a built-in task for a server elsewhere."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from thiessen import Client
from thiessen.contract import StudySpec

address = sys.argv[1]
command = Path(sys.prefix) / "bin" / "thiessen"
space = {"lr": {"type": "float", "low": 0.1, "high": 1.0}}
with Client(address) as client:
    client.create_study(
        StudySpec.model_validate({"name": "digits", "task": "classifier", "max_trials": 1, "space": space})
    )
    subprocess.run([command, "worker", "--server", address, "--max-trials", "1"], check=True, timeout=300)
    assert client.study("digits").counts.succeeded == 1, client.trial("digits", 0)

said = subprocess.run([command, "doctor"], capture_output=True, text=True, check=False).stdout
assert "cpu" in said, said
for group in ("thiessen.commands", "thiessen.checks", "thiessen.tasks"):
    for entry in entry_points(group=group):
        if entry.module.startswith("worker."):
            entry.load()
