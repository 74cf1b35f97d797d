"""Sequence problems with long lags, by Hessian-free optimization with and without structural damping."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.hessian_free.recurrent import Case, Course, course
from experiments.spread import spread

ASIDE: Final = 1.02  # what a point is moved by, not to hide another
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
    return result(spread(course, cases(size)), size)


def result(courses: Sequence[Course], size: Size) -> Result:
    """Return what is said of all trainings."""
    groups = _grouped(courses)
    known = "memorisation_5_bit"
    judged = {
        (problem, steps): (groups[problem, steps, True], groups[problem, steps, False])
        for problem, steps, structural in groups
        if structural
    }
    shortest = {problem: min(plan.lengths) for problem, plan in PLANS[size].items()}
    short = {name: _solved(groups[name, steps, True]) for name, steps in shortest.items()}
    lag = next(iter(PLANS[size][known].lengths)) if size == "full" else 20
    lagging = groups[known, lag, True]
    soon = [each for each in lagging if each.is_solved and each.updates <= 100]
    products = {kind: median(_cost(each) for each in groups[known, lag, kind]) for kind in (True, False)}
    failed = {
        kind: sum(not each.is_solved for each in courses if each.case.structural is kind)
        for kind in (True, False)
    }
    faster = [pair for pair in judged.values() if _typical(pair[0]) < _typical(pair[1])]
    return Result(
        claims=[
            Claim(
                says="All problems can be solved.",
                holds=all(short.values()),
                told="with structural damping, at the shortest length, by some seed: "
                + ", ".join(NAMES[name] for name, solved in short.items() if solved)
                + "; not within the budget: "
                + (", ".join(NAMES[name] for name, solved in short.items() if not solved) or "none"),
            ),
            Claim(
                says=f"5-bit memorisation at lag {lag} is solved with structural damping within 100 updates, "
                "by most seeds.",
                holds=3 * len(soon) >= 2 * len(lagging),
                told=f"by {len(soon)} of {len(lagging)}",
            ),
            Claim(
                says="There it takes no more products than without, in the middle of the seeds at lag "
                f"{lag}.",
                holds=products[True] <= products[False] and math.isfinite(products[True]),
                told=f"{_said(products[True])} with, {_said(products[False])} without",
            ),
            Claim(
                says="Structural damping adds speed: the mean of the mini-batches is lower with it.",
                holds=2 * len(faster) > len(judged),
                told=f"for {len(faster)} of {len(judged)} problems and lengths; as many failures count as "
                "endless",
            ),
            Claim(
                says="It adds robustness: fewer trainings fail.",
                holds=failed[True] < failed[False],
                told=f"{failed[True]} of {len(courses) // 2} failed with it, {failed[False]} without",
            ),
        ],
        tables=[_table(groups)],
        pictures=_pictures(groups),
        seeds=", ".join(f"{NAMES[name]} 0 to {plan.seeds - 1}" for name, plan in PLANS[size].items()),
        remarks=REMARKS[size],
    )


Groups = Mapping[tuple[str, int, bool], Sequence[Course]]


def _grouped(courses: Sequence[Course]) -> Groups:
    groups: dict[tuple[str, int, bool], list[Course]] = {}
    ordered = sorted(courses, key=lambda each: (list(NAMES).index(each.case.problem), each.case.steps))
    for each in ordered:
        groups.setdefault((each.case.problem, each.case.steps, each.case.structural), []).append(each)
    return groups


def _solved(courses: Sequence[Course]) -> int:
    return sum(each.is_solved for each in courses)


def _cost(each: Course) -> float:
    """Return the products that it took; what has failed takes endlessly many."""
    return each.products if each.is_solved else math.inf


def _typical(courses: Sequence[Course]) -> float:
    """Return the mean of the mini-batches, endless where any training has failed."""
    return fmean(each.minibatches if each.is_solved else math.inf for each in courses)


def _said(number: float) -> str:
    return f"{number:,.0f}" if math.isfinite(number) else "endlessly many"


def _table(groups: Groups) -> Table:
    return Table(
        title="Trainings that were solved, and what they took",
        head=["problem", "T", "structural damping", "solved", "mini-batches", "updates", "wrong at the end"],
        rows=[
            [
                NAMES[problem],
                str(steps),
                "with" if structural else "without",
                f"{_solved(courses)} of {len(courses)}",
                _range([each.minibatches for each in courses if each.is_solved]),
                _range([each.updates for each in courses if each.is_solved]),
                _range([each.wrong for each in courses if not each.is_solved], percent=True),
            ]
            for (problem, steps, structural), courses in groups.items()
        ],
        note="Mean, least and most of those that were solved; the last column is of those that were not.",
    )


def _range(values: Sequence[float], *, percent: bool = False) -> str:
    if not values:
        return ""
    form = "{:.0%}" if percent else "{:,.0f}"
    mean = form.format(fmean(values))
    return mean if len(values) == 1 else f"{mean} ({form.format(min(values))} to {form.format(max(values))})"


def _pictures(groups: Groups) -> list[Picture]:
    def lines(problem: str, value: Callable[[Sequence[Course]], float | None]) -> list[Line]:
        return [
            Line(
                name="with structural damping" if structural else "without",
                x=[
                    steps * (1.0 if structural else ASIDE)
                    for name, steps, kind in groups
                    if (name, kind) == (problem, structural)
                ],
                y=[
                    value(courses)
                    for (name, _, kind), courses in groups.items()
                    if (name, kind) == (problem, structural)
                ],
                points=True,
            )
            for structural in (True, False)
        ]

    def batches(courses: Sequence[Course]) -> float | None:
        found = [each.minibatches for each in courses if each.is_solved]
        return fmean(found) if found else None

    def failures(courses: Sequence[Course]) -> float:
        return 1 - _solved(courses) / len(courses)

    names = [name for name in NAMES if any(problem == name for problem, _, _ in groups)]
    return [
        Picture(
            name=name,
            says=says,
            columns=4,
            panels=[
                Panel(title=NAMES[problem], x="T", y=axis, lines=lines(problem, value)) for problem in names
            ],
        )
        for name, says, axis, value in (
            ("minibatches", MINIBATCHES, "mini-batches", batches),
            ("failures", FAILURES, "failure rate", failures),
        )
    ]


MINIBATCHES: Final = (
    "Mini-batches until solved, the mean of the seeds that were; without structural damping a little aside."
)
FAILURES: Final = (
    "The part of the seeds that were not solved within the budget; without structural damping a little aside."
)
FEW: Final = (
    "The lengths are a tenth of those of the original, the networks smaller, the seeds two or three: failure "
    "rates are of little weight. Not solved means not within the small budget."
)
REMARKS: Final[Mapping[Size, Sequence[str]]] = {"small": [FEW], "full": []}

EXPERIMENT: Final = Experiment(
    name="long-lags",
    title="Recurrent networks on problems with long lags",
    rows=(207, 208, 209, 210, 211, 212, 213, 214, 215),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 4.13, figures 4.6 and 4.7, after Martens and Sutskever (2011); the problems are those of "
    "Hochreiter and Schmidhuber (1997)",
    asks="What is seen early in a sequence decides what is to be said at its end. Can a plain recurrent "
    "network learn that by Hessian-free optimization, and what does structural damping add?",
    reported="Eight problems, 100 units, sequences of up to about 200 steps, given as plots alone: "
    "mini-batches (1,000 sequences for a gradient or a product) to less than 1 % wrong, and the share of "
    "runs that need more than 50,000. All problems can be solved with long lags. Structural damping adds "
    "some speed and robustness, most in 5- and 20-bit memorisation, where it appears to be needed at lags "
    "above 50. Some seeds fail.",
    here={
        "small": "All eight problems at T = 10 (two at 20 too), 20-bit memorisation at lag 5; 30 tanh units, "
        "gradients of 1,000 new sequences for each update, a fifth of them in the curvature, 1,000 to test "
        "with; 800 to 2,000 mini-batches, one or two seeds. 5-bit memorisation at lags 10 and 20 with 50 "
        "units, all 32 words in each batch, 8,000 mini-batches, three seeds. `HessianFree` with up to 300 "
        "steps, stopped where a tenth of the best reduction is lost, no preconditioner; λ begins at 0.1 with "
        "structural damping (μ = 1/30 of λ), 0.3 without, 0.1 T for the random permutation. A mini-batch is "
        "as many sequences as one product takes.",
        "full": "All eight problems at T from 30 to 200, 100 units, 10,000 sequences in the gradient and "
        "1,000 in the curvature, 10,000 to test with, 50,000 mini-batches, five seeds.",
    },
    run=run,
)
