"""The Fisher matrix and the squared gradient that is often taken for it, on half of θ²."""

from itertools import islice, pairwise
from typing import Final

import torch

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.small_cases.quadratic import HALF_SQUARES, visited
from optimizers import DiagonalNewton
from optimizers.curvature.diagonals import Source

UPDATES: Final = {"small": 100, "full": 5000}
LR: Final = 0.1
EXPONENTS: Final = (0.5, 0.75, 1.0)
START: Final = 1.03  # no multiple of the rate: else a sign step hits 0 by chance
ONE = torch.ones(1, 1, dtype=torch.float64)


def distances(source: Source, exponent: float, updates: int, *, lr: float = LR) -> list[float]:
    """Return |θ| before any update of θ ← θ - lr (matrix)^-ξ θ and after each."""
    points = visited(
        lambda model: DiagonalNewton(
            model, HALF_SQUARES, lr=lr, damping=0.0, exponent=exponent, source=source, decay=0.0
        ),
        ONE,
        torch.tensor([START], dtype=torch.float64),
    )
    return [float(point.abs()) for point in islice(points, updates + 1)]


def run(size: Size) -> Result:
    updates = UPDATES[size]
    fisher = distances("gauss_newton", 1.0, updates)
    empirical = {exponent: distances("empirical_fisher", exponent, updates) for exponent in EXPONENTS}
    named = {"Fisher": fisher} | {f"squared gradient, ξ = {e:g}": each for e, each in empirical.items()}
    tails = {exponent: max(found[updates // 2 :]) for exponent, found in empirical.items()}
    least = {exponent: min(found[updates // 2 :]) for exponent, found in empirical.items()}
    rates = [after / before for before, after in pairwise(fisher) if before > 1e-12]
    off = max(abs(rate - (1 - LR)) for rate in rates)
    others = {lr: distances("gauss_newton", 1.0, 60, lr=lr)[-1] for lr in (0.5, 1.5, 1.9)}
    return Result(
        claims=[
            Claim(
                says="With the Fisher matrix the distance falls by |1 - lr| in each update.",
                holds=off < 1e-9,
                told=f"the factor is {1 - LR:g} within {off:.0e}, down to {fisher[-1]:.1e}",
            ),
            Claim(
                says="It converges at every rate below 2.",
                holds=all(found < 1e-2 for found in others.values()),
                told=", ".join(f"{found:.1e} after 60 updates at {lr:g}" for lr, found in others.items()),
            ),
            Claim(
                says="With the squared gradient in its place, to any power from ½ to 1, a constant rate does "
                "not converge.",
                holds=all(tail > 1e-3 for tail in tails.values()),
                told="the largest distance of the later half is "
                + ", ".join(f"{tail:.3f} at ξ = {exponent:g}" for exponent, tail in tails.items()),
            ),
            Claim(
                says="At ξ = ½ each update moves by the rate itself, to and fro across the minimum.",
                holds=abs(tails[0.5] + least[0.5] - LR) < 1e-9,
                told=f"the later distances go between {least[0.5]:.3f} and {tails[0.5]:.3f}, lr = {LR:g}",
            ),
        ],
        tables=[
            Table(
                title=f"Distance to the minimum after {updates} updates at lr = {LR:g}",
                head=["matrix", "at the end", "largest of the later half"],
                rows=[[name, found[-1], max(found[updates // 2 :])] for name, found in named.items()],
            )
        ],
        pictures=[
            Picture(
                name="distance",
                says="The distance to the minimum of ½ θ², update by update.",
                panels=[
                    Panel(
                        x="updates",
                        y="|θ|",
                        log_y=True,
                        lines=[
                            Line(name=name, x=list(range(len(found)))[:101], y=found[:101])
                            for name, found in named.items()
                        ],
                    )
                ],
            )
        ],
        seeds="none, nothing is drawn",
    )


EXPERIMENT: Final = Experiment(
    name="empirical-fisher",
    title="The squared gradient in place of the Fisher matrix",
    rows=(204,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 5.6.1",
    asks="The empirical Fisher matrix, the second moment of the gradients, vanishes where the gradients do. "
    "What does that do to an iteration near a minimum?",
    reported="On h = ½ θ² the Fisher matrix is 1 and the empirical one θ². With the former the iteration "
    "contracts by |1 - α| for any constant rate below 2; with the latter to a power from ½ to 1 it does not "
    "converge, unless the power is below 1 and the rate goes to 0 fast enough.",
    here={
        "small": "`DiagonalNewton` with either diagonal, undamped, 100 updates at lr = 0.1 from θ = 1.03; "
        "float64.",
        "full": "The same with 5,000 updates.",
    },
    run=run,
)
