import re
import subprocess
import sys
from pathlib import Path

from tests.search import proposals

CHORE = Path(__file__).parents[2] / "chores" / "numpy_versions.py"


def test_the_oldest_and_the_newest_numpy_propose_the_same_as_this_one():
    ran = subprocess.run([sys.executable, CHORE], capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    ours = {(name, digest[:16]) for name, digest in proposals.digests(proposals.document()).items()}
    rows = re.findall(r"^numpy ([\d.]+) (.*)$", ran.stdout, re.MULTILINE)
    assert all(set(re.findall(r"(\w+(?: \w+)?) ([0-9a-f]{16})\b", row)) == ours for _, row in rows)
    assert len(rows) == 4
    assert len({version for version, _ in rows}) == 2
    print(f"\n{ran.stdout}", end="")  # noqa: T201
