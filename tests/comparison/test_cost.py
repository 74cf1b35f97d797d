"""What a comparison costs, as it is said before it begins."""

import pytest

from thiessen.comparison.cost import in_words
from thiessen.comparison.plan import cost
from thiessen.contract import ComparisonSpec

LR = {"lr": {"type": "float", "low": 0.001, "high": 1.0, "log": True}}
THREE = {
    "name": "three",
    "task": "classifier",
    "space": LR,
    "settings": {"updates": 200},
    "arms": [{"label": label} for label in ("a", "b", "c")],
    "budget": {"trials": 20},
    "replicates": 3,
}


@pytest.mark.row(16)
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "3 arms x 3 searches x 20 trials = 180 trials, then 27 runs; 41,400 updates in all"),
        ({"confirm": None}, "3 arms x 3 searches x 20 trials = 180 trials; 36,000 updates in all"),
        ({"settings": {}}, "3 arms x 3 searches x 20 trials = 180 trials, then 27 runs"),
        (
            {"budget": {"updates": 5000}},
            "3 arms x 3 searches x 5,000 updates = 45,000 updates, then 27 runs; 50,400 updates in all",
        ),
        (
            {"budget": {"seconds": 1.5}},
            "3 arms x 3 searches x 1.5 seconds = 13.5 seconds, then 27 runs",
        ),
        (
            {"replicates": 1, "budget": {"trials": 1}, "confirm": {"configs": 1, "seeds": 1}},
            "3 arms x 1 search x 1 trial = 3 trials, then 3 runs; 1,200 updates in all",
        ),
    ],
)
def test_a_cost_is_said_with_how_it_comes_about(changed, said):
    spec = ComparisonSpec.model_validate(THREE | changed)

    assert in_words(spec, cost(spec)) == said
