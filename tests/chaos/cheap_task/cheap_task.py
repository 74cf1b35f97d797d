"""The task of the proof, for the real worker; putting this folder on the path installs it."""

import time
from random import SystemRandom

from tests.chaos.ledger_worker import DIVERGED, METRIC
from worker.tasks import Diverged, Pruned, Task

STEPS = 8
STEP_SECONDS = 0.1
BEYOND = 1000.0  # no ledger worker tells of such a loss

_chance = SystemRandom()  # each attempt has a value of its own, by which it is known in the database


def _chaos(config, context):
    """Report a curve, and end as the config says."""
    value = BEYOND + _chance.random()
    try:
        for step in range(STEPS):
            context.report(step, **{METRIC: config["x"]})
            time.sleep(STEP_SECONDS)
    except Pruned as pruned:
        raise Pruned(value) from pruned
    if config["x"] >= DIVERGED:
        raise Diverged
    return value


CHAOS = Task("chaos", _chaos)
