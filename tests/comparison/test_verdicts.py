import math

import numpy as np
import pytest

from benchmarks.made_up_searches import KEPT
from thiessen.comparison.verdicts import Ground, verdicts

COMPARISONS = 1000
FAIR = Ground(basis="confirmed", direction="minimize", caveats=[])


def of(**arms):
    """Return what `verdicts` takes of a list of losses for each arm."""
    return {label: dict(enumerate(losses, start=1)) for label, losses in arms.items()}


def sentence(*, ground=FAIR, **arms):
    (pair,) = verdicts(of(**arms), ground)
    return pair.says


RISING = [float(each) for each in range(1, 11)]
BETTER = [each - 0.5 - 0.01 * at for at, each in enumerate(RISING)]


def test_a_verdict_says_who_beats_whom_by_how_much_and_how_often():
    assert sentence(sgd=RISING, kfac=BETTER) == (
        "kfac beats sgd at this budget: 0.545 lower (95 % interval 0.52 to 0.57), in 10 of 10 pairs."
    )


def test_of_values_to_maximize_the_better_is_higher():
    ground = Ground(basis="confirmed", direction="maximize", caveats=[])

    assert "kfac beats sgd at this budget: 0.545 higher" in sentence(ground=ground, sgd=RISING, kfac=BETTER)


def test_no_significant_difference_says_so_with_the_interval():
    other = [each + 0.1 * (-1) ** at for at, each in enumerate(RISING)]

    assert sentence(a=RISING, b=other) == (
        "No significant difference between a and b at this budget: a is 0 lower (95 % interval -0.1 to 0.1), "
        "in 5 of 10 pairs (p = 1)."
    )


def test_with_care_names_why():
    ground = Ground(basis="confirmed", direction="minimize", caveats=["strategies differ", "two versions"])

    (pair,) = verdicts(of(sgd=RISING, kfac=BETTER), ground)

    assert pair.verdict == "with care"
    assert pair.says == (
        "kfac did better than sgd at this budget: 0.545 lower (95 % interval 0.52 to 0.57), "
        "in 10 of 10 pairs. With care: strategies differ; two versions."
    )


def test_what_only_the_searches_say_is_never_more_than_with_care():
    ground = Ground(basis="searched", direction="minimize", caveats=["nothing was trained again"])

    (pair,) = verdicts(of(sgd=RISING, kfac=BETTER), ground)

    assert (pair.verdict, pair.basis) == ("with care", "searched")


def test_an_arm_that_never_succeeds_is_beaten_by_no_number():
    (pair,) = verdicts(of(sgd=[math.inf] * 10, kfac=RISING), FAIR)

    assert (pair.better, pair.verdict, pair.difference) == ("kfac", "shown", None)
    assert "better by more than any number" in pair.says


def test_each_pair_of_arms_is_corrected_for_all_of_them():
    pairs = verdicts(of(a=RISING, b=BETTER, c=[each + 1 for each in RISING]), FAIR)

    assert [(pair.better, pair.worse) for pair in pairs] == [("b", "a"), ("b", "c"), ("a", "c")]
    assert {pair.p for pair in pairs} == {2 / 1024}
    assert {pair.adjusted for pair in pairs} == {6 / 1024}


def test_only_replicates_that_all_arms_have_are_compared():
    losses = of(a=RISING, b=BETTER)
    del losses["a"][4]

    assert [pair.pairs for pair in verdicts(losses, FAIR)] == [9]


def test_below_eight_pairs_nothing_is_said():
    assert verdicts(of(a=RISING[:7], b=BETTER[:7]), FAIR) == []


@pytest.mark.row(269)
@pytest.mark.parametrize("searches", ["lognormal", "error rates", "a third diverges"])
@pytest.mark.parametrize("replicates", [10, 20])
def test_of_three_equal_arms_at_most_5_of_100_comparisons_show_a_difference(searches, replicates):
    best = KEPT[searches](np.random.default_rng(3), COMPARISONS * 3 * replicates, 3).min(axis=1)

    shown = [
        any(pair.verdict == "shown" for pair in verdicts(of(a=a, b=b, c=c), FAIR))
        for a, b, c in best.reshape(COMPARISONS, 3, replicates).tolist()
    ]

    error = 2 * math.sqrt(0.05 * 0.95 / COMPARISONS)
    assert np.mean(shown) <= 0.05 + error
