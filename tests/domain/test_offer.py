import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.domain.offer import faults
from thiessen.space import Boolean, Categorical, Float, Int, Ordinal, Space

SCHEMA = {
    "type": "object",
    "properties": {
        "lr": {"type": "number", "exclusiveMinimum": 0, "description": "Learning rate."},
        "momentum": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        "layers": {"type": "integer", "minimum": 1, "maximum": 5},
        "sizes": {"enum": [8, 16, 32]},
        "rule": {"type": "string", "enum": ["sgd", "adam"]},
        "nesterov": {"type": "boolean"},
        "maybe": {"type": ["integer", "null"]},
        "code": {"enum": [0, 1]},
        "anything": {},
        "told by true": True,
    },
    "additionalProperties": False,
}
WITHIN = {
    "lr": [Float(1e-4, 10.0, log=True), Int(1, 3), Categorical([0.1, 1]), Float(0.1, 0.1)],
    "momentum": [Float(0, 0.99), Int(0, 0)],
    "layers": [Int(1, 5), Int(1, 5, step=2), Ordinal([2, 4])],
    "sizes": [Int(8, 32, step=24), Categorical([8, 32])],
    "rule": [Categorical(["adam"])],
    "nesterov": [Boolean(), Categorical([True])],
    "maybe": [Categorical([None, 3]), Int(-5, 5)],
    "anything": [Float(0, 1), Boolean(), Categorical(["a", None])],
    "told by true": [Float(0, 1)],
}
BEYOND = {
    "lr": [Float(0, 1), Float(-1.0, 1.0), Int(0, 3), Categorical(["fast"]), Boolean(), Categorical([None])],
    "momentum": [Float(0, 1), Float(0, 1.5)],
    "layers": [Int(0, 5), Int(1, 6), Float(1, 5), Float(3, 3), Categorical([2.5]), Categorical([True])],
    "sizes": [Int(8, 32, step=8), Float(8, 32), Ordinal([8, 64])],
    "rule": [Categorical(["sgd", "newton"]), Int(1, 2)],
    "nesterov": [Categorical([True, "yes"]), Int(0, 1)],
    "maybe": [Categorical(["no"])],
    "code": [Boolean(), Int(0, 2)],
}


def of(kinds):
    return [(name, dimension) for name, dimensions in kinds.items() for dimension in dimensions]


@pytest.mark.parametrize(("name", "dimension"), of(WITHIN))
def test_a_dimension_within_its_setting_has_no_fault(name, dimension):
    assert faults(Space(**{name: dimension}), SCHEMA) == []


@pytest.mark.parametrize(("name", "dimension"), of(BEYOND))
def test_a_dimension_beyond_its_setting_is_told_by_name(name, dimension):
    [fault] = faults(Space(**{name: dimension}), SCHEMA)

    assert fault.startswith(f"dimension {name!r}: it is ")


def test_an_unknown_dimension_is_told_with_the_nearest_setting():
    assert faults(Space(momentun=Float(0, 0.5)), SCHEMA) == [
        "dimension 'momentun' is no setting of it; the nearest is 'momentum'"
    ]


def test_a_fault_says_what_the_setting_is_and_what_is_not():
    assert faults(Space(momentum=Float(0, 1), rule=Categorical(["sgd", "newton"])), SCHEMA) == [
        "dimension 'momentum': it is a number at least 0 and below 1, and 1.0 is not; narrow it",
        "dimension 'rule': it is one of 'sgd', 'adam', and 'newton' is not; narrow it",
    ]


@pytest.mark.parametrize(
    "schema", [{}, {"properties": {"x": {"type": "number"}}}, {"additionalProperties": True}]
)
def test_a_task_that_does_not_say_that_these_are_all_takes_any_name(schema):
    assert faults(Space(y=Float(0, 1)), schema) == []


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": 7},
        {"type": [{}, []]},
        {"type": ["strange"]},
        {"enum": 3},
        {"minimum": "0"},
        "nonsense",
        [],
        None,
        {"$ref": "#/x"},
    ],
)
def test_what_a_schema_says_that_nobody_understands_is_left_to_the_task(wanted):
    assert faults(Space(x=Float(0, 1)), {"properties": {"x": wanted}, "additionalProperties": False}) == []


@pytest.mark.parametrize("properties", [[], [1], "x", 7, None])
def test_properties_that_are_no_object_name_nothing(properties):
    assert faults(Space(x=Float(0, 1)), {"properties": properties}) == []


def test_a_fault_stays_short_however_much_a_schema_lists():
    [fault] = faults(Space(x=Float(0, 1)), {"properties": {"x": {"enum": ["x" * 10_000] * 1000}}})

    assert len(fault) < 3000


@given(data=st.data())
def test_a_space_without_a_fault_holds_configs_of_the_schema_and_one_with_a_fault_one_that_is_not(data):
    name, dimension = data.draw(st.sampled_from(of(WITHIN) + of(BEYOND)))
    space = Space(**{name: dimension})
    units = st.lists(st.floats(0, 1, exclude_max=True), min_size=20, max_size=20)
    configs = [space.decode([unit]) for unit in [0.0, 0.5, 1 - 1e-9, *data.draw(units)]]
    if isinstance(dimension, Int):
        configs += [{name: value} for value in dimension.values()]

    valid = [Draft202012Validator(SCHEMA).is_valid(config) for config in configs]

    if not faults(space, SCHEMA):
        assert all(valid)
