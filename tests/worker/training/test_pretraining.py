import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from tests import dense
from worker.datasets import load
from worker.models.autoencoder import autoencoder
from worker.training.pretraining import corrupted, pretrain


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def a_model(sizes=(64, 30, 10)):
    return autoencoder(sizes, a_generator())


def some_digits():
    return load("digits").train.inputs[:500]


def error(model):
    with torch.no_grad():
        return binary_cross_entropy_with_logits(model(some_digits()), some_digits()).item()


@pytest.mark.row(24)
@pytest.mark.parametrize("noise", [0.0, 0.3], ids=["plain", "denoising"])
def test_a_pretrained_autoencoder_starts_better_than_a_random_one(noise):
    model = a_model()
    random = error(model)
    pretrain(model, some_digits(), a_generator(1), loss=binary_cross_entropy_with_logits, noise=noise)

    assert error(model) < 0.7 * random


@pytest.mark.row(24)
def test_every_layer_is_pretrained():
    model, untouched = a_model(), a_model()
    pretrain(model, some_digits(), a_generator(1), loss=binary_cross_entropy_with_logits, epochs=1)

    for trained, before in zip(model.parameters(), untouched.parameters(), strict=True):
        assert (trained != before).any()


@pytest.mark.row(24)
def test_a_layer_is_trained_on_what_the_finished_layers_below_make_of_the_inputs():
    # Pairs that are trained one by one, by hand, are the layers of the whole.
    whole, below = a_model((64, 20, 5)), a_model((64, 20))
    with torch.no_grad():
        below.encoder[0].load_state_dict(whole.encoder[0].state_dict())
        below.decoder[0].load_state_dict(whole.decoder[2].state_dict())
    first = nn.Sequential(nn.Sequential(below.encoder[0], nn.Sigmoid()), below.decoder[0])
    below_alone = nn.Sequential()
    below_alone.add_module("encoder", first[0])
    below_alone.add_module("decoder", nn.Sequential(first[1]))

    pretrain(whole, some_digits(), a_generator(1), loss=binary_cross_entropy_with_logits, epochs=1)
    pretrain(below_alone, some_digits(), a_generator(1), loss=binary_cross_entropy_with_logits, epochs=1)
    assert whole.encoder[0].weight.equal(below.encoder[0].weight)
    assert whole.decoder[2].weight.equal(below.decoder[0].weight)


@pytest.mark.row(24)
def test_only_the_outermost_pair_is_judged_by_the_loss_and_always_by_the_whole_inputs():
    model, inputs, read, judged = a_model(), some_digits() + 1, [], []
    model.encoder[0].register_forward_pre_hook(lambda _, arguments: read.append(arguments[0]))

    def loss(outputs, targets):
        judged.append(targets)
        return (outputs - targets).square().mean()

    pretrain(model, inputs, a_generator(1), loss=loss, noise=0.3, epochs=1, batch_size=250)
    assert [tuple(targets.shape) for targets in judged] == [(250, 64)] * 2
    assert all((targets > 0).all() for targets in judged)
    assert all((rows == 0).any() for rows in read[:2])


def test_equal_seeds_pretrain_alike():
    models = a_model(), a_model(), a_model()
    for model, seed in zip(models, (1, 1, 2), strict=True):
        pretrain(
            model,
            some_digits(),
            a_generator(seed),
            loss=binary_cross_entropy_with_logits,
            noise=0.2,
            epochs=1,
        )

    same, again, other = map(dense.parameters_of, models)
    assert same.equal(again)
    assert not same.equal(other)


def test_noise_sets_its_share_of_the_inputs_to_zero_and_leaves_the_rest():
    inputs = torch.full((200, 100), 3.0)
    noisy = corrupted(inputs, 0.3, a_generator())

    assert set(noisy.unique().tolist()) == {0.0, 3.0}
    assert abs((noisy == 0).double().mean().item() - 0.3) < 4 * (0.3 * 0.7 / 20_000) ** 0.5


def test_a_decoder_that_is_no_mirror_image_is_refused():
    model = autoencoder([64, 30, 10], a_generator(), decoder=[10, 20, 64])

    with pytest.raises(ValueError, match="do not mirror"):
        pretrain(model, some_digits(), a_generator(), loss=binary_cross_entropy_with_logits)
