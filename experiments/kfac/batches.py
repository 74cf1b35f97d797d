"""How much larger batches help K-FAC, with momentum and without, and Nesterov's method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from experiments.experiment import Cell, Claim, Experiment, Panel, Picture, Result, Size, Table
from experiments.kfac.course import DIGITS, Course, Problem, Training, followed, kfac, nesterov, plan
from experiments.spread import spread

MOMENTUM, PLAIN, BASELINE = "block-diagonal K-FAC", "the same without momentum", "Nesterov"
TRIDIAGONAL, PLAIN_TRIDIAGONAL = "block-tridiagonal K-FAC", "that one without momentum"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A problem, the sizes of batches, and how long each method trains."""

    problem: Problem
    sizes: Sequence[int]
    updates: int  # of K-FAC
    damping: float  # λ in the beginning
    baseline_updates: int
    lr: float
    momentum: float
    methods: Sequence[str]


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(
        problem=DIGITS,
        sizes=(100, 300, 750, 1500),
        updates=200,
        damping=10.0,
        baseline_updates=1000,
        lr=0.05,
        momentum=0.99,
        methods=(MOMENTUM, PLAIN, BASELINE),
    ),
    "full": Setup(
        problem=Problem(name="MNIST", dataset="mnist", encoder=(784, 1000, 500, 250, 30)),
        sizes=(250, 500, 1000, 2000, 4000, 8000),
        updates=2000,
        damping=150.0,
        baseline_updates=20_000,
        lr=0.01,
        momentum=0.99,
        methods=(MOMENTUM, PLAIN, TRIDIAGONAL, PLAIN_TRIDIAGONAL, BASELINE),
    ),
}
Courses = Mapping[str, Sequence[Course]]  # by method, in the order of sizes


def run(size: Size) -> Result:
    setup = SETUPS[size]
    return judged(setup, trained(setup))


def trained(setup: Setup) -> Courses:
    """Train by each method on batches of each size, from the same weights."""
    cases = [(method, size) for method in setup.methods for size in setup.sizes]
    courses = iter(spread(followed, [training(setup, method, size) for method, size in cases]))
    return {method: [next(courses) for _ in setup.sizes] for method in setup.methods}


def training(setup: Setup, method: str, size: int) -> Training:
    """Return the training by one method on batches of one size."""
    settings: Mapping[str, Any]
    if method == BASELINE:
        settings = nesterov(setup.lr, setup.momentum)
    else:
        is_tridiagonal = method in {TRIDIAGONAL, PLAIN_TRIDIAGONAL}
        settings = kfac(
            damping=setup.damping,
            found_momentum=method in {MOMENTUM, TRIDIAGONAL},
            inverse="block_tridiagonal" if is_tridiagonal else "block_diagonal",
        )
    updates = setup.baseline_updates if method == BASELINE else setup.updates
    return Training(
        name=f"m = {size:,}",
        problem=setup.problem,
        optimizer="nesterov" if method == BASELINE else "kfac",
        settings=settings,
        plan=plan(updates, size),
    )


