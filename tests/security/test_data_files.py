"""Files of data sets that were made to harm who reads them."""

import gzip
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

from worker.datasets import formats
from worker.datasets.dataset import DataDamaged


@pytest.fixture
def file(tmp_path):
    return tmp_path / "file"


class Called:
    """Pickles as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


OBJECTS = np.dtype("O")
TRAPS = {
    "an array of objects over any bytes": Called(np.ndarray, ((1,), OBJECTS, bytearray(b"A" * 8))),
    "an array over any bytes": Called(np.ndarray, ((1 << 40,), np.dtype("u1"), b"A")),
    "an array without its content": Called(np.ndarray, ((1,),)),
    "objects": np.array([object], dtype=object),
    "a type of objects": OBJECTS,
    "a type with fields out of its bounds": np.dtype({"names": ["a"], "formats": ["u8"], "itemsize": 64}),
    "other numbers": np.zeros((1, 3072)),
    "numbers of two bytes": np.zeros((1, 3072), np.uint16),
    "no array": b"A" * 3072,
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_pickle_makes_no_array_but_one_of_bytes(file, trap):
    file.write_bytes(pickle.dumps({b"data": TRAPS[trap], b"labels": [1]}, protocol=5))

    with pytest.raises(DataDamaged, match="as a batch of CIFAR-10"):
        formats.batch(file)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_bytes_is_read_as_numpy_wrote_it(file, order):
    written = np.asarray(np.arange(12, dtype=np.uint8).reshape(3, 4), order=order)
    file.write_bytes(pickle.dumps({b"data": written, b"labels": [1, 2, 3]}, protocol=4))

    data, labels = formats.batch(file)

    assert np.array_equal(data, written)
    assert labels.tolist() == [1, 2, 3]


def test_a_few_bytes_do_not_unpack_to_very_many(file, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST", 1_000_000)
    header = struct.pack(">HBBI", 0, 8, 1, 3_000_000)
    file.write_bytes(gzip.compress(header + bytes(3_000_000)))

    with pytest.raises(DataDamaged, match="more than 1,000,000 bytes"):
        formats.idx(file)

    np.savez_compressed(file.with_suffix(".npz"), x=np.zeros(3_000_000, np.uint8))
    with pytest.raises(DataDamaged, match="more than 1,000,000 bytes"):
        formats.npz(file.with_suffix(".npz"), ["x"])


def test_a_file_that_is_too_large_itself_is_not_read(file, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST", 10)
    file.write_bytes(bytes(11))

    for read in (formats.idx, formats.batch):
        with pytest.raises(DataDamaged, match="more than 10 bytes"):
            read(file)


def test_an_array_that_says_it_is_larger_than_any_memory_is_named(file):
    head = io.BytesIO()
    shape = {"descr": "|u1", "fortran_order": False, "shape": (1 << 60,)}
    np.lib.format.write_array_header_1_0(head, shape)
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("x.npy", head.getvalue() + b"1")

    with pytest.raises(DataDamaged, match=r"file cannot be read as an \.npz file"):
        formats.npz(file, ["x"])


def test_an_array_of_pickled_objects_is_refused(file):
    np.savez(file.with_suffix(".npz"), x=np.array([Called(print, ("done",))], dtype=object))

    with pytest.raises(DataDamaged, match="allow_pickle"):
        formats.npz(file.with_suffix(".npz"), ["x"])
