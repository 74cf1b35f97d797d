"""Data sets that are generated, or deformed at random."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator

from worker.datasets import curves, deformed, faces, load
from worker.datasets.deformed import BLOCK, DigitStream
from worker.datasets.digits import images as digits_in_order

pytestmark = pytest.mark.usefixtures("data_folder")


def a_curve(three, side, width):
    """An image pixel by pixel: Lagrange's polynomial, the nearest of 60 samples."""
    samples = []
    for step in range(60):
        t = step / 59
        weights = ((t - 0.5) * (t - 1) / 0.5, t * (t - 1) / -0.25, t * (t - 0.5) / 0.5)
        samples.append([sum(w * p[axis] for w, p in zip(weights, three, strict=True)) for axis in (0, 1)])
    image = np.zeros((side, side))
    for row, column in itertools.product(range(side), repeat=2):
        square = min((column + 0.5 - x) ** 2 + (row + 0.5 - y) ** 2 for x, y in samples)
        image[row, column] = math.exp(-square / (2 * width**2))
    return image


@pytest.mark.row(231)
@pytest.mark.parametrize(("side", "width"), [(28, 0.7), (14, 0.5)])
def test_an_image_is_that_of_the_curve_through_its_three_points(side, width):
    three = curves.points(3, Generator().manual_seed(5))

    for image, points in zip(curves.images(three, side), three.tolist(), strict=True):
        scaled = [[axis * side / 28 for axis in point] for point in points]
        np.testing.assert_allclose(image, a_curve(scaled, side, width), atol=1e-5)


@pytest.mark.row(231)
def test_a_curve_passes_its_points_at_its_start_and_end():
    three = curves.points(50, Generator().manual_seed(5))

    samples = curves.curves(three)

    torch.testing.assert_close(samples[:, [0, -1]], three[:, [0, 2]])


def test_the_points_of_curves_are_uniform_in_their_square():
    three = curves.points(20_000, Generator().manual_seed(5)).flatten()

    assert 4 <= three.min() < 4.01
    assert 23.99 < three.max() <= 24
    assert three.mean() == pytest.approx(14, abs=0.1)
    assert three.var() == pytest.approx(400 / 12, rel=0.01)


@pytest.mark.row(231)
def test_curves_have_the_statistics_that_are_known_and_are_far_from_linear():
    images = curves.images(curves.points(2000, Generator().manual_seed(1))).flatten(1).double()

    variances = torch.linalg.eigvalsh(torch.cov(images.T)).flip(0)
    assert images.mean() == pytest.approx(0.049, abs=0.001)
    assert variances.sum() == pytest.approx(21.9, abs=0.5)
    assert variances[6:].sum() == pytest.approx(15.6, abs=0.5)  # what six principal components leave


def test_curves_to_test_with_are_others_than_those_to_train_on():
    data = load("curves_14")

    both = {tuple(row) for row in data.test.inputs.tolist()} & {
        tuple(row) for row in data.train.inputs.tolist()
    }
    assert not both


def test_the_first_curves_are_the_same_however_many_are_made():
    few, many = (curves.points(count, Generator().manual_seed(1)) for count in (3, 500))

    assert torch.equal(few, many[:3])


@pytest.mark.row(233)
@given(start=st.integers(0, 5 * BLOCK), count=st.integers(0, 3 * BLOCK), cut=st.integers(0, 3 * BLOCK))
def test_the_stream_is_the_same_wherever_it_is_read_from(start, count, cut):
    stream, cut = DigitStream(9), min(cut, count)

    whole = stream.cases(start, count)
    first, second = stream.cases(start, cut), stream.cases(start + cut, count - cut)

    assert len(whole) == count
    assert torch.equal(whole.inputs, torch.cat([first.inputs, second.inputs]))
    assert torch.equal(whole.targets, torch.cat([first.targets, second.targets]))


@pytest.mark.row(233)
@pytest.mark.parametrize(("size", "start"), [(7, 0), (512, 0), (300, 10**9 + 5)])
def test_batches_of_the_stream_follow_each_other_for_ever(size, start):
    read = list(itertools.islice(DigitStream(9).batches(size, start), 4))

    whole = DigitStream(9).cases(start, 4 * size)
    assert torch.equal(torch.cat([part.inputs for part in read]), whole.inputs)
    assert torch.equal(torch.cat([part.targets for part in read]), whole.targets)


@pytest.mark.row(233)
def test_another_seed_is_another_stream_and_other_blocks_are_other_cases():
    cases = DigitStream(1).cases(0, 2 * BLOCK).inputs

    assert not torch.equal(cases[:BLOCK], cases[BLOCK:])
    assert not torch.equal(cases, DigitStream(2).cases(0, 2 * BLOCK).inputs)


def test_a_trial_that_writes_into_its_batch_leaves_the_stream_as_it_is():
    stream = DigitStream(3)
    before = stream.cases(0, 5).inputs.clone()

    stream.cases(0, 5).inputs.fill_(7)

    assert torch.equal(stream.cases(0, 5).inputs, before)


def test_the_stream_draws_from_the_first_1300_digits():
    chosen = DigitStream(4).cases(0, 20_000)

    pool = digits_in_order()[1][:1300]
    shares = torch.bincount(chosen.targets).double() / 20_000
    np.testing.assert_allclose(shares, np.bincount(pool) / 1300, atol=4 * 0.3 / math.sqrt(20_000))
    assert chosen.inputs.min() == 0
    assert chosen.inputs.max() == torch.tensor(1.2)


