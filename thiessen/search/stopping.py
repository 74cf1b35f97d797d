"""Early stopping: whether a running trial's learning curve says that it is not worth going on.

A curve is the (step, loss) points that a trial has reported; smaller is better, and a loss that is NaN or
infinite is the worst there is. `others` are the curves of other trials, as far as they have been reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Curve = Sequence[tuple[float, float]]

FEWEST_CURVES: Final = 5  # before trials are compared with each other
TOO_EARLY: Final = "Go on: there is nothing to judge by yet."


@dataclass(frozen=True)
class Verdict:
    """Whether to stop a trial, and why, in a sentence."""

    stop: bool
    reason: str


def median_rule(
    curve: Curve, others: Sequence[Curve], *, warm_up: float = 0, min_curves: int = FEWEST_CURVES
) -> Verdict:
    """Stop when the best loss so far is worse than the median of the others' mean losses up to this step.

    This is the rule of Google Vizier (Golovin et al., 2017, section 3.2.2), which takes for `others` the
    trials that have ended.
    """
    return percentile_rule(curve, others, percentile=50, warm_up=warm_up, min_curves=min_curves)


def percentile_rule(
    curve: Curve,
    others: Sequence[Curve],
    *,
    percentile: float,
    warm_up: float = 0,
    min_curves: int = FEWEST_CURVES,
) -> Verdict:
    """Stop when the best loss so far is worse than a percentile of the others' mean losses up to this step.

    The median rule is its 50th; a smaller percentile stops more trials. Nothing is stopped before the step
    `warm_up`, nor while fewer than `min_curves` others have reported anything up to this step.
    """
    if not 0 <= percentile <= 100:
        raise ValueError(f"a percentile lies between 0 and 100; got {percentile}.")
    if not curve or (step := _last_step(curve)) < warm_up:
        return Verdict(stop=False, reason=TOO_EARLY)
    known = [[loss for at, loss in other if at <= step] for other in others]
    means = sorted(_mean([_worst_if_not_finite(loss) for loss in losses]) for losses in known if losses)
    if not means or len(means) < min_curves:
        return Verdict(stop=False, reason=TOO_EARLY)
    place = "the median" if percentile == 50 else f"percentile {percentile:g}"
    return _compared(
        min(_worst_if_not_finite(loss) for _, loss in curve),
        f"its best loss up to step {step:g}",
        _percentile(means, percentile),
        f"{place} of the mean losses of {len(means)} other trials up to there",
    )


def successive_halving(
    curve: Curve, others: Sequence[Curve], *, min_step: float = 1, eta: int = 3
) -> Verdict:
    """Stop unless the loss at the last rung reached is among the best 1/eta of those that reached it so far.

    The rungs are the steps min_step, min_step * eta, min_step * eta**2 and so on; the loss at a rung is the
    first that was reported there or later. The best is never stopped, so the first at a rung goes on. This
    is asynchronous successive halving (Li et al., 2020) without pauses: who falls behind is stopped, also
    when the better ones reach its rung after it.
    """
    if min_step <= 0 or eta < 2:
        raise ValueError(f"rungs need min_step above 0 and eta of 2 or more; got {min_step} and {eta}.")
    if not curve or _last_step(curve) < min_step:
        return Verdict(stop=False, reason=TOO_EARLY)
    rung = min_step
    while rung * eta <= _last_step(curve):
        rung *= eta
    own = _loss_at(rung, curve)
    reached = sorted(
        [own, *(_loss_at(rung, other) for other in others if other and _last_step(other) >= rung)]
    )
    places = max(len(reached) // eta, 1)
    return _compared(
        own,
        f"its loss at the rung of step {rung:g}",
        reached[places - 1],
        f"place {places} of the {len(reached)} trials that reached it",
    )


def threshold_rule(curve: Curve, *, threshold: float, warm_up: float = 0) -> Verdict:
    """Stop when the last loss is worse than the threshold, or not finite; never before the step `warm_up`."""
    if not curve or (step := _last_step(curve)) < warm_up:
        return Verdict(stop=False, reason=TOO_EARLY)
    last = _loss_at(step, curve)
    if math.isinf(last):
        return Verdict(stop=True, reason=f"Stop: its loss at step {step:g} is not finite.")
    return _compared(last, f"its loss at step {step:g}", threshold, "the threshold")


def judged(
    rule: Mapping[str, Any], curve: Curve, ended: Sequence[Curve], running: Sequence[Curve] = ()
) -> Verdict:
    """Judge a curve by a rule as a study declares it, beside those of trials that ended and that run.

    Its `metric` was read already, and so was the direction of its threshold: curves are losses.
    """
    settings = {name: value for name, value in rule.items() if name not in {"rule", "metric"}}
    match rule["rule"]:
        case "threshold":
            return threshold_rule(curve, **settings)
        case "median":
            return percentile_rule(curve, ended, **settings)
        case _:
            return successive_halving(curve, [*ended, *running], **settings)


def _compared(loss: float, what: str, limit: float, whose: str) -> Verdict:
    if loss > limit:
        return Verdict(stop=True, reason=f"Stop: {what}, {loss:.6g}, is worse than {limit:.6g}, {whose}.")
    return Verdict(stop=False, reason=f"Go on: {what}, {loss:.6g}, is not worse than {limit:.6g}, {whose}.")


def _last_step(curve: Curve) -> float:
    return max(step for step, _ in curve)


def _loss_at(rung: float, curve: Curve) -> float:
    """Return the first loss that was reported at this step or later."""
    _, loss = min((point for point in curve if point[0] >= rung), key=lambda point: point[0])
    return _worst_if_not_finite(loss)


def _worst_if_not_finite(loss: float) -> float:
    return loss if math.isfinite(loss) else math.inf


def _mean(losses: Sequence[float]) -> float:
    mean = 0.0
    for loss in losses:
        mean += loss / len(losses)  # no overflow for huge losses
    return min(max(mean, min(losses)), max(losses))  # rounding must not carry it past any of them


def _percentile(ascending: Sequence[float], percentile: float) -> float:
    """Return the percentile, on the straight line between the two values next to it."""
    below, part = divmod(percentile / 100 * (len(ascending) - 1), 1)
    low = ascending[int(below)]
    high = ascending[math.ceil(below + part)]
    return low if low == high else low + (high - low) * part
