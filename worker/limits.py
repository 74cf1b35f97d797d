"""What an attempt may use before it is ended: memory, time, silence."""

import time
from dataclasses import dataclass, field
from typing import Final

from thiessen.contract import Failure
from worker.slot import Slot

LOOK_SECONDS: Final = 0.2  # between two looks at the memory of a slot that has a limit
START_SECONDS: Final = 300.0  # the longest that a child process may take to start; no limit of the training's


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of each attempt; None is no limit."""

    memory_gb: float | None = None  # 10⁹ bytes, of the child and all that it starts
    seconds: float | None = None  # from its beginning
    silence_seconds: float | None = None  # since its last report


@dataclass(kw_only=True)
class Watch:
    """Looks after one attempt in a slot."""

    slot: Slot
    limits: Limits
    ordered_at: float = field(default_factory=time.monotonic)
    begun_at: float | None = None  # when the child took the order
    heard_at: float = 0.0  # when the task last said something

    @property
    def seconds(self) -> float:
        """Return how long one may wait for the next look."""
        return float("inf") if self.limits.memory_gb is None else LOOK_SECONDS

    def heard(self) -> None:
        """The child said something; first, that it begins."""
        self.heard_at = time.monotonic()
        if self.begun_at is None:
            self.begun_at = self.heard_at

    def fault(self) -> Failure | None:
        """Return why the attempt is to be ended now; None when it may go on."""
        limits, now = self.limits, time.monotonic()
        if self.begun_at is None:
            is_late = now - self.ordered_at > START_SECONDS
            return self._ended("stalled", "The training process did not start.") if is_late else None
        if limits.seconds is not None and now - self.begun_at > limits.seconds:
            return self._ended(
                "time_limit", f"The training took longer than the limit of {limits.seconds:g} s."
            )
        if limits.silence_seconds is not None and now - self.heard_at > limits.silence_seconds:
            return self._ended(
                "stalled", f"The training has reported nothing for the limit of {limits.silence_seconds:g} s."
            )
        if limits.memory_gb is not None and self._has_too_much(limits.memory_gb * 1e9):
            return Failure(
                kind="out_of_memory",
                message=f"The training had more than the limit of {limits.memory_gb:g} GB of memory.",
            )
        return None

    def _has_too_much(self, most: float) -> bool:
        """Processes share pages: those are counted once only when the sum is too much, since that costs."""
        return self.slot.memory() > most and self.slot.proportional_memory() > most

    def _ended(self, kind: str, message: str) -> Failure:
        return Failure.model_validate({"kind": kind, "message": message, "traceback": self.slot.stacks()})
