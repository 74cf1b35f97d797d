import subprocess
import sys
from pathlib import Path

from thiessen.figures import FIGURES

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "dashboard"


def test_the_benchmark_of_the_dashboard_prints_every_page_and_figure_with_its_bar():
    ran = subprocess.run([sys.executable, SCRIPT, "--quick"], capture_output=True, text=True, check=True)

    for database in ("SQLite", "PostgreSQL"):
        for what in (
            "page home",
            "page study",
            "page trials",
            "page trial",
            "page fleet",
            *(f"figure {name}" for name in FIGURES),
        ):
            begun = f"{database}: {what}"
            times, bar = (
                line for line in ran.stdout.splitlines() if line.startswith((f"{begun}  ", f"{begun},"))
            )
            assert len(times.split(what)[1].split()) == 3  # of one size: fresh, again, and CPU
            assert bar.endswith(("met", "MISSED"))
