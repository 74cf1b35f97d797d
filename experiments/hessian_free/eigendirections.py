"""In which order conjugate gradients settle directions of large and of small curvature."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers.solvers.cg import conjugate_gradients

COUNT: Final = {"small": 20, "full": 200}  # eigenvalues of each cluster
WIDTH: Final = 0.1  # of a cluster, relative
LARGE: Final = (10.0, 100.0, 1000.0)  # the curvature of one cluster; that of the other is 1
SHOWN: Final = 100.0
STEPS: Final = 8
WEIGHTS: Final = (1.0, 10.0, 100.0, 1000.0)  # of the cluster of small curvature, over the other


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """The part of each cluster's loss that is left, before any step and after each."""

    small: list[float]
    large: list[float]

    @property
    def first(self) -> str:
        """Which cluster has lost nine tenths first."""
        return "large" if _settled(self.large) <= _settled(self.small) else "small"


def followed(large: float, count: int, weight: float = 1.0) -> Clusters:
    """Run conjugate gradients from 0 where the small cluster has `weight` times as much to gain."""
    spread = torch.linspace(1 - WIDTH / 2, 1 + WIDTH / 2, count, dtype=torch.float64)
    values = torch.cat([spread, large * spread])
    weights = torch.cat([torch.full_like(spread, weight), torch.ones_like(spread)])
    slopes = (2 * weights * values).sqrt()  # ω = ½ η² / λ, what a direction has to gain
    solved = conjugate_gradients(
        lambda v: values * v, slopes, max_iterations=STEPS, progress=0.0, keep=lambda _: True
    )
    losses = [_losses(values, slopes, solved.iterates[number]) for number in sorted(solved.iterates)]
    return Clusters(
        small=[float(each[:count].sum() / weights[:count].sum()) for each in losses],
        large=[float(each[count:].sum() / weights[count:].sum()) for each in losses],
    )


def run(size: Size) -> Result:
    count = COUNT[size]
    equal = {large: followed(large, count) for large in LARGE}
    turned = {weight: followed(SHOWN, count, weight) for weight in WEIGHTS}
    rises = max(
        after / before
        for each in equal.values()
        for before, after in zip(each.small[:2], each.small[1:2], strict=False)
    )
    return Result(
        claims=[
            Claim(
                says="With as much to gain in both, directions of large curvature are settled first.",
                holds=all(each.first == "large" for each in equal.values()),
                told="after one step "
                + ", ".join(
                    f"{each.large[1]:.1%} and {each.small[1]:.1%} are left at {large:g}"
                    for large, each in equal.items()
                )
                + " (large, small curvature)",
            ),
            Claim(
                says="The first step, near a root at the large cluster, hardly moves the small one, and not "
                "upwards.",
                holds=rises <= 1,
                told=f"at most {rises:.1%} of its loss is left after it",
            ),
            Claim(
                says="What directions have to gain counts too: with enough more, small curvature comes "
                "first.",
                holds=turned[WEIGHTS[0]].first == "large" and turned[WEIGHTS[-1]].first == "small",
                told=", ".join(f"{each.first} first at {weight:g} times" for weight, each in turned.items()),
            ),
        ],
        tables=[
            Table(
                title=f"Part of the loss that is left, curvatures about 1 and {SHOWN:g}",
                head=["steps", "small curvature", "large curvature"],
                rows=[
                    [number, low, high]
                    for number, (low, high) in enumerate(
                        zip(equal[SHOWN].small, equal[SHOWN].large, strict=True)
                    )
                ],
            )
        ],
        pictures=[
            Picture(
                name="clusters",
                says="The part of each cluster's loss that is left, by the steps of conjugate gradients.",
                columns=3,
                panels=[
                    Panel(
                        title=f"curvatures about 1 and {large:g}",
                        x="steps",
                        y="part of the loss",
                        log_y=True,
                        lines=[
                            Line(name="small curvature", x=list(range(len(each.small))), y=each.small),
                            Line(name="large curvature", x=list(range(len(each.large))), y=each.large),
                        ],
                    )
                    for large, each in equal.items()
                ],
            )
        ],
        seeds="none, nothing is drawn",
    )


def _losses(values: Tensor, slopes: Tensor, place: Tensor) -> Tensor:
    """Return for each direction how much is left to gain, ω p(λ)²."""
    return values * (place - slopes / values).square() / 2


def _settled(left: list[float]) -> int:
    return next((number for number, each in enumerate(left) if each <= 0.1), len(left))


EXPERIMENT: Final = Experiment(
    name="eigendirections",
    title="Which directions conjugate gradients settle first",
    rows=(204,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 4.7, figure 4.4",
    asks="Conjugate gradients that stop early have settled some eigen-directions and not others. Which?",
    reported="The loss of a direction is its weight times the square of a polynomial at its eigenvalue, "
    "which is 1 at 0. A root near a cluster of large eigenvalues leaves those of small ones as they are, one "
    "near the small cluster would blow up the others: so at equal weights the large ones come first. An "
    "argument with a drawing, without numbers.",
    here={
        "small": "Two clusters of 20 eigenvalues each, of relative width 0.1, about 1 and about 10, 100 and "
        "1,000, at equal weights ½η²/λ and with up to 1,000 times as much to gain in the small one; "
        "conjugate gradients from 0, without preconditioner; float64.",
        "full": "The same with 200 eigenvalues each.",
    },
    run=run,
)
