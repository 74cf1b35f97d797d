import os
import subprocess
import sys
from signal import SIGKILL

REACHES = """
from app import failpoint
for _ in range(3):
    for name in ("here", "there"):
        print(name, flush=True)
        failpoint.reached(name)
"""


def reach(**environment):
    return subprocess.run(
        [sys.executable, "-c", REACHES],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_happens_at_a_failpoint_that_nobody_named():
    assert reach().stdout.split() == ["here", "there"] * 3
    assert reach(THIESSEN_FAILPOINT="elsewhere").returncode == 0


def test_a_process_is_killed_where_and_when_it_is_named():
    assert reach(THIESSEN_FAILPOINT="there").stdout.split() == ["here", "there"]
    killed = reach(THIESSEN_FAILPOINT="here:2")
    assert killed.stdout.split() == ["here", "there", "here"]
    assert killed.returncode == -SIGKILL
