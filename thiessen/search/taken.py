"""Which configs have a trial."""

from array import array
from bisect import bisect_left, insort
from typing import Final

import numpy as np

from thiessen.elementwise import Array
from thiessen.space import MAX_DIMENSIONS

BUCKET_BITS: Final = 8  # so many buckets that making room in one costs nothing beside the digest
REST_BITS: Final = 64 - BUCKET_BITS
_MIX: Final = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# So that equal codes of two dimensions differ.
_APART: Final = np.arange(1, MAX_DIMENSIONS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


class Taken:
    """A set of digests of configs, each of 64 bits.

    That two of a million configs share a digest, so that the second is never tried, has probability 3e-8;
    longer digests fit no array. Memory: 9 bytes a config.
    """

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(2**BUCKET_BITS)]  # by their first bits; each in order
        self._more: list[Array] = []  # not yet among them

    def add(self, digest: int) -> None:
        if digest not in self:
            insort(self._buckets[digest >> REST_BITS], digest)

    def update(self, digests: Array) -> None:
        """Add many; however often it is called, they are sorted once, when somebody asks."""
        self._more.append(digests)

    def __contains__(self, digest: int) -> bool:
        if self._more:
            self._sort()
        bucket = self._buckets[digest >> REST_BITS]
        at = bisect_left(bucket, digest)
        return at < len(bucket) and bucket[at] == digest

    def _sort(self) -> None:
        known = [np.frombuffer(bucket, np.uint64) for bucket in self._buckets if bucket]
        everyone = np.concatenate([*known, *self._more])
        known, self._more = [], []
        everyone.sort()
        everyone = everyone[np.append(True, everyone[1:] != everyone[:-1])]
        ends = np.searchsorted(everyone, np.arange(1, len(self._buckets), dtype=np.uint64) << REST_BITS)
        self._buckets = [array("Q", bucket.tobytes()) for bucket in np.split(everyone, ends)]


def digests(codes: Array) -> Array:
    """Return a digest of each row: the sum of its codes, each mixed to 64 bits of its own.

    The mixing is the end of SplitMix64 (Steele et al., 2014, OOPSLA): each bit that comes in changes half of
    those that come out.
    """
    words: Array = codes.view(np.uint64) + _APART[: codes.shape[1]]
    words = (words ^ words >> 30) * _MIX[0]
    words = (words ^ words >> 27) * _MIX[1]
    return np.asarray(np.add.reduce(words ^ words >> 31, axis=1))
