"""Learning rates of single parameters that adapt, in a valley along the axes and in one across them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Generator, Tensor, nn
from torch.optim import SGD

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.small_cases.quadratic import HALF_SQUARES, height, linear_model
from experiments.spread import spread
from optimizers import StochasticMetaDescent

DIMENSIONS: Final = 5
CONDITION: Final = {"small": 30.0, "full": 1000.0}
UPDATES: Final = {"small": 320, "full": 40_000}
CASES: Final = 10  # of a batch
REDUCTION: Final = 1e-4  # of the excess
RATES: Final = (0.4, 0.8, 1.2)  # over the largest curvature
META: Final = {"small": (0.02, 0.2), "full": (0.005, 0.02, 0.1, 0.5)}
MEMORY: Final = {"small": (0.9, 0.99), "full": (0.0, 0.9, 0.99)}
SEED: Final = 0
REMARK: Final = (
    "The best setting is chosen for each method by these very updates, of more settings for meta-descent "
    "than for descent: that favours it."
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A method with its settings, on the valley that it runs in."""

    is_rotated: bool
    condition: float
    updates: int
    lr: float
    meta_lr: float | None = None  # None: plain descent
    memory: float = 0.0

    @property
    def method(self) -> str:
        return "descent" if self.meta_lr is None else "meta-descent"


def curvature(case: Case) -> Tensor:
    """Return H, with curvatures from 1 to the condition, along the axes or turned at random."""
    values = torch.logspace(0, math.log10(case.condition), DIMENSIONS, dtype=torch.float64)
    if not case.is_rotated:
        return values.diag()
    basis, _ = torch.linalg.qr(
        torch.randn(DIMENSIONS, DIMENSIONS, dtype=torch.float64, generator=Generator().manual_seed(SEED))
    )
    turned: Tensor = (basis * values) @ basis.T
    return turned


def excesses(case: Case) -> list[float]:
    """Return the excess over the minimum, as a share of the first, before any update and after each."""
    matrix = curvature(case)
    values, vectors = torch.linalg.eigh(matrix)
    model = linear_model(vectors @ values.rsqrt())  # every direction has as much to gain
    stream = Generator().manual_seed(SEED + 1)
    step, targets = _step(case, model), torch.zeros(CASES, 1, dtype=torch.float64)
    found = [height(matrix, model.weight.detach()[0])]
    root = (vectors * values.sqrt()) @ vectors.T
    for _ in range(case.updates):
        step(torch.randn(CASES, DIMENSIONS, dtype=torch.float64, generator=stream) @ root, targets)
        found.append(height(matrix, model.weight.detach()[0]))
        if not REDUCTION * found[0] < found[-1] < 1e6 * found[0]:  # arrived, or lost
            break
    return [each / found[0] for each in found]


def _step(case: Case, model: nn.Linear) -> Callable[[Tensor, Tensor], object]:
    """Return what takes an update on a batch."""
    lr = case.lr / case.condition
    if case.meta_lr is not None:
        return StochasticMetaDescent(
            model, HALF_SQUARES, lr=lr, meta_lr=case.meta_lr, memory=case.memory
        ).step
    plain = SGD(model.parameters(), lr=lr)

    def step(inputs: Tensor, targets: Tensor) -> None:
        plain.zero_grad()
        HALF_SQUARES.loss(model(inputs), targets).backward()
        plain.step()

    return step


def steps_needed(found: Sequence[float]) -> float:
    """Return after how many updates the excess is a ten-thousandth of the first; infinity if it never is."""
    return len(found) - 1 if found[-1] <= REDUCTION else math.inf


