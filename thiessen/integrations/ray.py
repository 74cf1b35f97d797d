"""Our strategies in Ray Tune: `ThiessenSearch`, a searcher that knows what the trials before came to."""

import math
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final, cast

from ray import cloudpickle
from ray.tune.result import DEFAULT_METRIC
from ray.tune.search import UNDEFINED_METRIC_MODE, UNDEFINED_SEARCH_SPACE, Searcher, sample

from thiessen.errors import Ended, JournalError
from thiessen.integrations import KNOWN
from thiessen.journal import Journal, Memory, line
from thiessen.local import TRIALS, Local, Told
from thiessen.search.settings import strategy_from_json
from thiessen.space import (
    KINDS,
    LARGEST_INT,
    Categorical,
    Config,
    Dimension,
    Float,
    Int,
    Ordinal,
    Scalar,
    Space,
    SpaceError,
)
from thiessen.study import Study
from thiessen.trial import Trial

NAME: Final = "ray"  # of the study, and of the last line of what is saved
BETWEEN: Final = "/"  # the keys of nested dicts, as Ray writes them
TAIL: Final = 1e-6  # of a normal distribution: what lies beyond is not searched

Params = dict[str, Any]  # as Ray has them: nested


class ThiessenSearch(Searcher):
    """Proposes configs for the trials of Ray Tune.

    >>> search = ThiessenSearch(metric="loss", mode="min")
    >>> tuning = tune.TuneConfig(search_alg=search, num_samples=50)
    >>> tune.Tuner(train, param_space={"lr": tune.loguniform(1e-5, 1.0)}, tune_config=tuning).fit()
    >>> search.study.best

    The space is the `param_space` of the tuner, or `space`: a `Space`, also with conditions, or a dict as
    Ray takes it, with dimensions of ours beside those of Ray. A slash in a name of a `Space` stands between
    the keys of nested dicts.

    A value of NaN or infinity is a diverged trial. A trial that ends without the metric has failed; one that
    reported it, was paused and then ended, was pruned. `points_to_evaluate` are tried first.

    What `save` writes is a journal: `thiessen.open_study` opens it too.

    `study` is one on a server, which others may search beside this run; its space and all else are its own.
    It keeps what the trials came to, so that a new run goes on with it and nothing is saved here.
    """

    def __init__(
        self,
        space: Space | Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[Params] = (),
        *,
        strategy: str | Mapping[str, Any] | None = None,
        seed: int | None = None,
        study: Study | None = None,
    ) -> None:
        for each in (metric, mode):
            _check_one(each)
        super().__init__(metric=metric, mode=mode)
        if study is not None:
            if (space, strategy, seed) != (None, None, None):
                raise TypeError(f"{study.name} has a space, a strategy and a seed: give none of them here.")
            space = study.space
        self._served = study
        self._where = None if study is None else study.name
        self._axes = None if space is None else _Axes(space, constants=False)
        self._points = list(points_to_evaluate)
        self._strategy = strategy
        self._seed = seed
        self._trials = TRIALS  # what a strategy is told to expect; how many there are is Tune's to say
        self._journal = Memory()
        self._begun: dict[str, _Begun] = {}  # and not ended, by Ray's id
        self._asked: dict[int, Trial] = {}  # the same, by number, once the study is open
        self._study: Study | None = None

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: Params, **spec: Any
    ) -> bool:
        """Take what the tuner says; return False where its space is another than the one given here."""
        self._metric = metric or self._metric
        self._mode = mode or self._mode
        if 0 < spec.get("num_samples", 0) < sys.maxsize:
            self._trials = spec["num_samples"]
        if not any(_is_searched(value) for _, value in _leaves(config)):
            return True
        told = _Axes(config)
        self._axes = self._axes or told
        return self._axes.space == told.space

    @property
    def study(self) -> Study:
        """What was tried, and what came of it. Raises RuntimeError before the tuner has told of its space."""
        if self._study is None:
            self._study = self._opened()
        return self._study

    def suggest(self, trial_id: str) -> Params | None:
        """Return the config of the next trial, or FINISHED where every config has its trial."""
        try:
            trial = self.study.ask_now()
        except Ended:
            return cast("Params", Searcher.FINISHED)
        if trial is None:  # others have all that may run: Tune asks again
            return None
        self._begun[trial_id] = _Begun(trial.number)
        self._asked[trial.number] = trial
        return self._known_axes.params(trial.config)

    def on_trial_result(self, trial_id: str, result: Mapping[str, Any]) -> None:
        """Remember the value: a trial that a scheduler pauses may be ended later without a word."""
        value = result.get(self._known_metric)
        if trial_id in self._begun and value is not None:
            self._begun[trial_id] = _Begun(self._begun[trial_id].number, float(value))

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tell the study; what is said once more of a trial that has ended does not count."""
        metric = self._known_metric
        begun = self._begun.get(trial_id)
        if begun is None:
            return
        trial = self._trial(begun.number)
        value = None if result is None else result.get(metric)
        if error:
            trial.fail("The trial failed: Ray Tune has its error.")
        elif value is not None:
            trial.tell(value)
        elif begun.last is None:
            trial.fail(f"The trial ended without reporting {metric!r}.")
        elif math.isfinite(begun.last):
            trial.prune(begun.last)
        else:
            trial.tell(begun.last)
        del self._begun[trial_id], self._asked[begun.number]

    def add_evaluated_point(
        self,
        parameters: Params,
        value: float | None,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: Sequence[float] | None = None,
    ) -> None:
        """Learn from a trial that was tried elsewhere; one that failed teaches as one that diverged."""
        del pruned, intermediate_values  # a trial that a scheduler stops counts with its last value here too
        study = self.study
        study.add(self._known_axes.config(parameters), math.nan if error or value is None else value)

    def save(self, checkpoint_path: str) -> None:
        """Write the study as a journal, and what Ray's trials are in it."""
        told = cloudpickle.dumps((self._axes, self._metric, self._mode))  # a choice of Ray's may be anything
        begun = {ray_id: each.to_json() for ray_id, each in self._begun.items()}
        here = {NAME: {"begun": begun, "told": b64encode(told).decode()}}
        Path(checkpoint_path).write_bytes(b"".join(map(line, [*self._journal.entries, here])))

    def restore(self, checkpoint_path: str) -> None:
        """Go on from what was saved, or from a journal of another program. Raises JournalError.

        What this search was told itself counts: where the study is another, it raises JournalDiffers when it
        is first asked.
        """
        path = Path(checkpoint_path)
        if not path.exists():
            raise JournalError(f"there is no saved search at {path}.")
        with Journal(path) as journal:
            entries = journal.entries
        self._journal = Memory(each for each in entries if NAME not in each)
        self._begun, self._asked, self._study = {}, {}, None
        for here in (each[NAME] for each in entries if NAME in each):
            self._begun = {ray_id: _Begun.from_json(each) for ray_id, each in here["begun"].items()}
            axes, metric, mode = cloudpickle.loads(b64decode(here["told"]))
            self._axes = self._axes or axes
            self._metric = self._metric or metric
            self._mode = self._mode or mode

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_study": None, "_served": None, "_asked": {}}

    def _trial(self, number: int) -> Trial:
        if self._study is None:  # it was restored, and opening it asks for what had begun
            self._study = self._opened()
        return self._asked[number]

    @property
    def _known_axes(self) -> "_Axes":
        if self._axes is None:
            raise RuntimeError(UNDEFINED_SEARCH_SPACE.format(cls=type(self).__name__, space="space"))
        return self._axes

    @property
    def _known_metric(self) -> str:
        return self._metric or str(DEFAULT_METRIC)

    def _opened(self) -> Study:
        if self._where is not None:
            return self._on_the_server()
        if not self._mode:
            raise RuntimeError(
                UNDEFINED_METRIC_MODE.format(cls=type(self).__name__, metric=self._metric, mode=self._mode)
            )
        axes = self._known_axes
        told = Told(
            space=axes.space,
            strategy=None if self._strategy is None else strategy_from_json(self._strategy, KNOWN),
            seed=self._seed,
            direction="minimize" if self._mode == "min" else "maximize",
            stopping=None,
        )
        is_new = not self._journal.entries
        study = Study(Local(NAME, self._journal, told, self._trials if is_new else None))
        if study.max_trials < LARGEST_INT:
            study.extend(LARGEST_INT)
        ended = {each.number for each in study.results()}  # somebody else may have gone on meanwhile
        self._begun = {ray_id: each for ray_id, each in self._begun.items() if each.number not in ended}
        for _ in self._begun:  # numbers rise, so that those which have begun come first
            trial = study.ask()
            self._asked[trial.number] = trial
        for point in self._points if is_new else ():
            study.enqueue(axes.config(point))
        return study

    def _on_the_server(self) -> Study:
        if self._served is None:
            raise RuntimeError(
                f"the search was on {self._where}, which a server keeps: begin a new run with "
                f"ThiessenSearch(study=client.open_study({self._where!r})). It goes on where this one was."
            )
        if self._mode not in {None, self._served.direction[:3]}:
            raise ValueError(
                f"{self._where} is to {self._served.direction}; the mode here is {self._mode!r}."
            )
        for point in self._points:
            self._served.enqueue(self._known_axes.config(point))
        return self._served


