"""Files that pages load. Each address has a digest of the content, so a browser may keep it for good.

Our own files have one digest together, as our modules import each other by relative addresses.
"""

import gzip
from collections.abc import Iterable, Iterator, Mapping
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
    digest = _digest_of_ours() if path.parent == FOLDER else _digest([content])
    return File(digest, KINDS[path.suffix], content, gzip.compress(content, compresslevel=6, mtime=0))


def address(name: str) -> str:
    """Return where a file is, from the root of the pages. Raises KeyError."""
    found = file(name)
    if found is None:
        raise KeyError(name)
    return f"static/{found.digest}/{name}"


@cache
def _digest_of_ours() -> str:
    return _digest(path.read_bytes() for path in sorted(_ours()))


def _digest(contents: Iterable[bytes]) -> str:
    whole = sha256()
    for content in contents:
        whole.update(sha256(content).digest())
    return whole.hexdigest()[:DIGITS]


def _ours() -> Iterator[Path]:
    return (path for path in FOLDER.iterdir() if path.suffix in KINDS)


@cache
def _paths() -> dict[str, Path]:
    """Return the files by name: our own, and plotly's out of its package, which is not imported."""
    paths = {path.name: path for path in _ours()}
    package = find_spec("plotly")
    if package is not None:
        [home] = package.submodule_search_locations or [""]
        paths["plotly.js"] = Path(home) / "package_data" / "plotly.min.js"
    return paths
