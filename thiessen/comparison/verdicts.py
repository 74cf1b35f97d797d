"""What is said of two arms, in a sentence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from thiessen.comparison.bands import FEWEST
from thiessen.comparison.pairs import LEVEL, Paired, holm, paired, share
from thiessen.comparison.searched import Direction
from thiessen.comparison.values import computed, known, told
from thiessen.contract import Pair
from thiessen.elementwise import Array


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What verdicts stand on."""

    basis: Literal["confirmed", "searched"]
    direction: Direction
    caveats: Sequence[str]  # what a fair comparison has and this one has not


def verdicts(losses: Mapping[str, Mapping[int, float]], ground: Ground) -> list[Pair]:
    """Return what can be said of each two arms, those of the best arm first; nothing of too few replicates.

    A loss of each replicate, by the label of the arm. A replicate counts where every arm has it.
    """
    shared = sorted(set.intersection(*(set(each) for each in losses.values())))
    if len(shared) < FEWEST:
        return []
    table = {label: np.array([each[replicate] for replicate in shared]) for label, each in losses.items()}
    compared = []
    for one, other in combinations(_best_first(table), 2):
        pair = paired(table[one], table[other])
        compared.append((one, other, pair) if pair.first_is_better else (other, one, pair.turned()))
    adjusted = holm([pair.p for _, _, pair in compared])
    return [
        _pair(better, worse, pair, corrected, len(compared), ground)
        for (better, worse, pair), corrected in zip(compared, adjusted, strict=True)
    ]


def _best_first(table: Mapping[str, Array]) -> list[str]:
    """Return the labels by the mean place of their arm among all, replicate by replicate."""
    losses = np.stack(list(table.values()))
    places = (losses[:, None] > losses).sum(axis=1) + (losses[:, None] == losses).sum(axis=1) / 2
    order = np.argsort(places.mean(axis=1), kind="stable")
    return [list(table)[at] for at in order.tolist()]


def _pair(better: str, worse: str, pair: Paired, adjusted: float, of: int, ground: Ground) -> Pair:
    is_significant = adjusted <= LEVEL
    is_fair = ground.basis == "confirmed" and not ground.caveats
    wins = share(pair.wins, pair.losses)
    return Pair(
        better=better,
        worse=worse,
        verdict="not shown" if not is_significant else "shown" if is_fair else "with care",
        says=_says(better, worse, pair, adjusted, of, ground),
        basis=ground.basis,
        p=pair.p,
        adjusted=adjusted,
        difference=known(pair.difference),
        low=known(pair.low),
        high=known(pair.high),
        wins=pair.wins,
        ties=pair.ties,
        pairs=pair.wins + pair.losses + pair.ties,
        wins_low=computed(wins[0]) if wins else None,
        wins_high=computed(wins[1]) if wins else None,
    )


def _says(better: str, worse: str, pair: Paired, adjusted: float, of: int, ground: Ground) -> str:
    pairs = pair.wins + pair.losses + pair.ties
    ties = f" and {pair.ties} of them ties" if pair.ties else ""
    how = f"{_by_how_much(pair, ground.direction)}, in {pair.wins} of {pairs} pairs{ties}"
    if adjusted > LEVEL:
        corrected = f", corrected for {of} pairs of arms" if of > 1 else ""
        return (
            f"No significant difference between {better} and {worse} at this budget: {better} is {how} "
            f"(p = {told(adjusted)}{corrected})."
        )
    if ground.basis == "confirmed" and not ground.caveats:
        return f"{better} beats {worse} at this budget: {how}."
    return f"{better} did better than {worse} at this budget: {how}. With care: {'; '.join(ground.caveats)}."


def _by_how_much(pair: Paired, direction: Direction) -> str:
    lower, higher = ("lower", "higher") if direction == "minimize" else ("higher", "lower")
    if not math.isfinite(pair.difference):
        return "better by more than any number, as the other often ends without a success"
    way = lower if pair.difference >= 0 else higher
    low, high = (pair.low, pair.high) if pair.difference >= 0 else (-pair.high, -pair.low)
    return f"{told(abs(pair.difference))} {way} (95 % interval {told(low)} to {told(high)})"
