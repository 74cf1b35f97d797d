"""Tables of comparisons for a terminal."""

from rich.table import Table

from thiessen.cli.compare.rows import Rows


def table(rows: Rows) -> Table:
    """Return rows as a table: words to the left, numbers to the right."""
    made = Table(title=rows.title)
    for place, column in enumerate(rows.columns):
        made.add_column(column, justify="left" if place < rows.words else "right", overflow="fold")
    for row in rows.rows:
        made.add_row(*row)
    return made
