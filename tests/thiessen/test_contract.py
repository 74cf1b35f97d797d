import json
import math
from dataclasses import fields
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from app.domain import errors as refused_by_the_server
from thiessen import contract, errors
from thiessen.contract import optuna, studies
from thiessen.contract import space as wire
from thiessen.contract.leases import Metric
from thiessen.contract.studies import EXAMPLE, Strategy, StudyChanges
from thiessen.contract.words import Changes, NeverNull, Request, Scalar
from thiessen.search.settings import strategy_from_json
from thiessen.space import KINDS, Boolean, Categorical, Float, Int, Ordinal, Space, SpaceError

WIRE_SPACE = TypeAdapter(wire.Space)
WIRE_KINDS = {
    get_args(model.model_fields["type"].annotation)[0]: model
    for model in get_args(get_args(wire.Dimension)[0])
}
REQUESTS = [
    (contract.StudySpec, EXAMPLE),
    (contract.LeaseRequest, {"worker": "w", "incarnation": "i", "request_id": "r", "tasks": ["t"]}),
    (contract.Heartbeat, {"reports": []}),
    (contract.Point, {"step": 0, "metrics": {"loss": 1.0}}),
    (contract.Loss, {"loss": 1.0}),
    (contract.Diverged, {"diverged": "nan"}),
    (contract.Failure, {"kind": "error", "message": "broken"}),
    (wire.FloatDimension, {"type": "float", "low": 0.0, "high": 1.0}),
    (wire.IntDimension, {"type": "int", "low": 0, "high": 1}),
    (wire.CategoricalDimension, {"type": "categorical", "choices": ["a"]}),
    (wire.OrdinalDimension, {"type": "ordinal", "choices": [1, 2]}),
    (wire.BooleanDimension, {"type": "boolean"}),
    (studies.MedianRule, {"rule": "median", "metric": "loss"}),
    (studies.SuccessiveHalving, {"rule": "successive_halving", "metric": "loss"}),
    (studies.ThresholdRule, {"rule": "threshold", "metric": "loss", "threshold": 1.0}),
    (contract.Requires, {"gpus": 1}),
    (contract.Slot, {"name": "cpu"}),
    (contract.OfferedTask, {"name": "classifier"}),
    (contract.NewTrial, {"config": {"x": 0.5}}),
    (contract.Arm, {"label": "sgd"}),
    (contract.Effort, {"trials": 20}),
    (contract.Confirm, {}),
    (optuna.OptunaParam, optuna.PARAM),
    (optuna.OptunaIntermediate, {"step": 3, "value": 0.5}),
    (optuna.OptunaTrialSpec, {"state": "waiting"}),
]
FULL = Space(
    kind=Categorical(("sgd", 1, 1.0, True, None, "1.5")),
    size=Ordinal((1, 2, 4)),
    flag=Boolean(),
    rate=Float(1e-4, 1.0, log=True, when={"kind": ["sgd", 1.0, None]}),
    shift=Float(-1, 1),
    layers=Int(1, 8, when={"flag": [True], "size": [2, 4]}),
    even=Int(2, 10, step=2),
    wide=Int(1, 512, log=True),
)


def as_sent(document):
    """Return a space's document after the door of the server."""
    validated = WIRE_SPACE.validate_json(json.dumps(document))
    return WIRE_SPACE.dump_python(validated, exclude_unset=True)


def leaves(root):
    below = [leaf for child in root.__subclasses__() for leaf in leaves(child)]
    return below or [root]


def test_the_wire_knows_the_same_kinds_of_dimensions_as_the_space():
    assert set(WIRE_KINDS) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_the_same_fields_on_the_wire_as_in_the_space(kind):
    assert set(WIRE_KINDS[kind].model_fields) - {"type"} == {field.name for field in fields(KINDS[kind])}


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_left_out_means_the_same_on_the_wire_as_in_the_space(kind):
    on_the_wire = {
        name: field.default
        for name, field in WIRE_KINDS[kind].model_fields.items()
        if not field.is_required()
    }
    required = {name for name, field in WIRE_KINDS[kind].model_fields.items() if field.is_required()}

    assert {name: getattr(KINDS[kind], name, None) for name in on_the_wire} == on_the_wire
    assert not required & {name for name in required if hasattr(KINDS[kind], name)}


def test_every_kind_passes_the_wire_unchanged():
    assert {type(dimension) for dimension in FULL.dimensions.values()} == set(KINDS.values())
    assert Space.from_json(as_sent(FULL.to_json())) == FULL


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"x": {}},
        {"x": {"type": "real", "low": 0, "high": 1}},
        {"x": {"type": "float", "low": 0.0}},
        {"x": {"type": "float", "low": 0.0, "high": 1.0, "step": 0.1}},
        {"x": {"type": "int", "low": 0.5, "high": 1}},
        {"x": {"type": "int", "low": True, "high": 2}},
        {"x": {"type": "categorical", "choices": []}},
        {"x": {"type": "categorical", "choices": "abc"}},
        {"x": {"type": "categorical", "choices": [[1]]}},
        {"x": {"type": "boolean", "when": {"y": []}}, "y": {"type": "boolean"}},
    ],
)
def test_what_the_wire_refuses_the_space_refuses_too(document):
    with pytest.raises(ValidationError):
        as_sent(document)
    with pytest.raises(SpaceError):
        Space.from_json(document)


