"""Thin adapters to other packages, each behind an extra that is imported when it is used."""

from typing import Final

from thiessen.integrations.optuna import SAMPLERS
from thiessen.search import STRATEGIES
from thiessen.search.strategy import Strategy

KNOWN: Final[dict[str, Strategy]] = STRATEGIES | SAMPLERS
"""Every strategy that a study may name: ours, and those of other packages, installed or not."""
