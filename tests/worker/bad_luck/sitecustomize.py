"""What can be wrong with a machine, for the programs that have this folder on their path."""

import errno
import os
import time
from pathlib import Path

if skew := os.environ.get("SKEWED_BY"):
    right = time.time
    time.time = lambda: right() + float(skew)

if full := os.environ.get("FULL_WHILE_THERE_IS"):
    write = os.write

    def _refused(file, text):
        """Write, but not below the folder of results while the disk is full."""
        if Path(full).exists() and "/results/" in str(Path(f"/proc/self/fd/{file}").readlink()):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, text)

    os.write = _refused