def test_a_digit_is_shifted_by_up_to_one_pixel_and_nothing_else_without_noise():
    images = digits_in_order()[0][:400]

    moved = deformed.deformed(images, np.random.default_rng(1), 0.0, 1.0)

    shifts = set()
    for image, made in zip(images[:, 0], moved[:, 0], strict=True):
        framed = np.pad(image, 1)
        shifts |= {
            (down, right)
            for down, right in itertools.product(range(3), repeat=2)
            if np.array_equal(framed[down : down + 8, right : right + 8], made)
        }
    assert shifts == set(itertools.product(range(3), repeat=2))


def test_the_noise_of_a_deformed_digit_has_the_deviation_asked_for():
    grey = np.full((2000, 1, 8, 8), 0.5, np.float32)

    inner = deformed.deformed(grey, np.random.default_rng(1), 0.05, 1.0)[
        :, :, 1:-1, 1:-1
    ]  # no frame moves in

    assert inner.std() == pytest.approx(0.05, rel=0.02)
    assert inner.mean() == pytest.approx(0.5, abs=0.001)


@pytest.mark.row(233)
def test_the_unlabeled_of_tfd_like_are_four_poorer_copies_of_each_digit_trained_on():
    data = load("tfd_like")

    assert len(data.unlabeled) == 4 * len(data.train)
    for digit, copies in zip(data.train.inputs[:100], data.unlabeled.view(-1, 4, 64), strict=False):
        framed = np.pad(digit.view(8, 8), 1)
        windows = [framed[r : r + 8, c : c + 8].ravel() for r, c in itertools.product(range(3), repeat=2)]
        nearest = np.linalg.norm(copies.numpy()[:, None] - windows, axis=2).min(axis=1)
        assert (nearest < 0.3 * 8 * 1.3).all()  # of 64 pixels with noise 0.3; an unrelated digit is farther
        assert (nearest > 0.5).all()


@pytest.mark.row(232)
def test_faces_have_mean_0_and_variance_1_in_each_pixel_of_those_trained_on():
    data = load("faces_small", substitute=True)

    deviation, mean = torch.std_mean(data.train.inputs.double(), dim=0, correction=0)
    assert data.shape == (1, 25, 25)
    torch.testing.assert_close(mean, torch.zeros_like(mean), atol=1e-5, rtol=0)
    torch.testing.assert_close(deviation, torch.ones_like(mean), atol=1e-5, rtol=0)


@pytest.mark.row(232)
def test_no_face_is_in_two_parts(monkeypatch):
    """Each person is a shade of grey, which no turning or enlarging changes."""
    shades = (torch.arange(40.0) / 40)[:, None, None, None].expand(40, 10, 64, 64)
    monkeypatch.setattr(faces, "synthetic", lambda: faces.Album(shades, "Shades of grey."))

    data = load("faces_small", substitute=True)

    parts = [data.train.inputs, data.validation.inputs, data.test.inputs]
    people = [(part.mean(dim=1) * 1000).round().unique() for part in parts]
    assert [len(some) for some in people] == [25, 5, 10]
    assert len(torch.cat(people).unique()) == 40


def test_variants_are_reproducible_and_all_different():
    picture = faces.synthetic().pictures[0, 0]

    one, other = (faces.varied(picture, 8, Generator().manual_seed(2)) for _ in range(2))

    assert torch.equal(one, other)
    assert len({variant.numpy().tobytes() for variant in one}) == 8


def sampled_by_hand(picture, angle, shrunk):
    """Bilinear samples at the middles of 25 x 25 squares of the frame, turned and shrunk about its middle."""
    made = np.zeros((25, 25))
    for row, column in itertools.product(range(25), repeat=2):
        x, y = ((index + 0.5) / 25 * 64 - 32 for index in (column, row))
        across = shrunk * (math.cos(angle) * x - math.sin(angle) * y) + 31.5
        along = shrunk * (math.sin(angle) * x + math.cos(angle) * y) + 31.5
        left, top = math.floor(across), math.floor(along)
        for r, c in itertools.product((top, top + 1), (left, left + 1)):
            weight = (1 - abs(across - c)) * (1 - abs(along - r))
            made[row, column] += weight * picture[min(max(r, 0), 63), min(max(c, 0), 63)]
    return made


@pytest.mark.parametrize(("degrees", "enlarged"), [(0, 1.4), (90, 1.4), (-90, 1.8), (37, 1.6)])
def test_a_variant_is_the_picture_turned_and_enlarged_about_its_middle(degrees, enlarged):
    picture = torch.rand(64, 64, generator=Generator().manual_seed(1))
    angle = torch.deg2rad(torch.tensor([float(degrees)]))

    made = faces._sampled(picture, angle, torch.tensor([1 / enlarged]))[0]

    np.testing.assert_allclose(made, sampled_by_hand(picture, angle.item(), 1 / enlarged), atol=2e-4)


def test_faces_are_turned_and_enlarged_as_far_as_it_says(monkeypatch):
    seen = []
    monkeypatch.setattr(faces, "_sampled", lambda picture, *how: seen.extend(how) or picture)

    faces.varied(torch.zeros(64, 64), 5000, Generator().manual_seed(1))

    degrees, enlarged = torch.rad2deg(seen[0]), 1 / seen[1]
    assert (degrees.min(), degrees.max()) == (pytest.approx(-90, abs=0.2), pytest.approx(90, abs=0.2))
    assert (enlarged.min(), enlarged.max()) == (pytest.approx(1.4, abs=1e-3), pytest.approx(1.8, abs=1e-3))


def test_drawn_faces_differ_more_between_people_than_between_pictures_of_one():
    pictures = faces.synthetic().pictures.flatten(2)

    means = pictures.mean(dim=1, keepdim=True)
    within = (pictures - means).square().sum(dim=2).mean()
    between = (means - means.mean(dim=0)).square().sum(dim=2).mean()
    assert pictures.min() >= 0
    assert pictures.max() <= 1
    assert between > 2 * within > 0
