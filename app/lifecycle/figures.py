"""Figures of studies, drawn here and kept as they are sent until something happens in the study."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import partial
from hashlib import sha256
from math import isnan
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np
from pydantic import BaseModel
from pydantic_core import to_json

from app.domain.errors import InvalidRequest
from app.domain.listing import Listing
from app.domain.study import Standing, Study, StudyId
from app.domain.trial import Origin, TrialState
from app.lifecycle.columns import Histories, Shown
from app.storage import Store, Transaction, attempts, clock, pages, studies, whole
from thiessen.contract import ComparisonReport, Profile
from thiessen.figures import COMPARED, FigureError, Theme, Wanted, figure, of_profile, of_report
from thiessen.figures.curves import chosen
from thiessen.figures.scale import Scale
from thiessen.figures.sources import proposed
from thiessen.figures.timeline import MOST_ATTEMPTS
from thiessen.figures.trials import LATEST, MOST_UNFINISHED, Attempt, Trials, Unfinished
from thiessen.version import __version__

MOST_BYTES: Final = 16_000_000  # of figures kept at once
MOST_SCALES: Final = 1000  # of colours, kept at once
SETTLED: Final = frozenset({"slice", "parallel", "importance", "distribution", "interaction"})
"""The figures that show finished trials alone: they change when a trial ends, others with every event."""


class Drawn(NamedTuple):
    """A figure as JSON, and a short text that another one does not have."""

    written: bytes
    tag: str


class Figures:
    """Draws one figure at a time: the others wait, and no thread waits with them."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()
        self._busy = asyncio.Lock()
        self._scales: OrderedDict[StudyId, Scale] = OrderedDict()

    async def drawn(
        self, store: Store, histories: Histories, project: str, name: str, kind: str, wanted: Wanted
    ) -> Drawn:
        """Return a figure of a study. Raises StudyNotFound, InvalidRequest."""
        study: Study = await store.seen(partial(studies.named, project=project, name=name))
        known = self._known(_tag(study.standing, kind, wanted))
        if known is not None:
            return known
        async with self._busy:
            return await asyncio.to_thread(self._draw, store, histories, project, name, kind, wanted)

    def _draw(
        self, store: Store, histories: Histories, project: str, name: str, kind: str, wanted: Wanted
    ) -> Drawn:
        study, shown = histories.shown(store.read, project, name, None)
        self._keep_scale(study, shown)
        tag = _tag(study.standing, kind, wanted)
        known = self._known(tag)
        if known is not None:  # drawn while this one waited
            return known
        trials = _with_more(store, study, _trials(study, shown).seen(after=wanted.after), kind, wanted)
        try:
            written = to_json(figure(kind, trials, wanted))
        except FigureError as error:
            raise InvalidRequest(str(error)) from error
        self._keep(tag, written)
        return Drawn(written, tag)

    async def compared(
        self,
        store: Store,
        histories: Histories,
        project: str,
        names: Sequence[str],
        kind: str,
        wanted: Wanted,
    ) -> Drawn:
        """Return a figure of several studies. Raises StudyNotFound, InvalidRequest."""
        found = await store.seen(lambda tx: [studies.named(tx, project, name).standing for name in names])
        known = self._known(_tag_of_all(found, kind, wanted))
        if known is not None:
            return known
        async with self._busy:
            return await asyncio.to_thread(self._compare, store, histories, project, names, kind, wanted)

    def _compare(
        self,
        store: Store,
        histories: Histories,
        project: str,
        names: Sequence[str],
        kind: str,
        wanted: Wanted,
    ) -> Drawn:
        found = [histories.shown(store.read, project, name, None) for name in names]
        tag = _tag_of_all([study.standing for study, _ in found], kind, wanted)
        known = self._known(tag)
        if known is not None:
            return known
        searches = {study.spec.name: _trials(study, shown) for study, shown in found}
        try:
            written = to_json(COMPARED[kind](searches, wanted))
        except FigureError as error:
            raise InvalidRequest(str(error)) from error
        self._keep(tag, written)
        return Drawn(written, tag)

    async def reported(self, kind: str, report: ComparisonReport, moment: str, theme: Theme) -> Drawn:
        """Return a figure of a comparison, from its report of a moment that has this tag."""
        draw = partial(of_report, kind, theme=theme)
        return await self._from(report, _tag_of_report(moment, kind, theme), draw)

    async def profiled(self, profile: Profile, moment: str, theme: Theme) -> Drawn:
        """Return the figure of performance profiles, of the reports of a moment that has this tag."""
        return await self._from(
            profile, _tag_of_report(moment, "profile", theme), partial(of_profile, theme=theme)
        )

    async def _from(
        self, told: BaseModel, tag: str, draw: Callable[[Mapping[str, Any]], dict[str, Any]]
    ) -> Drawn:
        if (known := self._known(tag)) is not None:
            return known
        async with self._busy:
            written = await asyncio.to_thread(lambda: to_json(draw(told.model_dump())))
        self._keep(tag, written)
        return Drawn(written, tag)

    def scale(self, study: Study) -> Scale | None:
        """Return the scale of colours of the figures drawn last of a study, None if that was long ago."""
        with self._lock:
            return self._scales.get(study.id)

    def _keep_scale(self, study: Study, shown: Shown) -> None:
        losses = shown.losses[np.array(shown.states, dtype="U9") == TrialState.SUCCEEDED]
        if not len(losses):
            return
        scale = Scale.of(losses, study.spec.direction.value)
        with self._lock:
            self._scales[study.id] = scale
            self._scales.move_to_end(study.id)
            while len(self._scales) > MOST_SCALES:
                self._scales.popitem(last=False)

    def _known(self, tag: str) -> Drawn | None:
        with self._lock:
            if tag not in self._kept:
                return None
            self._kept.move_to_end(tag)
            return Drawn(self._kept[tag], tag)

    def _keep(self, tag: str, written: bytes) -> None:
        with self._lock:
            self._kept[tag] = written
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most_bytes:
                self._kept.popitem(last=False)


