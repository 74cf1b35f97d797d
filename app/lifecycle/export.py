"""A study as a whole, read in small steps and yet as it stood at one moment.

First its counters are read: so many trials, so many observations. Neither changes once it is numbered, so
what they say can be read bit by bit while the study goes on; what a trial has come to is told by the
observations up to that one, its watermark.
"""

from array import array
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from typing import Final

from app.domain.errors import StudyNotFound
from app.domain.study import Progress, Study
from app.domain.trial import Attempt, Cause, Observation, TrialState
from app.lifecycle.submit import progress
from app.storage import Store, Transaction, observations, whole
from app.storage.whole import Row

OBSERVATIONS_AT_ONCE: Final = 2000

_STATES: Final = list(TrialState)
_CAUSES: Final = [None, *Cause]


@dataclass(frozen=True, slots=True)
class End:
    """What a trial had come to."""

    state: TrialState
    cause: Cause | None
    loss: float | None


class Ends:
    """What every trial had come to at the watermark, in ten bytes each."""

    def __init__(self, trials: int) -> None:
        self._states = bytearray(_STATES.index(TrialState.QUEUED).to_bytes() * trials)
        self._causes = bytearray(trials)
        self._losses = array("d", [nan]) * trials

    def learn(self, observed: Iterable[Observation]) -> None:
        """Add the next observations."""
        for each in observed:
            self._states[each.trial] = _STATES.index(each.outcome)
            self._causes[each.trial] = _CAUSES.index(each.cause)
            self._losses[each.trial] = nan if each.loss is None else each.loss

    def of(self, row: Row) -> End:
        """Return what a trial had come to; one that has ended since was running."""
        state, loss = _STATES[self._states[row.number]], self._losses[row.number]
        if not state.is_terminal:
            return End(TrialState.RUNNING if row.state.is_terminal else row.state, None, None)
        return End(state, _CAUSES[self._causes[row.number]], None if isnan(loss) else loss)


@dataclass(frozen=True)
class Export:
    """The trials of a study below a number, and its observations up to a watermark."""

    store: Store
    progress: Progress
    trials: int
    watermark: int
    ends: Ends

    @property
    def study(self) -> Study:
        return self.progress.study

    async def pages(self, size: int) -> AsyncIterator[Sequence[Row]]:
        """Yield the trials in order, so many at once. Raises StudyNotFound when they are purged meanwhile."""
        for begin in range(0, self.trials, size):
            end = min(begin + size, self.trials)
            page = await self.store.seen(partial(whole.rows, study_id=self.study.id, begin=begin, end=end))
            if len(page) < end - begin:
                raise StudyNotFound(self.study.spec.name)
            yield page

    async def attempts(self, page: Sequence[Row]) -> dict[int, list[Attempt]]:
        """Return the attempts of the trials of a page, as they are now."""
        begin, end = page[0].number, page[-1].number + 1
        return await self.store.seen(partial(whole.attempts_of, study_id=self.study.id, begin=begin, end=end))

    async def observations(self) -> AsyncIterator[Sequence[Observation]]:
        """Yield the observations in order, some at once."""
        for after in range(0, self.watermark, OBSERVATIONS_AT_ONCE):
            last = min(after + OBSERVATIONS_AT_ONCE, self.watermark)
            yield await self.store.seen(partial(_observed, study=self.study, after=after, last=last))


async def begin(store: Store, project: str, name: str) -> Export:
    """Return the whole of a study as it stands now. Raises StudyNotFound."""
    found = await store.seen(partial(progress, project=project, name=name))
    standing = found.study.standing
    export = Export(store, found, standing.trials, standing.observations, Ends(standing.trials))
    async for some in export.observations():
        export.ends.learn(some)
    return export


async def begin_with(store: Store, project: str, name: str, first: int) -> Export:
    """Return the first trials of a study, with the observations that their proposals knew, and no ends.

    Raises StudyNotFound.
    """

    def step(tx: Transaction) -> tuple[Progress, int, int]:
        found = progress(tx, project, name)
        trials = min(first, found.study.standing.trials)
        return found, trials, whole.watermark_of(tx, found.study.id, trials)

    found, trials, watermark = await store.seen(step)
    return Export(store, found, trials, watermark, Ends(trials))


def _observed(tx: Transaction, study: Study, after: int, last: int) -> list[Observation]:
    return list(observations.since(tx, study.id, after, last, is_open=study.spec.space.is_open))
