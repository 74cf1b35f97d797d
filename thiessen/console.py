"""The console for which no text is markup."""

from typing import Any

from rich.console import Console
from rich.text import Text

from thiessen.terminal import harmless


class Terminal(Console):
    """Prints texts as they are: a note `[red]` says so and is not red, and none steers the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as it is shown."""
        return super().render_str(harmless(text), **options | {"markup": False, "emoji": False})
