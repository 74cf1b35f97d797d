"""The version of the distribution that this package came in."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("thiessen")
except PackageNotFoundError:  # a copy of the folder alone
    __version__ = "unknown"
