"""Without an extra: a search in a program, and the command line."""

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

from thiessen import Float, Int, Space, minimize


def train(config):
    return (config["lr"] - 0.01) ** 2 + abs(config["layers"] - 3)


study = minimize(train, Space(lr=Float(1e-5, 1.0, log=True), layers=Int(1, 8)), trials=30)
assert study.best.value < 0.1, study.best
assert Path("train.jsonl").exists()

thiessen = Path(sys.prefix) / "bin" / "thiessen"
program = Path("fit.sh")
program.write_text("echo loss: $2\n")
said = subprocess.run(
    [thiessen, "run", "--trials", "5", "sh", program, "--lr", "float(0,1)"],
    capture_output=True,
    text=True,
    check=True,
).stdout
assert "5 of 5 trials have ended (5 succeeded)" in said, said
assert [entry.name for entry in entry_points(group="console_scripts") if entry.name == "thiessen"]