@dataclass(frozen=True)
class _Begun:
    """A trial of Ray's."""

    number: int  # in the study
    last: float | None = None  # that it reported

    def to_json(self) -> list[Any]:
        return [self.number, None if self.last is None else str(self.last)]  # JSON knows no NaN

    @classmethod
    def from_json(cls, entry: Sequence[Any]) -> "_Begun":
        number, last = entry
        return cls(number, None if last is None else float(last))


@dataclass(frozen=True)
class _Axis:
    """A dimension for a domain of Ray's, the way to its values and the way back."""

    dimension: Dimension
    value: Callable[[Any], Any] = lambda found: found
    found: Callable[[Any], Any] = lambda value: value


class _Axes:
    """A space for what Ray searches, the way from its configs to nested parameters, and the way back."""

    def __init__(self, declared: Space | Mapping[str, Any], *, constants: bool = True) -> None:
        self._axes: dict[str, _Axis] = {}
        if isinstance(declared, Space):
            self._axes = {name: _Axis(each) for name, each in declared.dimensions.items()}
            self.space = declared
            return
        for path, value in _leaves(declared):
            name = BETWEEN.join(map(str, path))
            if not _is_searched(value):
                if not constants:
                    raise TypeError(f"{name!r} is {value!r}, which is no dimension: give it in param_space.")
            elif not all(isinstance(key, str) and BETWEEN not in key for key in path):
                raise TypeError(
                    f"{name!r} cannot be searched in a list, or by a key that has a slash: rename it."
                )
            else:
                self._axes[name] = _axis(name, value)
        self.space = Space(**{name: axis.dimension for name, axis in self._axes.items()})

    def params(self, config: Config) -> Params:
        """Return the parameters that a config stands for, nested."""
        params: Params = {}
        for name, found in config.items():
            *outer, last = name.split(BETWEEN)
            within = params
            for key in outer:
                within = within.setdefault(key, {})
            within[last] = self._axes[name].value(found)
        return params

    def config(self, params: Params) -> Config:
        """Return the config of nested parameters; what is not searched is passed over. Raises SpaceError."""
        config: Config = {}
        for name, axis in self._axes.items():
            within: Any = params
            for key in name.split(BETWEEN):
                if not isinstance(within, Mapping) or key not in within:
                    break
                within = within[key]
            else:
                try:
                    config[name] = axis.found(within)
                except ValueError as error:
                    raise SpaceError(f"dimension {name!r} cannot be {within!r}: {error}.") from error
        return config


