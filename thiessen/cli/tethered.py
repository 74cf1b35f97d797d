"""The command line as a part of another process: it is told to stop when that one is gone."""

import os
import signal
import threading
from typing import Final

from thiessen.cli.main import main

STANDARD_INPUT: Final = 0


def _stop_when_alone() -> None:
    """Wait until nobody has the other end of standard input, which a kill closes too."""
    while os.read(STANDARD_INPUT, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_when_alone, daemon=True).start()
    main()
