"""How likely a candidate is kept, from the loss expected of it."""

import math


def linear(estimate: float, *, best: float, worst: float) -> float:
    """Return 1 for the best loss known, 0 for the worst, and the straight line between them."""
    if best == worst:
        return 1.0  # nothing to tell apart yet: random search
    if math.isinf(worst - best):
        return linear(estimate / 2, best=best / 2, worst=worst / 2)
    return min(max((worst - estimate) / (worst - best), 0.0), 1.0)
