"""Which trials to list, and in which order."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.trial import Origin, TrialState


class Sort(StrEnum):
    """The order of a list; a minus turns it round. Trials without what it goes by are not in the list."""

    NUMBER = "number"
    NUMBER_DOWN = "-number"
    LOSS = "loss"  # of the succeeded: other losses are not final
    LOSS_DOWN = "-loss"
    FINISHED = "finished"  # of the trials that have ended: when
    FINISHED_DOWN = "-finished"

    @property
    def is_descending(self) -> bool:
        return self.value.startswith("-")

    @property
    def upward(self) -> "Sort":
        return Sort(self.value.removeprefix("-"))


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The trials of a study in this state and of this origin, in order, between bounds on what it goes by."""

    sort: Sort = Sort.NUMBER
    state: TrialState | None = None
    origin: Origin | None = None
    above: float | None = None  # only trials whose number or loss, as the list is sorted, is above this
    below: float | None = None
