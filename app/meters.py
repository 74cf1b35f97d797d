"""What this process counts of its own work, for Prometheus to read at /metrics.

A step is counted by who called it, after its commit: a step may run twice before it counts, or be undone.
Labels have few values, all known to the code: never a name that a user chose.
"""

import platform
from functools import lru_cache
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, Info, disable_created_metrics, generate_latest

from thiessen.contract import CONTRACT
from thiessen.version import __version__

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
STEPS: Final = (1, 2, 4, 8, 16, 32, 64)

disable_created_metrics()  # type: ignore[no-untyped-call] # else a second line for each

LEASES: Final = Counter("thiessen_leases", "Leases given.")
REPORTS: Final = Counter("thiessen_report_points", "Points of learning curves received.")
RESULTS: Final = Counter("thiessen_results", "Trials that ended, by what they ended with.", ["outcome"])
RETRIES: Final = Counter(
    "thiessen_retries", "Attempts that failed and whose trial is tried again, by cause.", ["cause"]
)
EXPIRIES: Final = Counter("thiessen_expiries", "Leases lost by silence: their trial was given away or ended.")
PROPOSAL_SECONDS: Final = Histogram(
    "thiessen_proposal_seconds", "How long a strategy took to propose.", ["strategy"], buckets=SECONDS
)
LONG_POLLS: Final = Gauge("thiessen_long_polls", "Requests for a lease that wait for a trial now.")
TRIALS: Final = Gauge("thiessen_trials", "Trials of active studies in the database now, by state.", ["state"])
WAITING_STUDIES: Final = Gauge(
    "thiessen_waiting_studies", "Studies in the database that have something to train, and none of it runs."
)
REQUESTS: Final = Counter("thiessen_requests", "Requests answered.", ["method", "route", "status"])
REQUEST_SECONDS: Final = Histogram(
    "thiessen_request_seconds",
    "How long an answer took, waiting included.",
    ["method", "route"],
    buckets=SECONDS,
)
WRITE_STEPS: Final = Histogram(
    "thiessen_write_steps", "Steps that one transaction committed together.", buckets=STEPS
)
WRITE_SECONDS: Final = Histogram(
    "thiessen_write_seconds", "How long a transaction took, its commit included.", buckets=SECONDS
)
BUILD: Final = Info("thiessen_build", "What runs here.")
BUILD.info({"version": __version__, "contract": str(CONTRACT), "python": platform.python_version()})


def committed(steps: int, seconds: float) -> None:
    """Count a transaction of so many steps."""
    WRITE_SECONDS.observe(seconds)
    WRITE_STEPS.observe(steps)


def answered(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request."""
    counted, timed = _of_request(method if method in METHODS else "OTHER", route, status)
    counted.inc()
    timed.observe(seconds)


@lru_cache(1024)
def _of_request(method: str, route: str, status: int) -> tuple[Counter, Histogram]:
    """Return what counts requests of this kind: to look it up costs more than to count."""
    return REQUESTS.labels(method, route, status), REQUEST_SECONDS.labels(method, route)


METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


def exposition() -> bytes:
    """Return everything in Prometheus' text format."""
    return generate_latest()
