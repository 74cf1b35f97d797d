"""A study as a program drives it: ask for a trial, tell what came of it."""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import count
from threading import Event
from typing import TYPE_CHECKING, Final, Literal, Protocol, Self

from thiessen.errors import Ended, ThiessenError
from thiessen.space import AskedFor, Config, Space, SpaceError
from thiessen.trial import Asked, Ending, Keeper, Trial, ending

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from thiessen.figures import Colour, Figure, Others, Theme, Wanted

DEFAULT_PROJECT: Final = "default"  # of studies of which nobody says whose they are

Objective = Callable[[Trial], float]
Direction = Literal["minimize", "maximize"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of a trial."""

    number: int  # of the trial in its study
    state: str  # succeeded, diverged, pruned, failed
    config: Config  # what it trained with
    value: float | None  # the program's number
    loss: float | None  # what is ranked: smaller is better
    seed: int  # of its training


class StudyKeeper(Keeper, Protocol):
    """Who keeps a study and proposes its trials: a journal, or a server."""

    name: str
    direction: Direction

    @property
    def space(self) -> Space:
        """What is searched; where it is open, what is known of it by now."""

    @property
    def max_trials(self) -> int:
        """How many trials there will be in all."""

    @property
    def ended(self) -> int:
        """How many trials have ended."""

    @property
    def best(self) -> Result | None:
        """The best that succeeded; of equal ones the first."""

    def ask(self) -> Asked:
        """Return the next trial. Raises Ended."""

    def ask_now(self) -> Asked | None:
        """Return the next trial, None where there is none as long as others run. Raises Ended."""

    def enqueue(self, config: Config) -> int:
        """Have a config tried before anything is proposed; return its trial. Raises SpaceError, Ended."""

    def add(self, config: Config, ending: Ending) -> int:
        """Add a trial that was tried elsewhere, with what came of it; return it. Raises SpaceError, Ended."""

    def results(self) -> Sequence[Result]:
        """Return the trials that have ended, by number."""

    def ranking(self, top: int) -> Sequence[Result]:
        """Return the best that succeeded, best first."""

    def extend(self, trials: int) -> None:
        """Have so many trials in all."""

    def figure(self, name: str, wanted: "Wanted") -> "Figure":
        """Return a figure as plotly's JSON. Raises FigureError."""

    def close(self) -> None:
        """Let go of what is open."""


class Study:
    """Proposes configs and remembers what came of them.

    >>> for trial in study:
    ...     with trial:
    ...         trial.tell(train(**trial))

    or, for the same, `study.optimize(train)`.
    """

    def __init__(self, keeper: StudyKeeper) -> None:
        self._keeper = keeper

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Trial:
        try:
            return self.ask()
        except Ended:
            raise StopIteration from None

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.ended} of {self.max_trials} trials have ended>"

    @property
    def name(self) -> str:
        """What it is called."""
        return self._keeper.name

    @property
    def space(self) -> Space:
        """What is searched; where it is open, what is known of it by now."""
        return self._keeper.space

    @property
    def direction(self) -> Direction:
        """Whether small or large values are good."""
        return self._keeper.direction

    @property
    def max_trials(self) -> int:
        """How many trials there will be in all."""
        return self._keeper.max_trials

    @property
    def best(self) -> Result | None:
        """The best trial that succeeded, None while none has."""
        return self._keeper.best

    @property
    def ended(self) -> int:
        """How many trials have ended."""
        return self._keeper.ended

    def ask(self) -> Trial:
        """Return the next trial to try. Raises Ended when the budget is used up or no config is left."""
        return Trial(self._keeper, self._keeper.ask())

    def ask_now(self) -> Trial | None:
        """Return the next trial without waiting, None where there is none now. Raises Ended.

        Only a study on a server ever has none: as many trials run as may, and some of them may come back.
        """
        asked = self._keeper.ask_now()
        return None if asked is None else Trial(self._keeper, asked)

    def enqueue(self, config: Config) -> int:
        """Have a config tried next; return the number of its trial, of the old one where it has one.

        Where the space is open the program is given these values where they fit what it asks for.
        """
        return self._keeper.enqueue(config)

    def add(self, config: Config, value: float, space: Space | None = None) -> int:
        """Add a trial that was tried elsewhere, to learn from; return its number.

        NaN or an infinite value means that it diverged. A config that has a trial keeps what came of that.
        Such trials count towards no budget. Where the space is open, `space` has the dimensions of the config
        that no trial has asked for yet, or not so wide.
        """
        told = ending(float(value))
        if self.space.is_open:
            dimensions = {} if space is None else space.dimensions
            known = {name: dimensions[name] for name in config if name in dimensions}
            told = replace(told, asked=AskedFor(config=config, dimensions=known))
        elif space is not None:
            raise SpaceError("the space of this study was declared; leave it out.")
        return self._keeper.add(config, told)

    def extend(self, trials: int) -> None:
        """Have so many trials in all."""
        self._keeper.extend(trials)

    def results(self) -> Sequence[Result]:
        """Return what came of the trials that have ended, by number."""
        return self._keeper.results()

    def ranking(self, top: int = 10) -> Sequence[Result]:
        """Return the best trials that succeeded, best first."""
        return self._keeper.ranking(top)

    def dataframe(self) -> "pd.DataFrame":
        """Return the trials that have ended as a data frame of pandas, a column for each dimension."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ThiessenError("data frames need the package pandas: pip install pandas") from None
        rows = [
            {"trial": each.number, "state": each.state, "value": each.value}
            | {name: each.config.get(name) for name in self.space.dimensions}
            for each in self.results()
        ]
        columns = ["trial", "state", "value", *self.space.dimensions]
        return pd.DataFrame(rows, columns=columns).set_index("trial")

    def figure(
        self,
        name: str,
        *,
        x: str | None = None,
        y: str | None = None,
        others: "Others" = "best",
        candidates: int = 1,
        after: int | None = None,
        colour: "Colour" = "loss",
        metric: str | None = None,
        trials: Sequence[int] = (),
        theme: "Theme" = "light",
    ) -> "go.Figure":
        """Return a figure of plotly; a notebook shows it.

        There are history, landscape, slice, parallel, importance, curves, timeline, distribution and
        interaction. `x` and `y` are the dimensions of those that have two. In a landscape the other
        dimensions stand where they are in the `best` config, or are `ignored`, and the candidates of so many
        of the latest proposals are marked. `after` shows the study as it was when so many trials had
        finished. Colours go by the `loss` or its `rank`. `metric` is what curves are of, and those of
        `trials` stand out among them. Raises FigureError.
        """
        from thiessen.figures import Wanted, check
        from thiessen.showing import shown

        wanted = Wanted(
            x=x,
            y=y,
            others=others,
            candidates=candidates,
            after=after,
            colour=colour,
            metric=metric,
            trials=tuple(trials),
            theme=theme,
        )
        check(name, wanted)
        return shown(self._keeper.figure(name, wanted))

    def optimize(
        self,
        objective: Objective,
        *,
        trials: int | None = None,
        n_jobs: int = 1,
        catch: type[Exception] | tuple[type[Exception], ...] = (),
        progress: bool | None = None,
    ) -> Self:
        """Try trials until none is left, or for so many more; several at a time in threads.

        An objective takes the trial, a mapping of names to values, and returns its value. What it raises ends
        the call, and the trial is tried again when the study is opened again; an error of a kind to `catch`
        fails the trial instead, and the next one is tried. A bar shows how far it is where a person watches:
        `progress` says yes or no.
        """
        if n_jobs < 1:
            raise ValueError(f"n_jobs counts trials at a time and must be at least 1, got {n_jobs!r}.")
        with self._bar(progress=progress) as advance:
            _Run(self, objective, trials, catch, advance).with_threads(n_jobs)
        return self

    def close(self) -> None:
        """Let go of the journal, or of the connections."""
        self._keeper.close()

    def _bar(self, *, progress: bool | None) -> AbstractContextManager[Callable[[], None]]:
        if progress is False:
            return nullcontext(_silently)
        from thiessen.progress import bar

        return bar(self, is_forced=progress is True)


class _Run:
    """One call of `optimize`."""

    def __init__(
        self,
        study: Study,
        objective: Objective,
        trials: int | None,
        catch: type[Exception] | tuple[type[Exception], ...],
        advance: Callable[[], None],
    ) -> None:
        self._study = study
        self._objective = objective
        self._turns = count() if trials is None else iter(range(trials))
        self._catch = catch
        self._advance = advance
        self._is_over = Event()

    def with_threads(self, n_jobs: int) -> None:
        if n_jobs == 1:  # here, where Ctrl-C is heard
            self._go_on()
            return
        with ThreadPoolExecutor(n_jobs, thread_name_prefix="thiessen") as pool:
            running = [pool.submit(self._go_on) for _ in range(n_jobs)]
            try:
                wait(running, return_when=FIRST_EXCEPTION)
            finally:
                self._is_over.set()
        for each in running:
            each.result()

    def _go_on(self) -> None:
        while not self._is_over.is_set() and next(self._turns, None) is not None:
            try:
                trial = self._study.ask()
            except Ended:
                return
            with trial:
                try:
                    value = self._objective(trial)
                except self._catch as error:
                    trial.fail(f"{type(error).__name__}: {error}")
                else:
                    trial.tell(value)
            self._advance()


def _silently() -> None:
    """Nobody watches."""
