"""Which dimensions matter: the analysis of variance against its definition."""

from itertools import product

import numpy as np
import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.importance import FanovaImportanceEvaluator

from tests.figures.studies import SPACE, Ending, config_of, told
from thiessen import Categorical, Float, Space
from thiessen.figures import importance
from thiessen.figures.forest import LEAST, analysed, grown

CUBE = Space(a=Float(0, 1), b=Float(0, 1), c=Float(0, 1), kind=Categorical(["x", "y", "z"]))


def searched(loss, count=400, space=CUBE, seed=2):
    rng = np.random.default_rng(seed)
    units = rng.random((count, len(space.dimensions)))
    configs = [space.decode(unit) for unit in units.tolist()]
    return told(space, *(Ending(at, config, float(loss(config, rng))) for at, config in enumerate(configs)))


def shares(loss, **how):
    found = importance.numbers(searched(loss, **how))
    return {" ".join(each.names): each for each in found.shares}, found


@pytest.mark.row(268)
@given(st.integers(0, 10_000))
def test_the_variance_of_a_tree_is_shared_out_as_by_counting_every_combination(seed):
    rng = np.random.default_rng(seed)
    many, dimensions = 4, 3
    levels = rng.integers(many, size=(40, dimensions))
    ordered = np.array([True, True, False])
    tree = grown(levels, rng.normal(size=40), ordered, many, rng)
    weights = rng.dirichlet(np.ones(many), size=dimensions)

    everything = np.array(list(product(range(many), repeat=dimensions)))
    chance = np.prod([weights[at, everything[:, at]] for at in range(dimensions)], axis=0)
    values = tree.predict(everything)
    mean = values @ chance

    def variance_of(*axes):
        total = 0.0
        for place in product(range(many), repeat=len(axes)):
            is_in = np.all(
                [everything[:, axis] == level for axis, level in zip(axes, place, strict=True)], axis=0
            )
            weight = chance[is_in].sum()
            total += weight * (values[is_in] @ chance[is_in] / weight - mean) ** 2
        return total

    total = (values - mean) ** 2 @ chance
    single, both = tree.shares(weights, [(0, 1), (1, 2)])
    alone = [variance_of(at) for at in range(dimensions)]
    assert single * total == pytest.approx(alone)
    assert both * total == pytest.approx(
        [variance_of(0, 1) - alone[0] - alone[1], variance_of(1, 2) - alone[1] - alone[2]], abs=1e-9
    )


def test_leaves_partition_the_levels_and_hold_enough_cases():
    rng = np.random.default_rng(0)
    levels = rng.integers(5, size=(200, 3))
    tree = grown(levels, rng.normal(size=200), np.array([True, False, True]), 5, rng)

    everything = np.array(list(product(range(5), repeat=3)))
    inside = np.all([tree.boxes[:, at, everything[:, at]] for at in range(3)], axis=0)
    assert (inside.sum(axis=0) == 1).all()
    cases = np.all([tree.boxes[:, at, levels[:, at]] for at in range(3)], axis=0).sum(axis=1)
    assert cases.min() >= LEAST


def test_a_sum_is_shared_out_by_the_variances_of_its_terms():
    """Of 2a + b the shares are 4 to 1, and nothing is left for pairs."""
    rng = np.random.default_rng(1)
    levels = rng.integers(8, size=(4000, 3))
    found = analysed(
        levels, 2.0 * levels[:, 0] + levels[:, 1], np.ones(3, bool), np.full((3, 8), 1 / 8), most_paired=2
    )

    assert found.single.mean(axis=0) == pytest.approx([0.8, 0.2, 0.0], abs=0.01)
    assert found.both.mean() == pytest.approx(0.0, abs=0.01)
    assert found.explained > 0.98


def test_what_matters_only_together_is_the_share_of_the_pair():
    found, numbers = shares(lambda config, _: (config["a"] > 0.5) != (config["b"] > 0.5), count=1000)

    assert numbers.shares[0].names == ["a", "b"]
    assert found["a b"].share > 0.7
    assert found["a"].share < 0.1


def test_a_dimension_that_does_not_matter_has_hardly_a_share():
    found, numbers = shares(lambda config, _: config["a"] + 2 * (config["kind"] == "y"))

    assert found["kind"].share > found["a"].share > 0.05
    for name in ("b", "c"):
        assert name not in found or found[name].share < 0.02
    assert numbers.explained > 0.9
    for each in numbers.shares:
        assert each.low <= each.share <= each.high


def test_chance_is_called_chance():
    _, numbers = shares(lambda _, rng: rng.random())

    assert numbers.explained < importance.POOR
    assert "too little to trust" in importance.picture(numbers, "light")["layout"]["meta"]["caption"]


@pytest.mark.row(268)
def test_optuna_shares_the_variance_out_alike():
    trials = searched(
        lambda config, _: 3 * config["a"] + 2 * config["b"] ** 2 + (config["kind"] == "y"), count=250
    )
    ranks = importance._ranks(trials, np.arange(len(trials)))
    kinds = {name: FloatDistribution(0, 1) for name in "abc"} | {
        "kind": CategoricalDistribution(["x", "y", "z"])
    }
    theirs = optuna.create_study()
    for at, rank in enumerate(ranks.tolist()):
        config = config_of(trials, at)
        theirs.add_trial(optuna.trial.create_trial(params=config, distributions=kinds, value=rank))
    judged = FanovaImportanceEvaluator(n_trees=16, seed=0).evaluate(theirs)

    ours = {each.names[0]: each.share for each in importance.numbers(trials).shares if len(each.names) == 1}
    for name, share in judged.items():
        assert ours.get(name, 0.0) == pytest.approx(share, abs=0.06), name


def test_any_increasing_change_of_the_losses_changes_nothing():
    plain = importance.numbers(searched(lambda config, _: config["a"] + config["b"] ** 2))
    assert (
        importance.numbers(searched(lambda config, _: 10.0 ** (9 * config["a"] + 9 * config["b"] ** 2)))
        == plain
    )


def test_what_makes_trials_diverge_is_important():
    rng = np.random.default_rng(0)
    endings = []
    for at in range(300):
        config = CUBE.decode(rng.random(4).tolist())
        bad = config["c"] > 0.6
        endings.append(Ending(at, config, None if bad else rng.random(), "diverged" if bad else "succeeded"))

    assert importance.numbers(told(CUBE, *endings)).shares[0].names == ["c"]


def test_being_inactive_is_a_level_of_its_own_as_likely_as_it_was():
    trials = searched(lambda config, _: config["lr"], space=SPACE, count=100)
    levels, _, weights = importance._levels(trials, np.arange(100))
    is_off = np.isnan(trials.codes[3])

    assert ((levels[:, 3] == importance.LEVELS) == is_off).all()
    assert weights[3, importance.LEVELS] == is_off.mean()
    assert weights.sum(axis=1) == pytest.approx(1.0)
    assert (levels[:, 1] == trials.codes[1] - 1).all()


def test_of_few_trials_nothing_is_said():
    numbers = importance.numbers(searched(lambda config, _: config["a"], count=19))

    assert numbers.shares == []
    assert (
        "from 20 finished trials on; there are 19"
        in importance.picture(numbers, "dark")["layout"]["meta"]["caption"]
    )


def test_trials_beyond_a_thousand_are_thinned_evenly():
    assert importance.numbers(searched(lambda config, _: config["a"], count=1500)).used == 1000
