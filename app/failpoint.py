"""Named points at which a proof has this process killed, as `kill -9` and a power cut do. For proofs only.

`THIESSEN_FAILPOINT=claim-committed:7` kills the process when it reaches that point for the seventh time.
"""

import os
import signal
from itertools import count
from typing import Final

VARIABLE: Final = "THIESSEN_FAILPOINT"

_name, _, _times = os.environ.get(VARIABLE, "").partition(":")
_reached = count(1)


def reached(name: str) -> None:
    """End this process without a word if this is the point, and the time, that the environment names."""
    if name == _name and next(_reached) == int(_times or 1):
        os.kill(os.getpid(), signal.SIGKILL)
