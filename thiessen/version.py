"""The version of everything in this distribution."""

__version__ = "0.1.0.dev0"
