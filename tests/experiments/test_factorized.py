"""The experiments of the thesis on factorized second-order methods."""

import tomllib

import pytest

from experiments import page
from experiments.compared import HERE
from experiments.experiment import from_json
from experiments.factorized import centring, rectifier, second_order, updated_backpropagation
from experiments.factorized.updated_backpropagation import PART, PLAIN, STEPS, WHOLE, Training
from worker.tasks.alone import Alone
from worker.tasks.autoencoder import train as reconstruct
from worker.tasks.classifier import train as classify


def kept(experiment):
    return from_json(page.kept(experiment)["result"])


def arms_of(file):
    """Return what every trial of each arm trains with, as a comparison file says."""
    spec = tomllib.loads((HERE / file).read_text())
    return {each["label"]: spec["settings"] | each["settings"] for each in spec["arms"]}


@pytest.mark.row(196)
def test_the_errors_of_what_is_sent_down_are_those_that_were_kept():
    table = kept(updated_backpropagation.EXPERIMENT).tables[0]

    for at, rule in enumerate((PLAIN, PART, WHOLE), start=1):
        found = updated_backpropagation.errors(rule, STEPS[:4])
        assert found == pytest.approx([row[at] for row in table.rows[:4]], rel=1e-6)


@pytest.mark.row(196)
def test_with_every_term_the_order_is_two_and_else_one():
    orders = {
        rule: updated_backpropagation.order(updated_backpropagation.errors(rule, STEPS[:2], seed=3))
        for rule in (PLAIN, PART, WHOLE)
    }

    assert orders == pytest.approx({PLAIN: 1, PART: 1, WHOLE: 2}, abs=0.05)


@pytest.mark.row(196)
def test_the_rules_are_trained_from_the_same_start_on_the_same_batches():
    curves = [
        updated_backpropagation.trained(
            Training(rule=rule, lr=0.01, seed=1, updates=20, setting=updated_backpropagation.DIGITS)
        )
        for rule in (PLAIN, PART, WHOLE)
    ]

    plain, *corrected = curves
    assert {curve[0] for curve in curves} == {plain[0]}
    for curve in corrected:
        assert curve[-1][1] != plain[-1][1]
        assert curve[-1][1] == pytest.approx(plain[-1][1], rel=0.01)  # at so small a rate


@pytest.mark.row(193)
def test_what_centres_lowers_the_error_sooner():
    """At rates and first weights that searches have found."""
    arms = arms_of("factorized/methods.toml")
    found = {"sgd": (4.0, 20.0), "centred": (2.0, 20.0), "mean-only": (4.0, 20.0)}
    ends = {
        label: reconstruct(
            arms[label] | {"updates": 200, "points": 4, "lr": lr, "init_alpha": alpha}, Alone(seed=5)
        )
        for label, (lr, alpha) in found.items()
    }

    assert ends["mean-only"] < ends["sgd"]
    assert ends["centred"] < ends["sgd"]


@pytest.mark.row(194)
@pytest.mark.parametrize("label", second_order.SECOND)
def test_a_second_order_method_is_far_ahead_of_gradient_descent(label):
    arms = arms_of("factorized/methods.toml")
    own = {
        "acp": {"lr": 0.2, "ridge": 0.03},
        "acp-fixed": {"lr": 0.08, "alpha": 0.075, "ridge": 0.02},
        "kfac": {"lr": 0.3, "damping": 0.03},
    }
    both = {"updates": 150, "points": 3, "init_alpha": 25.0}

    ours = reconstruct(arms[label] | both | own[label], Alone(seed=5))

    assert ours < second_order.MARGIN * reconstruct(arms["sgd"] | both | {"lr": 2.0}, Alone(seed=5))


@pytest.mark.row(195)
@pytest.mark.parametrize(
    ("label", "own"),
    [
        ("sgd", {"lr": 0.2, "init_alpha": 4.0}),
        ("centred", {"lr": 0.5, "init_alpha": 1.0}),
        ("mean-only", {"lr": 0.5, "init_alpha": 1.0}),
        ("batch-norm", {"lr": 0.8, "init_alpha": 2.5}),
        ("acp", {"lr": 0.05, "ridge": 0.001, "init_alpha": 0.4}),
        ("acp-fixed", {"lr": 0.2, "alpha": 0.45, "ridge": 0.17, "init_alpha": 8.0}),
        ("kfac", {"lr": 0.27, "damping": 0.08, "init_alpha": 3.7}),
    ],
)
def test_every_method_trains_a_rectifier_network(label, own):
    alone = Alone(seed=5)
    classify(arms_of("factorized/rectifier.toml")[label] | own, alone)

    assert alone.curve[-1][1]["train_error"] < rectifier.WRONG


@pytest.mark.parametrize("experiment", [centring.EXPERIMENT, second_order.EXPERIMENT, rectifier.EXPERIMENT])
def test_both_sizes_of_a_comparison_have_the_same_arms(experiment):
    small, full = (tomllib.loads((HERE / file).read_text()) for file in experiment.files)

    assert [each["label"] for each in small["arms"]] == [each["label"] for each in full["arms"]]
    assert [each["settings"] for each in small["arms"]] == [each["settings"] for each in full["arms"]]
    assert small["name"] != full["name"]
