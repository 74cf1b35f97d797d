import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from worker.datasets import DataAbsent, curves, faces, load, names
from worker.datasets.dataset import ordered

pytestmark = pytest.mark.usefixtures("data_folder")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "datasets.md"
SIZES = {  # train, validation, test; nothing of it needs a file
    "digits": (1200, 300, 297),
    "restricted_digits": (160, 40, 797),
    "tfd_like": (1200, 300, 297),
    "nistp_like": (18_000, 2_000, 5_000),
    "breast_cancer": (381, 94, 94),
    "wine": (120, 29, 29),
    "curves": (18_000, 2_000, 10_000),
    "curves_14": (1_800, 200, 1_000),
    "mnist": (1200, 300, 297),
    "mnist_16": (1200, 300, 297),
    "mnist_8": (1200, 300, 297),
    "restricted_mnist": (160, 40, 797),
    "cifar10": (1200, 300, 297),
    "olivetti": (240, 80, 80),
    "faces": (103_500, 20_700, 41_400),
    "faces_small": (5_000, 1_000, 2_000),
}
FROM_FILES = [
    "mnist",
    "mnist_16",
    "mnist_8",
    "restricted_mnist",
    "cifar10",
    "olivetti",
    "faces",
    "faces_small",
]


@pytest.fixture
def quick(monkeypatch):
    """The two large sets keep their numbers of cases; each case is cheaper."""
    monkeypatch.setattr(curves, "SAMPLES", 2)
    monkeypatch.setattr(faces, "SMALL", 2)


def test_every_data_set_has_its_row_in_the_reference():
    table = PAGE.read_text().split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE)

    assert dict(rows) == dict(names())


def test_there_is_a_size_to_expect_of_every_data_set():
    assert set(SIZES) == set(names())


@pytest.mark.row(229)
@pytest.mark.row(230)
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", SIZES)
def test_every_data_set_has_the_same_interface_with_or_without_files(name):
    data = load(name, substitute=True)

    assert tuple(map(len, (data.train, data.validation, data.test))) == SIZES[name]
    for part in (data.train, data.validation, data.test):
        assert part.inputs.dtype == torch.float32
        assert part.inputs.isfinite().all()
        assert part.inputs.shape[1] == torch.Size(data.shape).numel()
        assert len(part.targets) == len(part.inputs)
        if data.classes is None:
            assert part.targets is part.inputs or torch.equal(part.targets, part.inputs)
        else:
            assert part.targets.dtype == torch.long
            assert set(part.targets.tolist()) <= set(range(data.classes))
    assert data.classes is None or len(data.train.targets.unique()) == data.classes
    assert (data.unlabeled is not None) == (name in {"restricted_digits", "restricted_mnist", "tfd_like"})
    assert data.name == name


@pytest.mark.parametrize("name", [name for name in SIZES if name not in {"faces", "curves"}])
def test_without_validation_train_goes_on_with_what_was_held_back(name):
    data, whole = load(name, substitute=True), load(name, substitute=True, validation=False)

    assert len(whole.validation) == 0
    assert torch.equal(whole.train.inputs, torch.cat([data.train.inputs, data.validation.inputs]))
    assert torch.equal(whole.train.targets, torch.cat([data.train.targets, data.validation.targets]))
    assert torch.equal(whole.test.inputs, data.test.inputs)


def test_a_name_that_is_none_is_told_which_there_are():
    with pytest.raises(ValueError, match=r"no data set 'minst'; there are digits, .*mnist"):
        load("minst")


@pytest.mark.parametrize("name", FROM_FILES)
def test_files_that_are_absent_are_told_with_where_they_were_looked_for_and_what_to_do(name, data_folder):
    with pytest.raises(DataAbsent) as absent:
        load(name)

    said = str(absent.value)
    assert str(data_folder) in said
    assert "looked for" in said
    assert "https://" in said
    assert "THIESSEN_DATA_DIR" in said


