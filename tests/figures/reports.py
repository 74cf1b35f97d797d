"""Reports of comparisons, as a server tells them, made of numbers at will."""

import math
import random

from thiessen.contract import ComparisonReport
from thiessen.contract.comparisons import Profile

NO_BAND = {"at": [], "mean": [], "low": [], "high": []}


def band(at, mean, spread=None):
    """Return a line, with a band of this spread on both sides."""
    low = [None if spread is None or each is None else each - spread for each in mean]
    high = [None if spread is None or each is None else each + spread for each in mean]
    return {"at": list(at), "mean": list(mean), "low": low, "high": high}


def arm(label, finals, *, budget=20, **changed):
    """Return what an arm came to whose searches end with these values: their mean falls to that by steps."""
    known = [each for each in finals if each is not None]
    end = sum(known) / len(known) if known else None
    places = list(range(1, budget + 1))
    falls = [] if end is None else [end * (1 + 4 / at) - end * 4 / budget for at in places]
    expected = band(places, falls, 0.05 if len(finals) >= 8 else None) if falls else NO_BAND
    usual = {
        "label": label,
        "task": "t",
        "strategy": "random",
        "settings": {"optimizer": label},
        "dimensions": ["lr"],
        "searches": [search(label, at, final, budget) for at, final in enumerate(finals, start=1)],
        "expected": expected,
        "order_statistic": None,
        "spent_to_match": None,
        "final": headline(end, len(finals)),
        "confirmed": [],
        "headline": None,
        "sensitivity": sensitivity(0.25, 0.05, budget * len(finals)),
        "training": [],
        "reached": None,
    }
    return usual | changed


def search(label, replicate, final, budget):
    """Return a search that ends with this value; None is one in which nothing succeeds."""
    known = {"spent": [1.0], "best": [final], "final": final, "trial": 3, "diverged": 1}
    nothing = {"spent": [], "best": [], "final": None, "trial": None, "diverged": budget}
    return {
        "replicate": replicate,
        "study": f"c.{label}.{replicate}",
        "trials": budget,
        "updates": 10 * budget,
        "seconds": 2.5,
        "failed": 0,
        **(nothing if final is None else known),
    }


def headline(mean, runs, low=None, high=None):
    """Return what an arm comes to."""
    return {"mean": mean, "deviation": 0.1, "low": low, "high": high, "runs": runs, "diverged": 0}


def sensitivity(share, diverged, trials=200, *, is_unbiased=True):
    """Return how much depends on the config."""
    known = {"share": share, "diverged": diverged, "is_unbiased": is_unbiased}
    return {"trials": trials, "within": 10.0, **known}


def training(*ends, metric="loss", points=30):
    """Return how a config learns that ends so: over updates, and over seconds."""
    lines = []
    for over, scale in (("updates", 10.0), ("seconds", 0.37)):
        at = [scale * each for each in range(1, points + 1)]
        for end in ends:
            line = band(at, [end + 3 / each for each in range(1, points + 1)], 0.04)
            lines.append({"metric": metric, "over": over, "line": line})
    return lines


def report(*arms, **changed):
    """Return a report of these arms, as JSON."""
    usual = {
        "name": "c", "state": "completed", "is_complete": True, "direction": "minimize", "unit": "trials",
        "budget": 20.0, "replicates": len(arms[0]["searches"]),
        "spent": {"searches": 4, "trials": 80, "runs": 6, "updates": 800, "seconds": 12.0},
        "checks": [], "pairs": [], "says": [], "arms": list(arms),
    }  # fmt: skip
    return ComparisonReport.model_validate(usual | changed).model_dump(mode="json")


def usual(arms=3, replicates=10, seed=1):
    """Return a report as a lab has it."""
    chance = random.Random(seed)
    names = ["sgd-momentum", "adam", "kfac-adaptive", *(f"arm-{at}" for at in range(4, 30))][:arms]
    found = []
    for at, name in enumerate(names):
        level = 1.2 - 0.3 * at / max(arms - 1, 1)
        finals = [round(level + chance.expovariate(10), 4) for _ in range(replicates)]
        mean = sum(finals) / replicates
        share = 0.4 * chance.random()
        changed = {
            "headline": headline(mean + 0.05, 3 * replicates, mean, mean + 0.1),
            "spent_to_match": 6.0 + 3 * at if at else None,
            "sensitivity": sensitivity(share, share / 3, 20 * replicates, is_unbiased=at == 0),
            "training": training(level) + training(level + 0.1, metric="validation_loss"),
        }
        if at == 0:
            draws = [mean * (1 + 3.5 / each) - mean * 3.5 / 20 for each in range(1, 21)]
            changed["order_statistic"] = band(range(1, 21), draws)
        found.append(arm(name, finals, **changed))
    return report(*found)


def profile(**needed):
    """Return a profile in which each arm needs so much on each comparison; None where it does not arrive."""
    comparisons = [f"c{at}" for at in range(len(next(iter(needed.values()))))]
    least = [
        min(each for each in column if each is not None) for column in zip(*needed.values(), strict=True)
    ]
    lines = []
    for label, wants in needed.items():
        factors = sorted(
            want / best
            for want, best in zip(wants, least, strict=True)
            if want is not None and want / best <= 4
        )
        shares = [(at + 1) / len(comparisons) for at in range(len(factors))]
        area = sum(1 - math.log(factor) / math.log(4) for factor in factors) / len(comparisons)
        lines.append({"label": label, "factor": factors, "share": shares, "area": area})
    return Profile.model_validate(
        {
            "comparisons": comparisons,
            "over": "updates",
            "largest_factor": 4.0,
            "lines": lines,
            "needed": {
                name: {label: wants[at] for label, wants in needed.items()}
                for at, name in enumerate(comparisons)
            },
        }
    ).model_dump(mode="json")
