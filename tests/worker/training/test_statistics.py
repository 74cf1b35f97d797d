import numpy as np
import pytest
import torch
from torch import nn

from worker.models.convolutional import Convolution, convolutional
from worker.models.perceptron import perceptron
from worker.training import statistics


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_network():
    return perceptron([4, 6, 5, 2], a_generator(), activation="relu").double()


INPUTS = torch.randn(30, 4, generator=a_generator(1), dtype=torch.float64)


def loss(outputs):
    return outputs.square().mean()


@pytest.mark.row(78)
def test_activities_are_what_each_layer_of_bent_units_answers():
    model = a_network()
    seen = statistics.activities(model, INPUTS)

    assert list(seen) == ["1", "3"]
    assert seen["1"].equal(model[:2](INPUTS))
    assert seen["3"].equal(model[:4](INPUTS))


@pytest.mark.row(78)
def test_a_unit_is_active_in_the_share_of_cases_in_which_it_is_above_zero():
    activity = torch.tensor([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]])

    assert statistics.active_share(activity).tolist() == [0.0, 0.5, 1.0]
    assert statistics.dead_units(activity) == 1


def test_the_places_of_a_channel_are_cases():
    activity = torch.tensor([[[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]])

    assert statistics.active_share(activity).tolist() == [0.75, 0.0]


@pytest.mark.row(78)
def test_a_unit_whose_bias_drowns_it_is_dead():
    model = a_network()
    with torch.no_grad():
        model[0].bias[2:4] = -1000

    assert statistics.dead_units(statistics.activities(model, INPUTS)["1"]) == 2


@pytest.mark.row(78)
def test_a_histogram_counts_every_activity_once():
    activity = statistics.activities(a_network(), INPUTS)["1"]
    counts, edges = statistics.histogram(activity, bins=7)

    assert counts.sum() == activity.numel()
    assert (edges[0], edges[-1]) == (activity.min(), activity.max())
    assert counts[0] == (activity < edges[1].item()).sum()


@pytest.mark.row(64)
@pytest.mark.row(78)
def test_signals_are_the_root_mean_squares_of_sums_and_of_their_gradients():
    model = a_network()
    sums = model[:3](INPUTS).detach().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(model[3:](sums)), sums)

    seen = statistics.signals(model, loss, INPUTS)
    assert list(seen) == ["0", "2", "4"]
    assert seen["2"].forward == pytest.approx(sums.square().mean().sqrt().item())
    assert seen["2"].backward == pytest.approx(gradient.square().mean().sqrt().item())


@pytest.mark.row(64)
def test_doubled_weights_let_the_signal_grow_twice_as_fast_in_each_layer():
    model = perceptron([50] * 11, a_generator(), activation="relu").double()
    inputs = torch.randn(20, 50, generator=a_generator(1), dtype=torch.float64)
    usual = statistics.signals(model, loss, inputs)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    doubled = statistics.signals(model, loss, inputs)

    for depth, layer in enumerate(usual, start=1):
        assert doubled[layer].forward == pytest.approx(usual[layer].forward * 2**depth, rel=1e-9)


@pytest.mark.row(78)
def test_what_is_measured_during_training_is_a_file_that_numpy_reads(tmp_path):
    model = a_network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    paths = []
    for update in range(3):
        paths.append(statistics.save(tmp_path / "run", update, statistics.measured(model, loss, INPUTS)))
        optimizer.zero_grad()
        loss(model(INPUTS)).backward()
        optimizer.step()

    assert [path.name for path in paths] == [f"statistics-00000{update}.npz" for update in range(3)]
    first, last = np.load(paths[0]), np.load(paths[-1])
    assert set(first) == {
        *(
            f"{kind}/{layer}"
            for kind in ("histogram", "histogram_edges", "active_share", "dead_units")
            for layer in "13"
        ),
        *(f"{kind}/{layer}" for kind in ("forward", "backward") for layer in "024"),
    }
    assert last["forward/4"] < first["forward/4"]


def test_looking_changes_neither_the_model_nor_its_gradients():
    model = a_network()
    statistics.measured(model, loss, INPUTS)

    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())


def test_a_convolutional_network_has_statistics_too():
    model = convolutional((1, 6, 6), [Convolution(filters=3, kernel=3)], [4, 2], a_generator())
    arrays = statistics.measured(model, loss, torch.randn(5, 1, 6, 6, generator=a_generator()))

    assert arrays["active_share/1"].shape == (3,)


@pytest.mark.row(78)
def test_the_weights_of_a_unit_are_an_image_from_its_lowest_to_its_highest():
    layer = nn.Linear(4, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[-1.0, 0.0, 1.0, 3.0], [7.0, 7.0, 7.0, 7.0]]))

    images = statistics.weight_images(layer, (2, 2))
    assert images.tolist() == [[[0, 64], [128, 255]], [[0, 0], [0, 0]]]


@pytest.mark.row(78)
def test_images_stand_side_by_side_in_a_picture_file(tmp_path):
    images = np.arange(3 * 2, dtype=np.uint8).reshape(3, 1, 2) + 1
    statistics.save_images(tmp_path / "weights.pgm", images)

    header, pixels = (tmp_path / "weights.pgm").read_bytes().split(b"\n", maxsplit=1)
    assert header == b"P5 5 3 255"
    sheet = np.frombuffer(pixels, dtype=np.uint8).reshape(3, 5)
    assert sheet.tolist() == [[1, 2, 0, 3, 4], [0, 0, 0, 0, 0], [5, 6, 0, 0, 0]]
