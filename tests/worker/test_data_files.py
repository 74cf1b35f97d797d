"""The formats in which MNIST, CIFAR-10 and Olivetti are published, with small made-up files."""

import gzip
import hashlib
import io
import os
import pickle
import struct

import numpy as np
import pytest
import torch
from scipy.io import savemat

from worker.datasets import DataAbsent, DataDamaged, cifar10, faces, load, mnist
from worker.datasets.mnist import scaled_down

TRAIN, TEST = 24, 12
IDX = {
    "x_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "x_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
SLICES = [slice(start, start + 5) for start in range(0, 20, 5)] + [slice(20, TRAIN)]


def made_up(*shape):
    chance = np.random.default_rng(1)
    arrays = {}
    for part, count in (("train", TRAIN), ("test", TEST)):
        arrays[f"x_{part}"] = chance.integers(256, size=(count, *shape), dtype=np.uint8)
        arrays[f"y_{part}"] = (np.arange(count) % 10).astype(np.uint8)
    return arrays


@pytest.fixture
def digits():
    return made_up(28, 28)


@pytest.fixture
def photographs():
    """Colours last."""
    return made_up(32, 32, 3)


def idx_file(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def md5(content):
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def write_idx(folder, arrays, *, zipped=False):
    for key, name in IDX.items():
        content = idx_file(arrays[key])
        (folder / (name + ".gz" * zipped)).write_bytes(gzip.compress(content) if zipped else content)


def batches(arrays):
    """Name, rows with colours first, and classes of each file of CIFAR-10."""
    rows = {part: arrays[f"x_{part}"].transpose(0, 3, 1, 2).reshape(-1, 3072) for part in ("train", "test")}
    for number, some in enumerate(SLICES, start=1):
        yield f"data_batch_{number}", rows["train"][some], arrays["y_train"][some].tolist()
    yield "test_batch", rows["test"], arrays["y_test"].tolist()


def write_batches(folder, arrays):
    folder.mkdir(exist_ok=True)
    for name, rows, classes in batches(arrays):
        (folder / name).write_bytes(pickle.dumps({b"data": rows, b"labels": classes}, protocol=4))


def same(one, other):
    return all(
        torch.equal(getattr(getattr(one, part), tensor), getattr(getattr(other, part), tensor))
        for part in ("train", "validation", "test")
        for tensor in ("inputs", "targets")
    )


@pytest.mark.row(229)
@pytest.mark.parametrize("form", ["npz", "idx", "gz"])
def test_each_form_of_mnist_gives_the_images_with_their_classes(data_folder, digits, form):
    if form == "npz":
        np.savez_compressed(data_folder / "mnist.npz", **digits)
    else:
        write_idx(data_folder, digits, zipped=form == "gz")

    data = load("mnist")

    assert (len(data.train), len(data.validation), len(data.test)) == (20, 4, 12)
    assert (data.shape, data.classes) == ((1, 28, 28), 10)
    expected = torch.tensor(digits["x_test"] / 255, dtype=torch.float32)
    torch.testing.assert_close(data.test.inputs.view(-1, 28, 28), expected)
    assert data.test.targets.tolist() == digits["y_test"].tolist()
    whole = load("mnist", validation=False).train
    class_of = {
        image.tobytes(): int(label) for image, label in zip(digits["x_train"], digits["y_train"], strict=True)
    }
    images = (whole.inputs * 255).round().to(torch.uint8).numpy()
    assert [class_of.pop(image.tobytes()) for image in images] == whole.targets.tolist()
    assert not class_of, "every image is there once"


def test_files_in_two_folders_are_two_data_sets(data_folder, digits, tmp_path):
    np.savez(data_folder / "mnist.npz", **digits)
    (tmp_path / "other").mkdir()
    np.savez(tmp_path / "other" / "mnist.npz", **(digits | {"x_test": 255 - digits["x_test"]}))

    assert not same(load("mnist"), load("mnist", folder=tmp_path / "other"))


def test_a_file_that_is_replaced_is_read_again(data_folder, digits):
    np.savez(data_folder / "mnist.npz", **digits)
    before = load("mnist")
    np.savez_compressed(data_folder / "mnist.npz", **(digits | {"x_test": 255 - digits["x_test"]}))

    assert not same(before, load("mnist"))


@pytest.mark.parametrize("form", ["npz", "idx", "gz"])
def test_the_published_mnist_is_told_from_another_in_every_form(data_folder, digits, form, monkeypatch):
    published = {key: md5(idx_file(array)) for key, array in digits.items()}
    monkeypatch.setattr(mnist, "PUBLISHED", published | {"y_test": "0" * 32})
    if form == "npz":
        np.savez(data_folder / "mnist.npz", **digits)
    else:
        write_idx(data_folder, digits, zipped=form == "gz")
    assert "not the published ones: y_test." in load("mnist").provenance

    monkeypatch.setattr(mnist, "PUBLISHED", published)
    monkeypatch.setattr(mnist, "VERSION", 0)  # what was kept speaks for itself
    assert "the published images and classes." in load("mnist").provenance


def test_the_provenance_has_the_checksum_of_the_file(data_folder, digits):
    np.savez(data_folder / "mnist.npz", **digits)

    digest = hashlib.sha256((data_folder / "mnist.npz").read_bytes()).hexdigest()
    assert f"mnist.npz (SHA-256 {digest})" in load("mnist").provenance


def test_a_file_of_four_that_is_missing_makes_the_set_absent(data_folder, digits):
    write_idx(data_folder, digits)
    (data_folder / IDX["y_test"]).unlink()

    with pytest.raises(DataAbsent):
        load("mnist")


@pytest.mark.parametrize("side", [16, 8])
def test_mnist_scaled_down_keeps_the_mean_of_each_image(data_folder, digits, side):
    np.savez(data_folder / "mnist.npz", **digits)

    data, scaled = load("mnist"), load(f"mnist_{side}")

    assert scaled.shape == (1, side, side)
    torch.testing.assert_close(scaled.train.inputs.mean(dim=1), data.train.inputs.mean(dim=1))


def test_a_pixel_scaled_down_is_the_mean_over_its_area():
    images = np.random.default_rng(3).random((2, 1, 7, 7), dtype=np.float32)

    fine = images.repeat(4, axis=2).repeat(4, axis=3)  # 28 x 28: a multiple of 4 as well as of 7
    expected = fine.reshape(2, 1, 4, 7, 4, 7).mean(axis=(3, 5))
    np.testing.assert_allclose(scaled_down(images, 4), expected, rtol=1e-5)


def test_restricted_mnist_has_a_tenth_labelled_and_the_other_inputs_unlabeled(data_folder):
    digits = made_up(28, 28)
    digits = {key: np.tile(array, (5,) + (1,) * (array.ndim - 1)) for key, array in digits.items()}
    np.savez(data_folder / "mnist.npz", **digits)

    data, whole = load("restricted_mnist", validation=False), load("mnist", validation=False)

    assert len(data.train) == 12
    assert torch.equal(torch.cat([data.train.inputs, data.unlabeled]), whole.train.inputs)
    assert torch.equal(data.train.targets, whole.train.targets[:12])


@pytest.mark.row(230)
@pytest.mark.parametrize("place", [".", "cifar-10-batches-py"])
def test_batches_of_cifar_10_are_what_the_arrays_are(data_folder, photographs, tmp_path, place):
    write_batches(data_folder / place, photographs)
    (tmp_path / "arrays").mkdir()
    np.savez(tmp_path / "arrays" / "cifar10-12k.npz", **photographs)

    data, arrays = load("cifar10"), load("cifar10", folder=tmp_path / "arrays")

    assert same(data, arrays)
    assert (data.shape, data.classes) == ((3, 32, 32), 10)
    expected = torch.tensor(photographs["x_test"].transpose(0, 3, 1, 2) / 255, dtype=torch.float32)
    torch.testing.assert_close(data.test.inputs.view(-1, *data.shape), expected)


def test_the_published_cifar_10_is_told_from_another(data_folder, photographs, monkeypatch):
    write_batches(data_folder, photographs)
    published = {file.name: md5(file.read_bytes()) for file in sorted(data_folder.iterdir())}
    monkeypatch.setattr(cifar10, "PUBLISHED", published | {"data_batch_3": "0" * 32})
    assert "not the published ones: data_batch_3." in load("cifar10").provenance

    monkeypatch.setattr(cifar10, "PUBLISHED", published)
    monkeypatch.setattr(cifar10, "VERSION", 0)
    assert "the published files." in load("cifar10").provenance


def test_arrays_of_cifar_10_are_said_to_be_unverified(data_folder, photographs):
    np.savez(data_folder / "cifar10.npz", **photographs)

    assert "24 training and 12 test cases that no published checksum verifies" in load("cifar10").provenance


def in_python_2(rows, classes):
    """The pickle of a batch as Python 2 wrote it: byte strings, and what arrays were made of then."""

    def text(value):
        return b"T" + struct.pack("<I", len(value)) + value

    dtype = b"cnumpy\ndtype\n" + text(b"u1") + b"K\x00K\x01\x87R(K\x03" + text(b"|")
    dtype += b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R(K\x01"
    array += b"".join(b"J" + struct.pack("<i", size) for size in rows.shape) + b"\x86" + dtype
    array += b"I00\n" + text(rows.tobytes()) + b"tb"
    labels = b"](" + b"".join(b"K" + bytes([label]) for label in classes) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(b"labels") + labels + b"u."


def test_a_batch_of_python_2_is_read(data_folder, photographs, tmp_path):
    for name, rows, classes in batches(photographs):
        (data_folder / name).write_bytes(in_python_2(rows, classes))
    write_batches(tmp_path / "new", photographs)

    assert same(load("cifar10"), load("cifar10", folder=tmp_path / "new"))


class Evil:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def test_nothing_in_a_pickle_is_executed(data_folder, photographs, tmp_path):
    write_batches(data_folder, photographs)
    evil = pickle.dumps({b"data": Evil(tmp_path / "done"), b"labels": []})
    (data_folder / "data_batch_2").write_bytes(evil)

    with pytest.raises(DataDamaged, match=r"data_batch_2.*mkdir"):
        load("cifar10")
    assert not (tmp_path / "done").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x02.",
        pickle.dumps([1]),
        pickle.dumps({b"data": 3, b"labels": [1]}),
        pickle.dumps({b"data": 3, b"labels": 1}),
        pickle.dumps({b"data": 1}),
    ],
)
def test_a_batch_that_is_none_is_named(data_folder, photographs, content):
    write_batches(data_folder, photographs)
    (data_folder / "data_batch_1").write_bytes(content)

    with pytest.raises(DataDamaged, match="data_batch_1"):
        load("cifar10")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda content: content[:7],
        lambda content: content[:-1],
        lambda content: content + b"\x00",
        lambda content: content[:2] + b"\x0d" + content[3:],
        lambda content: gzip.compress(content)[:-9],
    ],
    ids=["empty", "cut in the head", "cut", "too long", "floats", "cut when zipped"],
)
def test_a_damaged_idx_file_is_named(data_folder, digits, spoil):
    write_idx(data_folder, digits)
    file = data_folder / IDX["x_test"]
    file.write_bytes(spoil(file.read_bytes()))

    with pytest.raises(DataDamaged, match=IDX["x_test"]):
        load("mnist")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and no more", b"\x93NUMPY", npy(np.zeros(3))])
