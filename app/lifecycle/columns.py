"""The finished trials of studies as columns: what figures and tables are made of.

An observation never changes, so each is read once and kept as numbers; what came since is read when somebody
asks. A trial that was observed again counts with the latest, and not at all when it is tried again.
"""

import math
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, Final

import numpy as np
from pydantic_core import to_json

from app.domain.study import Study, StudyId
from app.domain.trial import TrialState
from app.storage import Step, asked, observations, studies
from thiessen.columns import Columns, values_of
from thiessen.elementwise import Array
from thiessen.search.history import BROKEN
from thiessen.space import Space

PAGE: Final = 1000  # observations read at once
PIECE: Final = 8192  # values written at once: a few hundred microseconds, in which nobody else runs
MOST_CELLS: Final = 8_000_000  # kept at once, 64 MB; those of the study asked for last are kept in any case

Read = Callable[[Step[Any]], Any]
_STATES: Final = [state.value for state in TrialState]
_WORDS: Final = np.array(_STATES)


@dataclass(frozen=True)
class Shown:
    """Finished trials as columns, all or some; `finished` counts all."""

    watermark: int
    finished: int
    numbers: Array
    states: Array  # strings
    losses: Array
    is_broken: Array  # whether it failed by a cause that speaks of its config
    codes: Array  # a row for each dimension
    points: Array  # their unit coordinates, a row for each trial
    space: Space  # of these


class FinishedTrials:
    """The finished trials of one study, as far as they were read."""

    def __init__(self, study: Study) -> None:
        self.lock = Lock()
        self.space = study.spec.space
        self.forget()

    def forget(self, space: Space | None = None) -> None:
        """Begin anew, with the space as it is now where that has changed."""
        self.space = space or self.space
        self._columns = Columns(self.space)
        self._dimensions = len(self.space.dimensions)
        self.watermark = 0
        self._trials, self._states, self._losses = array("i"), bytearray(), array("d")
        self._broken = bytearray()
        self._codes: Array = np.empty((self._dimensions, PAGE))
        self._points: Array = np.empty((PAGE, self._dimensions))
        self._row_of = array("i")  # of each trial, the latest; -1 without one
        self._counts = bytearray()  # of each row, whether it does

    @property
    def cells(self) -> int:
        return self._codes.size + self._points.size

    def catch_up(self, read: Read, study_id: StudyId, observed: int) -> None:
        """Read the observations up to this one."""
        while self.watermark < observed:
            last = min(self.watermark + PAGE, observed)
            page = partial(
                observations.with_configs,
                study_id=study_id,
                after=self.watermark,
                last=last,
                is_open=self.space.is_open,
            )
            self._learn(read(page))
            self.watermark = last

    def _learn(self, page: list[observations.Stored]) -> None:
        first = len(self._trials)
        self._make_room(first + len(page))
        is_open = self.space.is_open  # there a config is what was asked for; else nobody knows what it was
        known = [each.config if each.is_asked or not is_open else {} for each in page]
        table = self._columns.table(known)
        self._codes[:, first : first + len(page)] = table.codes.T
        self._points[first : first + len(page)] = table.points
        for row, each in enumerate(page, start=first):
            self._trials.append(each.trial)
            self._states.append(_STATES.index(each.outcome))
            self._losses.append(math.nan if each.loss is None else each.loss)
            self._broken.append(each.outcome == TrialState.FAILED and each.cause in BROKEN)
            self._row_of.extend([-1] * (each.trial + 1 - len(self._row_of)))
            if (before := self._row_of[each.trial]) >= 0:
                self._counts[before] = False
            self._row_of[each.trial] = row
            self._counts.append(each.outcome != TrialState.QUEUED)

    def _make_room(self, rows: int) -> None:
        there, room = len(self._trials), self._codes.shape[1]
        if rows > room:
            room = max(rows, 2 * room)
            codes, points = np.empty((self._dimensions, room)), np.empty((room, self._dimensions))
            codes[:, :there], points[:there] = self._codes[:, :there], self._points[:there]
            self._codes, self._points = codes, points

    def shown(self, most: int | None) -> Shown:
        """Return all, in the order they finished in, or so many: the best and, evenly spread, others."""
        counts, losses = np.frombuffer(bytes(self._counts), bool), np.array(self._losses)
        rows: Array | slice = slice(len(counts))  # a view: what was read is never changed
        finished = int(counts.sum())
        if finished < len(counts) or (most is not None and finished > most):
            (rows,) = counts.nonzero()
            if most is not None and finished > most:
                rows = rows[_some(losses[rows], most)]
        trials, states = np.array(self._trials), np.frombuffer(bytes(self._states), np.uint8)
        return Shown(
            watermark=self.watermark,
            finished=finished,
            numbers=trials[rows],
            states=_WORDS[states[rows]],
            losses=losses[rows],
            is_broken=np.frombuffer(bytes(self._broken), bool)[rows],
            codes=self._codes[:, rows],
            points=self._points[rows],
            space=self.space,
        )


