"""Trains a recurrent network by Hessian-free optimization on a problem with a long lag."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Generator, nn

from optimizers import HessianFree
from worker.datasets.sequences import PROBLEMS, SOLVED_BELOW, Problem, Sequences
from worker.models.recurrent import recurrent
from worker.tasks.sequence import JUDGED, OF_STEP, Masked
from worker.training.streams import Streams

STRUCTURAL: Final = 1 / 30  # μ, of λ


@dataclass(frozen=True, kw_only=True)
class Case:
    """One training: what is to be learned, by what, and how long it may take."""

    problem: str
    steps: int  # of a sequence, or the lag in memorisation
    structural: bool
    seed: int
    units: int
    sequences: int  # in the gradient, new ones for each update
    of_every: int  # of so many of them one is in the curvature
    test: int  # sequences
    most: int  # mini-batches


@dataclass(frozen=True, kw_only=True)
class Course:
    """How a training went. A mini-batch is as many sequences as one product with the curvature takes."""

    case: Case
    is_solved: bool
    updates: int
    products: int
    minibatches: int
    wrong: float  # share of the test sequences, at the end


def course(case: Case) -> Course:
    """Train until less than 1 % of the test sequences are wrong, or the mini-batches are used up."""
    problem, streams = PROBLEMS[case.problem](case.steps), Streams(case.seed)
    stream, judged = streams("sequences"), _drawn(problem, case.test, Generator().manual_seed(JUDGED["test"]))
    model = recurrent([problem.channels, case.units, problem.outputs], streams("weights")).to(_device())
    of_every = 1 if problem.every else case.of_every
    optimizer = HessianFree(
        model,
        Masked(OF_STEP[problem.loss], judged.mask),
        damping=_first_damping(case),
        cg_steps=300,
        structural=STRUCTURAL if case.structural else 0.0,
        stop_if_worse_than="best",
        preconditioner="none",
        curvature_from_every=of_every,
    )
    wrong, updates, products = _wrong(model, problem, judged), 0, 0
    while wrong >= SOLVED_BELOW and updates * of_every + products < case.most:
        batch = _drawn(problem, case.sequences, stream)
        step = optimizer.step(batch.inputs, batch.targets)
        products += (step.iterations or 0) + (updates > 0)  # one to begin from what was found before
        updates += 1
        wrong = _wrong(model, problem, judged)
    return Course(
        case=case,
        is_solved=wrong < SOLVED_BELOW,
        updates=updates,
        products=products,
        minibatches=updates * of_every + products,
        wrong=wrong,
    )


def _first_damping(case: Case) -> float:
    if case.problem == "random_permutation":  # has so many more outputs that count
        return 0.1 * case.steps
    return 0.1 if case.structural else 0.3


def _drawn(problem: Problem, count: int, stream: Generator) -> Sequences:
    """Return new sequences, or all there are, on the GPU if there is one."""
    drawn = problem.every() if problem.every else problem.draw(count, stream)
    return Sequences(
        *(each.to(_device()) for each in (drawn.inputs, drawn.targets, drawn.mask, drawn.judged))
    )


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@torch.no_grad()
def _wrong(model: nn.Module, problem: Problem, sequences: Sequences) -> float:
    """Return the share of the sequences that the model gets wrong."""
    return problem.wrong(model(sequences.inputs), sequences).double().mean().item()
