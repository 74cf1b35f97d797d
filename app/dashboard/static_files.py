"""Files that pages load. Each address has a digest of the content, so a browser may keep it for good."""

import gzip
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "static"
KINDS: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
DIGITS: Final = 16


class File(NamedTuple):
    """A file as it is sent."""

    digest: str
    kind: str
    content: bytes
    zipped: bytes


@cache
def file(name: str) -> File | None:
    """Return a file of this name, None if there is none."""
    path = _paths().get(name)
    if path is None:
        return None
    content = path.read_bytes()
    digest = sha256(content).hexdigest()[:DIGITS]
    return File(digest, KINDS[path.suffix], content, gzip.compress(content, compresslevel=6, mtime=0))


def address(name: str) -> str:
    """Return where a file is, from the root of the pages. Raises KeyError."""
    found = file(name)
    if found is None:
        raise KeyError(name)
    return f"static/{found.digest}/{name}"


@cache
def _paths() -> dict[str, Path]:
    """Return the files by name: our own, and plotly's out of its package, which is not imported."""
    paths = {path.name: path for path in FOLDER.iterdir() if path.suffix in KINDS}
    package = find_spec("plotly")
    if package is not None:
        [home] = package.submodule_search_locations or [""]
        paths["plotly.js"] = Path(home) / "package_data" / "plotly.min.js"
    return paths
