"""Files that outlive the process, in folders that others may write in."""

import os
import stat
from io import BufferedReader
from pathlib import Path


def opened(file: Path) -> BufferedReader:
    """Open a file to read it; never what a link leads to, and never wait for what a pipe will say.

    Raises OSError.
    """
    number = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(f"{file} is no regular file")
    return os.fdopen(number, "rb")


def flush(folder: Path) -> None:
    """Return when the disk knows which files are in a folder, whatever happens to the machine."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