def cases(size: Size) -> list[Case]:
    """Return every setting of both methods, in both valleys."""
    settings: list[tuple[float | None, float]] = [(None, 0.0)]
    settings += [(meta_lr, memory) for meta_lr in META[size] for memory in MEMORY[size]]
    return [
        Case(
            is_rotated=is_rotated,
            condition=CONDITION[size],
            updates=UPDATES[size],
            lr=lr,
            meta_lr=meta_lr,
            memory=memory,
        )
        for is_rotated in (False, True)
        for meta_lr, memory in settings
        for lr in RATES
    ]


def run(size: Size) -> Result:
    tried = cases(size)
    found = list(zip(tried, spread(excesses, tried), strict=True))
    best = {
        (is_rotated, method): min(
            ((case, each) for case, each in found if (case.is_rotated, case.method) == (is_rotated, method)),
            key=lambda pair: steps_needed(pair[1]),
        )
        for is_rotated in (False, True)
        for method in ("descent", "meta-descent")
    }
    steps = {key: steps_needed(each) for key, (_, each) in best.items()}
    gains = {turned: steps[turned, "descent"] / steps[turned, "meta-descent"] for turned in (False, True)}
    return Result(
        claims=[
            Claim(
                says="Across the axes, rates of single parameters gain no more than a small factor (3, say) "
                "over one rate.",
                holds=gains[True] <= 3,
                told=f"{steps[True, 'descent']:g} updates against {steps[True, 'meta-descent']:g}: "
                f"{gains[True]:.2f} times as fast",
            ),
            Claim(
                says="They gain less there than where the valley lies along the axes.",
                holds=gains[True] < gains[False],
                told=f"{gains[True]:.2f} times as fast across them, {gains[False]:.2f} along them",
            ),
        ],
        tables=[
            Table(
                title="Updates to a ten-thousandth of the excess, at the best of the settings tried",
                head=["valley", "method", "updates", "lr over L", "meta_lr", "memory"],
                rows=[
                    [
                        "across the axes" if turned else "along the axes",
                        method,
                        "never" if math.isinf(steps[turned, method]) else f"{steps[turned, method]:g}",
                        f"{case.lr:g}",
                        "" if case.meta_lr is None else f"{case.meta_lr:g}",
                        "" if case.meta_lr is None else f"{case.memory:g}",
                    ]
                    for (turned, method), (case, _) in best.items()
                ],
                note="L is the largest curvature.",
            )
        ],
        pictures=[_picture(best)],
        seeds=f"{SEED} for the rotation, {SEED + 1} for the batches",
        remarks=[REMARK],
    )


def _picture(best: dict[tuple[bool, str], tuple[Case, list[float]]]) -> Picture:
    return Picture(
        name="excess",
        says="The excess over the minimum, as a share of the first, at the best settings of each method.",
        panels=[
            Panel(
                title="across the axes" if turned else "along the axes",
                x="updates",
                y="share of the excess",
                log_y=True,
                lines=[
                    Line(name=method, x=list(range(len(best[turned, method][1]))), y=best[turned, method][1])
                    for method in ("descent", "meta-descent")
                ],
            )
            for turned in (False, True)
        ],
    )


EXPERIMENT: Final = Experiment(
    name="meta-descent",
    title="Rates of single parameters in a valley across the axes",
    rows=(203,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 3.3.2, after Schraudolph, Yu and Günter (2007)",
    asks="Stochastic meta-descent adapts a rate for each parameter. Does that help where the curvature is "
    "uneven, but not along the axes?",
    reported="On some ill-conditioned quadratics whose curvature is far from the axes it does not do "
    "significantly better than stochastic gradient descent. Said in words, without numbers.",
    here={
        "small": "A linear network of 5 weights without noise in its targets, batches of 10 Gaussian cases, "
        "condition 30, along the axes and turned at random. Torch's SGD against `StochasticMetaDescent`, "
        "each at the best of a few settings (rates 0.4 to 1.2 over the largest curvature, two meta-rates, "
        "two memories); every direction begins with as much to gain. The factor of 3 is ours.",
        "full": "The same with condition 1,000 and more settings.",
    },
    run=run,
)