def _check_one(given: object) -> None:
    if not isinstance(given, str | None):
        raise TypeError(f"a search has one metric and one mode, not {given!r}: name the one that leads.")


def _leaves(declared: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(declared, Mapping) and "grid_search" not in declared:
        for key, value in declared.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(declared, list | tuple):
        for place, value in enumerate(declared):
            yield from _leaves(value, (*path, place))
    else:
        yield path, declared


def _is_searched(value: Any) -> bool:
    return isinstance(value, (sample.Domain, Mapping, *KINDS.values()))


def _axis(name: str, domain: Any) -> _Axis:
    if isinstance(domain, tuple(KINDS.values())):
        declared: Any = domain
        return _Axis(declared)
    if isinstance(domain, Mapping) or domain.is_grid():
        raise TypeError(f"{name!r} is a grid of Ray's: give tune.choice, and strategy='grid'.")
    if domain.is_function():
        raise TypeError(
            f"{name!r} draws its values itself: give a Space, with conditions where it needs them."
        )
    if isinstance(domain, sample.Categorical):
        return _choice(domain.categories)
    sampler = domain.get_sampler()
    step: Any = sampler.q if isinstance(sampler, sample.Quantized) else None
    kind = sampler.get_sampler() if step else sampler
    if isinstance(kind, sample.Normal):
        return _normal(NormalDist(kind.mean, kind.sd), step)
    is_log = isinstance(kind, sample.LogUniform)
    is_whole = isinstance(domain, sample.Integer)
    if is_whole and step in {None, 1}:
        return _Axis(Int(domain.lower, domain.upper - 1, log=is_log))  # Ray leaves the upper end out
    if step is None:
        return _Axis(Float(domain.lower, domain.upper, log=is_log))
    ends = _inwards(domain.lower / step, math.ceil), _inwards(domain.upper / step, math.floor)
    whole: Callable[[Any], Any] = int if is_whole else float
    return _Axis(Int(*ends, log=is_log), lambda found: whole(found * step), lambda value: round(value / step))


def _inwards(end: float, rounded: Callable[[float], int]) -> int:
    """Return the multiple of a step where a range ends: 0.3 / 0.1 is not quite 3."""
    return round(end) if math.isclose(end, round(end)) else rounded(end)


def _normal(distribution: NormalDist, step: float | None) -> _Axis:
    """Search along the quantiles, so that what is seldom is tried seldom."""

    def value(quantile: float) -> float:
        drawn = distribution.inv_cdf(quantile)
        return drawn if step is None else round(drawn / step) * step

    return _Axis(Float(TAIL, 1.0 - TAIL), value, distribution.cdf)


def _choice(choices: Sequence[Any]) -> _Axis:
    """Search numbers in their order, and of what JSON does not know the places."""
    if all(isinstance(each, int | float) and not isinstance(each, bool) for each in choices):
        return _Axis(Ordinal(sorted(choices)))
    if all(isinstance(each, Scalar) for each in choices):
        return _Axis(Categorical(choices))
    return _Axis(Categorical(range(len(choices))), choices.__getitem__, choices.index)
