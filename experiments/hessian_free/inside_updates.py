"""What conjugate gradients do inside the updates of Hessian-free: the model, the loss, and where to begin."""

import copy
import math
from dataclasses import dataclass
from statistics import median
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import Bernoulli, HessianFree
from optimizers.curvature import diagonals
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher
from optimizers.curvature.vectors import flat
from optimizers.height import Height
from optimizers.hessian_free import Model
from optimizers.processes import Processes
from optimizers.solvers.cg import Solved, conjugate_gradients
from worker.datasets import load
from worker.models.autoencoder import autoencoder
from worker.training.initialisation import sparse_tanh

ENCODER: Final = (64, 50, 25, 10)
CASES: Final = {"small": 300, "full": 1500}
UPDATES: Final = {"small": 20, "full": 60}
STEPS: Final = {"small": 120, "full": 250}  # of conjugate gradients, at most
WARM_START: Final = 0.95
DAMPING: Final = 10.0
EXPONENT: Final = 0.75
PROGRESS: Final = 1e-4  # ε
SEED: Final = 0


@dataclass(frozen=True, kw_only=True)
class Inside:
    """One update: M - M(0) at each iterate from where the last one ended, and from 0; and h - h(0)."""

    damping: float
    warm: list[float]  # goes on for as long as it may
    cold: list[float]
    losses: list[float]  # of the warm iterates, over what it is before, to where the update stopped

    @property
    def best(self) -> int:
        """The iterate with the lowest loss."""
        return min(range(len(self.losses)), key=lambda number: self.losses[number])

    @property
    def lost(self) -> float:
        """Which part of the most that the loss had fallen is lost again where they stop."""
        return (self.losses[-1] - min(self.losses)) / max(-min(self.losses), 1e-12)

    @property
    def products_from_zero(self) -> int:
        return len(self.cold) - 1

    @property
    def products_from_the_last(self) -> int | None:
        """How many it takes to be as low as the solve from 0 is in the end, that for the start included."""
        return next((number + 1 for number, value in enumerate(self.warm) if value <= self.cold[-1]), None)


def followed(size: Size) -> list[Inside]:
    """Train by Hessian-free optimization and look into every update."""
    batch = load("digits").train.inputs[: CASES[size]]
    model = autoencoder(ENCODER, Generator().manual_seed(SEED), hidden="tanh", initialise=sparse_tanh())
    optimizer = HessianFree(
        model, Bernoulli(), damping=DAMPING, warm_start=WARM_START, cg_steps=STEPS[size], exponent=EXPONENT
    )
    found: list[Inside] = []
    start: Tensor | None = None
    for _ in range(UPDATES[size]):
        damping = float(optimizer.param_groups[0]["damping"])
        before = copy.deepcopy(model)
        taken = optimizer.step(batch, batch).iterations or 0
        inside, last = looked_into(before, batch, damping, start, taken, STEPS[size])
        found.append(inside)
        start = WARM_START * last
    return found


def looked_into(
    model: nn.Module, batch: Tensor, damping: float, start: Tensor | None, taken: int, steps: int
) -> tuple[Inside, Tensor]:
    """Return what the two solves of an update look like, and where the warm one ended in it."""
    network = Network(model, batch)
    height = Height(Bernoulli(), network, batch, 0.0, Processes(None))
    _, gradient = height.slope(torch.zeros_like(flat(network.params)))
    with torch.no_grad():
        warm = _solved(network, batch, gradient, damping, start, steps, progress=0.0)
        cold = _solved(network, batch, gradient, damping, None, steps, progress=PROGRESS)
        before = height(torch.zeros_like(gradient))
        losses = [height(warm.iterates[number]) - before for number in range(taken + 1)]
    inside = Inside(damping=damping, warm=warm.objectives, cold=cold.objectives, losses=losses)
    return inside, warm.iterates[taken]


def _solved(
    network: Network,
    batch: Tensor,
    gradient: Tensor,
    damping: float,
    start: Tensor | None,
    steps: int,
    *,
    progress: float,
) -> Solved:
    jacobian = Jacobian(network, recorded=True)
    damped = Model(lambda vector: fisher(jacobian, Bernoulli(), vector), damping, 0.0).damped
    powers = (flat(diagonals.empirical_fisher(network, Bernoulli(), batch)) + damping).pow(-EXPONENT)
    return conjugate_gradients(
        damped,
        -gradient,
        start=None if start is None else start.clone(),
        precondition=lambda vector: powers * vector,
        max_iterations=steps,
        progress=progress,
        keep=lambda _: True,
    )


