"""Copies of images, shifted and turned: more cases to train on."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator
from torch.nn.functional import pad

from worker.datasets import Part, load
from worker.datasets.copies import moved, with_copies
from worker.tasks.alone import Alone
from worker.tasks.classifier import train

SHAPE = (2, 5, 7)


def some_images(count=1, shape=SHAPE):
    return torch.rand(count, *shape, generator=Generator().manual_seed(3)) + 0.1


def same_for_all(images, *, angle=0.0, down=0.0, right=0.0):
    amounts = {"angle": angle, "down": down, "right": right}
    return moved(images, **{name: torch.full((len(images),), value) for name, value in amounts.items()})


def some_cases(count=40):
    return Part(some_images(count).flatten(1), torch.arange(count))


@pytest.mark.row(45)
@given(down=st.integers(-3, 3), right=st.integers(-3, 3))
def test_an_image_is_shifted_by_whole_pixels_and_nothing_comes_in(down, right):
    images = some_images()
    framed = pad(images, (7, 7, 5, 5))

    made = same_for_all(images, down=float(down), right=float(right))

    truth = framed[:, :, 5 - down : 10 - down, 7 - right : 14 - right]
    torch.testing.assert_close(made, truth, rtol=0, atol=1e-5)


@pytest.mark.row(45)
def test_half_a_pixel_is_the_mean_of_two():
    images = some_images()

    made = same_for_all(images, right=0.5)

    truth = (images[..., 1:] + images[..., :-1]) / 2
    torch.testing.assert_close(made[..., 1:], truth, rtol=0, atol=1e-5)


@pytest.mark.row(45)
@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_square_image_is_turned_counter_clockwise(quarters):
    images = some_images(shape=(1, 6, 6))

    made = same_for_all(images, angle=90.0 * quarters)

    torch.testing.assert_close(made, torch.rot90(images, quarters, (2, 3)), rtol=0, atol=1e-5)


def test_an_image_that_is_no_square_is_turned_about_its_middle_before_it_is_shifted():
    images = torch.zeros(1, 1, 7, 11)
    images[0, 0, 3, 8] = 1.0  # three to the right of the middle

    made = same_for_all(images, angle=90.0, down=2.0, right=1.0)

    assert made[0, 0].round().nonzero().tolist() == [[2, 6]]  # three above it, then moved


@pytest.mark.row(45)
def test_the_cases_come_first_and_each_copy_has_the_class_of_its_case():
    cases = some_cases()

    more = with_copies(cases, SHAPE, Generator().manual_seed(1), copies=3, shift=0.0, turn=0.0)

    assert torch.equal(more.inputs[:40], cases.inputs)
    torch.testing.assert_close(more.inputs, cases.inputs.repeat(4, 1), rtol=0, atol=1e-5)
    assert torch.equal(more.targets, cases.targets.repeat(4))


@pytest.mark.row(45)
def test_copies_are_shifted_and_turned_by_all_amounts_up_to_the_most(monkeypatch):
    drawn = {}
    monkeypatch.setattr("worker.datasets.copies.moved", lambda images, **told: drawn.update(told) or images)

    with_copies(some_cases(500), SHAPE, Generator().manual_seed(1), copies=4, shift=1.5, turn=20.0)

    for name, most in {"angle": 20.0, "down": 1.5, "right": 1.5}.items():
        assert drawn[name].abs().max() <= most
        counts = torch.histc(drawn[name], bins=8, min=-most, max=most)
        assert ((counts - 250).abs() < 4 * 250**0.5).all()
    pairs = torch.corrcoef(torch.stack(list(drawn.values()))) - torch.eye(3)
    assert pairs.abs().max() < 4 / 2000**0.5


@pytest.mark.row(45)
def test_a_training_with_copies_sees_them_and_is_judged_by_the_same_others():
    plain, more = Alone(seed=1), Alone(seed=1)
    config = {"cases": 100, "batch_size": 20, "epochs": 2, "points": 2}
    train(config, plain)
    train(config | {"copies": 4}, more)

    updates = [context.curve[-1][0] for context in (plain, more)]
    assert updates == [2 * 100 / 20, 2 * 500 / 20]
    first = [context.curve[0][1] for context in (plain, more)]
    assert first[0]["test_loss"] == first[1]["test_loss"]
    assert first[0]["validation_loss"] == first[1]["validation_loss"]
    assert first[0]["train_loss"] != first[1]["train_loss"]


def test_copies_of_what_is_no_image_are_refused():
    with pytest.raises(ValueError, match=r"'copies'.*wine has no images"):
        train({"dataset": "wine", "copies": 1}, Alone())


def test_only_the_first_cases_are_trained_on_when_so_many_are_asked_for():
    contexts = [Alone(), Alone()]
    for context, cases in zip(contexts, (30, 0), strict=True):
        train({"cases": cases, "epochs": 1, "batch_size": 10}, context)

    assert [context.curve[-1][0] for context in contexts] == [3, len(load("digits").train) // 10]
