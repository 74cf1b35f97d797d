"""Replay: compute every proposal again from what was observed, and compare it with what was stored."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from thiessen.numbers import Stream, trial_seed
from thiessen.search.asking import asked_again, proposed
from thiessen.search.history import Duplicates, HistoryError, Observed, Past, as_asked
from thiessen.search.landscape import Landscape
from thiessen.search.strategy import Exhausted, Proposal, Strategy
from thiessen.space import AskedFor, Config, Space


class NotReplayable(ValueError):  # noqa: N818 - says what it is
    """The strategy is borrowed: what it draws cannot be computed again."""


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """A trial as it was stored when it was proposed."""

    number: int
    config: Config  # that it began with
    watermark: int  # the last observation that its proposal knew
    turn: int
    reasons: Mapping[str, Any] = field(default_factory=dict)  # as JSON; what is there is compared too


@dataclass(frozen=True, kw_only=True)
class Given:
    """A trial whose config was not proposed."""

    number: int
    config: Config
    origin: Literal["enqueued", "imported", "memoised"] = "enqueued"


@dataclass(frozen=True)
class Mismatch:
    """Something of a proposal that is not the same when it is computed again."""

    trial: int
    what: str  # "config", or one of its reasons
    stored: Any
    replayed: Any  # None where nothing was left to propose

    def __str__(self) -> str:
        """Return the mismatch as one sentence."""
        return (
            f"The {self.what} of trial {self.trial} was stored as {self.stored}, replayed as {self.replayed}."
        )


@dataclass(frozen=True)
class Tally:
    """What came of a replay. Proposals after the last one that could be computed do not match."""

    proposals: int
    matching: int
    first: Mismatch | None  # that was found

    @classmethod
    def of(cls, comparisons: Iterable[Sequence[Mismatch]], proposals: int) -> "Tally":
        """Count what `replay` yields of so many proposals."""
        matching, first = 0, None
        for mismatches in comparisons:
            matching += not mismatches
            first = first or next(iter(mismatches), None)
        return cls(proposals, matching, first)

    def __str__(self) -> str:
        """Return it in sentences."""
        if self.first is None:
            return f"All {self.proposals} proposals match."
        more = self.proposals - self.matching - 1
        return (
            f"{self.matching} of {self.proposals} proposals match. {self.first} After it {more} more differ."
        )


def replay(
    space: Space,
    strategy: Strategy,
    seed: int,
    trials: Iterable[Proposed | Given],
    observations: Sequence[Observed],
    *,
    duplicates: Duplicates = "forbid",
    failures_repel: bool = True,
) -> Iterator[list[Mismatch]]:
    """Yield for each proposal what differs between the stored one and the one computed again.

    The trials come in the order of their numbers, from 0 on. Given configs are part of the past; proposed
    ones are only compared: later proposals are computed from earlier ones as replayed. When nothing is left
    to propose it ends with that mismatch. Raises NotReplayable, and HistoryError when the observations do
    not belong to the trials.
    """
    if not strategy.replayable:
        raise NotReplayable(
            f"the strategy {strategy.name!r} draws numbers that are not ours, so its proposals cannot be "
            "replayed; compare its stored configs with another export of the same study instead."
        )
    past = Past(space, duplicates=duplicates, failures_repel=failures_repel)
    return _comparisons(_Then(past, observations), _asked(space, observations), strategy, seed, trials)


def _comparisons(
    then: "_Then",
    asked: Mapping[int, Sequence[AskedFor]],
    strategy: Strategy,
    seed: int,
    trials: Iterable[Proposed | Given],
) -> Iterator[list[Mismatch]]:
    for number, trial in enumerate(trials):
        if trial.number != number:
            raise HistoryError(
                f"trial {trial.number} comes where trial {number} is due; give all trials, in the order of "
                "their numbers, from 0 on."
            )
        if isinstance(trial, Given):
            then.past.number(trial.config)
            continue
        landscape = then.known_to(trial)
        try:
            proposal = proposed(strategy, landscape, trial.turn, Stream(seed, number))
        except Exhausted:
            yield [Mismatch(number, "config", trial.config, None)]
            return
        then.past.number(proposal.config)
        mismatches = [*_mismatches(trial, proposal)]
        for each in asked.get(number, ()):
            mismatches += _asked_mismatches(number, each, proposal, trial_seed(seed, number))
        yield mismatches


def _mismatches(trial: Proposed, proposal: Proposal) -> Iterator[Mismatch]:
    stored = {**trial.reasons, "config": trial.config}
    for what, value in {"config": proposal.config, **proposal.reasons.to_json()}.items():
        if what in stored and _text(stored[what]) != _text(value):
            yield Mismatch(trial.number, what, stored[what], value)


def _asked_mismatches(number: int, told: AskedFor, proposal: Proposal, seed: int) -> Iterator[Mismatch]:
    """Compare what a trial of an open study was given with what it would be given."""
    given = asked_again(proposal.config, seed, told.dimensions)
    if _text(told.config) != _text(given):
        yield Mismatch(number, "config asked for", told.config, given)


def _asked(space: Space, observations: Sequence[Observed]) -> dict[int, list[AskedFor]]:
    """Return what each trial of an open study asked for, more than once where it was tried again."""
    told: dict[int, list[AskedFor]] = {}
    for observed, asked in as_asked(space, observations):
        told.setdefault(observed.trial, []).append(asked)
    return told


class _Then:
    """A search as it goes on again, told its observations when they were known."""

    def __init__(self, past: Past, observations: Sequence[Observed]) -> None:
        self.past = past
        self._observations = observations

    def known_to(self, trial: Proposed) -> Landscape:
        """Return what the proposal of a trial knew."""
        known, watermark = self.past.landscape.watermark, trial.watermark
        if watermark < known:
            # Each server reads a study's next number and its last observation at once.
            raise HistoryError(
                f"trial {trial.number} was proposed when observation {watermark} was the last known, but a "
                f"trial before it knew observation {known}. Watermarks never fall from one number to the "
                "next; export the study again, and report it when that says the same."
            )
        if watermark > len(self._observations):
            raise HistoryError(
                f"trial {trial.number} was proposed when observation {watermark} was the last known, but "
                f"here {len(self._observations)} is the last; give all observations, from 1 on."
            )
        self.past.observe(*self._observations[known:watermark])
        return self.past.landscape


def _text(value: Any) -> str:
    """Tell 1, 1.0 and true apart, and lists from nothing but their items, as JSON does."""
    return json.dumps(value, sort_keys=True)