def test_a_damaged_npz_file_is_named(data_folder, content):
    (data_folder / "mnist.npz").write_bytes(content)

    with pytest.raises(DataDamaged, match=r"mnist\.npz.*Obtain it again"):
        load("mnist", substitute=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"x_train": np.zeros((TRAIN, 28, 27), np.uint8)},
        {"x_test": np.zeros((TEST, 28, 28), np.float32)},
        {"y_train": np.zeros(TRAIN - 1, np.uint8)},
        {"y_test": np.full(TEST, 10, np.uint8)},
        {"y_test": np.zeros(TEST)},
        {"x_test": np.zeros((0, 28, 28), np.uint8), "y_test": np.zeros(0, np.uint8)},
        {"y_test": np.array([len] * TEST)},
    ],
)
def test_arrays_that_are_no_digits_with_classes_are_refused(data_folder, digits, changed):
    np.savez(data_folder / "mnist.npz", **(digits | changed))

    with pytest.raises(DataDamaged, match=r"mnist\.npz"):
        load("mnist")


def test_an_array_that_is_missing_is_named(data_folder, digits):
    np.savez(data_folder / "mnist.npz", x_train=digits["x_train"])

    with pytest.raises(DataDamaged, match="x_train, y_train, x_test, y_test"):
        load("mnist")


