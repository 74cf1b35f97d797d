"""A client process of the service: `cycles` asks and tells in turn, `tells` ends what it leased before."""

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.service import rhythm
from benchmarks.service.space import loss
from benchmarks.service.wire import Wire, complete, lease_request, leases_of


def main() -> None:
    """Work as the command line says: what, port, name of the worker, seconds or number of leases."""
    what, port, worker, amount = sys.argv[1:]
    with Wire(int(port)) as wire:
        {"cycles": cycles, "tells": tells, "empty": empty}[what](wire, worker, float(amount))


def cycles(wire: Wire, worker: str, seconds: float) -> None:
    """Ask and tell in turn."""
    number = 0

    def cycle() -> tuple[float, float]:
        nonlocal number
        number += 1
        begun = time.perf_counter()
        leases = leases_of(wire.send("POST", "/api/v1/leases", lease_request(worker, number)))
        if not leases:
            raise RuntimeError("nothing was leased")
        asked, telling = rhythm.milliseconds_since(begun), complete(leases[0], loss(leases[0]["config"]))
        begun = time.perf_counter()
        wire.send(*telling)
        return asked, rhythm.milliseconds_since(begun)

    rhythm.work(cycle, seconds)


def tells(wire: Wire, worker: str, amount: float) -> None:
    """End so many leases, taken before the clock starts."""
    leases, number = [], 0
    while len(leases) < amount:  # with many rivals an ask may go away with nothing
        number += 1
        leases += leases_of(wire.send("POST", "/api/v1/leases", lease_request(worker, number)))
    rhythm.wait_for_the_others()
    begun, cpu, told = time.perf_counter(), time.process_time(), []
    for lease in leases:
        sent = time.perf_counter()
        wire.send(*complete(lease, loss(lease["config"])))
        told.append(rhythm.milliseconds_since(sent))
    rhythm.say(begun, cpu, [], told, Counter())


def empty(wire: Wire, worker: str, seconds: float) -> None:
    """Send the requests of a cycle to a server that does nothing."""
    asking = lease_request(worker, 0)
    telling = complete({"lease_id": "0" * 32}, 0.123456789)

    def cycle() -> tuple[float, float]:
        begun = time.perf_counter()
        wire.send("POST", "/api/v1/leases", asking)
        asked = rhythm.milliseconds_since(begun)
        wire.send(*telling)
        return asked, rhythm.milliseconds_since(begun) - asked

    rhythm.work(cycle, seconds)


if __name__ == "__main__":
    main()
