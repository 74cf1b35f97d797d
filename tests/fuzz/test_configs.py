"""The values of a config come back as they were sent, or are refused with a sentence, on both databases."""

import json

import pytest

FLOATS = [0.1 + 0.2, 1e-320, 5e-324, 2.0**-1074, 1.7976931348623157e308, 1 / 3, -0.0, 0]
CHOICES = [
    "é",
    "e\u0301",
    "\U0001f600",
    "\u202eabc",
    "'; DROP TABLE trials; --",
    "",
    " ",
    "%",
    "1",
    1,
    1.0,
    True,
    None,
]


def study(victim, name, **space):
    sent = {"name": name, "task": "none", "space": space, "strategy": "random"}
    answer = victim.post("/api/v1/studies", json=sent)
    assert answer.status_code == 201, answer.text


def enqueued(victim, name, config):
    """Return the config as it is read back, and how it was written; or the refusal."""
    answer = victim.post(f"/api/v1/studies/{name}/trials", json={"trials": [{"config": config}]})
    if answer.status_code != 201:
        return answer.status_code, answer.json()["detail"]
    number = answer.json()["trials"][0]["trial"]
    return json.dumps(victim.get(f"/api/v1/studies/{name}/trials/{number}").json()["config"])


def test_floats_come_back_to_the_last_bit(victim):
    study(victim, "floats", x={"type": "float", "low": -1, "high": 1.7976931348623157e308})

    for value in FLOATS:
        assert enqueued(victim, "floats", {"x": value}) == json.dumps({"x": value})


def test_each_choice_is_itself_and_no_other(victim):
    study(victim, "choices", x={"type": "categorical", "choices": CHOICES})

    read = [enqueued(victim, "choices", {"x": value}) for value in CHOICES]

    assert read == [json.dumps({"x": value}) for value in CHOICES]


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 10**400, 2**53 + 1, 1.0, True, "1", None, 1.5])
def test_what_is_no_integer_of_the_dimension_is_refused_with_a_sentence(victim, value):
    space = {"x": {"type": "int", "low": 0, "high": 2**53}}
    victim.post("/api/v1/studies", json={"name": "ints", "task": "none", "space": space})

    status, detail = enqueued(victim, "ints", {"x": value})

    assert status == 422
    assert "trials.0.config: dimension 'x' cannot be" in detail


def test_the_largest_integers_and_256_dimensions_come_back(victim):
    dimensions = {f"x{number}": {"type": "int", "low": 0, "high": 2**53} for number in range(256)}
    study(victim, "wide", **dimensions)
    config = {name: 2**53 - number for number, name in enumerate(dimensions)}

    assert json.loads(enqueued(victim, "wide", config)) == config
