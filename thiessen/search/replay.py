"""Replay: compute every proposal again from what was observed, and compare it with what was stored."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from thiessen.numbers import Stream
from thiessen.search.landscape import Landscape
from thiessen.search.strategy import Exhausted, Proposal, Strategy
from thiessen.space import Config, Space


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """A trial as it was stored when it was proposed."""

    number: int
    config: Config
    watermark: int  # the last observation that its proposal knew
    turn: int
    reasons: Mapping[str, Any] = field(default_factory=dict)  # as JSON; what is there is compared too


@dataclass(frozen=True, kw_only=True)
class Observed:
    """An observation as it was stored."""

    seq: int
    trial: int
    loss: float | None  # None where the trial diverged
    silent: bool = False  # the trial ended, but that says nothing of its config


@dataclass(frozen=True)
class Mismatch:
    """Something of a proposal that is not the same when it is computed again."""

    trial: int
    what: str  # "config", or one of its reasons
    stored: Any
    replayed: Any

    def __str__(self) -> str:
        """Return the mismatch as one sentence."""
        return (
            f"The {self.what} of trial {self.trial} was stored as {self.stored}, replayed as {self.replayed}."
        )


def replay(
    space: Space, strategy: Strategy, seed: int, trials: Iterable[Proposed], observations: Sequence[Observed]
) -> Iterator[Mismatch]:
    """Yield what differs between the stored proposals and those computed again, trial after trial.

    The trials come in the order of their numbers. Later proposals are computed from the configs of earlier
    ones as replayed, never as stored. When nothing is left to propose it ends with that mismatch. Raises
    ValueError when the strategy cannot be replayed, or the observations do not belong to the trials.
    """
    if not strategy.replayable:
        raise ValueError(
            f"the strategy {strategy.name!r} draws numbers that are not ours, so its proposals cannot be "
            "replayed; compare its stored configs with another export of the same study instead."
        )
    return _mismatches(_Past(space, strategy, seed, observations), trials)


def _mismatches(past: "_Past", trials: Iterable[Proposed]) -> Iterator[Mismatch]:
    for trial in trials:
        try:
            proposal = past.proposal(trial.number, trial.watermark, trial.turn)
        except Exhausted:
            yield Mismatch(trial.number, "config", trial.config, None)
            return
        stored = {**trial.reasons, "config": trial.config}
        for what, value in {"config": proposal.config, **asdict(proposal.reasons)}.items():
            if what in stored and _text(stored[what]) != _text(value):
                yield Mismatch(trial.number, what, stored[what], value)


class _Past:
    """A search as it goes on again, told its observations when they were known."""

    def __init__(self, space: Space, strategy: Strategy, seed: int, observations: Sequence[Observed]) -> None:
        self._strategy = strategy
        self._seed = seed
        self._observations = observations
        self._landscape = Landscape(space)
        self._configs: dict[int, Config] = {}

    def proposal(self, number: int, watermark: int, turn: int) -> Proposal:
        """Return the proposal of this trial. Raises Exhausted."""
        landscape = self._landscape
        for observation in self._observations[landscape.watermark : watermark]:
            self._observe(observation)
        if landscape.watermark != watermark:
            raise ValueError(
                f"trial {number} was proposed when observation {watermark} was the last known, but here "
                f"it is {landscape.watermark}; give the trials in order and all observations, from 1 on."
            )
        stream = Stream(self._seed, number)
        proposal = self._strategy.propose(landscape.space, landscape, turn, stream)
        self._configs[number] = proposal.config
        landscape.take(proposal.config)
        landscape.pend(number, proposal.config)
        return proposal

    def _observe(self, observation: Observed) -> None:
        landscape, trial = self._landscape, observation.trial
        if trial not in self._configs or observation.seq != landscape.watermark + 1:
            raise ValueError(
                f"observation {observation.seq} of trial {trial} follows observation {landscape.watermark} "
                f"with {len(self._configs)} trials proposed; give all, in the order they were stored in."
            )
        if observation.silent:
            landscape.end(trial)
        else:
            landscape.observe(trial, self._configs[trial], observation.loss)
        landscape.watermark = observation.seq


def _text(value: Any) -> str:
    """Tell 1, 1.0 and true apart, and lists from nothing but their items, as JSON does."""
    return json.dumps(value, sort_keys=True)
