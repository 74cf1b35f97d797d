"""`thiessen compare`: comparisons of arms, and studies side by side."""

from thiessen.cli.compare.group import register

__all__ = ["register"]
