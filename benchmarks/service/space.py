"""The space that everybody searches: ten dimensions, and a bowl in them."""

import math
from random import Random
from typing import Any

SPACE: dict[str, dict[str, Any]] = {
    **{f"x{axis}": {"type": "float", "low": 0.0, "high": 1.0} for axis in range(4)},
    **{f"y{axis}": {"type": "float", "low": 1e-5, "high": 1.0, "log": True} for axis in range(4)},
    "width": {"type": "int", "low": 8, "high": 1024, "log": True},
    "rule": {"type": "categorical", "choices": ["adam", "kfac", "momentum", "sgd"]},
}
NINE = {name: dimension for name, dimension in SPACE.items() if name != "x3"}


def drawn(random: Random) -> dict[str, Any]:
    """Return a random config."""
    return {name: _value(dimension, random) for name, dimension in SPACE.items()}


def loss(config: dict[str, Any]) -> float:
    """Return how far a config is from the bottom of the bowl."""
    return sum((_unit(SPACE[name], value) - 0.3) ** 2 for name, value in config.items())


def _value(dimension: dict[str, Any], random: Random) -> Any:
    if dimension["type"] == "categorical":
        return random.choice(dimension["choices"])
    low, high = dimension["low"], dimension["high"]
    value = low * (high / low) ** random.random() if dimension.get("log") else random.uniform(low, high)
    return min(max(round(value), low), high) if dimension["type"] == "int" else float(f"{value:.12g}")


def _unit(dimension: dict[str, Any], value: Any) -> float:
    if dimension["type"] == "categorical":
        return 0.5 * (value != dimension["choices"][0])
    if dimension.get("log"):
        return math.log(value / dimension["low"]) / math.log(dimension["high"] / dimension["low"])
    return (value - dimension["low"]) / (dimension["high"] - dimension["low"])
