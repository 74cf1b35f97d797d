"""What the benchmarks share: where it ran, and whether a bar is met."""

import os
import platform


def setting() -> str:
    """Return the machine and the Python in a line; of the kernel its version alone."""
    kernel = ".".join(platform.release().split(".")[:2])
    machine = f"{platform.system()}-{kernel}-{platform.machine()}"
    return f"{machine}, Python {platform.python_version()}, {os.cpu_count()} cores"


def at_most(bar: float, found: float, what: str) -> None:
    """Print whether `found` meets a bar from above."""
    _verdict(what, found, f"at most {bar:g}", met=found <= bar)


def at_least(bar: float, found: float, what: str) -> None:
    """Print whether `found` meets a bar from below."""
    _verdict(what, found, f"at least {bar:g}", met=found >= bar)


def _verdict(what: str, found: float, bar: str, *, met: bool) -> None:
    print(f"{what:<60} {found:>10.4g}   {bar:<14} {'met' if met else 'MISSED'}")
