"""The page on curvature of every layer does what it says."""

import re
from pathlib import Path

import pytest
import torch

from optimizers.errors import UnsoundError
from optimizers.rules import RULES

PAGE = (Path(__file__).parents[2] / "docs/reference/optimizers/layers.md").read_text()


@pytest.fixture(name="names")
def _names():
    """What the blocks of the page define, one after another, with a registry that is put back."""
    torch.manual_seed(0)
    names, seen = {}, {}
    before = dict(RULES)
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)):
        exec(block, names)  # noqa: S102 - what the reader would paste
        seen[number] = names.get("rule")
    yield names | {"rules": seen, "after": dict(RULES)}
    for added in RULES.keys() - before.keys():
        del RULES[added]


def test_every_parameter_of_the_example_gets_an_update(names):
    assert all(update.abs().sum() > 0 for update in names["updates"].values())


def test_the_wrong_rule_is_told_from_the_right_one(names):
    with pytest.raises(UnsoundError, match="its forward does not return what the layer returns"):
        names["verify_rule"](names["Doubled"](3, 2).double(), names["rules"][1], torch.randn(4, 3).double())


def test_the_right_rule_is_registered(names):
    assert names["after"][names["Doubled"]] is names["rules"][2]


@pytest.mark.parametrize("layer", RULES, ids=lambda layer: layer.__name__)
def test_every_type_of_layer_with_a_rule_is_on_the_page(layer):
    table = PAGE.split("## Types of layers")[1].split("## Positions")[0]
    named = table.replace("`nn.BatchNorm1d` to `3d`", "`nn.BatchNorm1d`, `nn.BatchNorm2d`, `nn.BatchNorm3d`")

    assert f"`nn.{layer.__name__}`" in named
