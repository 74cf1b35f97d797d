"""Streams of random numbers: one for each purpose, so that more draws for one change nothing of another."""

from dataclasses import dataclass
from hashlib import sha256

import torch
from torch import Generator


@dataclass(frozen=True)
class Streams:
    """The streams of one trial, by name: `weights`, `batches`, `targets`, `statistics`, ..."""

    seed: int

    def __call__(self, name: str, device: torch.device | str = "cpu") -> Generator:
        """Return the stream of this name from its beginning."""
        return Generator(device).manual_seed(self.seed_of(name))

    def seed_of(self, name: str) -> int:
        """Return the seed of a stream: 63 bits of a SHA-256 of the trial's seed and the name."""
        return int.from_bytes(sha256(f"{self.seed}/{name}".encode()).digest()[:8], "big") >> 1
