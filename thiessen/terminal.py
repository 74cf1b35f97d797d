"""Printing for people: what others wrote is shown as it is, and steers nothing.

A name, a note or a traceback may hold what moves a cursor, renames a window, hides a link or turns a line
round. All of it is spelled out.
"""

import sys
from typing import Final

KEPT: Final = "\n\t"
STEERING: Final = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (
        *(code for code in range(32) if chr(code) not in KEPT),
        *range(0x7F, 0xA0),
        *(0x061C, 0x200E, 0x200F, 0x2028, 0x2029),  # marks of direction, and ends of lines
        *range(0x202A, 0x202F),  # they turn round what follows
        *range(0x2066, 0x206A),
    )
}


def harmless(text: str) -> str:
    """Return a text with what steers a terminal spelled out; ends of lines and tabs stay."""
    return text.translate(STEERING)


def say(sentence: str, *, err: bool = False) -> None:
    """Print a sentence."""
    import typer

    typer.echo(harmless(sentence), err=err)


def hand_over(content: str | bytes) -> None:
    """Print what a program reads, as it is; harmless where it would reach a terminal."""
    import typer

    if sys.stdout.isatty():
        content = harmless(content if isinstance(content, str) else content.decode(errors="replace"))
    typer.echo(content, nl=False)
