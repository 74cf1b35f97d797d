from itertools import product

import pytest
import torch

from worker.models.threshold_unit import ThresholdUnit

CORNERS = torch.tensor(list(product([0.0, 1.0], repeat=2)))
FUNCTIONS = {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "not both": [1, 1, 1, 0], "never": [0, 0, 0, 0]}


def learned(targets):
    unit = ThresholdUnit(2)
    mistakes = [unit.learn(CORNERS, torch.tensor(targets).float()) for _ in range(20)]
    return unit, mistakes


@pytest.mark.row(19)
@pytest.mark.parametrize("targets", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_threshold_unit_learns_what_a_line_can_part(targets):
    unit, mistakes = learned(targets)

    assert unit(CORNERS).tolist() == targets
    assert mistakes[-1] == 0


def test_a_threshold_unit_goes_on_making_mistakes_where_no_line_parts_the_corners():
    _, mistakes = learned([0, 1, 1, 0])

    assert min(mistakes) > 0
