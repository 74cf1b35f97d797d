from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one step saw and did. A skipped step has an update_norm of exactly 0."""

    loss: float  # mean over the batch, before the update
    damping: float  # Tikhonov strength, λ in the literature
    gradient_norm: float  # Euclidean, over all parameters
    update_norm: float  # Euclidean, of what was added to the parameters
