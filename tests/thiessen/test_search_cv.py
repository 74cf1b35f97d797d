"""BiasedRandomSearchCV, judged by scikit-learn's own suite and beside RandomizedSearchCV."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from thiessen import Categorical, Float, Int, Space, connect, open_study
from thiessen.integrations.sklearn import Axes, BiasedRandomSearchCV

INPUTS, TARGETS = make_classification(200, 8, random_state=0)


def searches():
    """What scikit-learn checks its own searches with."""
    return [
        (Ridge(), {"alpha": [0.1, 1.0]}),
        (LogisticRegression(), {"C": [0.1, 1.0]}),
        (make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}),
        (make_pipeline(PCA(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}),
    ]


@pytest.mark.row(278)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "given"), searches(), ids=lambda each: type(each).__name__)
def test_scikit_learns_own_suite_finds_nothing_that_it_does_not_find_in_its_own_search(estimator, given):
    """Its checks of RandomizedSearchCV, one by one: the same ones, and the same verdicts."""

    def verdicts(kind):
        search = kind(estimator, given, cv=2, error_score="raise", random_state=0)
        return [
            (each["check_name"], each["status"])
            for each in check_estimator(search, on_skip=None, on_fail=None)
        ]

    ours = verdicts(BiasedRandomSearchCV)
    assert ours == verdicts(RandomizedSearchCV)
    assert sum(status == "passed" for _, status in ours) > 45


@pytest.mark.row(278)
def test_it_takes_what_randomized_search_takes_and_answers_alike():
    given = {"C": stats.loguniform(1e-3, 1e3), "fit_intercept": [True, False]}
    ours, theirs = (
        kind(LogisticRegression(), given, n_iter=8, cv=3, random_state=0, scoring=["accuracy", "roc_auc"],
             refit="roc_auc", return_train_score=True).fit(INPUTS, TARGETS)
        for kind in (BiasedRandomSearchCV, RandomizedSearchCV)
    )  # fmt: skip
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    assert vars(ours).keys() >= vars(theirs).keys()
    assert len(ours.cv_results_["params"]) == 8
    assert ours.best_score_ == ours.cv_results_["mean_test_roc_auc"].max()
    assert ours.score(INPUTS, TARGETS) == pytest.approx(theirs.score(INPUTS, TARGETS), abs=0.05)


def test_the_same_seed_gives_the_same_candidates_however_many_jobs():
    def candidates(**changed):
        search = BiasedRandomSearchCV(
            LogisticRegression(), {"C": stats.loguniform(1e-3, 1e3)}, n_iter=12, cv=3, **changed
        )
        return search.fit(INPUTS, TARGETS).cv_results_["params"]

    assert candidates(random_state=1) == candidates(random_state=1, n_jobs=2)
    assert candidates(random_state=1) != candidates(random_state=2)
    assert candidates(random_state=1, batch=4) != candidates(random_state=1)


def test_its_candidates_are_those_of_a_study_told_the_scores():
    space = Space(C=Float(1e-3, 1e3, log=True))
    search = BiasedRandomSearchCV(LogisticRegression(), space, n_iter=15, cv=3, random_state=0)
    results = search.fit(INPUTS, TARGETS).cv_results_
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    study = open_study(None, space, trials=15, seed=seed, direction="maximize")
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        with study.ask() as trial:
            assert trial.config == params
            trial.tell(score)


def test_it_finds_what_random_search_does_not():
    """The same number of candidates on a narrow peak: the best of each over ten seeds."""

    class Peak(Ridge):
        def score(self, *_):
            return -abs(math.log10(self.alpha) - 0.7) - abs(self.tol - 0.2)

    def best(kind, seed):
        given = {"alpha": stats.loguniform(1e-5, 1e5), "tol": stats.uniform(0, 1)}
        return kind(Peak(), given, n_iter=40, cv=2, random_state=seed).fit(INPUTS, TARGETS).best_score_

    ours, theirs = (
        [best(kind, seed) for seed in range(10)] for kind in (BiasedRandomSearchCV, RandomizedSearchCV)
    )
    assert np.mean(ours) > np.mean(theirs) / 2


def test_a_shuffle_without_a_seed_judges_all_candidates_by_the_same_splits():
    search = BiasedRandomSearchCV(
        LogisticRegression(),
        {"C": [1.0, 1.0 + 1e-12, 1.0 + 2e-12]},
        n_iter=3,
        cv=ShuffleSplit(2, test_size=0.3),
    )
    results = search.fit(INPUTS, TARGETS).cv_results_
    assert len(set(results["mean_test_score"])) == 1


def test_a_small_space_ends_the_search():
    with pytest.warns(UserWarning, match="The space has 3 candidates left, fewer than n_iter=10"):
        search = BiasedRandomSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, cv=2).fit(
            INPUTS, TARGETS
        )
    assert sorted(params["C"] for params in search.cv_results_["params"]) == [0.1, 1.0, 10.0]


@pytest.mark.filterwarnings("ignore")  # scikit-learn's, of what failed
def test_a_fit_that_fails_is_a_diverged_trial_and_the_search_goes_on(tmp_path: Path):
    journal = str(tmp_path / "runs.jsonl")
    search = BiasedRandomSearchCV(
        SVC(), {"C": [-1.0, -2.0, 1.0, 2.0]}, n_iter=4, cv=2, journal=journal, random_state=0
    )
    search.fit(INPUTS, TARGETS)
    with open_study(journal) as study:
        assert Counter(each.state for each in study.results()) == {"diverged": 2, "succeeded": 2}
        states = [each.state for each in study.results()]
    left_out = states[::-1].index("succeeded")  # the last ones, after which nothing succeeded
    scores = search.cv_results_["mean_test_score"]
    assert len(scores) == 4 - left_out
    assert [math.isnan(score) for score in scores] == [
        state == "diverged" for state in states[: 4 - left_out]
    ]
    assert search.best_params_["C"] > 0


def test_a_search_whose_fits_all_fail_says_so_as_scikit_learn_does():
    with pytest.raises(ValueError, match="All the 4 fits failed"):
        BiasedRandomSearchCV(SVC(), {"C": [-1.0, -2.0]}, n_iter=2, cv=2).fit(INPUTS, TARGETS)
    with pytest.raises(ValueError, match="parameter of SVC"):
        BiasedRandomSearchCV(SVC(), {"C": [-1.0]}, n_iter=1, cv=2, error_score="raise").fit(INPUTS, TARGETS)


def test_a_journal_teaches_the_next_fit(tmp_path: Path):
    journal = str(tmp_path / "runs.jsonl")
    search = BiasedRandomSearchCV(
        LogisticRegression(), {"C": stats.loguniform(1e-3, 1e3)}, n_iter=5, cv=2, journal=journal
    )
    first = search.fit(INPUTS, TARGETS).cv_results_["params"]
    second = search.fit(INPUTS, TARGETS).cv_results_["params"]
    with open_study(journal) as study:
        assert study.ended == 10
        assert len({tuple(each.config.items()) for each in study.results()}) == 10
    assert first != second


def test_fits_on_a_server_share_their_study(database):
    search = BiasedRandomSearchCV(
        LogisticRegression(),
        {"C": stats.loguniform(1e-3, 1e3)},
        n_iter=4,
        cv=2,
        server=database,
        study="digits",
    )
    search.fit(INPUTS, TARGETS)
    search.fit(INPUTS, TARGETS)
    with connect(database) as client:
        assert client.study("digits").counts.succeeded == 8
    with pytest.raises(ValueError, match="name one of them with study="):
        BiasedRandomSearchCV(LogisticRegression(), {"C": [1.0]}, server=database).fit(INPUTS, TARGETS)


def test_several_dicts_are_branches_of_one_space():
    given = [
        {"kernel": ["linear"], "C": stats.loguniform(0.1, 10)},
        {"kernel": ["rbf"], "gamma": [0.01, 0.1, 1.0]},
    ]
    search = BiasedRandomSearchCV(SVC(), given, n_iter=12, cv=2, random_state=0).fit(INPUTS, TARGETS)
    seen = {frozenset(params) for params in search.cv_results_["params"]}
    assert seen == {frozenset({"kernel", "C"}), frozenset({"kernel", "gamma"})}
    assert all(("gamma" in params) == (params["kernel"] == "rbf") for params in search.cv_results_["params"])


@pytest.mark.parametrize(
    ("distribution", "kind"),
    [
        (stats.randint(3, 9), int),
        (stats.poisson(4), int),
        (stats.uniform(2, 5), float),
        (stats.loguniform(1e-3, 1e2), float),
        (stats.expon(), float),
        (stats.norm(1, 2), float),
    ],
)
def test_quantiles_drawn_uniformly_are_draws_of_the_distribution(distribution, kind):
    axes = Axes({"x": distribution})
    rng = np.random.default_rng(0)
    drawn = [axes.params(axes.space.decode([unit]))["x"] for unit in rng.random(4000)]
    assert {type(each) for each in drawn} == {kind}
    if kind is float:
        assert stats.kstest(drawn, distribution.cdf).pvalue > 1e-3
    else:
        values, counts = np.unique(drawn, return_counts=True)
        expected = 4000 * distribution.pmf(values)
        assert np.abs(counts - expected).max() < 5 * math.sqrt(expected.max())


def test_lists_keep_their_objects_and_numbers_their_order():
    scaler = StandardScaler()
    axes = Axes({"scale": [None, scaler, "passthrough"], "C": [10, 0.1, 1], "size": [(1, 2), (3,)]})
    assert isinstance(axes.space.dimensions["scale"], Categorical)
    at_ends = [axes.params(axes.space.decode([unit, unit, unit])) for unit in (0.0, 0.999)]
    assert at_ends[0]["C"] == 0.1
    assert at_ends[1]["C"] == 10
    assert axes.params(axes.space.decode([0.0, 0.5, 0.0]))["scale"] is scaler
    assert at_ends[0]["size"] == (1, 2)


def test_dimensions_of_ours_stand_beside_distributions():
    axes = Axes({"depth": Int(1, 8, log=True), "rate": stats.uniform(0, 1)})
    assert axes.space.dimensions["depth"] == Int(1, 8, log=True)
    assert axes.params({"depth": 3, "rate": 0.5}) == {"depth": 3, "rate": 0.5}


@pytest.mark.parametrize("wrong", [1.0, "abc", object()])
def test_what_is_no_distribution_is_named(wrong):
    with pytest.raises(TypeError, match="Parameter grid for parameter 'C' is not iterable or a distribution"):
        BiasedRandomSearchCV(LogisticRegression(), {"C": wrong}).fit(INPUTS, TARGETS)


def test_digits_by_a_conditional_space():
    inputs, targets = load_digits(return_X_y=True)
    space = Space(
        kernel=Categorical(["linear", "rbf"]),
        C=Float(0.01, 100.0, log=True),
        gamma=Float(1e-5, 1.0, log=True, when={"kernel": ["rbf"]}),
    )
    search = BiasedRandomSearchCV(SVC(), space, n_iter=12, cv=KFold(2), random_state=0)
    search.fit(inputs[:400], targets[:400])
    assert search.best_score_ > 0.9
