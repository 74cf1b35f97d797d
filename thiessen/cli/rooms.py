"""The rooms beside this one: what they add to the command line, and whether they are ours."""

from importlib.util import find_spec
from pathlib import Path
from typing import Final

import thiessen

ROOMS: Final = {
    "app": ("serve", "db", "token"),
    "worker": ("worker", "fleet"),
}  # and the commands that each adds


def stranger(room: str) -> str | None:
    """Say whose package Python would import in place of our room; it is never imported to find out."""
    ours = Path(thiessen.__path__[0]).parent / room
    spec = find_spec(room)
    where = Path(spec.origin).parent if spec and spec.origin else None
    if spec is None or where == ours:
        return None
    return f"the package {room!r} found at {where or 'a folder of PYTHONPATH'} is not Thiessen's. Remove it."
