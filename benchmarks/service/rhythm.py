"""How every client process of a measurement goes: get ready, wait to be told, work, say what was seen.

Imported by clients of peers too, in their own environments: nothing but the standard library here.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable

Cycle = Callable[[], tuple[float, float]]  # asks and tells once; returns the milliseconds of both


def work(cycle: Cycle, seconds: float) -> None:
    """Cycle once to warm up, then for so long when told."""
    cycle()
    asks, tells, faults = [], [], Counter[str]()
    wait_for_the_others()
    begun, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < seconds:
        try:
            ask, tell = cycle()
        except Exception as fault:  # noqa: BLE001 - of whatever a peer raises, counted and printed
            faults[f"{type(fault).__name__}: {str(fault)[:60]}"] += 1
            continue
        asks.append(ask)
        tells.append(tell)
    say(begun, cpu, asks, tells, faults)


def wait_for_the_others() -> None:
    """Say that this process is ready, and return when all are."""
    print("ready", flush=True)
    sys.stdin.readline()


def say(begun: float, cpu: float, asks: list[float], tells: list[float], faults: Counter[str]) -> None:
    """Print what was seen since `begun`."""
    seen = {
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "asks": asks,
        "tells": tells,
        "faults": dict(faults),
    }
    print(json.dumps(seen), flush=True)


def milliseconds_since(begun: float) -> float:
    """Return the time since a reading of the clock."""
    return 1000 * (time.perf_counter() - begun)
