"""Sequence problems with long lags, by Hessian-free optimization with and without structural damping."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.hessian_free.recurrent import Case, Course, course
from experiments.spread import spread

NAMES: Final = {
    "addition": "addition",
    "multiplication": "multiplication",
    "exclusive_or": "exclusive or",
    "temporal_order": "temporal order",
    "temporal_order_3_bit": "3-bit temporal order",
    "random_permutation": "random permutation",
    "memorisation_5_bit": "5-bit memorisation",
    "memorisation_20_bit": "20-bit memorisation",
}


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How large a problem is trained."""

    lengths: Sequence[int]
    seeds: int
    units: int
    sequences: int = 1000
    of_every: int = 5
    test: int = 1000
    most: int  # mini-batches: a training that takes more has failed


def _full(*lengths: int) -> Plan:
    return Plan(lengths=lengths, seeds=5, units=100, sequences=10_000, of_every=10, test=10_000, most=50_000)


PLANS: Final[Mapping[Size, Mapping[str, Plan]]] = {
    "small": {  # the longest first, so that no core waits for the other at the end
        "memorisation_5_bit": Plan(lengths=(20, 10), seeds=3, units=50, most=8_000),
        "memorisation_20_bit": Plan(lengths=(5,), seeds=1, units=30, most=800),
        "addition": Plan(lengths=(10,), seeds=2, units=30, most=2_000),
        "multiplication": Plan(lengths=(10,), seeds=2, units=30, most=2_000),
        "random_permutation": Plan(lengths=(10,), seeds=2, units=30, most=1_000),
        "exclusive_or": Plan(lengths=(10,), seeds=2, units=30, most=2_000),
        "temporal_order": Plan(lengths=(20, 10), seeds=2, units=30, most=1_000),
        "temporal_order_3_bit": Plan(lengths=(20, 10), seeds=2, units=30, most=1_000),
    },
    "full": {name: _full(30, 50, 100, 150, 200) for name in NAMES},
}


def cases(size: Size) -> list[Case]:
    """Return every training."""
    return [
        Case(
            problem=problem,
            steps=steps,
            structural=structural,
            seed=seed,
            units=plan.units,
            sequences=plan.sequences,
            of_every=plan.of_every,
            test=plan.test,
            most=plan.most,
        )
        for problem, plan in PLANS[size].items()
        for steps in plan.lengths
        for structural in (True, False)
        for seed in range(plan.seeds)
    ]


def run(size: Size) -> Result:
    return result(spread(course, cases(size)))


def result(courses):
    return courses
