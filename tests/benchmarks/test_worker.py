import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "worker"


def test_the_benchmark_of_the_worker_prints_every_figure_with_its_bar():
    ran = subprocess.run([sys.executable, SCRIPT, "--quick"], capture_output=True, text=True, check=True)

    for figure in (
        "share of the time that two slots train",
        "calls of httpx alone beside",
        "memory late beside early",
    ):
        [line] = [line for line in ran.stdout.splitlines() if line.startswith(figure)]
        assert line.endswith(("met", "MISSED"))
