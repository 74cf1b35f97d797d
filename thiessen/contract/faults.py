"""What of a document is wrong, in words."""

from typing import Final

from pydantic import ValidationError

MOST_NAMED: Final = 5


def faults(error: ValidationError) -> str:
    """Return the first of them, each with where it is."""
    return "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'the document'}: {fault['msg']}"
        for fault in error.errors()[:MOST_NAMED]
    )
