"""The pages on networks and training list what there is, with its settings, and what there is not."""

import re
from inspect import signature
from pathlib import Path

import pytest

from worker.models.layers import ACTIVATIONS, NORMALISATIONS
from worker.models.named import NETWORKS
from worker.training.averaging import AVERAGINGS
from worker.training.batch_size import BATCH_SIZES
from worker.training.clipping import CLIPPINGS
from worker.training.initialisation import INITIALISATIONS
from worker.training.schedules import RATES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "reference" / "networks-and-training.md").read_text()
CONTEXT = (DOCS / "explanation" / "context.md").read_text()
TABLES = {
    "Initialisations": INITIALISATIONS,
    "Learning rates": RATES,
    "Batch sizes": BATCH_SIZES,
    "Clipping": CLIPPINGS,
    "Averaging": AVERAGINGS,
}
SIDE_IDEAS = (
    "weight normalisation", "target propagation", "saddle-free Newton", "ImageNet", "nearest neighbour",
)  # fmt: skip
NETWORKS_NOT_BUILT = (
    "adversarial", "texture", "residual", "short-term memory", "echo-state", "Boltzmann", "sum-product",
)  # fmt: skip
HELD_BACK = ("drop-out", "size of weights")
RELATIVES = ("FANG", "metric-free natural gradient", "natural policy gradient")
NOT_SAMPLED = ("Monte Carlo", "Markov chains", "average gradient", "variance-reduced")


def rows(page, heading):
    section = re.split(rf"^#+ {heading}$", page, flags=re.MULTILINE)[1]
    return re.findall(r"^\| (.*) \|$", re.split(r"^#+ ", section, flags=re.MULTILINE)[0], re.MULTILINE)


def cells(heading, name):
    return next(row for row in rows(PAGE, heading) if row.startswith(f"`{name}` |")).split(" | ")


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        *(("Networks", name) for name in (*ACTIVATIONS, *NORMALISATIONS)),
        *(("Named networks", name) for name in NETWORKS),
    ],
)
def test_every_network_and_its_parts_have_a_row(heading, name):
    assert cells(heading, name)


@pytest.mark.parametrize(
    ("heading", "name"), [(heading, name) for heading, table in TABLES.items() for name in table]
)
def test_every_choice_of_training_has_a_row_with_its_settings_and_their_defaults(heading, name):
    documented = re.findall(r"`(\w+)`(?: \(([\d.]+)\))?", cells(heading, name)[1])
    settings = signature(TABLES[heading][name]).parameters.values()

    assert [(setting, float(value) if value else None) for setting, value in documented] == [
        (setting.name, None if setting.default is setting.empty else setting.default) for setting in settings
    ]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_link_of_a_named_network_is_the_one_it_has(name):
    assert cells("Named networks", name)[-1] == NETWORKS[name].link


@pytest.mark.parametrize(
    ("heading", "what"),
    [
        *(pytest.param("Ideas beside the methods", w, marks=pytest.mark.row(33)) for w in SIDE_IDEAS),
        *(pytest.param("Ways to hold a network back", w, marks=pytest.mark.row(46)) for w in HELD_BACK),
        *(
            pytest.param("Relatives of the natural gradient", w, marks=pytest.mark.row(144))
            for w in RELATIVES
        ),
        *(
            pytest.param("Networks that are not built", w, marks=pytest.mark.row(34))
            for w in NETWORKS_NOT_BUILT
        ),
        *(
            pytest.param("Ways to sample and to average gradients", w, marks=pytest.mark.row(80))
            for w in NOT_SAMPLED
        ),
    ],
)
def test_what_is_context_only_is_told_with_the_reason(heading, what):
    row = next(row for row in rows(CONTEXT, heading) if what in row.split(" | ")[0])

    assert all(len(cell) > 20 for cell in row.split(" | ")[1:])
