"""The formats in which data sets are published, read without trusting them."""

import gzip
import hashlib
import io
import pickle
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
# What the pickles of CIFAR-10 call. How an array is rebuilt has had other names since; the function has not.
PICKLED: Final = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy._core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
}


def npz(file: Path, keys: Sequence[str]) -> dict[str, Array]:
    """Return the arrays of an `.npz` file. Raises DataDamaged naming the file, when one is not there."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in keys}
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile, zlib.error) as error:
        raise damaged(file, f"as an .npz file with the keys {', '.join(keys)}", error) from error


def idx(file: Path) -> Array:
    """Return the array of an IDX file, zipped or not. Raises DataDamaged naming the file."""
    try:
        content = file.read_bytes()
        content = gzip.decompress(content) if content.startswith(GZIP) else content
        return _bytes(content)
    except (OSError, ValueError, EOFError, struct.error, zlib.error) as error:
        raise damaged(file, "as an IDX file", error) from error


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
        content = _Arrays(io.BytesIO(file.read_bytes()), encoding="bytes").load()
        return np.asarray(content[b"data"]), np.asarray(content[b"labels"], dtype=np.uint8)
    except Exception as error:  # a pickle can be broken in any way
        raise damaged(file, "as a batch of CIFAR-10", error) from error


class _Arrays(pickle.Unpickler):
    """Reads pickles of plain values and arrays alone."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in PICKLED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no data set needs")
        return PICKLED[module, name]


def damaged(file: Path, form: str, error: Exception | str) -> DataDamaged:
    """Return the error of a file that cannot be read."""
    return DataDamaged(f"{file} cannot be read {form}: {error}. Obtain it again.")
