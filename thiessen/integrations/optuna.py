"""Optuna's samplers as strategies: `optuna:tpe`, `optuna:gp`, `optuna:cmaes`, `optuna:random`, `optuna:qmc`.

Each proposal makes an Optuna study in memory of what the landscape knows, and asks it. What Optuna computes
differs between its versions and between machines, so these proposals cannot be replayed.
"""

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Final

from thiessen.numbers import Stream, hashed
from thiessen.search.landscape import Landscape
from thiessen.search.reasons import Draw, Reasons
from thiessen.search.strategy import Proposal, Strategy, StrategyError, untaken
from thiessen.space import Dimension, Float, Int, Ordinal, Scalar, Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study

    Distributions = dict[str, BaseDistribution]

MOST_ASKED: Final = 16  # times for one proposal: an answer may take a second
LARGEST_LOSS: Final = 1e100  # samplers square losses
SEED_BITS: Final = 31  # of numpy's generators

Params = dict[str, Scalar]  # what Optuna calls so: values of numbers, places of choices


@dataclass(frozen=True)
class Sampler(Strategy):
    """Asks a sampler of Optuna with its usual settings.

    A diverged trial counts as the worst loss, a pending one as running. When 16 answers have their trials
    already, it is one of the configs that remain.
    """

    version: ClassVar[int] = 1
    replayable: ClassVar[bool] = False
    counts_its_answers: ClassVar[bool] = False  # so that trials which it was not asked for teach it nothing
    needs: ClassVar[tuple[str, ...]] = ("optuna",)  # packages
    extras: ClassVar[str] = "optuna"  # that install them

    @abstractmethod
    def sampler(self, rng: Stream) -> "BaseSampler":
        """Return the sampler of Optuna, seeded."""

    def settled(self, space: Space, max_trials: int) -> "Sampler":
        """Return the same. Raises StrategyError when a package is not installed."""
        del space, max_trials
        if missing := [package for package in self.needs if find_spec(package) is None]:
            raise StrategyError(
                f"{self.name} needs the package {' and '.join(missing)} beside the server. Install it there: "
                f"pip install 'thiessen[{self.extras}]'"
            )
        return self

    def propose(self, space: Space, landscape: Landscape, turn: int, rng: Stream) -> Proposal:
        del turn  # enqueued trials teach the sampler as its own do
        study = self._study(landscape, rng)
        distributions = {name: _distribution(dimension) for name, dimension in space.dimensions.items()}
        for refused in range(MOST_ASKED):
            answer = study.ask(distributions).params
            config = space.decode([_unit(each, answer[name]) for name, each in space.dimensions.items()])
            if not landscape.is_taken(config):
                return Proposal(config, self._reasons(landscape, "own", refused))
        return Proposal(untaken(space, landscape, rng), self._reasons(landscape, "remaining", MOST_ASKED))

    def _reasons(self, landscape: Landscape, kind: Draw, refused: int) -> Reasons:
        return Reasons(strategy=self.name, watermark=landscape.watermark, draw=kind, refused=refused)

    def _study(self, landscape: Landscape, rng: Stream) -> "Study":
        """Return a study of Optuna that knows every finished and pending trial."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)  # else every proposal announces its study
        study = optuna.create_study(sampler=self.sampler(rng))
        enter = _ask_again if self.counts_its_answers else _add
        for params, loss in _history(landscape):
            distributions = {name: _distribution(landscape.space.dimensions[name]) for name in params}
            enter(study, params, distributions, loss)
        return study


@dataclass(frozen=True)
class Tpe(Sampler):
    """The tree-structured Parzen estimator (Bergstra et al., 2011)."""

    name: ClassVar[str] = "optuna:tpe"

    def sampler(self, rng: Stream) -> "BaseSampler":
        from optuna.samplers import TPESampler

        return TPESampler(seed=rng.integer(2**SEED_BITS))


@dataclass(frozen=True)
class GaussianProcess(Sampler):
    """Bayesian optimization with a Gaussian process. Seconds for each proposal after a thousand trials."""

    name: ClassVar[str] = "optuna:gp"
    needs: ClassVar[tuple[str, ...]] = ("optuna", "torch")
    extras: ClassVar[str] = "optuna,optimizers"

    def sampler(self, rng: Stream) -> "BaseSampler":
        from optuna.samplers import GPSampler

        return GPSampler(seed=rng.integer(2**SEED_BITS))


@dataclass(frozen=True)
class CmaEs(Sampler):
    """Covariance matrix adaptation (Hansen & Ostermeier, 2001) of numbers; choices are drawn at random."""

    name: ClassVar[str] = "optuna:cmaes"
    counts_its_answers: ClassVar[bool] = True
    needs: ClassVar[tuple[str, ...]] = ("optuna", "cmaes")

    def sampler(self, rng: Stream) -> "BaseSampler":
        from optuna.samplers import CmaEsSampler

        return CmaEsSampler(seed=_seed_of_the_study(rng), warn_independent_sampling=False)


@dataclass(frozen=True)
class OptunaRandom(Sampler):
    """Random search as Optuna does it."""

    name: ClassVar[str] = "optuna:random"

    def sampler(self, rng: Stream) -> "BaseSampler":
        from optuna.samplers import RandomSampler

        return RandomSampler(seed=rng.integer(2**SEED_BITS))


@dataclass(frozen=True)
class OptunaQuasiRandom(Sampler):
    """The scrambled Sobol sequence as Optuna takes it."""

    name: ClassVar[str] = "optuna:qmc"
    counts_its_answers: ClassVar[bool] = True

    def sampler(self, rng: Stream) -> "BaseSampler":
        from optuna.exceptions import ExperimentalWarning
        from optuna.samplers import QMCSampler

        warnings.filterwarnings("ignore", "QMCSampler is experimental", ExperimentalWarning)
        return QMCSampler(seed=_seed_of_the_study(rng), scramble=True, warn_independent_sampling=False)


SAMPLERS: Final[dict[str, Strategy]] = {
    strategy.name: strategy
    for strategy in (Tpe(), GaussianProcess(), CmaEs(), OptunaRandom(), OptunaQuasiRandom())
}
"""The strategies of this module by their names."""


def _seed_of_the_study(rng: Stream) -> int:
    """Return the same for every proposal of a study: the past answers are given again."""
    return hashed(f"optuna:{rng.seed}", bits=SEED_BITS + 1) >> 1


def _history(landscape: Landscape) -> Iterator[tuple[Params, float | None]]:
    """Yield the recalled trials, the finished by their numbers, each with its loss, then the pending ones."""
    found = list(map(landscape.ranked, range(len(landscape))))
    found.sort(key=lambda finished: -1 if finished.trial is None else finished.trial)
    worst = landscape.worst if math.isfinite(landscape.worst) else 0.0
    for finished in found:
        loss = worst if math.isnan(finished.loss) else finished.loss
        yield _params(landscape.space, finished.point), min(max(loss, -LARGEST_LOSS), LARGEST_LOSS)
    for config in landscape.pending.values():
        yield _params(landscape.space, landscape.space.encode(config)), None


def _add(study: "Study", params: Params, distributions: "Distributions", loss: float | None) -> None:
    """Add a trial as it is; without a loss it is running."""
    from optuna.trial import TrialState, create_trial

    state = TrialState.RUNNING if loss is None else TrialState.COMPLETE
    study.add_trial(create_trial(state=state, value=loss, params=params, distributions=distributions))


def _ask_again(study: "Study", params: Params, distributions: "Distributions", loss: float | None) -> None:
    """Ask for a trial as in its time, but take these params for the answer."""
    study.enqueue_trial(params)
    trial = study.ask(distributions)
    if trial.number:  # before the first it knew no space to answer for
        _ = trial.relative_params  # its own answer
    if loss is not None:
        study.tell(trial, loss)


def _params(space: Space, point: "tuple[float, ...] | list[float]") -> Params:
    """Return what Optuna calls the active values at a point of the unit cube."""
    return {
        name: _param(dimension, coordinate)
        for (name, dimension), coordinate in zip(space.dimensions.items(), point, strict=True)
        if not math.isnan(coordinate)
    }


def _param(dimension: Dimension, coordinate: float) -> Scalar:
    if isinstance(dimension, Float | Int):
        return dimension.decode(coordinate)
    return int(coordinate * len(dimension.choices)) if isinstance(dimension, Ordinal) else int(coordinate)


def _unit(dimension: Dimension, param: Scalar) -> float:
    """Return where Optuna's value lies in the unit cube of a draw."""
    if isinstance(dimension, Float | Int):
        return dimension.encode(param)
    return (int(param or 0) + 0.5) / len(dimension.values() or ())


def _distribution(dimension: Dimension) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dimension, Float):
        return FloatDistribution(dimension.low, dimension.high, log=dimension.log)
    values: Any = dimension.values()
    if isinstance(dimension, Int):
        return IntDistribution(values[0], values[-1], log=dimension.log, step=dimension.step)
    if isinstance(dimension, Ordinal):
        return IntDistribution(0, len(values) - 1)
    return CategoricalDistribution(range(len(values)))  # not the choices: to Optuna 1, 1.0 and True are one
