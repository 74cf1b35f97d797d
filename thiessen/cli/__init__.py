"""The command line: the client's own commands, and those of whatever else is installed."""

from thiessen.cli.main import main

__all__ = ["main"]