def judged(setup: Setup, courses: Courses) -> Result:
    """Return what is to be said of the trainings."""
    ends = {method: [course.final for course in of_method] for method, of_method in courses.items()}
    needed = {method: _to_the_worst(of_method) for method, of_method in courses.items()}
    faster = {method: _ratio(each) for method, each in needed.items()}
    larger = setup.sizes[-1] / setup.sizes[0]
    *_, before, last = ends[PLAIN]
    claims = [
        Claim(
            says="With momentum the error after as many updates is smaller the larger the batches are",
            holds=all(one > other for one, other in zip(ends[MOMENTUM], ends[MOMENTUM][1:], strict=False)),
            told=_listed(ends[MOMENTUM]),
        ),
        Claim(
            says="Without it the last enlargement of batches gains less than with it",
            holds=before - last < ends[MOMENTUM][-2] - ends[MOMENTUM][-1],
            told=f"{before - last:.3f} of {before:.3f} without, "
            f"{ends[MOMENTUM][-2] - ends[MOMENTUM][-1]:.3f} of {ends[MOMENTUM][-2]:.3f} with momentum",
        ),
        Claim(
            says="With momentum the progress of an update grows faster than the batch",
            holds=faster[MOMENTUM] > larger,
            told=f"batches {larger:.0f} times as large: as far in {_times(faster[MOMENTUM])} fewer updates",
        ),
        Claim(
            says="Without momentum it grows in proportion at most",
            holds=faster[PLAIN] <= larger,
            told=f"as far in {_times(faster[PLAIN])} fewer updates",
        ),
        Claim(
            says="That of Nesterov's method grows much less",
            holds=faster[BASELINE] < faster[MOMENTUM] / 2,
            told=f"as far in {_times(faster[BASELINE])} fewer updates",
        ),
    ]
    rows: list[list[Cell]] = [
        [f"{method}, {of_method[0].training.plan.updates:,} updates", *(course.final for course in of_method)]
        for method, of_method in courses.items()
    ]
    rows_needed: list[list[Cell]] = [[method, *each] for method, each in needed.items()]
    sizes = [f"m = {size:,}" for size in setup.sizes]
    return Result(
        claims=claims,
        tables=[
            Table(
                title="Reconstruction error of the training cases at the end",
                head=["method", *sizes],
                rows=rows,
            ),
            Table(
                title="Updates until the error that the worst of the method's batch sizes ends with",
                head=["method", *sizes],
                rows=rows_needed,
            ),
        ],
        pictures=[
            Picture(
                name="course",
                says="Error by updates above, by cases that were looked at below. A method whose lines "
                "agree below gets as much of a case in a large batch as in a small one.",
                panels=[
                    Panel(
                        title=method if against == "updates" else "",
                        x=against,
                        y="error",
                        log_y=True,
                        log_x=against == "cases",
                        lines=[_without_start(course, against) for course in of_method],
                    )
                    for against in ("updates", "cases")
                    for method, of_method in courses.items()
                ],
                columns=len(courses),
            )
        ],
        remarks=[
            (
                "How much faster: the updates that the smallest batches need down to the error that the "
                "worst batch size of the method ends with, by those that the largest need."
            )
        ],
    )


def _to_the_worst(courses: Sequence[Course]) -> list[float | None]:
    worst = max(course.final for course in courses)
    return [course.spent("updates", worst) for course in courses]


def _ratio(needed: Sequence[float | None]) -> float:
    first, last = needed[0], needed[-1]
    return 0.0 if first is None or last is None else first / last


def _times(ratio: float) -> str:
    return f"{ratio:.3g} times"


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def _without_start(course: Course, against: str) -> Any:
    line = course.line(against)
    return type(line)(name=line.name, x=line.x[1:], y=line.y[1:])


EXPERIMENT: Final = Experiment(
    name="kfac-batch-size",
    title="K-FAC: the size of batches",
    rows=(218,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), section 6.13, figure 6.8",
    asks="How does the progress of an update depend on the number m of its cases: by K-FAC with momentum "
    "and without, and by Nesterov's method?",
    reported="""On the autoencoder of MNIST, as figures:

- The progress of an update of K-FAC with momentum grows faster than in proportion to m.
- Without momentum it grows in proportion to m, or a little less.
- That of Nesterov's method grows much less: what limits K-FAC is the noise of gradients, what limits the
  baseline is not.""",
    here={
        "small": "An autoencoder 64-50-25-10-25-50-64 of tanh units with a linear code on 1,500 digits, "
        "from the same weights: 200 updates of block-diagonal K-FAC with λ from 10, 1,000 of Nesterov's "
        "method with lr 0.05 and a momentum that rises up to 0.99, as tuned for batches of 100. Averaged "
        "with ξ = 0.99, the better of both counts.",
        "full": "The published autoencoder of MNIST, 784-1000-500-250-30, m from 250 to 8,000: 2,000 "
        "updates of both forms of K-FAC with and without momentum, 20,000 of Nesterov's method. The sizes "
        "that the figure shows are not told in the text.",
    },
    run=run,
)
