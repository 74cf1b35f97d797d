"""K-FAC beside Nesterov's method, whose rate and momentum are tuned, on deep autoencoders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.kfac.course import DIGITS, Course, Problem, Training, followed, kfac, nesterov, plan
from experiments.spread import spread

TRIDIAGONAL: Final = {"inverse": "block_tridiagonal"}
PLAIN: Final = {"found_momentum": False}
SPENT: Final = ("updates", "cases", "seconds")
SHOWN: Final = ("diagonal", "tridiagonal", "diagonal, large", "plain")  # in the pictures
LARGE, BEGINS = 150.0, 1.0  # λ: as published, and where a small network can begin


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A problem, and how long each method trains on batches of which size."""

    problem: Problem
    updates: int  # of K-FAC
    first: int  # cases of its first batch
    full_at: int  # the update that sees all of them
    fixed: int  # cases of a batch of K-FAC without momentum
    baseline_updates: int
    baseline_batch: int
    rates: Sequence[float]
    momenta: Sequence[tuple[str, float]]
    kinds: Sequence[str] = ()  # of K-FAC, all of them unless told


RISING: Final = ("rising", 0.99)
CURVES: Final = Problem(name="CURVES", dataset="curves", encoder=(784, 400, 200, 100, 50, 25, 6))
SETUPS: Final[Mapping[Size, Sequence[Setup]]] = {
    "small": (
        Setup(
            problem=DIGITS,
            updates=300,
            first=250,
            full_at=200,
            fixed=500,
            baseline_updates=4000,
            baseline_batch=100,
            rates=(0.02, 0.05, 0.1, 0.2),
            momenta=(RISING, ("constant", 0.95)),
        ),
        Setup(
            problem=Problem(name="CURVES 14x14", dataset="curves_14", encoder=(196, 100, 50, 25, 6)),
            updates=400,
            first=250,
            full_at=250,
            fixed=500,
            baseline_updates=2000,
            baseline_batch=250,
            rates=(0.02, 0.05),
            momenta=(RISING, ("constant", 0.95)),
            kinds=("diagonal", "tridiagonal", "diagonal, large", "plain"),
        ),
    ),
    "full": tuple(
        Setup(
            problem=problem,
            updates=1000,
            first=1000,
            full_at=500,
            fixed=4000,
            baseline_updates=50_000,
            baseline_batch=batch,
            rates=(0.0005, 0.001, 0.005, 0.01, 0.05),
            momenta=tuple(("rising", limit) for limit in (0.9, 0.99, 0.995, 0.999)),
        )
        for problem, batch in (
            (CURVES, 250),
            (Problem(name="MNIST", dataset="mnist", encoder=(784, 1000, 500, 250, 30)), 500),
            (
                Problem(name="FACES", dataset="faces", encoder=(625, 2000, 1000, 500, 30), loss="squared"),
                500,
            ),
        )
    ),
}


def run(size: Size) -> Result:
    return judged([compared(setup) for setup in SETUPS[size]])


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What came of one problem."""

    setup: Setup
    ours: Mapping[str, Course]
    tuned: Sequence[Course]  # of the baseline, all that were tried

    @property
    def best(self) -> Course:
        """The baseline as tuned."""
        return min(self.tuned, key=lambda course: course.final)


def compared(setup: Setup) -> Compared:
    """Train by all methods from the same weights."""
    ours, tuned = trainings(setup), baselines(setup)
    courses = spread(followed, [*ours.values(), *tuned])
    return Compared(setup=setup, ours=dict(zip(ours, courses, strict=False)), tuned=courses[len(ours) :])


def trainings(setup: Setup) -> Mapping[str, Training]:
    """Return those by K-FAC."""
    grows = plan(setup.updates, setup.first, full_at=setup.full_at)
    begins = {"damping": BEGINS}

    def by(name: str, settings: Mapping[str, Any], chosen: Any = grows) -> Training:
        return Training(
            name=f"K-FAC, {name}",
            problem=setup.problem,
            optimizer="kfac",
            settings=kfac(**settings),
            plan=chosen,
        )

    fixed = plan(setup.updates, setup.fixed)
    all_of_them = {
        "diagonal": by("block-diagonal", begins),
        "tridiagonal": by("block-tridiagonal", begins | TRIDIAGONAL),
        "diagonal, large": by(f"block-diagonal, λ from {LARGE:g}", {"damping": LARGE}),
        "tridiagonal, large": by(f"block-tridiagonal, λ from {LARGE:g}", {"damping": LARGE} | TRIDIAGONAL),
        "diagonal, found": by("block-diagonal, λ found", {}),
        "plain": by("block-diagonal, no momentum", begins | PLAIN),
        "plain, fixed": by(f"no momentum, batches of {setup.fixed}", begins | PLAIN, fixed),
        "iterate": by("block-diagonal, not averaged", begins, replace(grows, averaging="none")),
    }
    return {kind: each for kind, each in all_of_them.items() if kind in (setup.kinds or all_of_them)}


def baselines(setup: Setup) -> Sequence[Training]:
    """Return those by Nesterov's method: every rate with every momentum."""
    return [
        Training(
            name=f"Nesterov, lr {lr:g}, momentum {schedule} {momentum:g}",
            problem=setup.problem,
            optimizer="nesterov",
            settings={**nesterov(lr, momentum), "momentum_schedule": schedule},
            plan=plan(setup.baseline_updates, setup.baseline_batch),
        )
        for lr, (schedule, momentum) in product(setup.rates, setup.momenta)
    ]


