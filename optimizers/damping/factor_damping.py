"""How γ, the damping of Kronecker factors, follows what works best (Martens 2016, sec. 6.6.6)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from optimizers.damping.levenberg_marquardt import CEILING

FLOOR = 1e-8


@final
@dataclass(frozen=True, kw_only=True)
class FactorDamping:
    """γ begins at √(λ + η) and then goes its own way: every so many updates the best of three is kept."""

    every: int = 20  # updates, T₂; a multiple of those between two inversions
    l2: float = 0.0  # η

    def first(self, damping: float) -> float:
        """Return √(λ + η)."""
        return self._clipped(math.sqrt(damping + self.l2))

    def candidates(self, gamma: float, update: int) -> tuple[float, ...]:
        """Return what to try in this update: γ, and every so often ω₂ γ and γ / ω₂ with ω₂ = √(19/20)^T₂."""
        if update % self.every:
            return (gamma,)
        omega = math.sqrt(19 / 20) ** self.every
        return gamma, self._clipped(omega * gamma), self._clipped(gamma / omega)

    def _clipped(self, gamma: float) -> float:
        return min(max(gamma, FLOOR), 100 * math.sqrt(CEILING + self.l2))


def best(candidates: Sequence[float], model_changes: Sequence[float]) -> int:
    """Return the place of the candidate whose step lowers the model most; the first of equals, never a NaN.

    Raises ValueError when there is none.
    """
    finite = [i for i in range(len(candidates)) if math.isfinite(model_changes[i])]
    return min(finite, key=lambda i: model_changes[i])
