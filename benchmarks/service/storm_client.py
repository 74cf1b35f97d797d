"""A client process that asks and tells until nothing is left, whatever becomes of the server meanwhile.

What was acknowledged it writes into a ledger of its own. It sends again whatever was not answered.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.service import rhythm
from benchmarks.service.space import loss
from benchmarks.service.wire import Refused, Wire, complete, lease_request, leases_of, read

PAUSE = 0.05  # seconds before a request is sent again
PATIENCE = 120.0  # seconds without an answer, and the server is taken for lost
BUSY = 429
FAULTY = 500  # and above


class Stubborn:
    """Sends each request until it is answered, and counts what else came."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._wire: Wire | None = None
        self.faults = Counter[str]()

    def send(self, method: str, path: str, body: Any) -> Any:
        """Return the answer. Raises Refused for one that sending again would not change."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                status, answer = self._connected().exchange(method, path, body)
            except OSError:
                self._wire = None
                self.faults["cut off"] += 1
            else:
                if status < FAULTY and status != BUSY:
                    return read(status, answer)
                self.faults[str(status)] += 1
            time.sleep(PAUSE)
        raise RuntimeError(f"{method} {path} was not answered within {PATIENCE:g} s")

    def _connected(self) -> Wire:
        self._wire = self._wire or Wire(self._port)
        return self._wire


def main() -> None:
    """Work as the command line says: port, name of the worker, ledger."""
    port, worker, ledger = sys.argv[1:]
    stubborn, asks, tells = Stubborn(int(port)), list[float](), list[float]()
    rhythm.wait_for_the_others()
    begun, cpu = time.perf_counter(), time.process_time()
    with Path(ledger).open("a", buffering=1) as acknowledged:
        while lease := asked(stubborn, worker, asks):
            found = loss(lease["config"])
            if tell(stubborn, lease, found, tells):
                acknowledged.write(json.dumps([lease["trial"], lease["lease_id"], found]) + "\n")
    rhythm.say(begun, cpu, asks, tells, stubborn.faults)


def asked(stubborn: Stubborn, worker: str, asks: list[float]) -> dict[str, Any] | None:
    """Return a lease, None when there is nothing left."""
    begun = time.perf_counter()
    leases = leases_of(stubborn.send("POST", "/api/v1/leases", lease_request(worker, len(asks))))
    asks.append(rhythm.milliseconds_since(begun))
    return leases[0] if leases else None


def tell(stubborn: Stubborn, lease: dict[str, Any], found: float, tells: list[float]) -> bool:
    """Tell a result; return whether it was acknowledged."""
    begun = time.perf_counter()
    try:
        stubborn.send(*complete(lease, found))
    except Refused as refused:
        stubborn.faults[str(refused.status)] += 1
        return False
    tells.append(rhythm.milliseconds_since(begun))
    return True


if __name__ == "__main__":
    main()
