from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one step saw and did; None where the method has no such thing.

    A skipped step has an update_norm of exactly 0.
    """

    loss: float  # mean over the batch, before the update; NaN where the caller alone knows it
    damping: float  # Tikhonov strength, λ in the literature
    gradient_norm: float  # Euclidean, over all parameters
    update_norm: float  # Euclidean, of what was added to the parameters
    loss_after: float | None = None  # on the same batch
    radius: float | None = None  # of the trust region that it stayed in
    factor_damping: float | None = None  # of Kronecker factors, γ
    scale: float | None = None  # of the preconditioned gradient, α
    momentum: float | None = None  # of the step before, μ
    model_change: float | None = None  # M(δ) - M(0), what the quadratic model foresaw
    reduction_ratio: float | None = None  # of what came to what was foreseen, ρ
    iterations: int | None = None  # of an iterative solver
    ages: Mapping[str, int] = field(default_factory=dict)  # updates since each inverse was computed
    seconds: Mapping[str, float] = field(default_factory=dict)  # by phase
