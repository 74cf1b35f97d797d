"""Who keeps a study without a server: this process, in a journal or in memory alone."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import isfinite
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal

from thiessen.errors import Ended, JournalDiffers, JournalError
from thiessen.integrations import KNOWN
from thiessen.journal import FORMAT, Entry, Journal, Memory, document
from thiessen.numbers import Stream, trial_seed
from thiessen.search import (
    BiasedRandom,
    Exhausted,
    Given,
    HistoryError,
    Observed,
    Past,
    Proposed,
    Strategy,
)
from thiessen.search.asking import proposed
from thiessen.search.record import Record, observation_to_json
from thiessen.search.settings import strategy_to_json
from thiessen.search.stopping import Curve, judged
from thiessen.search.strategy import settled
from thiessen.space import OPEN, AskedFor, Config, OpenSpace, Space, config_key
from thiessen.study import Direction, Result
from thiessen.trial import Asked, Ending

if TYPE_CHECKING:
    from thiessen.figures import Figure, Wanted

TRIALS: Final = 100  # of a study that is not told how many
MOST_CURVES: Final = 1000  # of trials that have ended, the last ones: those that others are judged by


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a program says of a study; None where it says nothing."""

    space: Space | None
    strategy: Strategy | None
    seed: int | None
    direction: Direction | None
    stopping: dict[str, Any] | None
    command: str | None = None  # of the program that tries the trials, with what is the same in each


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What of a study never changes."""

    space: Space
    strategy: Strategy
    seed: int
    direction: Direction
    stopping: dict[str, Any] | None
    command: str | None

    @classmethod
    def of(cls, told: Told, space: Space, trials: int) -> "Terms":
        """Return those of a new study, the usual ones where nothing was said. Raises StrategyError."""
        return cls(
            space=space,
            strategy=settled(told.strategy or BiasedRandom(), space, trials),
            seed=0 if told.seed is None else told.seed,
            direction=told.direction or "minimize",
            stopping=told.stopping,
            command=told.command,
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "space": self.space.declaration,
            "strategy": strategy_to_json(self.strategy),
            "seed": self.seed,
            "direction": self.direction,
            "stopping": self.stopping,
            "duplicates": "forbid",
            "failures_repel": True,
            **({} if self.command is None else {"command": self.command}),
        }

    def loss(self, value: float) -> float:
        """Return what is minimised, of the program's number; and the other way round."""
        return value if self.direction == "minimize" else -value


