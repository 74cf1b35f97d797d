"""Biased random search in scikit-learn's clothes: `BiasedRandomSearchCV` in place of `RandomizedSearchCV`."""

import math
import numbers
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar, Final, cast

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from thiessen.errors import Ended
from thiessen.opening import connect, open_study
from thiessen.space import KINDS, Categorical, Config, Dimension, Float, Int, Ordinal, Scalar, Space
from thiessen.study import Study
from thiessen.trial import Trial

WHICH: Final = "which"  # of several grids of distributions
ALL_FAILED: Final = re.compile(r"^\s*All the \d+ fits failed")
TAIL: Final = 1e-6  # of a distribution without an end: what lies beyond is not searched

Params = dict[str, Any]
ValueOf = Callable[[Scalar], Any]


class BiasedRandomSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn is not annotated
    """Search over hyperparameters that learns from the scores it has seen.

    A drop-in for `RandomizedSearchCV`: what its arguments and attributes are there they are here. Candidates
    come one after the other, or `batch` at a time, each chosen by the scores before it; more at a time keep
    more cores busy and know less.

    `param_distributions` may also be a `Space`, and its values dimensions of one. Distributions of scipy are
    searched along their quantiles. With several metrics the one of `refit` leads, or else the first.

    With a `journal` what was scored is kept in a file, and teaches the next fit. With a `server`, an address
    as `thiessen.connect` takes it, and the name of a `study` there, all fits of this study teach each other.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSearchCV._parameter_constraints,  # noqa: SLF001 - how estimators of scikit-learn are declared
        "param_distributions": [dict, list, Space],
        "n_iter": [Interval(numbers.Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "strategy": [str, dict],
        "batch": [Interval(numbers.Integral, 1, None, closed="left")],
        "journal": [str, None],
        "server": [str, None],
        "study": [str, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        strategy: str | dict[str, Any] = "biased_random",
        batch: int = 1,
        journal: str | None = None,
        server: str | None = None,
        study: str | None = None,
    ) -> None:
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.random_state = random_state
        self.strategy = strategy
        self.batch = batch
        self.journal = journal
        self.server = server
        self.study = study
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _run_search(self, evaluate_candidates: Callable[..., Mapping[str, Any]]) -> None:
        axes = Axes(self.param_distributions)
        evaluation = _Evaluation(evaluate_candidates, _SameSplits(self._checked_cv_orig), self._leading)
        with ExitStack() as stack:
            study = self._opened(axes.space, stack)
            tried = 0
            while tried < self.n_iter:
                trials = list(_asked(study, min(self.batch, self.n_iter - tried)))
                if not trials:
                    warnings.warn(
                        f"The space has {tried} candidates left, fewer than n_iter={self.n_iter}.",
                        stacklevel=2,
                    )
                    break
                scores = evaluation.scores([axes.params(trial.config) for trial in trials])
                for trial, score in zip(trials, scores, strict=True):
                    trial.tell(score)
                tried += len(trials)
        evaluation.end()

    def _opened(self, space: Space, stack: ExitStack) -> Study:
        terms: dict[str, Any] = {"strategy": self.strategy, "direction": "maximize"}
        if self.server is None:
            # A journal that is gone on with has a seed of its own.
            is_told = self.journal is None or self.random_state is not None
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            opened = open_study(self.journal, space, seed=seed if is_told else None, **terms)
        else:
            if self.study is None:
                raise ValueError("a server has many studies: name one of them with study=.")
            client = stack.enter_context(connect(self.server))
            opened = client.open_study(self.study, space, **terms)
        stack.enter_context(opened)
        opened.extend(max(opened.max_trials, opened.ended + self.n_iter))
        return opened

    def _leading(self, results: Mapping[str, Any]) -> str:
        """Return the name of the scores that candidates are judged by."""
        if "mean_test_score" in results:
            return "mean_test_score"
        if isinstance(self.refit, str):
            return f"mean_test_{self.refit}"
        return next(name for name in results if name.startswith("mean_test_"))


class _Evaluation:
    """Has candidates scored, also where all fits fail: then scikit-learn scores none that it is given.

    Those are given again beside the next ones, so that they stand in the results as they would if all
    candidates had been given at once.
    """

    def __init__(
        self,
        evaluate: Callable[..., Mapping[str, Any]],
        splits: "_SameSplits",
        leading: Callable[[Mapping[str, Any]], str],
    ) -> None:
        self._evaluate = evaluate
        self._splits = splits
        self._leading = leading
        self._failed: list[Params] = []
        self._has_scored = False
        self._error: ValueError | None = None

    def scores(self, candidates: Sequence[Params]) -> Sequence[float]:
        """Return the score of each; NaN where a fit failed."""
        try:
            results = self._evaluate([*self._failed, *candidates], cv=self._splits)
        except ValueError as error:
            if not ALL_FAILED.search(str(error)):
                raise
            self._error = error
            self._failed += candidates
            return [math.nan] * len(candidates)
        self._failed, self._has_scored = [], True
        return cast("Sequence[float]", results[self._leading(results)][-len(candidates) :].tolist())

    def end(self) -> None:
        """Raise ValueError if every fit failed; warn of candidates that found no place in the results."""
        if self._error is not None and not self._has_scored:
            raise self._error
        if self._failed:
            warnings.warn(
                f"The fits of the last {len(self._failed)} candidates failed; they are not in cv_results_.",
                FitFailedWarning,
                stacklevel=2,
            )


def _asked(study: Study, most: int) -> Iterator[Trial]:
    """Yield trials, fewer where no config is left."""
    for _ in range(most):
        try:
            yield study.ask()
        except Ended:
            return


class _SameSplits:
    """The splits of the first candidates for all: a shuffle without a seed would judge each by others."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._splits: list[Any] | None = None

    def split(self, *data: Any, **params: Any) -> list[Any]:
        if self._splits is None:
            self._splits = list(self._splitter.split(*data, **params))
        return self._splits


