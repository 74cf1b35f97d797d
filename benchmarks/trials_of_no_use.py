"""What `benchmarks/worker` trains: nothing, at once or for a second."""

import time


def at_once(config: dict[str, float], context: object) -> float:
    """Return x."""
    del context
    return config["x"]


def a_second(config: dict[str, float], context: object) -> float:
    """Return x after a second."""
    del context
    time.sleep(1.0)
    return config["x"]
