"""With `mlflow`, beside a worker: an attempt is a run that the client reads back."""

import os
import subprocess
import sys
from pathlib import Path

from mlflow import MlflowClient

from thiessen import Client
from thiessen.contract import StudySpec

address = sys.argv[1]
command = Path(sys.prefix) / "bin" / "thiessen"
space = {"x1": {"type": "float", "low": 0.0, "high": 1.0}}
kept = Path("runs").resolve().as_uri()
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # a server or a database would need more than the extra
with Client(address) as client:
    client.create_study(
        StudySpec.model_validate({"name": "tracked", "task": "function", "max_trials": 1, "space": space})
    )
    tracked = ["worker", "--server", address, "--max-trials", "1", "--track", f"mlflow:{kept}"]
    subprocess.run([command, *tracked], check=True, timeout=300)
    [best] = client.best("tracked", top=1)
runs = MlflowClient(kept)
[run] = runs.search_runs([runs.get_experiment_by_name("tracked").experiment_id])
assert run.data.metrics["value"] == best.value
