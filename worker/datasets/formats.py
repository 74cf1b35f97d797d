"""The formats in which data sets are published, read without trusting them."""

import gzip
import hashlib
import io
import pickle  # nosec B403 - read by an unpickler that makes nothing but bytes
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from worker.datasets.dataset import Array, DataDamaged

GZIP: Final = b"\x1f\x8b"
UNSIGNED_BYTES: Final = 8  # the only type of number that IDX files of images and classes have
UNREADABLE: Final = (OSError, ValueError, EOFError, MemoryError, zlib.error)
LARGEST: Final = 2_000_000_000  # bytes that a file may come to, unpacked: ten times those of CIFAR-10


def npz(file: Path, keys: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of an `.npz` file. Raises DataDamaged naming the file, when one is not there."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            _check_size(sum(each.file_size for each in arrays.zip.infolist()))
            return {key: arrays[key] for key in keys}
    except (*UNREADABLE, TypeError, KeyError, BadZipFile) as error:
        raise damaged(file, f"as an .npz file with the keys {', '.join(keys)}", error) from error


def idx(file: Path) -> Array:
    """Return the array of an IDX file, zipped or not. Raises DataDamaged naming the file."""
    try:
        content = _content(file)
        if content.startswith(GZIP):
            with gzip.open(io.BytesIO(content)) as packed:
                content = packed.read(LARGEST + 1)
            _check_size(len(content))
        return _bytes(content)
    except (*UNREADABLE, struct.error) as error:
        raise damaged(file, "as an IDX file", error) from error


def _content(file: Path) -> bytes:
    _check_size(file.stat().st_size)
    return file.read_bytes()


def _check_size(size: int) -> None:
    """Raise ValueError when this is more than any data set here has: a few bytes unpack to very many."""
    if size > LARGEST:
        raise ValueError(f"it comes to more than {LARGEST:,} bytes")


def _bytes(content: bytes) -> Array:
    kind, dimensions = struct.unpack_from(">HBB", content)[1:]
    if kind != UNSIGNED_BYTES:
        raise ValueError(f"its numbers are of type {kind}, not unsigned bytes")
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def as_idx(array: Array) -> bytes:
    """Return the IDX file of an array of bytes."""
    return struct.pack(f">HBB{array.ndim}I", 0, UNSIGNED_BYTES, array.ndim, *array.shape) + array.tobytes()


def md5(content: bytes) -> str:
    """Return the MD5 by which the originals are known."""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def batch(file: Path) -> tuple[Array, Array]:
    """Return inputs and classes of a pickled batch of CIFAR-10. Raises DataDamaged naming the file.

    Nothing in the file is executed, whatever it asks for.
    """
    try:
        content = _Arrays(io.BytesIO(_content(file)), encoding="bytes").load()
        data: _Array = content[b"data"]
        return data.rows, np.asarray(content[b"labels"], dtype=np.uint8)
    except Exception as error:  # a pickle can be broken in any way
        raise damaged(file, "as a batch of CIFAR-10", error) from error


class _Arrays(pickle.Unpickler):
    """Reads pickles of plain values and arrays of bytes alone.

    What numpy itself would make of a pickle is not safe: an array of objects takes any bytes for addresses.
    """

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in STAND_INS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no data set needs")
        return STAND_INS[module, name]


class _Array:
    """What is read in the place of an array."""

    rows: Array

    def __setstate__(self, state: tuple[int, tuple[int, ...], object, bool, bytes]) -> None:
        _, shape, kind, is_fortran, content = state
        if not isinstance(kind, _Kind):
            raise pickle.UnpicklingError("an array says nothing of its numbers")
        self.rows = np.frombuffer(content, np.uint8).reshape(shape, order="F" if is_fortran else "C")


class _Kind:
    """What is read in the place of the type of an array's numbers: unsigned bytes, or it is refused."""

    def __init__(self, name: str | bytes, *flags: object) -> None:
        del flags
        if name not in {"u1", b"u1"}:
            raise pickle.UnpicklingError(f"its numbers are of type {name!r}, not unsigned bytes")

    def __setstate__(self, state: object) -> None:
        del state  # the order of bytes: of one there is none


def _begun(*said: object) -> _Array:
    """Return an array of which the pickle says the rest afterwards."""
    del said
    return _Array()


# What the pickles of CIFAR-10 ask for, and get. How an array is rebuilt has had another name since.
STAND_INS: Final[dict[tuple[str, str], object]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Kind,
    ("numpy.core.multiarray", "_reconstruct"): _begun,
    ("numpy._core.multiarray", "_reconstruct"): _begun,
}


def damaged(file: Path, form: str, error: Exception | str) -> DataDamaged:
    """Return the error of a file that cannot be read."""
    return DataDamaged(f"{file} cannot be read {form}: {error}. Obtain it again.")
