"""Cells that spreadsheets show, and do not compute."""

from typing import Final

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute


def cell(text: str) -> str:
    """Return a text of which no spreadsheet makes a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
