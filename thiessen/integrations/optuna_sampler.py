"""Our strategies as a sampler of Optuna: an Optuna program searches as Thiessen does by one argument."""

import random
from collections.abc import Mapping
from threading import Lock
from typing import Any, Final

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from thiessen.numbers import Stream, trial_seed
from thiessen.search import STRATEGIES, Landscape, Strategy
from thiessen.search.asking import drawn, proposed
from thiessen.search.settings import strategy_from_json
from thiessen.space import MAX_DIMENSIONS, Categorical, Config, Dimension, Float, Int, OpenSpace, Scalar

SEED_BITS: Final = 31
MANY: Final = 1_000_000  # trials, for strategies that ask how many there will be

Distributions = dict[str, BaseDistribution]


class ThiessenSampler(BaseSampler):
    """Biased random search, or another strategy of ours, for a study of Optuna.

    >>> study = optuna.create_study(sampler=ThiessenSampler())

    It searches over every parameter that some trial has had, those of branches too: where a trial did not
    ask for one, the trial was elsewhere along it. A parameter that no trial has had yet is drawn at random.
    A trial that failed, by NaN or by an error, repels. Studies of several objectives are refused.
    """

    def __init__(
        self, strategy: str | Mapping[str, Any] = "biased_random", *, seed: int | None = None
    ) -> None:
        self._strategy = strategy_from_json(strategy, STRATEGIES)
        self._seed = random.SystemRandom().getrandbits(SEED_BITS) if seed is None else seed
        self._known: _Known | None = None
        self._lock = Lock()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> Distributions:
        """Return every parameter that a finished trial had, as it was last."""
        del trial
        finished = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.PRUNED))
        found = {name: each for done in finished for name, each in done.distributions.items()}
        varied = sorted(name for name, each in found.items() if not each.single())
        return {name: found[name] for name in varied[:MAX_DIMENSIONS]}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: Distributions
    ) -> dict[str, Any]:
        """Return what the strategy proposes."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            if self._known is None or not self._known.is_of(study, search_space):
                self._known = _Known(study, search_space, self._strategy)
            return self._known.proposal(study, trial.number, Stream(self._seed, trial.number))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw a parameter that is new, or of which this trial has another range."""
        self._raise_error_if_multi_objective(study)
        axis = _Axis(param_distribution)
        return axis.param(drawn(trial_seed(self._seed, trial.number), param_name, axis.dimension))

    def reseed_rng(self) -> None:
        """Draw other numbers from now on."""
        self._seed = random.SystemRandom().getrandbits(SEED_BITS)


class _Axis:
    """A parameter of Optuna as a dimension of ours."""

    def __init__(self, distribution: BaseDistribution) -> None:
        self._distribution = distribution
        self.dimension = _dimension(distribution)

    def value(self, distribution: BaseDistribution, param: Any) -> Scalar | None:
        """Return what a trial's parameter is here; None where it is not one of this range."""
        mine, choices = self._distribution, isinstance(distribution, CategoricalDistribution)
        if choices and distribution != mine:
            return None
        inner = distribution.to_internal_repr(param)
        if not mine._contains(inner):  # noqa: SLF001 - Optuna's samplers ask so too
            return None
        if isinstance(mine, FloatDistribution) and mine.step is not None:
            return round((inner - mine.low) / mine.step)
        return float(inner) if isinstance(mine, FloatDistribution) else int(inner)

    def param(self, value: Scalar) -> Any:
        """Return the parameter of a value."""
        mine = self._distribution
        number: Any = value
        if isinstance(mine, FloatDistribution) and mine.step is not None:
            number = min(mine.low + number * mine.step, mine.high)
        return mine.to_external_repr(number)


def _dimension(distribution: BaseDistribution) -> Dimension:
    if isinstance(distribution, IntDistribution):
        return Int(distribution.low, distribution.high, distribution.step, log=distribution.log)
    if isinstance(distribution, CategoricalDistribution):
        return Categorical(range(len(distribution.choices)))
    if not isinstance(distribution, FloatDistribution):
        raise NotImplementedError(f"the distribution {distribution!r} is not one that Thiessen knows.")
    if distribution.step is not None:
        return Int(0, round((distribution.high - distribution.low) / distribution.step))
    return Float(distribution.low, distribution.high, log=distribution.log)


class _Known:
    """What the trials of a study say about one space."""

    def __init__(self, study: Study, search_space: Distributions, strategy: Strategy) -> None:
        self._study_name = study.study_name
        self._search_space = dict(search_space)
        finished = [each for each in study.get_trials(deepcopy=False) if each.state.is_finished()]
        self._axes = {name: _Axis(each) for name, each in search_space.items()}
        self._always = {name for name in search_space if all(name in each.params for each in finished)}
        space = OpenSpace({name: axis.dimension for name, axis in self._axes.items()}, self._always)
        self._landscape = Landscape(space)
        self._strategy = strategy.settled(space, MANY)
        self._seen: set[int] = set()

    def is_of(self, study: Study, search_space: Distributions) -> bool:
        return self._study_name == study.study_name and self._search_space == search_space

    def proposal(self, study: Study, number: int, stream: Stream) -> dict[str, Any]:
        """Return what to try as the trial of this number."""
        for trial in study.get_trials(deepcopy=False):
            if trial.state.is_finished() and trial.number not in self._seen:
                self._observe(trial, study.direction)
        config = proposed(self._strategy, self._landscape, number, stream).config
        self._landscape.take(config)
        self._landscape.pend(number, config)
        return {name: axis.param(config[name]) for name, axis in self._axes.items()}

    def _observe(self, trial: FrozenTrial, direction: StudyDirection) -> None:
        self._seen.add(trial.number)
        self._landscape.end(trial.number)
        config = self._config(trial)
        if not config:
            return
        self._landscape.take(config)
        sign = -1.0 if direction is StudyDirection.MAXIMIZE else 1.0
        if trial.state is TrialState.PRUNED:
            last = None if trial.last_step is None else trial.intermediate_values[trial.last_step]
            self._landscape.observe_pruned(trial.number, config, None if last is None else sign * last)
        else:
            value = trial.value if trial.state is TrialState.COMPLETE else None
            self._landscape.observe(trial.number, config, None if value is None else sign * value)

    def _config(self, trial: FrozenTrial) -> Config:
        """Return what the trial had along each dimension; nothing if what every trial has is missing."""
        values = {
            name: axis.value(trial.distributions[name], trial.params[name])
            for name, axis in self._axes.items()
            if name in trial.params
        }
        config: Config = {name: value for name, value in values.items() if value is not None}
        return config if self._always <= config.keys() else {}