@pytest.fixture
def album():
    """Pictures and people, not in order."""
    chance = np.random.default_rng(5)
    pictures = chance.integers(256, size=(400, 64, 64), dtype=np.uint8)
    return pictures, chance.permutation(np.repeat(np.arange(40), 10))


def by_person(inputs, targets):
    return sorted(zip(targets.tolist(), (inputs.flatten(1) * 255).round().sum(dim=1).tolist(), strict=True))


@pytest.mark.row(232)
def test_each_person_of_olivetti_is_in_every_part_and_each_picture_in_one(data_folder, album):
    pictures, people = album
    np.savez(data_folder / "olivetti.npz", x=pictures, y=people)

    data = load("olivetti")

    counts = [torch.bincount(part.targets).tolist() for part in (data.train, data.validation, data.test)]
    assert counts == [[6] * 40, [2] * 40, [2] * 40]
    inputs = torch.cat([data.train.inputs, data.validation.inputs, data.test.inputs])
    targets = torch.cat([data.train.targets, data.validation.targets, data.test.targets])
    expected = by_person(torch.tensor(pictures) / 255, torch.tensor(people))
    assert by_person(inputs, targets) == expected


def test_the_matlab_file_of_olivetti_gives_upright_pictures(data_folder, album, tmp_path, monkeypatch):
    pictures, _ = album
    columns = pictures.transpose(0, 2, 1).reshape(400, -1).T
    savemat(data_folder / "olivettifaces.mat", {"faces": columns})
    (tmp_path / "arrays").mkdir()
    np.savez(tmp_path / "arrays" / "olivetti.npz", x=pictures, y=np.repeat(np.arange(40), 10))

    data = load("olivetti")

    assert same(data, load("olivetti", folder=tmp_path / "arrays"))
    assert data.provenance.endswith(": not the published file.")
    digest = hashlib.sha256((data_folder / "olivettifaces.mat").read_bytes()).hexdigest()
    monkeypatch.setattr(faces, "PUBLISHED", digest)
    assert load("olivetti").provenance.endswith(": the published file.")


@pytest.mark.parametrize(
    ("name", "content"),
    [("olivettifaces.mat", b""), ("olivettifaces.mat", b"MATLAB 5.0 MAT-file"), ("olivetti.npz", b"PK")],
)
def test_a_damaged_file_of_olivetti_is_named(data_folder, name, content):
    (data_folder / name).write_bytes(content)

    with pytest.raises(DataDamaged, match=name):
        load("olivetti")


@pytest.mark.parametrize(
    "changed",
    [
        {"x": np.zeros((400, 64, 63), np.uint8)},
        {"x": np.zeros((400, 64, 64))},
        {"y": np.zeros(400, np.uint8)},
        {"y": np.repeat(np.arange(41), 10)[:400] + 1},
    ],
)
def test_arrays_that_are_no_album_are_refused(data_folder, album, changed):
    np.savez(data_folder / "olivetti.npz", **({"x": album[0], "y": album[1]} | changed))

    with pytest.raises(DataDamaged, match=r"olivetti\.npz"):
        load("olivetti")