def judged(problems: Sequence[Compared]) -> Result:
    """Return what is to be said of all problems."""
    return Result(
        claims=[claim for each in problems for claim in _claims(each)],
        tables=[*(_spent(each) for each in problems), *(_tuning(each) for each in problems)],
        pictures=[_picture(each) for each in problems],
        remarks=[
            (
                "The baseline is tuned: the best of all its settings counts, by the error it ends with, and "
                "what the tuning took stands in the last tables. K-FAC was not: λ from 150 is as published, "
                "λ from 1 is what suits networks as small as these, and where λ is found on the first batch "
                "nothing is chosen. Seconds are those of one core of the processor, without evaluation; they "
                "depend on the machine and on what else it does."
            ),
        ],
    )


def _claims(found: Compared) -> list[Claim]:
    best, ours = found.best, found.ours
    diagonal, tridiagonal, plain = ours["diagonal"], ours["tridiagonal"], ours["plain"]
    name, reached = found.setup.problem.name, {what: diagonal.spent(what, best.final) for what in SPENT}
    ahead = tridiagonal.spent("updates", diagonal.final)
    claims = [
        Claim(
            says=f"{name}: K-FAC with momentum ends below the tuned baseline in many times fewer updates",
            holds=diagonal.final < best.final,
            told=f"{diagonal.final:.3f} after {found.setup.updates:,} updates; {best.final:.3f} after "
            f"{found.setup.baseline_updates:,} ({best.training.name})",
        ),
        Claim(
            says=f"{name}: it takes less computation for it too",
            holds=_less(reached["seconds"], best.seconds[-1]),
            told=f"{_told(reached['seconds'])} s down to the error that the baseline ends with after "
            f"{best.seconds[-1]:.1f} s; {_told(reached['cases'])} cases, the baseline {best.cases[-1]:,}",
        ),
        Claim(
            says=f"{name}: with the block-tridiagonal inverse it goes further in as many updates",
            holds=tridiagonal.final <= diagonal.final,
            told=f"{tridiagonal.final:.3f}, {diagonal.final:.3f} with the block-diagonal one",
        ),
        Claim(
            says=f"{name}: its progress by update is 25 % to 40 % larger, or more",
            holds=ahead is not None and found.setup.updates / ahead >= 1.25,
            told="it never comes there"
            if ahead is None
            else f"it is as far after {ahead:.0f} updates as the other after {found.setup.updates}",
        ),
        Claim(
            says=f"{name}: without momentum K-FAC ends clearly higher",
            holds=plain.final > 1.1 * diagonal.final,
            told=f"{plain.final:.3f}, {diagonal.final:.3f} with it",
        ),
    ]
    if "plain, fixed" in ours:
        fixed = ours["plain, fixed"]
        seconds = fixed.spent("seconds", best.final)
        claims.append(
            Claim(
                says=f"{name}: without momentum, on batches of one size, it is not faster than the baseline",
                holds=not _less(seconds, best.seconds[-1]),
                told=f"{fixed.final:.3f} after {fixed.seconds[-1]:.1f} s; the baseline's {best.final:.3f} "
                f"after {_told(seconds)} s",
            )
        )
    if "iterate" in ours:
        claims.append(
            Claim(
                says=f"{name}: averaging of the iterates does not help K-FAC, whose batches grow",
                holds=ours["iterate"].final <= diagonal.final * 1.001,
                told=f"{ours['iterate'].final:.4f} without; the better of iterate and average has "
                f"{diagonal.final:.4f}",
            )
        )
    return claims


