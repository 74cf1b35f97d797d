"""The past of a study as a proposal knows it: the trials with a number, and the observations made of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Final, Literal

from thiessen.search.landscape import Landscape
from thiessen.space import AskedFor, Config, OpenSpace, Space, SpaceError

Outcome = Literal["succeeded", "diverged", "pruned", "failed", "cancelled", "queued"]
Duplicates = Literal["forbid", "allow", "memoise"]

PAGE: Final = 1000  # trials entered at once, when a history begins
BROKEN: Final = frozenset({"error", "out_of_memory"})  # the causes of a failure that speak of the config


class HistoryError(ValueError):
    """Trials and observations that are not the whole past of a study; the message says what is missing."""


class Revised(Exception):  # noqa: N818 - says what happened
    """A landscape cannot go on: make the history anew.

    A trial that had ended was observed again, or what a trial asked for has changed an open space.
    """


@dataclass(frozen=True, kw_only=True)
class Observed:
    """An observation as it was stored. `queued`: the trial had failed, and is tried again."""

    seq: int
    trial: int
    outcome: Outcome
    loss: float | None = None  # the last one, where the trial was pruned
    cause: str | None = None  # where it failed
    asked: AskedFor | None = None  # in an open study, where it was said


def space_after(space: Space, observations: Iterable[Observed]) -> Space:
    """Return a space as it is after these observations. Raises HistoryError."""
    for each in observations:
        if each.asked is not None and isinstance(space, OpenSpace):
            try:
                space = space.after(each.asked.config, each.asked.dimensions)
            except SpaceError as error:
                raise HistoryError(f"observation {each.seq}: {error}") from error
    return space


def as_asked(space: Space, observations: Iterable[Observed]) -> Iterator[tuple[Observed, AskedFor]]:
    """Yield what trials of an open study asked for, each dimension as it was asked. Raises HistoryError."""
    for each in observations:
        if each.asked is not None and isinstance(space, OpenSpace):
            known, asked = space.dimensions, each.asked
            space = space_after(space, [each])  # which insists that there is one for each name
            whole = {name: asked.dimensions.get(name) or known[name] for name in asked.config}
            yield each, AskedFor(config=asked.config, dimensions=whole)


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The past of a study up to a watermark. Each config is looked at once, so they may come one by one."""

    trials: int = 0  # numbered
    watermark: int = 0
    ended: Iterable[tuple[Observed, Config]] = ()  # each with its latest observation, in the order of these
    pending: Iterable[tuple[int, Config]] = ()  # all others, by number: not observed, or `queued` at last

    @classmethod
    def of(cls, configs: Sequence[Config], observations: Sequence[Observed]) -> "Snapshot":
        """Return it from the config of each trial, and all observations. Raises HistoryError."""
        latest: dict[int, Observed] = {}
        for seq, observation in enumerate(observations, start=1):
            _check(observation, seq, len(configs))
            latest.pop(observation.trial, None)  # so that it takes the last place
            latest[observation.trial] = observation
        ended = [each for each in latest.values() if each.outcome != "queued"]
        pending = sorted(set(range(len(configs))) - {each.trial for each in ended})
        return cls(
            trials=len(configs),
            watermark=len(observations),
            ended=((each, configs[each.trial]) for each in ended),
            pending=((number, configs[number]) for number in pending),
        )


