"""Random numbers that are the same on every machine."""

import hashlib

from numpy.random import Philox


class Stream:
    """Uniform numbers for one proposal: Philox words keyed by the study's seed and the trial's number."""

    def __init__(self, seed: int, trial: int) -> None:
        self._words = Philox(key=(seed << 64) | trial)

    def uniform(self) -> float:
        """Return the next number, uniform in [0, 1), with 53 random bits."""
        return (int(self._words.random_raw()) >> 11) * 2.0**-53


def trial_seed(study_seed: int, trial: int) -> int:
    """Return the seed a trial trains with: below 2**53, so that JSON and torch both keep it exact."""
    digest = hashlib.sha256(f"{study_seed}:{trial}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11