@pytest.mark.row(229)
@pytest.mark.row(230)
@pytest.mark.parametrize("name", [name for name in FROM_FILES if name != "faces"])
def test_a_substitute_says_what_it_stands_in_for(name, data_folder):
    provenance = load(name, substitute=True).provenance

    assert re.match(r"(Handwritten digits of scikit-learn \d|Synthetic faces \(seed \d+\))", provenance)
    assert provenance.endswith(f"In place of {name}, which is not in {data_folder}.")


def test_the_folder_that_is_named_wins_over_the_setting(tmp_path):
    with pytest.raises(DataAbsent, match=str(tmp_path / "elsewhere")):
        load("mnist", folder=tmp_path / "elsewhere")


def test_without_a_setting_files_are_looked_for_in_the_data_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("THIESSEN_DATA_DIR", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(DataAbsent, match=str(tmp_path / "thiessen" / "datasets")):
        load("mnist")

    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    with pytest.raises(DataAbsent, match=r"/home/ada/.local/share/thiessen/datasets"):
        load("mnist")


def test_the_orders_that_belong_to_the_seeds_do_not_change():
    assert ordered(1797, 20)[:5].tolist() == [962, 1299, 64, 1498, 388]
    assert ordered(60_000, 28)[:5].tolist() == [50177, 11838, 26087, 42138, 5376]
    assert ordered(50_000, 32)[:5].tolist() == [1335, 27888, 46247, 2884, 724]


def test_the_split_that_the_classifier_trains_on_does_not_change():
    data = load("digits")
    parts = b"".join(
        each.numpy().tobytes()
        for part in (data.train, data.validation, data.test)
        for each in (part.inputs, part.targets)
    )

    assert (
        hashlib.sha256(parts).hexdigest()
        == "0a68e86bd7b93be328ea53df734019ee2d53667a896ba53133919f89f3a11a77"
    )


def rows_of(*inputs):
    return sorted(map(tuple, torch.cat(inputs).tolist()))


def test_each_digit_is_in_one_part_alone():
    data = load("digits")

    pixels = torch.tensor(load_digits(return_X_y=True)[0] / 16, dtype=torch.float32)
    assert rows_of(data.train.inputs, data.validation.inputs, data.test.inputs) == rows_of(pixels)


def test_restricted_digits_are_the_labelled_and_the_unlabeled_together():
    data = load("restricted_digits", validation=False)

    assert (len(data.train), len(data.unlabeled)) == (200, 800)
    pixels = torch.tensor(load_digits(return_X_y=True)[0] / 16, dtype=torch.float32)
    assert rows_of(data.train.inputs, data.unlabeled, data.test.inputs) == rows_of(pixels)


@pytest.mark.parametrize(("name", "read"), [("breast_cancer", load_breast_cancer), ("wine", load_wine)])
def test_a_table_is_standardised_by_the_rows_that_are_trained_on_alone(name, read):
    data = load(name)

    deviation, mean = torch.std_mean(data.train.inputs.double(), dim=0, correction=0)
    torch.testing.assert_close(mean, torch.zeros_like(mean), atol=1e-6, rtol=0)
    torch.testing.assert_close(deviation, torch.ones_like(mean), atol=1e-6, rtol=0)
    features, classes = read(return_X_y=True)
    # One affine map for all parts, whatever it is: correlations with the classes stay.
    whole = torch.cat([data.train.inputs, data.validation.inputs, data.test.inputs]).double()
    targets = torch.cat([data.train.targets, data.validation.targets, data.test.targets])
    for column in range(features.shape[1]):
        made = torch.corrcoef(torch.stack([whole[:, column], targets.double()]))[0, 1]
        truth = np.corrcoef(features[:, column], classes)[0, 1]
        assert made.item() == pytest.approx(truth, abs=1e-5)


def test_what_one_trial_writes_into_a_data_set_no_other_sees():
    first = load("curves_14")
    second = load("curves_14")

    first.train.inputs.fill_(7)

    assert second.train.inputs.max() <= 1
    assert load("curves_14").train.inputs.max() <= 1
