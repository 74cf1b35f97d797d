"""How a command says that it could not."""


class CommandFailed(Exception):  # noqa: N818 - says what happened
    """Ends a command with this sentence on standard error and exit code 1."""
