"""A trial as the program sees it that tries its config."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from thiessen.errors import ResultDiffers
from thiessen.space import Config, Scalar


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


@dataclass(frozen=True, kw_only=True)
class Ending:
    """What came of a trial."""

    outcome: Literal["succeeded", "diverged", "pruned", "failed"]
    value: float | None = None  # finite; large is good where the study maximises
    diverged: Literal["nan", "inf", "-inf", "too large"] = "too large"  # how, where it did
    message: str = ""  # how it failed


class Keeper(Protocol):
    """Who keeps the trials: a journal, or a server."""

    def report(self, trial: int, step: int, metrics: Mapping[str, float]) -> str | None:
        """Keep a point of the learning curve; return why not to go on, or None."""

    def refusal(self, trial: int) -> str | None:
        """Return why nobody wants the trial any more, as far as is known; None while somebody does."""

    def end(self, trial: int, ending: Ending) -> None:
        """Return when the ending is kept."""

    def leave(self, trial: int, error: BaseException) -> None:
        """Let go of a trial that an error ended: it is tried again."""


class Trial(Mapping[str, Scalar]):
    """A config to try, as a mapping of names to values: `trial["lr"]`, `train(**trial)`.

    >>> with study.ask() as trial:
    ...     trial.tell(train(**trial))

    A trial that is left by an error is tried again: with a journal when its study is opened again, with a
    server as often as the study says.
    """

    def __init__(self, keeper: Keeper, asked: Asked) -> None:
        self.number = asked.number
        self.seed = asked.seed
        self.config = asked.config
        self._keeper = keeper
        self._ending: Ending | None = None

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

    def tell(self, value: float) -> None:
        """End the trial with its value; one that is NaN or infinite means that it diverged."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"trial {self.number} was told {value!r}, which is no number. "
                "Does the objective return its value?"
            ) from None
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
            self._keeper.leave(self.number, error)
        elif self._ending is None:
            raise ValueError(f"trial {self.number} ended untold. Call trial.tell(value) in its block.")
        return isinstance(error, Pruned | Diverged)

    def _end(self, ending: Ending) -> None:
        if self._ending is None:
            self._keeper.end(self.number, ending)
            self._ending = ending
        elif self._ending != ending:
            raise ResultDiffers(f"trial {self.number} was told already, as {self._ending}.")


def ending(value: float) -> Ending:
    """Return what came of a trial that has this value: NaN or an infinite one means that it diverged."""
    if math.isfinite(value):
        return Ending(outcome="succeeded", value=value)
    return Ending(outcome="diverged", diverged=_manner(value))


def _manner(number: float) -> Literal["nan", "inf", "-inf"]:
    if math.isnan(number):
        return "nan"
    return "inf" if number > 0 else "-inf"
