"""With `all`: every command finds its packages, and a study runs from its beginning to its end."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

command = Path(sys.prefix) / "bin" / "thiessen"
for group in ("thiessen.commands", "thiessen.checks", "thiessen.local", "thiessen.tasks"):
    for entry in entry_points(group=group):
        entry.load()
for name in (
    "cmaes",
    "mlflow",
    "optuna",
    "pandas",
    "plotly",
    "pyarrow",
    "ray.tune",
    "sklearn",
    "tensorboardX",
):
    import_module(name)
said = subprocess.run(
    [command, "demo", "--port", "0", "--trials", "5"], capture_output=True, text=True, check=True
).stdout
assert "Best: loss" in said, said