def run(size: Size) -> Result:
    found = followed(size)
    late = found[len(found) // 2 :]
    early = [number for number, each in enumerate(found) if each.best < len(each.losses) - 1]
    is_falling = all(
        after <= before for each in found for before, after in zip(each.warm, each.warm[1:], strict=False)
    )
    pairs = [(each.products_from_the_last, each.products_from_zero) for each in late]
    fewer = sum(warm is not None and warm < cold for warm, cold in pairs)
    above = sum(each.warm[0] > 0 for each in late)
    final = [(min(each.warm[: len(each.cold)]), each.cold[-1]) for each in late]
    return Result(
        claims=[
            Claim(
                says="The quadratic model falls with every step of conjugate gradients.",
                holds=is_falling,
                told=f"in all {sum(len(each.warm) - 1 for each in found):,} steps of {len(found)} updates"
                if is_falling
                else "not in all",
            ),
            Claim(
                says="The loss does not: it is often lowest well before they stop.",
                holds=bool(early),
                told=f"in {len(early)} of {len(found)} updates; in the middle of all it is lowest at "
                f"{median(each.best / (len(each.losses) - 1) for each in found):.0%} of the steps",
            ),
            Claim(
                says="Beginning where the last update ended, the model may be above 0 at first.",
                holds=above > 0,
                told=f"in {above} of the later {len(late)} updates",
            ),
            Claim(
                says="Runs that begin there start slow, then overtake those that begin at 0: in the later "
                "half of the training they need fewer products to be as low.",
                holds=fewer > len(late) / 2,
                told=f"in {fewer} of {len(late)} updates; in the middle {_count(pairs)}",
            ),
        ],
        tables=[
            Table(
                title="The later updates: products until the model is as low as the run from 0 gets",
                head=[
                    "update",
                    "damping",
                    "from 0",
                    "from the last",
                    "model at the start",
                    "at the end of the other",
                ],
                rows=[
                    [
                        str(len(found) - len(late) + number + 1),
                        each.damping,
                        cold,
                        "not within the limit" if warm is None else str(warm),
                        each.warm[0],
                        lowest,
                    ]
                    for number, (each, (warm, cold), (lowest, _)) in enumerate(
                        zip(late, pairs, final, strict=True)
                    )
                ],
                note="The product that a start other than 0 costs is counted. The last column is the model "
                "of the run from the last after as many steps as the run from 0 took.",
            )
        ],
        pictures=[_picture(found)],
        seeds=f"{SEED}",
    )


def _count(pairs: list[tuple[int | None, int]]) -> str:
    warm = median(math.inf if each is None else each for each, _ in pairs)
    return f"{warm:g} against {median(cold for _, cold in pairs):g}"


def _picture(found: list[Inside]) -> Picture:
    shown = max(range(len(found)), key=lambda number: found[number].lost)
    one, last = found[shown], found[-1]
    return Picture(
        name="update",
        says=f"Left: update {shown + 1}, where most is lost again, the model that conjugate "
        "gradients lower and the loss at their "
        f"iterates. Right: update {len(found)}, the model from where the update before ended and from 0.",
        panels=[
            Panel(
                title=f"update {shown + 1}",
                x="steps of conjugate gradients",
                y="change",
                lines=[
                    Line(name="model", x=list(range(len(one.losses))), y=one.warm[: len(one.losses)]),
                    Line(name="loss", x=list(range(len(one.losses))), y=one.losses),
                ],
            ),
            Panel(
                title=f"update {len(found)}",
                x="steps of conjugate gradients",
                y="model",
                lines=[
                    Line(name="from the last", x=list(range(len(last.warm))), y=last.warm),
                    Line(name="from 0", x=list(range(len(last.cold))), y=last.cold),
                ],
            ),
        ],
    )


EXPERIMENT: Final = Experiment(
    name="inside-updates",
    title="Inside the updates of Hessian-free optimization",
    rows=(204,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "sections 4.6.7 and 4.8, figure 4.3",
    asks="Conjugate gradients lower a model of the loss. What happens to the loss meanwhile, and is it good "
    "to begin with what the last update found?",
    reported="In a typical run on a deep autoencoder the loss is lowest long before the model stops falling. "
    "Begun with the last update, the model may be above 0 at first; such runs start slow, catch up and "
    "surpass those from 0. In words and a figure, without numbers.",
    here={
        "small": "The digits of scikit-learn, 300 of them in every batch, autoencoder 64-50-25-10-25-50-64 "
        "of tanh units, cross-entropy; 20 updates of `HessianFree` with up to 120 steps, λ from 10, ζ = "
        "0.95, preconditioned by the empirical Fisher diagonal. Each update is solved again beside it from "
        "0, and from the last solution.",
        "full": "The same with 1,500 cases, 60 updates and up to 250 steps.",
    },
    run=run,
)