class Histories:
    """The finished trials of the studies that were asked for lately."""

    def __init__(self, most_cells: int = MOST_CELLS) -> None:
        self._most_cells = most_cells
        self._lock = Lock()
        self._studies: OrderedDict[StudyId, FinishedTrials] = OrderedDict()

    def written(self, read: Read, project: str, name: str, most: int | None) -> bytes:
        """Return the finished trials of a study as a JSON document of columns. Raises StudyNotFound."""
        return b"".join(_pieces(*self.shown(read, project, name, most)))

    def shown(self, read: Read, project: str, name: str, most: int | None) -> tuple[Study, Shown]:
        """Return a study and its finished trials, all or at most so many. Raises StudyNotFound."""
        find = partial(studies.named, project=project, name=name)
        finished = self._of(read(find))
        with finished.lock:
            study: Study = read(find)  # as it stands now that nobody else reads on
            if study.spec.space.is_open:
                last = study.standing.observations
                space = read(partial(asked.space, study_id=study.id, last=last))
                if space != finished.space:
                    finished.forget(space)
            if study.standing.observations < finished.watermark:
                finished.forget()  # the database has lost what was read: a standby took over, say
            finished.catch_up(read, study.id, study.standing.observations)
            shown = finished.shown(most)
        self._forget_some()
        return study, shown

    def _of(self, study: Study) -> FinishedTrials:
        with self._lock:
            if study.id not in self._studies:
                self._studies[study.id] = FinishedTrials(study)
            self._studies.move_to_end(study.id)
            return self._studies[study.id]

    def _forget_some(self) -> None:
        with self._lock:
            cells = sum(each.cells for each in self._studies.values())
            while len(self._studies) > 1 and cells > self._most_cells:
                _, forgotten = self._studies.popitem(last=False)
                cells -= forgotten.cells


def _some(losses: Array, most: int) -> Array:
    """Return the places of so many: a quarter the best, the others evenly spread over the rest."""
    best = np.argpartition(losses, most // 4)[: most // 4]  # NaN last
    rest = np.delete(np.arange(len(losses)), best)
    spread = rest[np.linspace(0, len(rest) - 1, most - len(best)).astype(np.intp)]
    return np.sort(np.concatenate([best, spread]))


def _pieces(study: Study, shown: Shown) -> Iterator[bytes]:
    head = {"watermark": shown.watermark, "trials": study.standing.trials, "finished": shown.finished}
    sign = study.spec.direction.loss(1.0)
    yield to_json(head)[:-1] + b',"columns":{"number":'
    yield from _list(shown.numbers.tolist())
    yield b',"state":'
    yield from _list(shown.states.tolist())
    yield b',"value":'
    yield from _list((sign * shown.losses).tolist())
    yield b',"config":{'
    for at, (name, dimension) in enumerate(shown.space.dimensions.items()):
        yield b"," * (at > 0) + to_json(name) + b":"
        yield from _list(values_of(dimension, shown.codes[at]))
    yield b"}}}"


def _list(values: list[Any]) -> Iterator[bytes]:
    """Yield the text of a list; NaN is null."""
    yield b"["
    for start in range(0, len(values), PIECE):
        piece = to_json(values[start : start + PIECE], inf_nan_mode="null")
        yield b"," * (start > 0) + piece[1:-1]
    yield b"]"