def _tag(standing: Standing, kind: str, wanted: Wanted) -> str:
    """Return what tells a figure from every other: of which moment of which study, and how it was wanted."""
    is_settled = kind in SETTLED or wanted.after is not None
    moment = standing.observations if is_settled else standing.events
    said = to_json([__version__, standing.id, moment, kind, *astuple(wanted)])
    return sha256(said).hexdigest()[:32]


def _tag_of_all(standings: Sequence[Standing], kind: str, wanted: Wanted) -> str:
    """Return what tells a figure of several studies, which shows finished trials alone, from every other."""
    moments = [(standing.id, standing.observations) for standing in standings]
    return sha256(to_json([__version__, moments, kind, *astuple(wanted)])).hexdigest()[:32]


def _tag_of_report(moment: str, kind: str, theme: Theme) -> str:
    return sha256(to_json([__version__, moment, kind, theme])).hexdigest()[:32]


def _trials(study: Study, shown: Shown) -> Trials:
    """Return the finished trials for figures."""
    spec = study.spec
    return Trials(
        study=spec.name,
        space=spec.space,
        direction=spec.direction.value,
        numbers=shown.numbers,
        states=shown.states,
        losses=shown.losses,
        codes=shown.codes,
        is_broken=shown.is_broken & spec.failures_repel,
        known_points=shown.points,
        neighbours=int(spec.strategy.get("neighbours") or 1),
        metric=None if spec.stopping is None else spec.stopping["metric"],
    )


def _with_more(store: Store, study: Study, trials: Trials, kind: str, wanted: Wanted) -> Trials:
    """Return them with what else this figure shows."""
    if kind in {"history", "landscape", "curves"} and trials.whole is None:
        trials = replace(trials, unfinished=store.read(partial(_unfinished, study=study)))
    if kind == "landscape":
        numbers = study.standing.trials if trials.whole is None else trials.numbers.max(initial=-1) + 1
        rows = store.read(partial(_latest, study=study, numbers=int(numbers)))
        latest = [
            proposed(row.number, row.config, row.reasons) for row in rows if row.origin is Origin.PROPOSED
        ]
        return replace(trials, latest=latest)
    if kind == "curves":
        read = partial(attempts.curves_of_trials, study_id=study.id, numbers=chosen(trials, wanted.trials))
        return replace(trials, curves={trial: _curve(points) for trial, points in store.read(read).items()})
    if kind == "timeline":
        return store.read(partial(_with_attempts, study=study, trials=trials))
    return trials


def _unfinished(tx: Transaction, study: Study) -> list[Unfinished]:
    found: list[Unfinished] = []
    for state in (TrialState.RUNNING, TrialState.QUEUED):
        room = MOST_UNFINISHED - len(found)
        lines = pages.page(tx, study, Listing(state=state), None, room) if room else []
        found += [Unfinished(number=each.number, state=state.value, config=each.config) for each in lines]  # type: ignore[arg-type]
    return sorted(found, key=lambda each: each.number)


def _latest(tx: Transaction, study: Study, numbers: int) -> list[whole.Row]:
    return whole.rows(tx, study.id, max(numbers - LATEST, 0), numbers)


def _curve(points: Sequence[Mapping[str, Any]]) -> list[tuple[int, dict[str, float]]]:
    return [
        (point["step"], {name: float(each) for name, each in point["metrics"].items()}) for point in points
    ]


def _with_attempts(tx: Transaction, study: Study, trials: Trials) -> Trials:
    """Return the trials with the attempts of the latest of them."""
    losses = dict(zip(trials.numbers.tolist(), trials.losses.tolist(), strict=True))
    first = max(study.standing.trials - MOST_ATTEMPTS, 0)
    found = [
        Attempt(
            trial=each.trial,
            worker=each.worker,
            device=each.device,
            start=each.started_at.timestamp(),
            end=None if each.ended_at is None else each.ended_at.timestamp(),
            outcome=each.outcome,
            loss=None if isnan(loss := losses.get(each.trial, np.nan)) else loss,
        )
        for each in attempts.from_trial(tx, study.id, first)
    ]
    return replace(trials, attempts=found, now=clock.read(tx).timestamp())