class History:
    """The landscape of a study, as it is when a proposal is due. Begins with a snapshot, or with nothing.

    Of each trial the latest observation counts, in its place among the others. One of a trial that has ended
    raises Revised and changes nothing; then make a new history from a new snapshot. So does one that changes
    an open space, which is given as the snapshot found it. No config is kept but those of pending trials.
    """

    def __init__(
        self,
        space: Space,
        snapshot: Snapshot | None = None,
        *,
        duplicates: Duplicates = "forbid",
        failures_repel: bool = True,
    ) -> None:
        self.landscape = Landscape(space)
        self.trials = 0  # numbered
        self._may_repeat = duplicates != "forbid"
        self._failures_repel = failures_repel
        self._outside: dict[int, Config] = {}  # pending trials whose config is no point of an open space yet
        if snapshot is not None:
            self._begin(snapshot)

    def number(self, config: Config) -> None:
        """Add the trial that has the next number, whoever chose its config."""
        self._pend(self.trials, config)
        self.trials += 1

    def observe(self, observation: Observed) -> None:
        """Add the next observation. Raises Revised, and HistoryError when it is not the next."""
        _check(observation, self.landscape.watermark + 1, self.trials)
        number, space = observation.trial, self.landscape.space
        config = self.landscape.pending.get(number, self._outside.get(number))
        if config is None or space_after(space, [observation]) is not space:
            raise Revised
        if observation.asked is not None and space.is_open:
            config = observation.asked.config
            self._take(config)
        self._enter(observation, config)
        self._outside.pop(number, None)
        self.landscape.watermark = observation.seq

    def _begin(self, snapshot: Snapshot) -> None:
        ended = self._as_asked(snapshot.ended) if self.landscape.space.is_open else iter(snapshot.ended)
        while page := list(islice(ended, PAGE)):
            self._enter_each(page)
        for number, config in snapshot.pending:
            self._pend(number, config)
        self.trials, self.landscape.watermark = snapshot.trials, snapshot.watermark

    def _as_asked(self, ended: Iterable[tuple[Observed, Config]]) -> Iterator[tuple[Observed, Config]]:
        """Yield them with what they asked for, without those of which nobody has said what that was."""
        return ((each, each.asked.config) for each, _ in ended if each.asked is not None)

    def _pend(self, number: int, config: Config) -> None:
        if self._is_outside(config):
            self._outside[number] = config
        else:
            self.landscape.pend(number, config)
        if not self.landscape.space.is_open:  # there it is not known before the end what is tried
            self._take(config)

    def _take(self, config: Config) -> None:
        if not self._may_repeat:  # then nothing is taken, and strategies draw as if each config were new
            self.landscape.take(config)

    def _is_outside(self, config: Config) -> bool:
        """Return whether an open space does not hold the config that a trial begins with."""
        if not self.landscape.space.is_open:
            return False
        try:
            self.landscape.space.validate(config)
        except SpaceError:
            return True
        return False

    def _enter_each(self, ended: Sequence[tuple[Observed, Config]]) -> None:
        """Add trials that have ended and were never pending here: the same as one by one, and far cheaper."""
        configs = self.landscape.columns.table([config for _, config in ended])
        if not self._may_repeat:
            self.landscape.take_each(configs)
        for is_pruned, run in groupby(range(len(ended)), key=lambda at: ended[at][0].outcome == "pruned"):
            if is_pruned:
                for at in run:
                    self._enter(*ended[at])
                continue
            teaching = [at for at in run if self._teaches(ended[at][0])]
            self.landscape.observe_each(
                [ended[at][0].trial for at in teaching],
                configs.points[teaching],
                [ended[at][0].loss if ended[at][0].outcome == "succeeded" else None for at in teaching],
            )

    def _teaches(self, observation: Observed) -> bool:
        """Return whether the outcome says something of the config."""
        if self.landscape.space.is_open and observation.asked is None:
            return False
        if observation.outcome == "failed":
            return self._failures_repel and observation.cause in BROKEN
        return observation.outcome in {"succeeded", "pruned", "diverged"}

    def _enter(self, observation: Observed, config: Config) -> None:
        trial = observation.trial
        match observation.outcome:
            case "queued":
                pass  # pending, as it is
            case _ if not self._teaches(observation):
                self.landscape.end(trial)
            case "succeeded":
                self.landscape.observe(trial, config, observation.loss)
            case "pruned":
                self.landscape.observe_pruned(trial, config, observation.loss)
            case "diverged" | "failed":
                self.landscape.observe(trial, config, None)


def _check(observation: Observed, seq: int, trials: int) -> None:
    if observation.seq != seq or not 0 <= observation.trial < trials:
        raise HistoryError(
            f"observation {observation.seq} of trial {observation.trial} follows observation {seq - 1} with "
            f"{trials} trials numbered; give all, in the order they were stored in."
        )


class Past:
    """The history of a study of which everything is at hand, made anew where it cannot go on."""

    def __init__(
        self,
        space: Space,
        configs: Iterable[Config] = (),
        observations: Iterable[Observed] = (),
        *,
        duplicates: Duplicates = "forbid",
        failures_repel: bool = True,
    ) -> None:
        self.configs = list(configs)  # that trials began with
        self._observations = list(observations)
        self._space = space_after(space, self._observations)
        self._duplicates: Duplicates = duplicates
        self._failures_repel = failures_repel
        self._history = self._anew()

    @property
    def landscape(self) -> Landscape:
        return self._history.landscape

    def number(self, config: Config) -> None:
        """Add the trial that has the next number."""
        self.configs.append(config)
        self._history.number(config)

    def observe(self, *observations: Observed) -> None:
        """Add the next observations. Raises HistoryError when they are not."""
        self._observations += observations
        try:
            for each in observations:
                self._history.observe(each)
        except Revised:
            self._space = space_after(self._space, observations)
            self._history = self._anew()

    def _anew(self) -> History:
        return History(
            self._space,
            Snapshot.of(self.configs, self._observations),
            duplicates=self._duplicates,
            failures_repel=self._failures_repel,
        )
