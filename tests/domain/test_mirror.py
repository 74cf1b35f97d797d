"""What a trial of Optuna is as a trial of ours."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import (
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)

from app.domain.mirror import fitted, result
from app.domain.optuna import OptunaState
from app.domain.study import Direction
from app.domain.trial import TrialState
from thiessen.contract import BestConfig
from thiessen.space import AskedFor, Categorical, Float, Int, OpenSpace

NOTHING = AskedFor(config={}, dimensions={})


def told(**params):
    """Return params as Optuna keeps them, of values and distributions."""
    return {
        name: [distribution.to_internal_repr(value), distribution_to_json(distribution)]
        for name, (value, distribution) in params.items()
    }


def test_each_distribution_is_a_dimension_and_each_param_a_value_of_it():
    found = fitted(
        OpenSpace(),
        told(
            lr=(0.1, FloatDistribution(1e-3, 1, log=True)),
            drop=(0.25, FloatDistribution(0, 1, step=0.25)),
            wide=(24, IntDistribution(8, 64, step=8)),
            deep=(3, IntDistribution(1, 9, log=True)),
            kind=(None, CategoricalDistribution(["a", None, True, 3, 0.5])),
        ),
    )
    assert found.asked.config == {"lr": 0.1, "drop": 0.25, "wide": 24, "deep": 3, "kind": None}
    assert found.asked.dimensions == {
        "lr": Float(1e-3, 1.0, log=True),
        "drop": Float(0.0, 1.0),
        "wide": Int(8, 64, 8),
        "deep": Int(1, 9, log=True),
        "kind": Categorical(("a", None, True, 3, 0.5)),
    }
    assert found.space.always == found.asked.config.keys()
    assert found.note == ""


@pytest.mark.parametrize(
    ("choice", "written"),
    [((1, 2), "[1, 2]"), (float("nan"), "NaN"), (2**60, str(2**60)), ("x" * 2000, '"' + "x" * 999)],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_choice_that_is_no_scalar_is_its_json(choice, written):
    found = fitted(OpenSpace(), told(x=(choice, CategoricalDistribution(["a", choice]))))
    assert found.asked.config == {"x": written}


def test_what_our_spaces_do_not_take_is_left_out_and_told():
    before = fitted(OpenSpace(), told(x=(1, CategoricalDistribution([1, 2])))).space
    found = fitted(
        before,
        told(
            x=(1.0, CategoricalDistribution([1.0, 2.0])),  # the same for Optuna, not for JSON
            y=(0.5, FloatDistribution(0, 1)),
            **{"n" * 101: (3, IntDistribution(1, 9)), "both": (1, CategoricalDistribution([1, 1]))},
        ),
    )
    assert found.asked.config == {"y": 0.5}
    assert found.space.dimensions == {"x": Categorical((1, 2)), "y": Float(0.0, 1.0)}
    assert [line.split(",")[0] for line in found.left_out] == [
        "The param 'x'",
        f"The param '{'n' * 101}'",
        "The param 'both'",
    ]


def test_a_space_has_so_many_dimensions_and_the_others_are_left_out():
    found = fitted(OpenSpace(), told(**{f"p{n}": (1, IntDistribution(0, 9)) for n in range(300)}))
    assert list(found.asked.config) == [f"p{n}" for n in range(256)]
    assert len(found.left_out) == 44


NUMBERS = st.one_of(st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3))
VALUES = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.just("NaN"), st.just("-Infinity"))
RUBBISH = st.builds(
    lambda name, attributes: json.dumps({"name": name, "attributes": attributes}),
    st.sampled_from(["FloatDistribution", "IntDistribution", "CategoricalDistribution", "Another"]),
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(("low", "high", "step", "log"), NUMBERS),
            "choices": st.lists(st.one_of(NUMBERS, st.lists(NUMBERS, max_size=2)), max_size=4),
        },
    ),
)


@given(st.lists(st.dictionaries(st.sampled_from("xyz"), st.tuples(VALUES, RUBBISH)), max_size=4))
def test_whatever_is_told_it_is_never_refused_and_can_be_answered(trials):
    space = OpenSpace()
    for params in trials:
        found = fitted(space, params)
        assert found.space == space.after(found.asked.config, found.asked.dimensions)
        assert len(found.asked.config) + len(found.left_out) == len(params)
        line = BestConfig(rank=1, study="s", trial=0, loss=0, value=0, config=found.asked.config, seed=0)
        assert BestConfig.model_validate_json(line.model_dump_json()) == line
        found.note.encode()
        space = found.space


@pytest.mark.parametrize(
    ("state", "values", "steps", "came"),
    [
        ("complete", [2.0], {}, (TrialState.SUCCEEDED, -2.0)),
        ("complete", ["Infinity"], {}, (TrialState.DIVERGED, None)),
        ("pruned", [3.0], {"1": 4.0}, (TrialState.PRUNED, -3.0)),
        ("pruned", None, {"9": 4.0, "10": 5.0, "-1": 6.0}, (TrialState.PRUNED, -5.0)),
        ("pruned", None, {"9": 4.0, "10": "NaN"}, (TrialState.PRUNED, None)),
        ("pruned", None, {}, (TrialState.PRUNED, None)),
        ("fail", [2.0], {}, (TrialState.FAILED, None)),
    ],
)
def test_how_a_trial_ended(state, values, steps, came):
    found = result(OptunaState(state), values, steps, Direction.MAXIMIZE, NOTHING)
    assert ((found.state, found.loss), found.asked) == (came, NOTHING)
