from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import final


@final
class Stopwatch:
    """The seconds that each phase of a step took. On a GPU, which works on by itself, those of the calls."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time inside the context to the phase, also when it is left by an error."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
