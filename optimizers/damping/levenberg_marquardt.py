"""How far to trust a quadratic model: by how well it foresaw the last step (Martens 2016, sec. 4.6.5, 6.6.5).

ρ = (h(θ + δ) - h(θ)) / (M(δ) - M(0)). Both values of h are of one batch, with the same dropout masks and
normalisation; the gradient in M is of that batch too. Near 1 the model may be trusted further.
"""

import math
from dataclasses import dataclass
from typing import Self, final

import torch

FLOOR, CEILING = 1e-15, 1e10  # of λ


@final
@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a step says about the model that foresaw it."""

    ratio: float | None  # ρ, or None where it is undefined
    model_is_trusted: bool | None  # True: trust it further; False: less; None: as before
    rejected: bool = False  # the step is to be taken back, unless a line search saves it


AS_BEFORE = Judgement(ratio=None, model_is_trusted=None)
REJECTED = Judgement(ratio=None, model_is_trusted=False, rejected=True)


@final
@dataclass(frozen=True, kw_only=True)
class LevenbergMarquardt:
    """The rule for λ: times `factor` where the model is trusted further, divided by it where it is less."""

    factor: float = 2 / 3
    low: float = 1 / 4
    high: float = 3 / 4

    @classmethod
    def every(cls, updates: int) -> Self:
        """Return K-FAC's rule, for λ that is adapted every so many updates: ω₁ = (19/20)^T₁."""
        return cls(factor=(19 / 20) ** updates)

    @classmethod
    def first_order(cls, lr: float) -> Self:
        """Return the rule for ρ whose denominator is ∇hᵀδ alone, of a step of lr times the damped solve.

        For exact solves the damped quadratic denominator is 1 - lr/2 times this one, so the thresholds are
        scaled by that; from lr = 2 on it would turn them over, and they stay as they are.
        """
        scale = 1 - lr / 2 if lr < 2 else 1.0
        return cls(low=scale / 4, high=scale * 3 / 4)

    def judge(
        self, *, before: float, after: float, model_change: float, moved: bool = True, dtype: torch.dtype
    ) -> Judgement:
        """Judge by h before and after, and M(δ) - M(0); `moved` is whether δ is not 0, dtype that of h.

        A model that foresaw no descent, or values that are not finite, reject the step. Where the model
        foresaw no more than rounding of h, the quotient says nothing.
        """
        if not moved:
            return AS_BEFORE
        if not (math.isfinite(after) and math.isfinite(model_change)) or model_change == 0:
            return REJECTED
        if abs(model_change) <= 10 * torch.finfo(dtype).eps * abs(before):
            return AS_BEFORE
        if model_change > 0:
            return REJECTED
        ratio = (after - before) / model_change
        trusted = True if ratio > self.high else False if ratio < self.low else None
        return Judgement(ratio=ratio, model_is_trusted=trusted)

    def next(self, damping: float, judgement: Judgement) -> float:
        """Return the λ to go on with."""
        if judgement.model_is_trusted is None:
            return damping
        changed = damping * self.factor if judgement.model_is_trusted else damping / self.factor
        return min(max(changed, FLOOR), CEILING)


def next_radius(radius: float, judgement: Judgement, *, step_norm: float) -> float:
    """Return the trust-region radius to go on with: larger only if it held the step back (sec. 4.6.6)."""
    if judgement.model_is_trusted is False:
        return radius * 2 / 3
    if judgement.model_is_trusted and math.isclose(step_norm, radius, rel_tol=1e-6):
        return radius * 3 / 2
    return radius
