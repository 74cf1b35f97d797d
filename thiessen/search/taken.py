"""Which configs have a trial."""

from array import array
from bisect import bisect_left, insort
from hashlib import blake2b
from typing import Final

from thiessen.space import Config, config_key

BUCKETS: Final = 256  # so many that making room in one costs nothing beside the digest


class Taken:
    """A set of configs that keeps a digest of each.

    A digest has 64 bits. That two of a million configs share one, so that the second is never tried, has
    probability 3e-8; longer digests fit no array. Memory: 9 bytes a config.
    """

    def __init__(self) -> None:
        self._buckets = [array("Q") for _ in range(BUCKETS)]  # each in order

    def add(self, config: Config) -> None:
        digest = _digest(config)
        if not self._has(digest):
            insort(self._buckets[digest % BUCKETS], digest)

    def remove(self, config: Config) -> None:
        digest = _digest(config)
        if self._has(digest):
            bucket = self._buckets[digest % BUCKETS]
            del bucket[bisect_left(bucket, digest)]

    def __contains__(self, config: Config) -> bool:
        return self._has(_digest(config))

    def _has(self, digest: int) -> bool:
        bucket = self._buckets[digest % BUCKETS]
        at = bisect_left(bucket, digest)
        return at < len(bucket) and bucket[at] == digest


def _digest(config: Config) -> int:
    return int.from_bytes(blake2b(config_key(config).encode(), digest_size=8).digest(), "little")
