"""How often somebody may ask: a bucket that fills at a steady rate and may be emptied at once."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

ROUNDING: Final = 1e-6  # seconds: a clock's readings are added and subtracted


def drawn(full_at: float, now: float, rate: float, burst: float) -> tuple[float, float]:
    """Take one from a bucket of `burst` that fills at `rate` a second; return it and the seconds to wait.

    A bucket is told by the time at which it is full again. When there is a wait nothing was taken.
    """
    after = max(full_at, now) + 1 / rate
    wait = after - now - burst / rate
    return (after, 0.0) if wait <= ROUNDING else (full_at, wait)


class Rates:
    """A bucket for each name. A full one is as good as none, so memory is bounded by forgetting those."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float], most: int = 10_000) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._most = most
        self._full_at: OrderedDict[str, float] = OrderedDict()  # the longest unused first

    def draw(self, name: str) -> float:
        """Take one for `name`; return the seconds to wait, 0 when it passes."""
        full_at, wait = drawn(self._full_at.pop(name, 0.0), self._clock(), self._rate, self._burst)
        self._full_at[name] = full_at
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return wait

    def wait(self, name: str) -> float:
        """Return the seconds that `name` would have to wait, without taking anything."""
        return drawn(self._full_at.get(name, 0.0), self._clock(), self._rate, self._burst)[1]