class Local:
    """Keeps a study in this process; any of its threads may ask and tell."""

    def __init__(self, name: str, journal: Journal | Memory | None, told: Told, trials: int | None) -> None:
        self.name = name
        self._journal = Memory() if journal is None else journal
        self._is_closed = False
        self._lock = RLock()
        entries: Sequence[Entry] = self._journal.entries
        if entries:
            record = self._record(entries)
            self._terms = self._agreed(record, entries[0], told)
        elif told.space is None:
            raise JournalError(
                f'{name} is new: give the space it is to search, or "{OPEN}". To go on with a study, name a '
                "journal that is there."
            )
        else:
            entries = [{"trials": TRIALS if trials is None else trials}]
            self._terms = Terms.of(told, told.space, entries[0]["trials"])
            record = None
            self._add({"format": FORMAT, "study": self._terms.to_json(), **entries[0]})
            self._keep()
        self.direction = self._terms.direction
        self.max_trials = [entry["trials"] for entry in entries if "trials" in entry][-1]
        self._begin(record, entries)
        if trials is not None and trials != self.max_trials:
            self.extend(trials)

    def _record(self, entries: Sequence[Entry]) -> Record:
        try:
            return Record.from_json(document(entries), KNOWN)
        except HistoryError as error:
            raise JournalError(f"the journal of {self.name} cannot be read: {error}") from error

    def _agreed(self, record: Record, head: Entry, told: Told) -> Terms:
        """Return what the journal says. Raises JournalDiffers where the program says something else."""
        found = Terms(
            space=record.space,
            strategy=record.strategy,
            seed=record.seed,
            direction=head["study"].get("direction", "minimize"),
            stopping=head["study"].get("stopping"),
            command=head["study"].get("command", told.command),  # older journals do not say
        )
        said = dict(vars(told))
        if told.strategy is not None:  # a grid is as fine as the first budget allowed
            said["strategy"] = settled(told.strategy, found.space, head.get("trials", TRIALS))
        for term, mine in said.items():
            if mine is not None and mine != getattr(found, term):
                raise self._differs(term, getattr(found, term), mine)
        return found

    def _differs(self, term: str, theirs: object, mine: object) -> JournalDiffers:
        return JournalDiffers(
            f"the journal of {self.name} holds a study whose {term} is {theirs}; here it is {mine}. Give "
            "another journal, or delete this one to begin anew."
        )

    def _begin(self, record: Record | None, entries: Sequence[Entry]) -> None:
        trials: Sequence[Proposed | Given] = [] if record is None else record.trials
        observations: Sequence[Observed] = [] if record is None else record.observations
        configs = [trial.config for trial in trials]
        self._numbers: dict[str, int] = {}
        if not self._terms.space.is_open:
            self._numbers = {config_key(config): number for number, config in enumerate(configs)}
        self._turns = sum(isinstance(trial, Proposed) for trial in trials)
        self._imported = sum(isinstance(trial, Given) and trial.origin == "imported" for trial in trials)
        self._past = Past(self._terms.space, configs, observations)
        self._results: dict[int, Result] = {}
        self.best: Result | None = None
        for each in observations:
            self._results[each.trial] = self._result(each)
            self._compare(self._results[each.trial])
        # Begun and never told of: a person stopped, or the process was killed.
        self._waiting = deque(number for number in range(len(configs)) if number not in self._results)
        self._running: dict[int, list[tuple[int, Mapping[str, float]]]] = {}
        self._ended = deque(
            (self._losses(entry["curve"]) for entry in entries if entry.get("curve")), maxlen=MOST_CURVES
        )

    def ask(self) -> Asked:
        with self._lock:
            self._check_open()
            number = self._waiting.popleft() if self._waiting else self._proposed()
            self._running[number] = []
            return Asked(
                number=number,
                config=self._past.configs[number],
                seed=trial_seed(self._terms.seed, number),
                space=self.space,
            )

    def ask_now(self) -> Asked:
        """Nobody else has trials for which to wait."""
        return self.ask()

    def _proposed(self) -> int:
        """Return the number of a new trial. Raises Ended."""
        self._check_budget()
        number, landscape = len(self._past.configs), self._past.landscape
        try:
            proposal = proposed(
                self._terms.strategy, landscape, self._turns, Stream(self._terms.seed, number)
            )
        except Exhausted:
            raise Ended(
                f"every config of {self.name} has its trial; widen the space in a new study."
            ) from None
        why = {"watermark": landscape.watermark, "turn": self._turns, "reasons": proposal.reasons.to_json()}
        self._turns += 1
        return self._number(proposal.config, "proposed", why)

    def enqueue(self, config: Config) -> int:
        with self._lock:
            self._check_open()
            self.space.check_start(config)
            known = self._numbers.get(config_key(config))
            if known is not None:
                return known
            self._check_budget()
            number = self._number(dict(config), "enqueued", {})
            self._keep()
            self._waiting.append(number)
            return number

    def add(self, config: Config, ending: Ending) -> int:
        with self._lock:
            self._check_open()
            if self._news(ending) is None:
                self.space.validate(config)
            known = self._numbers.get(config_key(config))
            if known is not None:
                return known
            self._imported += 1
            number = self._number(dict(config), "imported", {})
            self.end(number, ending)
            return number

    def _number(self, config: Config, origin: Literal["proposed", "enqueued", "imported"], why: Entry) -> int:
        number = len(self._past.configs)
        self._add({"trial": {"number": number, "origin": origin, "config": config, **why}})
        if not self._terms.space.is_open:
            self._numbers[config_key(config)] = number
        self._past.number(config)
        return number

    def report(self, trial: int, step: int, metrics: Mapping[str, float]) -> str | None:
        with self._lock:
            curve = self._running.setdefault(trial, [])
            if curve and step <= curve[-1][0]:
                raise ValueError(f"trial {trial} reports step {step} after step {curve[-1][0]}: steps rise.")
            curve.append((step, metrics))
            rule = self._terms.stopping
            if rule is None:
                return None
            if rule["rule"] == "threshold":
                rule = {**rule, "threshold": self._terms.loss(rule["threshold"])}
            running = [self._losses(points) for number, points in self._running.items() if number != trial]
            verdict = judged(rule, self._losses(curve), self._ended, [each for each in running if each])
            return verdict.reason if verdict.stop else None

    def refusal(self, trial: int) -> str | None:
        """Nobody else may stop it."""

    def end(self, trial: int, ending: Ending) -> None:
        with self._lock:
            self._check_open()
            curve = self._running.get(trial, [])
            value = self._last(curve) if ending.outcome == "pruned" and ending.value is None else ending.value
            observation = Observed(
                seq=self._past.landscape.watermark + 1,
                trial=trial,
                outcome=ending.outcome,
                loss=None if value is None else self._terms.loss(value),
                cause="error" if ending.outcome == "failed" else None,
                asked=self._news(ending),
            )
            told = {
                "curve": [[step, _written(metrics)] for step, metrics in curve],
                "message": ending.message,
            }
            besides = {name: each for name, each in told.items() if each}
            self._add({"observation": observation_to_json(observation), **besides})
            self._keep()
            self._past.observe(observation)
            self._results[trial] = result = self._result(observation)
            self._compare(result)
            self._running.pop(trial, None)
            if losses := self._losses(curve):
                self._ended.append(losses)

    def _news(self, ending: Ending) -> AskedFor | None:
        """Return what an open space is to learn. Raises SpaceError."""
        space = self.space
        if ending.asked is None or not isinstance(space, OpenSpace):
            return None
        return ending.asked.news_to(space)

    def leave(self, trial: int, error: BaseException, asked: AskedFor | None) -> None:
        """It is pending still, and first when the study is opened again."""

    @property
    def space(self) -> Space:
        """The space as it is known by now."""
        return self._past.landscape.space

    @property
    def ended(self) -> int:
        return len(self._results)

    def results(self) -> Sequence[Result]:
        with self._lock:
            return [self._results[number] for number in sorted(self._results)]

    def ranking(self, top: int) -> Sequence[Result]:
        return nsmallest(top, filter(_has_succeeded, self.results()), key=_rank)

    def extend(self, trials: int) -> None:
        if type(trials) is not int or trials < 1:
            raise ValueError(f"trials counts them and must be at least 1, got {trials!r}.")
        with self._lock:
            self._check_open()
            self._add({"trials": trials})
            self._keep()
            self.max_trials = trials

    def figure(self, name: str, wanted: "Wanted") -> "Figure":
        from thiessen.figures import FigureError, figure
        from thiessen.figures.sources import of_journal

        if name == "timeline":
            raise FigureError(
                "timeline: a journal keeps no times and no slots. A study on a server has this figure."
            )
        with self._lock:
            trials = of_journal(
                self.name,
                self.space,
                self.direction,
                self._journal.written(),
                neighbours=getattr(self._terms.strategy, "neighbours", 1),
                metric=self._metric,
                running=set(self._running),
            )
        return figure(name, trials, wanted)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._journal.close()

    def _compare(self, result: Result) -> None:
        if _has_succeeded(result) and (self.best is None or _rank(result) < _rank(self.best)):
            self.best = result

    def _result(self, observed: Observed) -> Result:
        loss = observed.loss
        return Result(
            number=observed.trial,
            state=observed.outcome,
            config=observed.asked.config if observed.asked else self._past.configs[observed.trial],
            value=None if loss is None else self._terms.loss(loss),
            loss=loss,
            seed=trial_seed(self._terms.seed, observed.trial),
        )

    def _losses(self, curve: Sequence[tuple[int, Mapping[str, float]]]) -> Curve:
        metric = self._metric
        return [
            (float(step), self._terms.loss(float(metrics[metric])))
            for step, metrics in curve
            if metric is not None and metric in metrics
        ]

    @property
    def _metric(self) -> str | None:
        """The metric that trials are stopped by."""
        return None if self._terms.stopping is None else self._terms.stopping["metric"]

    def _last(self, curve: Sequence[tuple[int, Mapping[str, float]]]) -> float | None:
        """Return the last value reported of the metric that trials are judged by."""
        losses = self._losses(curve)
        return self._terms.loss(losses[-1][1]) if losses else None

    def _check_budget(self) -> None:
        if len(self._past.configs) - self._imported >= self.max_trials:
            raise Ended(
                f"{self.name} has all its {self.max_trials} trials; ask for more of them with trials=."
            )

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError(f"{self.name} was closed; open it again to go on.")

    def _add(self, entry: Entry) -> None:
        self._journal.add(entry)

    def _keep(self) -> None:
        self._journal.keep()


def _has_succeeded(result: Result) -> bool:
    return result.state == "succeeded"


def _rank(result: Result) -> tuple[float | None, int]:
    return result.loss, result.number


def _written(metrics: Mapping[str, float]) -> dict[str, float | str]:
    """Return them as JSON has them, which knows no NaN and no infinity: `float` reads them back."""
    return {name: float(each) if isfinite(each) else str(float(each)) for name, each in metrics.items()}
