"""A trial as the program sees it that tries its config."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, SupportsFloat

from thiessen.errors import ResultDiffers
from thiessen.search.asking import Asking
from thiessen.space import (
    AskedFor,
    Boolean,
    Categorical,
    Config,
    Dimension,
    Float,
    Int,
    OpenSpace,
    Ordinal,
    Scalar,
    Space,
    SpaceError,
    dimension_to_json,
)

Real = float  # inside of a class that has a method of this name
Whole = int


class Pruned(Exception):  # noqa: N818 - says what happened
    """Raised by `report`, or by an objective, when the trial ends early because others did better.

    Without a value the last one counts that was reported of the metric its study is stopped by.
    """

    def __init__(self, value: float | None = None) -> None:
        super().__init__()
        self.value = None if value is None else float(value)


class Diverged(Exception):  # noqa: N818 - says what happened
    """Raised by an objective when the config led nowhere, although its last value is a finite number."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What there is to try."""

    number: int
    config: Config
    seed: int
    space: Space  # as far as it is known, where it is open


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What came of a trial."""

    outcome: Literal["succeeded", "diverged", "pruned", "failed"]
    value: float | None = None  # finite; large is good where the study maximises
    diverged: Literal["nan", "inf", "-inf", "too large"] = "too large"  # how, where it did
    message: str = ""  # how it failed
    asked: AskedFor | None = None  # where the space is open


class Keeper(Protocol):
    """Who keeps the trials: a journal, or a server."""

    def report(self, trial: int, step: int, metrics: Mapping[str, float]) -> str | None:
        """Keep a point of the learning curve; return why not to go on, or None."""

    def refusal(self, trial: int) -> str | None:
        """Return why nobody wants the trial any more, as far as is known; None while somebody does."""

    def end(self, trial: int, ending: Ending) -> None:
        """Return when the ending is kept."""

    def leave(self, trial: int, error: BaseException, asked: AskedFor | None) -> None:
        """Let go of a trial that an error ended: it is tried again."""


class Questions(Protocol):
    """What answers a program that asks for a dimension."""

    @property
    def config(self) -> Config:
        """What the trial trains with."""

    @property
    def asked(self) -> AskedFor | None:
        """What an open study is to learn of; nothing where the space was declared."""

    def value(self, name: str, dimension: Dimension) -> Scalar:
        """Return the value for a name. Raises SpaceError."""


@dataclass(frozen=True)
class Declared:
    """Answers from a config whose space was declared."""

    config: Config
    space: Space
    asked: None = None

    def value(self, name: str, dimension: Dimension) -> Scalar:
        dimension.check(name)
        known = self.space.dimensions.get(name)
        if known is None:
            raise SpaceError(f"{name!r} is not a dimension; this study has {list(self.space.dimensions)}.")
        if _without_condition(known) != _without_condition(dimension):
            raise SpaceError(
                f"dimension {name!r} was declared as {known}, and {dimension} is asked for: make them the "
                "same."
            )
        if name not in self.config:
            raise SpaceError(
                f"dimension {name!r} is inactive in this config; ask for it where its condition holds."
            )
        return self.config[name]


class Trial(Mapping[str, Scalar]):
    """A config to try, as a mapping of names to values: `trial["lr"]`, `train(**trial)`.

    >>> with study.ask() as trial:
    ...     trial.tell(train(**trial))

    Where the space is open it has what the program has asked for: `trial.float("lr", 1e-5, 1, log=True)`.
    A trial that is left by an error is tried again: with a journal when its study is opened again, with a
    server as often as the study says.
    """

    def __init__(self, keeper: Keeper, asked: Asked) -> None:
        self.number = asked.number
        self.seed = asked.seed
        self._keeper = keeper
        self._questions: Questions = Declared(asked.config, asked.space)
        if isinstance(asked.space, OpenSpace):
            self._questions = Asking(asked.config, asked.seed, asked.space)
        self._ending: Ending | None = None

    @property
    def config(self) -> Config:
        """What it trains with; in an open study, what was asked for so far."""
        return self._questions.config

    def __getitem__(self, name: str) -> Scalar:
        return self.config[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.config)

    def __len__(self) -> int:
        return len(self.config)

    def __repr__(self) -> str:
        return f"Trial({self.number}, {self.config})"

    @property
    def refusal(self) -> str | None:
        """Why nobody wants its value any more, as far as is known: its study was stopped, or it cancelled."""
        return self._keeper.refusal(self.number)

    def report(self, step: int, **metrics: float) -> None:
        """Keep a point of the learning curve; steps rise. Raises Pruned where there is no need to go on."""
        if self._keeper.report(self.number, step, metrics) is not None:
            raise Pruned

    def tell(self, value: SupportsFloat) -> None:
        """End the trial with its value; one that is NaN or infinite means that it diverged."""
        number = None
        with suppress(TypeError, ValueError):
            number = None if isinstance(value, str) else float(value)
        if number is None:
            raise TypeError(
                f"trial {self.number} was told {value!r}, which is no number. "
                "Does the objective return its value?"
            )
        self._end(ending(number))

    def prune(self, value: float | None = None) -> None:
        """End the trial early, with its last value."""
        self._end(Ending(outcome="pruned", value=value))

    def fail(self, message: str) -> None:
        """End the trial without a value: a fault that trying again would not mend."""
        self._end(Ending(outcome="failed", message=message))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, Pruned):
            self.prune(error.value)
        elif isinstance(error, Diverged):
            self._end(Ending(outcome="diverged"))
        elif error is not None and self._ending is None:
            self._keeper.leave(self.number, error, self._questions.asked)
        elif self._ending is None:
            raise ValueError(f"trial {self.number} ended untold. Call trial.tell(value) in its block.")
        return isinstance(error, Pruned | Diverged)

    def _end(self, ending: Ending) -> None:
        ending = replace(ending, asked=self._questions.asked)
        if self._ending is None:
            self._keeper.end(self.number, ending)
            self._ending = ending
        elif self._ending != ending:
            raise ResultDiffers(f"trial {self.number} was told already, as {self._ending}.")

    # Named as the types of what they return, which are not to be called by these names below.

    def float(self, name: str, low: Real, high: Real, log: bool = False) -> Real:  # noqa: FBT001, FBT002 - as Float
        """Return a real number in [low, high], and have the study search along it. Raises SpaceError."""
        value = self._questions.value(name, Float(low, high, log))
        return Real(value)  # type: ignore[arg-type] # a number of this range

    def int(self, name: str, low: Whole, high: Whole, step: Whole = 1, log: bool = False) -> Whole:  # noqa: FBT001, FBT002 - as Int
        """Return an integer low, low + step, ... up to high. Raises SpaceError."""
        value = self._questions.value(name, Int(low, high, step, log))
        return Whole(value)  # type: ignore[arg-type] # an integer of this range

    def categorical(self, name: str, choices: Sequence[Scalar]) -> Scalar:
        """Return one of several choices without an order. Raises SpaceError."""
        return self._questions.value(name, Categorical(_several(choices)))

    def ordinal(self, name: str, choices: Sequence[Scalar]) -> Scalar:
        """Return one of several choices in an order that matters. Raises SpaceError."""
        return self._questions.value(name, Ordinal(_several(choices)))

    def boolean(self, name: str) -> bool:
        """Return false or true. Raises SpaceError."""
        return bool(self._questions.value(name, Boolean()))


def _without_condition(dimension: Dimension) -> dict[str, Any]:
    return {**dimension_to_json(dimension.canonical()), "when": None}


def _several(choices: Sequence[Scalar]) -> Sequence[Scalar]:
    return choices if isinstance(choices, str) else tuple(choices)  # of a string no choices are made


def ending(value: float) -> Ending:
    """Return what came of a trial that has this value: NaN or an infinite one means that it diverged."""
    if math.isfinite(value):
        return Ending(outcome="succeeded", value=value)
    return Ending(outcome="diverged", diverged=_manner(value))


def _manner(number: float) -> Literal["nan", "inf", "-inf"]:
    if math.isnan(number):
        return "nan"
    return "inf" if number > 0 else "-inf"
