from dataclasses import replace

import pytest
import torch

from optimizers import MeanOnlyBatchNorm
from worker.datasets import Part, load
from worker.tasks.alone import Alone
from worker.tasks.autoencoder import Autoencoder, network, squared_distance, train
from worker.tasks.network import settings
from worker.training.streams import Streams

SHORT = {"updates": 40, "points": 2, "lr": 0.02, "batch_size": 100}


def trained(**config):
    context = Alone(seed=2)
    return train(SHORT | config, context), context.curve


@pytest.mark.parametrize(
    ("loss", "activation"), [("cross_entropy", "logistic"), ("squared", "relu"), ("squared_logistic", "tanh")]
)
@pytest.mark.parametrize("optimizer", ["adam", "kfac"])
def test_it_learns_to_reconstruct_by_every_loss(loss, activation, optimizer):
    value, curve = trained(loss=loss, activation=activation, optimizer=optimizer)

    assert value < 0.9 * curve[0][1]["validation_loss"]
    assert curve[-1][1]["validation_error"] < 0.9 * curve[0][1]["validation_error"]


def test_layers_shrink_evenly_from_hidden_to_code():
    assert Autoencoder(hidden=400, depth=3, code=25).sizes(784) == [784, 400, 100, 25]
    assert Autoencoder(depth=1, code=25).sizes(784) == [784, 25]


def test_pretraining_lowers_where_the_training_begins():
    pretrained = trained(pretraining=True, updates=1)[1][0][1]["train_loss"]

    assert pretrained < 0.9 * trained(updates=1)[1][0][1]["train_loss"]


def test_pretraining_comes_from_the_seed():
    config = {"pretraining": True, "pretraining_noise": 0.2}

    assert trained(**config)[0] == trained(**config)[0]


def test_the_networks_of_the_literature_can_be_chosen():
    chosen, images = settings(Autoencoder, {"network": "curves_autoencoder"}), torch.zeros(1, 784)

    model = network(chosen, replace(load("digits"), train=Part(images, images)), Streams(1)("weights"))

    assert sum(parameter.numel() for parameter in model.parameters()) == 842_340


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"network": "mnist_autoencoder"}, "'network'.*784.*digits has 64"),
        ({"loss": "cross_entropy", "dataset": "wine"}, "'loss'.*wine.*'squared'"),
        ({"codes": 3}, "'codes'.*'code'"),
    ],
)
def test_a_wrong_setting_is_named_with_its_cure(config, said):
    with pytest.raises(ValueError, match=said):
        train(config, Alone())


def test_the_error_is_the_squared_distance_of_the_prediction():
    outputs, targets = torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.5]])

    assert squared_distance(torch.sigmoid, outputs, targets).tolist() == [0.25]


@pytest.mark.parametrize("name", ["own", "curves_autoencoder"])
def test_a_normalisation_follows_each_hidden_layer_but_neither_code_nor_outputs(name):
    chosen = settings(Autoencoder, {"network": name, "normalisation": "mean_only", "hidden": 20, "depth": 3})
    images = torch.zeros(1, 64 if name == "own" else 784)

    model = network(chosen, replace(load("digits"), train=Part(images, images)), Streams(1)("weights"))

    for part in model:
        *hidden, last = [layer for layer in part if isinstance(layer, torch.nn.Linear)]
        normalisations = [layer for layer in part if isinstance(layer, MeanOnlyBatchNorm)]
        assert [len(layer.bias) for layer in normalisations] == [layer.out_features for layer in hidden]
        assert last.bias is not None


@pytest.mark.parametrize("normalisation", ["batch", "mean_only"])
def test_it_learns_to_reconstruct_with_a_normalisation(normalisation):
    value, curve = trained(normalisation=normalisation, optimizer="sgd", updates=100)

    assert value < 0.9 * curve[0][1]["validation_loss"]


def test_a_normalisation_and_batches_in_parts_do_not_go_together():
    with pytest.raises(ValueError, match=r"'chunk'.*whole batch"):
        train({"normalisation": "batch", "optimizer": "sgd", "chunk": 10}, Alone())