@pytest.mark.parametrize("value", [1, 1.0, True, False, "1", "1.5", "true", "", None, 2**53, 1e300])
def test_a_value_keeps_its_json_type_on_the_wire(value):
    received = TypeAdapter(Scalar).validate_json(json.dumps(value))
    assert (type(received), received) == (type(value), value)


def test_every_example_of_a_strategy_is_one():
    examples = TypeAdapter(Strategy).json_schema()["examples"]
    assert {type(example) for example in examples} == {str, dict}
    for example in examples:
        strategy_from_json(TypeAdapter(Strategy).validate_python(example))


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        (5, "strategy.settings"),
        (None, "strategy.settings"),
        ({"name": "grid", "levels": math.nan}, r"strategy.settings.*levels"),
        ({"name": "grid", "levels": {1, 2}}, r"strategy.settings.*levels"),
    ],
)
def test_what_is_no_json_of_a_strategy_is_refused(sent, where):
    with pytest.raises(ValidationError, match=where):
        contract.StudySpec.model_validate(EXAMPLE | {"strategy": sent})


def test_every_request_has_a_sample_here():
    samples = {model for model, _ in REQUESTS}
    documented = {
        model
        for model in leaves(Request)
        if "examples" in (model.model_config.get("json_schema_extra") or {})
    }
    assert samples | documented == {model for model in leaves(Request) if not model.__name__.startswith("_")}


@pytest.mark.parametrize(("model", "sample"), REQUESTS)
def test_a_request_with_an_unknown_field_is_refused(model, sample):
    model.model_validate(sample)
    with pytest.raises(ValidationError, match=r"surprise\n.*not permitted"):
        model.model_validate(sample | {"surprise": 1})


def test_an_answer_with_an_unknown_field_is_read():
    answer = contract.Problem.model_validate(
        {"type": "t", "title": "T", "status": 404, "detail": "d", "surprise": 1}
    )
    assert answer.status == 404


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("model", "sample"),
    [
        (contract.Loss, lambda value: {"loss": value}),
        (contract.Point, lambda value: {"step": 0, "metrics": {"loss": value}}),
        (wire.FloatDimension, lambda value: {"type": "float", "low": value, "high": 1.0}),
        (wire.FloatDimension, lambda value: {"type": "float", "low": 0.0, "high": value}),
        (wire.CategoricalDimension, lambda value: {"type": "categorical", "choices": [value]}),
        (wire.BooleanDimension, lambda value: {"type": "boolean", "when": {"x": [value]}}),
    ],
)
def test_numbers_that_json_cannot_write_are_refused(model, sample, value):
    model.model_validate(sample(0.5))
    with pytest.raises(ValidationError):
        model.model_validate(sample(value))
    with pytest.raises(ValidationError):
        model.model_validate_json(json.dumps(sample(value)))


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity"])
def test_a_curve_may_say_in_words_what_json_cannot_write(text):
    assert TypeAdapter(Metric).validate_python(text) == text


@pytest.mark.parametrize("loss", [None, "NaN", "low"])
def test_a_loss_is_a_number_and_nothing_else(loss):
    with pytest.raises(ValidationError):
        contract.Loss.model_validate({"loss": loss})


def test_the_steps_of_one_batch_of_reports_rise():
    points = [{"step": step, "metrics": {"loss": 1.0}} for step in (1, 2, 2)]
    contract.Heartbeat.model_validate({"reports": points[:2]})
    with pytest.raises(ValidationError, match="send each step once, in order"):
        contract.Heartbeat.model_validate({"reports": points})


@pytest.mark.parametrize("name", ["", "-x", "a b", "a/b", "a\n", "é", "x" * 101])
def test_a_name_is_short_and_safe_in_a_url(name):
    with pytest.raises(ValidationError):
        contract.StudySpec.model_validate(EXAMPLE | {"name": name})


def test_every_refusal_of_the_server_has_one_error_of_the_client():
    kinds = [leaf for leaf in leaves(refused_by_the_server.Refusal) if leaf.__module__.startswith("app")]
    by_server = {
        kind.type: next(base.__name__ for base in kind.__mro__ if "type" in vars(base)) for kind in kinds
    }
    by_client = {kind: type(errors.refusal(kind, "detail")).__name__ for kind in by_server}

    assert by_client == by_server
    assert sorted(by_client.values()) == sorted(leaf.__name__ for leaf in leaves(errors.Refused))


def test_a_refusal_of_a_newer_server_is_still_a_refusal():
    error = errors.refusal("invented-later", "Do this.")
    assert type(error) is errors.Refused
    assert str(error) == "Do this."


@pytest.mark.parametrize("changes", Changes.__subclasses__())
def test_changes_change_something_and_null_stands_only_where_it_means_something(changes):
    with pytest.raises(ValidationError, match="there is nothing to change"):
        changes()
    for name, field in changes.model_fields.items():
        if any(isinstance(note, NeverNull) for note in field.metadata):
            with pytest.raises(ValidationError, match=f"{name} cannot be null"):
                changes(**{name: None})


def test_some_limits_of_a_study_are_taken_away_by_null():
    assert StudyChanges(deadline=None, target=None).model_fields_set == {"deadline", "target"}
