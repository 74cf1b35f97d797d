import math

import pytest
import torch
from jsonschema import Draft202012Validator

from worker.datasets import load
from worker.tasks.alone import Alone
from worker.tasks.classifier import TASK, Classifier, network, train, wrong_class
from worker.tasks.network import settings
from worker.training.streams import Streams

SHORT = {"updates": 30, "points": 3}
DIMENSIONS = {
    "lr": 0.01,
    "momentum": 0.5,
    "batch_size": 100,
    "hidden": 8,
    "depth": 2,
    "updates": 20,
    "weight_decay": 0.1,
    "init_alpha": 10.0,
    "optimizer": "adam",
    "activation": "relu",
    "initialisation": "orthogonal",
    "normalisation": "batch",
    "clip": 0.01,
    "lr_schedule": "final_annealing",
    "batch_schedule": "exponential",
    "network": "convolutional",
    "dataset": "wine",
    "cases": 300,
    "copies": 1,
}


def loss_of(**config):
    return train(SHORT | config, Alone(seed=3))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"learning_rate": 0.1}, "'learning_rate'.*no such setting"),
        ({"momentun": 0.1}, "'momentun'.*the nearest is 'momentum'"),
        ({"lr": 0}, "'lr'.*above 0"),
        ({"optimizer": "kfac", "damping": -1.0}, "'damping'.*above 0"),
        ({"momentum": 1.0}, "'momentum'.*below 1"),
        ({"hidden": 2.5}, "'hidden'.*integer"),
        ({"hidden": 0}, "'hidden'.*from 1 to 10,000"),
        ({"optimizer": "newtons"}, "'optimizer'.*kfac"),
        ({"optimizer": "newton", "hidden": 100}, "'optimizer'.*'newton'.*7,510 x 7,510.*its limit is 5,000"),
        ({"dataset": "curves"}, "'dataset'.*digits"),
        ({"normalisation": "batch", "chunk": 10}, "'chunk'.*whole batch"),
        ({"optimizer": "kfac", "switch": "detected"}, "'switch'.*kfac leaves no gradients"),
        ({"network": "mnist_wide"}, "'network'.*784.*digits has 64"),
        ({"network": "convolutional", "dataset": "wine"}, "'network'.*no images"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(config, said):
    with pytest.raises(ValueError, match=said):
        train(config, Alone())


@pytest.mark.parametrize("normalisation", ["batch", "mean_only"])
def test_a_normalised_network_learns(normalisation):
    context = Alone()
    train(SHORT | {"normalisation": normalisation}, context)

    assert context.curve[-1][1]["train_loss"] < context.curve[0][1]["train_loss"]


def test_a_setting_of_another_optimizer_has_no_effect():
    assert loss_of(optimizer="sgd", damping=0.5, beta1=0.3) == loss_of(optimizer="sgd")


def test_each_optimizer_has_its_own_defaults():
    assert settings(Classifier, {"optimizer": "adam"}).own["lr"] == 0.001
    assert settings(Classifier, {"optimizer": "kfac"}).own["lr"] is None


SMALL = {"hidden": 8, "batch_size": 200}  # for matrices of all parameters


@pytest.mark.parametrize(
    "config",
    [
        {"optimizer": "sgd", "lr": 0.3},
        {"optimizer": "momentum"},
        {"optimizer": "nesterov"},
        {"optimizer": "rmsprop", "lr": 0.01},
        {"optimizer": "adam", "lr": 0.01},
        {"optimizer": "adamw", "lr": 0.01},
        {"optimizer": "kfac"},
        {"optimizer": "kfac", "lr": 0.3, "damping": 0.1},
        {"optimizer": "ekfac"},
        {"optimizer": "acp", "lr": 0.3},
        {"optimizer": "prong", "lr": 0.1},
        {"optimizer": "centred_gradient_descent", "lr": 0.3},
        {"optimizer": "local_criterion", "lr": 0.3},
        {"optimizer": "updated_backpropagation", "lr": 0.3},
        {"optimizer": "newton", "negative_curvature": "absolute", **SMALL},
        {"optimizer": "gauss_newton", **SMALL},
        {"optimizer": "natural_gradient", **SMALL},
        {"optimizer": "diagonal_newton"},
        {"optimizer": "lecun_rate"},
        {"optimizer": "truncated_natural_gradient", "batch_size": 200},
        {"optimizer": "covariance_natural_gradient"},
        {"optimizer": "tonga"},
        {"optimizer": "adaptive_natural_gradient", **SMALL, "batch_size": 50},
        {"optimizer": "natural_newton"},
        {"optimizer": "full_adagrad", "lr": 1.0, **SMALL},
        {"optimizer": "online_newton_step", **SMALL},
        {"optimizer": "online_natural_gradient"},
        {"optimizer": "unitwise_gauss_newton", "hidden": 8},
        {"optimizer": "krylov_subspace_descent", "batch_size": 500},
        {"optimizer": "hessian_free", "batch_size": 500, "cg_steps": 20},
        {"optimizer": "rprop", "batch_size": 500},
        {"optimizer": "silva_almeida", "lr": 0.1},
        {"optimizer": "stochastic_meta_descent", "lr": 0.1, "meta_lr": 10.0},
        {"optimizer": "matrix_momentum"},
        {"optimizer": "lbfgs", "batch_size": 1500},
        {"optimizer": "nonlinear_conjugate_gradients", "batch_size": 500},
        {"optimizer": "online_lbfgs"},
        {"optimizer": "sgd_qn"},
        {"optimizer": "vsgd"},
        {"optimizer": "almeida", "lr": 0.1, "momentum": 0.9},
        {"optimizer": "trust_region", "batch_size": 500, "cg_steps": 20},
    ],
    ids=lambda config: config["optimizer"],
)
def test_every_optimizer_learns_the_digits(config):
    context = Alone()

    loss = train(config | {"epochs": 6, "points": 6}, context)

    assert loss < 0.5  # guessing gives ln 10 = 2.3
    assert len(context.curve) == 7
    assert context.curve[-1][1]["validation_loss"] == loss


@pytest.mark.row(134)
@pytest.mark.parametrize(
    "config",
    [
        {"optimizer": "stochastic_hessian_free", "batch_size": 100},
        {"optimizer": "stochastic_hessian_free", "batch_size": 100, "lr_schedule": "final_annealing"},
        {"optimizer": "subsampled_newton_cg", "batch_size": 200, "batch_schedule": "by_variance"},
        {
            "optimizer": "subsampled_newton_cg",
            "batch_size": 200,
            "batch_schedule": "exponential",
            "batch_full_at": 12,
        },
    ],
)
def test_presets_of_hessian_free_optimization_learn_the_digits(config):
    assert train(config | {"updates": 20, "points": 1}, Alone()) < 1.0


@pytest.mark.parametrize("network", ["convolutional", "digits_wide", "digits_convolutional"])
def test_every_network_that_fits_the_digits_learns_them(network):
    assert train({"network": network, "epochs": 4, "lr": 0.05}, Alone()) < 0.6


@pytest.mark.row(9)
@pytest.mark.parametrize("name", DIMENSIONS)
def test_what_a_study_may_search_is_in_the_schema_and_changes_the_training(name):
    changed = {name: DIMENSIONS[name]}

    assert Draft202012Validator(TASK.schema).is_valid(changed)
    assert loss_of(**changed) != loss_of()


@pytest.mark.row(57)
def test_alpha_is_the_variance_of_the_first_weights_and_worth_a_search():
    data, variances = load("digits"), {}
    for alpha in (1.0, 25.0):
        chosen = settings(Classifier, {"init_alpha": alpha, "hidden": 200})
        model = network(chosen, data, Streams(1)("weights"))
        variances[alpha] = model[0].weight.var().item() * (64 + 200)

    assert variances == pytest.approx({1.0: 1.0, 25.0: 25.0}, rel=0.05)
    assert all(space["init_alpha"]["log"] for space in TASK.spaces.values())


@pytest.mark.parametrize("optimizer", ["nesterov", "kfac"])
def test_the_same_seed_gives_the_same_loss_and_another_seed_another(optimizer):
    config = SHORT | {"optimizer": optimizer}

    assert train(config, Alone(seed=3)) == train(config, Alone(seed=3)) != train(config, Alone(seed=4))


def test_what_is_drawn_elsewhere_changes_nothing():
    torch.manual_seed(1)
    loss = loss_of()
    torch.rand(7)

    assert loss_of() == loss


def test_numbers_of_double_precision_can_be_computed_with():
    assert loss_of(precision="float64") == pytest.approx(loss_of(), rel=1e-4)
    assert loss_of(precision="float64") != loss_of()


def test_nothing_held_back_is_trained_on_too():
    context = Alone()
    train(SHORT | {"hold_back": False, "criterion": "final_train"}, context)

    assert not any("validation" in name for name in context.curve[-1][1])


@pytest.mark.row(39)
def test_a_case_is_wrong_unless_its_class_is_the_likeliest():
    outputs = torch.tensor([[0.1, 0.9, 0.0], [2.0, 1.0, 1.9], [-3.0, -2.0, -1.0], [0.0, 1.0, 0.5]])

    assert wrong_class(outputs, torch.tensor([1, 2, 2, 0])).tolist() == [0, 1, 0, 1]


@pytest.mark.row(39)
def test_the_share_of_wrong_classes_stands_beside_each_loss_and_can_be_the_criterion():
    context = Alone(seed=1)
    value = train(SHORT | {"measure": "error", "hold_back": False, "criterion": "final_train"}, context)
    last = context.curve[-1][1]
    cases = {name: len(getattr(load("digits", validation=False), name)) for name in ("train", "test")}

    assert value == last["train_error"]
    for name, count in cases.items():
        assert math.isfinite(last[f"{name}_loss"])
        assert 0 < last[f"{name}_error"] < 0.5
        wrong = last[f"{name}_error"] * count
        assert wrong == pytest.approx(round(wrong))  # a share of whole cases


@pytest.mark.row(65)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_batch_normalisation_learns_at_rates_at_which_nothing_is_learned_without(activation):
    config = {"optimizer": "sgd", "depth": 3, "updates": 60, "batch_size": 200, "criterion": "final_train"}

    def loss(normalisation, lr):
        told = {"activation": activation, "normalisation": normalisation, "lr": lr, "points": 1}
        return train(config | told, Alone(seed=1))

    assert loss("batch", 4.0) < 0.05 < loss("none", 0.5) < 1
    assert not loss("none", 2.0) < 2  # guessing gives 2.3


@pytest.mark.row(54)
@pytest.mark.parametrize("seed", [1, 2])
def test_on_a_hundred_cases_the_curves_of_train_and_test_part(seed):
    config = {"cases": 100, "hidden": 64, "activation": "relu", "lr": 0.3, "batch_size": 20, "epochs": 100}
    context = Alone(seed=seed)
    train(config | {"points": 10}, context)
    learned, unseen = (
        [point[f"{part}_loss"] for _, point in context.curve[2:]] for part in ("train", "test")
    )

    assert learned == sorted(learned, reverse=True)
    assert unseen[1:] == sorted(unseen[1:])
    assert unseen[-1] > 100 * learned[-1]
    assert context.curve[-1][1]["train_error"] == 0 < context.curve[-1][1]["test_error"]


@pytest.mark.row(54)
def test_no_case_is_in_two_parts():
    data = load("digits")
    rows = [tuple(row) for part in (data.train, data.validation, data.test) for row in part.inputs.tolist()]

    assert len(set(rows)) == len(rows) == 1797
