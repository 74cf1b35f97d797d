from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from thiessen.space import Float, Space
from worker.config import Setting, checked, read, schema, setting, settings_of, suggested
from worker.tasks import installed

KINDS = {
    "a rate": Setting(default=0.1, meaning="A rate.", above=0),
    "a share": Setting(default=0.5, meaning="A share.", low=0, below=1),
    "a count": Setting(default=3, meaning="A count.", low=1, high=9),
    "a choice": Setting(default="a", meaning="A choice.", choices=("a", "b")),
    "a text": Setting(default="", meaning="A text."),
    "a flag": Setting(default=False, meaning="A flag."),
}
numbers = st.integers(-20, 20) | st.floats(-20, 20).filter(lambda value: not value.is_integer())
TASKS = ("autoencoder", "classifier", "function", "sequence")
values = st.none() | st.booleans() | st.sampled_from(["a", "b", "c"]) | numbers


@dataclass(frozen=True, kw_only=True)
class Settings:
    lr: float = setting(0.1, "Learning rate.", above=0, suggested=Float(0.01, 1.0, log=True))
    layers: int = setting(2, "Layers.", low=1, high=5)
    rule: str = setting("sgd", "Rule.", choices=("sgd", "adam"))
    nesterov: bool = setting(False, "Whether it looks ahead.")
    notes: tuple = ()  # not a setting


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"learning_rate": 0.1}, "'learning_rate'.*no such setting; there are layers, lr, nesterov, rule"),
        ({"layer": 3}, "'layer'.*the nearest is 'layers'"),
        ({"lr": "fast"}, "'lr'.*'fast'.*a number above 0"),
        ({"lr": 0}, "'lr'.*above 0"),
        ({"lr": float("inf")}, "'lr'.*above 0"),
        ({"lr": float("nan")}, "'lr'.*above 0"),
        ({"lr": True}, "'lr'.*a number"),
        ({"lr": None}, "'lr'.*a number"),
        ({"layers": 2.5}, "'layers'.*an integer from 1 to 5"),
        ({"layers": 6}, "'layers'.*from 1 to 5"),
        ({"rule": "newton"}, "'rule'.*one of sgd, adam"),
        ({"nesterov": 1}, "'nesterov'.*true or false"),
        ({"notes": "x"}, "'notes'.*no such setting"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(config, said):
    with pytest.raises(ValueError, match=said):
        read(Settings, config)


def test_what_a_config_leaves_out_has_its_default():
    assert read(Settings, {"lr": 1}) == Settings(lr=1.0)
    assert isinstance(read(Settings, {"lr": 1}).lr, float)


@pytest.mark.parametrize("kind", KINDS)
@given(value=values)
def test_the_schema_accepts_the_values_that_are_read(kind, value):
    accepted = Draft202012Validator(schema({"it": KINDS[kind]})).is_valid({"it": value})

    assert accepted == (KINDS[kind].refusal(value) is None)


def test_the_schema_knows_no_other_names():
    assert not Draft202012Validator(schema(settings_of(Settings))).is_valid({"x": 1})


def test_what_is_fixed_is_a_dimension_of_the_suggested_space():
    space = suggested(settings_of(Settings), rule="adam")

    assert space == {
        "rule": {"type": "categorical", "choices": ["adam"]},
        "lr": {"type": "float", "low": 0.01, "high": 1.0, "log": True},
    }


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task in TASKS for name in installed()[task].spaces]
)
def test_every_suggested_space_lies_within_the_schema_of_its_task(task, name):
    space = Space.from_json(installed()[task].spaces[name])
    corners = [space.decode([unit] * len(space.dimensions)) for unit in (0.0, 0.5, 1 - 1e-9)]

    for config in corners:
        Draft202012Validator(installed()[task].schema).validate(config)


def test_names_to_be_ignored_change_nothing():
    assert checked({"a": KINDS["a rate"]}, {"b": 7}, ignored={"b"}) == {"a": 0.1}