class Axes:
    """A space for distributions, and the way back from its configs to parameters of an estimator.

    A distribution is searched along its quantiles, so that what it gives seldom is tried seldom; a list is a
    choice, in order where it is one of numbers. Of several dicts each config belongs to one.
    """

    def __init__(self, distributions: Any) -> None:
        self._values: dict[str, tuple[str, ValueOf]] = {}
        if isinstance(distributions, Space):
            self.space = distributions
            self._values = {name: (name, _itself) for name in distributions.dimensions}
            return
        grids = [distributions] if isinstance(distributions, Mapping) else list(distributions)
        dimensions: dict[str, Dimension] = {} if len(grids) == 1 else {WHICH: Categorical(range(len(grids)))}
        for number, grid in enumerate(grids):
            if not isinstance(grid, Mapping):
                raise TypeError(f"Parameter distribution is not a dict ({grid!r})")
            for name, values in sorted(grid.items()):
                own = name if len(grids) == 1 else f"{number}.{name}"
                dimensions[own], value_of = _dimension(
                    name, values, None if len(grids) == 1 else {WHICH: [number]}
                )
                self._values[own] = name, value_of
        self.space = Space(**dimensions)

    def params(self, config: Config) -> Params:
        """Return the parameters that a config stands for."""
        there = [(self._values[own], value) for own, value in config.items() if own in self._values]
        return {name: value_of(value) for (name, value_of), value in there}


def _dimension(
    name: str, values: Any, when: Mapping[str, Sequence[Scalar]] | None
) -> tuple[Dimension, ValueOf]:
    if isinstance(values, tuple(KINDS.values())):
        declared: Any = values
        return replace(declared, when=when or declared.when), _itself
    if hasattr(values, "ppf"):
        return _quantiles(values, when)
    if isinstance(values, str) or not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise TypeError(
            f"Parameter grid for parameter {name!r} is not iterable or a distribution (value={values!r}). "
            "Give a list, a distribution of scipy.stats, or a dimension such as Float(0.1, 10.0, log=True)."
        )
    places = range(len(values))
    if all(isinstance(each, numbers.Real) and not isinstance(each, bool) for each in values):
        in_order = sorted(places, key=values.__getitem__)
        return Ordinal(in_order, when=when), values.__getitem__
    return Categorical(places, when=when), values.__getitem__


def _quantiles(distribution: Any, when: Mapping[str, Sequence[Scalar]] | None) -> tuple[Dimension, ValueOf]:
    kind = getattr(getattr(distribution, "dist", None), "name", "")
    low, high = distribution.support()
    if kind == "randint":
        return Int(int(low), int(high), when=when), _itself
    is_discrete = hasattr(distribution, "pmf")
    ends = (0.0 if math.isfinite(low) else TAIL), (1.0 if math.isfinite(high) else 1.0 - TAIL)

    def value_of(quantile: Scalar) -> Any:
        value = float(distribution.ppf(quantile))
        return int(max(value, low)) if is_discrete else min(max(value, low), high)

    return Float(*ends, when=when), value_of


def _itself(value: Scalar) -> Scalar:
    return value