def _less(ours: float | None, theirs: float) -> bool:
    return ours is not None and ours < theirs


def _told(amount: float | None) -> str:
    if amount is None:
        return "never"
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.1f}"


def _spent(found: Compared) -> Table:
    """What each method ended with, and what it spent until the error that the tuned baseline ends with."""
    best = found.best
    rows: list[list[Cell]] = [
        [
            course.training.name,
            course.training.plan.updates,
            None if course.diverged else course.final,
            course.cases[-1],
            course.seconds[-1],
            *(course.spent(what, best.final) for what in SPENT),
        ]
        for course in [*found.ours.values(), best]
    ]
    return Table(
        title=f"{found.setup.problem.name}: reconstruction error of the training cases",
        head=[
            "method",
            "updates",
            "error",
            "cases",
            "seconds",
            *(f"{what} to {best.final:.3f}" for what in SPENT),
        ],
        rows=rows,
        note="The last row is the baseline as tuned. All start from the same weights, with an error of "
        f"{best.errors[0]:.3f}.",
    )


def _tuning(found: Compared) -> Table:
    rows: list[list[Cell]] = [
        [course.training.name, None if course.diverged else course.final, course.seconds[-1]]
        for course in found.tuned
    ]
    total = sum(course.seconds[-1] for course in found.tuned)
    return Table(
        title=f"{found.setup.problem.name}: tuning of the baseline, {found.setup.baseline_updates:,} "
        f"updates of {found.setup.baseline_batch} cases each",
        head=["setting", "error", "seconds"],
        rows=rows,
        note=f"{total:,.0f} seconds in all. A dash is a training that diverged.",
    )


def _picture(found: Compared) -> Picture:
    shown = [found.ours[kind] for kind in SHOWN if kind in found.ours] + [found.best]
    return Picture(
        name="".join(letter if letter.isalnum() else "-" for letter in found.setup.problem.name.lower()),
        says=f"{found.setup.problem.name}: reconstruction error of the training cases by updates and by "
        "seconds of a core.",
        panels=[
            Panel(
                x=against,
                y="error" if against == "updates" else "",
                log_x=True,
                log_y=True,
                lines=[_without_start(course, against) for course in shown],
            )
            for against in ("updates", "seconds")
        ],
    )


def _without_start(course: Course, against: str) -> Line:
    line = course.line(against)
    return replace(line, x=line.x[1:], y=line.y[1:])  # a logarithmic axis has no 0


EXPERIMENT: Final = Experiment(
    name="kfac-autoencoders",
    title="K-FAC beside tuned Nesterov on autoencoders",
    rows=(219,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), section 6.13, figures 6.9 and 6.10",
    asks="How far does K-FAC train deep autoencoders in as many updates, and in as much time, as "
    "stochastic gradient descent with Nesterov momentum whose rate and momentum are tuned? What do "
    "momentum and the block-tridiagonal inverse do?",
    reported="""On CURVES, MNIST and FACES, as figures, on one GPU:

- By update K-FAC with momentum is orders of magnitude faster than the baseline, and much faster by second.
- The block-tridiagonal inverse makes typically 25 % to 40 % more progress by update; by second it is
  moderately better.
- Without momentum K-FAC is not significantly faster than the baseline.
- Averaging does not help K-FAC where batches grow; it hurts a little.""",
    here={
        "small": "Two problems with a weight decay of 10⁻⁵: 64-50-25-10-25-50-64 of tanh units on 1,500 "
        "digits, and 196-100-50-25-6-25-50-100-196 of logistic units on 2,000 generated curves of 14 x 14 "
        "pixels. K-FAC's batches grow from 250 to all cases. The baseline's have 100 and 250; its rates "
        "and momenta, constant or rising as published, are all combinations of those in the last tables. "
        "Sparse first weights, the same for all. What is judged is the better of the iterate and its "
        "average (ξ = 0.99).",
        "full": "The published networks of CURVES (generated), MNIST and FACES (from the Olivetti "
        "pictures), with the published settings: λ from 150 and from 1, batches from 1,000 to all cases "
        "at update 500, 1,000 updates; the baseline with batches of 250, 500 and 500, five rates with "
        "four limits of its rising momentum, 50,000 updates each.",
    },
    run=run,
)
