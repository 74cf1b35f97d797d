"""The page on networks and training lists what there is, with its settings."""

import re
from inspect import signature
from pathlib import Path

import pytest

from worker.models.layers import ACTIVATIONS, NORMALISATIONS
from worker.models.named import NETWORKS
from worker.training.initialisation import INITIALISATIONS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "networks-and-training.md").read_text()
CHOICES = {**INITIALISATIONS}


def row(name):
    return re.search(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)[1].split(" | ")


@pytest.mark.parametrize("name", [*ACTIVATIONS, *NORMALISATIONS, *NETWORKS])
def test_every_network_and_its_parts_have_a_row(name):
    assert row(name)


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_of_training_has_a_row_with_its_settings_and_their_defaults(name):
    documented = dict(re.findall(r"`(\w+)`(?: \(([\d.]+)\))?", row(name)[0]))
    settings = signature(CHOICES[name]).parameters.values()

    assert {name: float(value) if value else None for name, value in documented.items()} == {
        setting.name: None if setting.default is setting.empty else setting.default for setting in settings
    }


@pytest.mark.parametrize(
    "name", ["curves_autoencoder", "mnist_autoencoder", "faces_autoencoder", "narrow_deep"]
)
def test_the_link_of_a_named_network_is_the_one_it_has(name):
    assert row(name)[-1] == NETWORKS[name].link
