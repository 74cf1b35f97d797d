"""What damping of the factors does to a step of K-FAC, by itself and with re-scaling by the exact matrix."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.func import grad

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.kfac.course import DIGITS, L2, Problem, network
from optimizers import KFAC, Bernoulli
from optimizers.curvature.block_tridiagonal import BlockTridiagonal
from optimizers.curvature.blocks import Block, find_blocks
from optimizers.curvature.matrices import Matrices, inner, plus, times
from optimizers.curvature.network import Network
from optimizers.curvature.products import Jacobian, fisher_inner
from optimizers.curvature.statistics import RunningStatistics
from optimizers.damping.rescaling import best_multiples, model_change
from worker.datasets import load
from worker.training.batch_size import batch_size_schedule
from worker.training.batches import Batches
from worker.training.streams import Streams

KINDS: Final = ("raw", "re-scaled", "re-scaled, momentum")
TOLERANCE: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A training, when it is stopped, and which γ are tried there."""

    problem: Problem
    updates: int
    first: int  # cases of the first batch
    full_at: int
    damping: float  # λ in the beginning
    gammas: tuple[float, ...]


def _grid(low: int, high: int) -> tuple[float, ...]:
    return tuple(10 ** (quarter / 4) for quarter in range(4 * low, 4 * high + 1))


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(problem=DIGITS, updates=60, first=250, full_at=200, damping=10.0, gammas=_grid(-4, 2)),
    "full": Setup(
        problem=Problem(name="MNIST", dataset="mnist", encoder=(784, 1000, 500, 250, 30)),
        updates=500,
        first=1000,
        full_at=500,
        damping=150.0,
        gammas=_grid(-3, 2),
    ),
}


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What a γ does for h, and what the quadratic model foresees, by the kind of step."""

    gamma: float
    gains: Mapping[str, float]  # h(θ) - h(θ + δ)
    foreseen: Mapping[str, float]  # -(M(δ) - M(0)), where M decided


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A network on its way, with all that K-FAC knows there."""

    model: nn.Module
    blocks: Mapping[str, Block]
    averages: RunningStatistics
    last: Matrices  # δ₀
    damping: float  # λ
    gamma: float
    cases: Tensor


def run(size: Size) -> Result:
    setup = SETUPS[size]
    standing = trained(setup)
    tried = scan(standing, setup.gammas)
    return judged(tried, standing)


def trained(setup: Setup) -> Standing:
    """Train by block-tridiagonal K-FAC in float64."""
    streams = Streams(0)
    cases = load(setup.problem.dataset, validation=False).train.inputs.double()
    model = network(setup.problem, 0).double()
    optimizer = KFAC(
        model,
        Bernoulli(),
        damping=setup.damping,
        l2=L2,
        inverse="block_tridiagonal",
        generator=streams("targets"),
    )
    sizes = batch_size_schedule("exponential", examples=len(cases), first=setup.first, full_at=setup.full_at)
    batches = Batches(len(cases), streams("batches"))
    for update in range(setup.updates):
        batch = cases[batches.take(sizes(update))]
        optimizer.step(batch, batch)
    state, averages = optimizer.state_dict(), RunningStatistics()
    averages.load_state_dict(state["averages"])
    return Standing(
        model=model,
        blocks=find_blocks(model),
        averages=averages,
        last=state["last"],
        damping=optimizer.param_groups[0]["damping"],
        gamma=state["gamma"],
        cases=cases,
    )


def scan(standing: Standing, gammas: tuple[float, ...]) -> list[Tried]:
    """Return what each γ would do for the loss of all cases."""
    jacobian = Jacobian(Network(standing.model, standing.cases))
    params = jacobian.network.params
    weights = _matrices(standing, params)
    slopes = _matrices(standing, grad(_loss(standing, jacobian.network))(params))
    gradient = plus(slopes, times(weights, L2))

    def h(update: Matrices) -> float:
        there = plus(weights, update)
        loss = _loss(standing, jacobian.network)(_tensors(standing, there)).item()
        return loss + L2 / 2 * inner(there, there).item()

    start = h(times(weights, 0.0))
    return [_tried(standing, gamma, jacobian, gradient, lambda update: start - h(update)) for gamma in gammas]


def _tried(
    standing: Standing,
    gamma: float,
    jacobian: Jacobian,
    gradient: Matrices,
    gain: Callable[[Matrices], float],
) -> Tried:
    inverse = BlockTridiagonal().refreshed(standing.averages.kept, gamma)
    raw, last = times(inverse.solve(gradient), -1.0), standing.last
    directions = [raw, last]
    shift = standing.damping + L2
    vectors = [_tensors(standing, each) for each in directions]
    quadratic = fisher_inner(jacobian, Bernoulli(), *vectors).double() + shift * torch.stack(
        [torch.stack([inner(u, v) for v in directions]) for u in directions]
    )
    along = torch.stack([inner(gradient, u) for u in directions])
    one, both = best_multiples(quadratic[:1, :1], along[:1]), best_multiples(quadratic, along)
    steps = {
        "raw": raw,
        "re-scaled": times(raw, one[0].item()),
        "re-scaled, momentum": plus(times(raw, both[0].item()), last, both[1].item()),
    }
    return Tried(
        gamma=gamma,
        gains={name: gain(step) for name, step in steps.items()},
        foreseen={
            "re-scaled": -model_change(quadratic[:1, :1], along[:1], one),
            "re-scaled, momentum": -model_change(quadratic, along, both),
        },
    )


def judged(tried: list[Tried], standing: Standing) -> Result:
    """Return what is to be said of a scan."""
    best = {kind: max(tried, key=lambda each: _rank(each.gains[kind])) for kind in KINDS}
    least = {
        kind: min((each.gamma for each in tried if each.gains[kind] > 0), default=math.inf) for kind in KINDS
    }
    weak = min(tried, key=lambda each: abs(math.log(each.gamma / (0.01 * best["raw"].gamma))))
    worst = {kind: min(tried, key=lambda each: _rank(each.gains[kind])) for kind in KINDS}
    foreseen = min(each.foreseen["re-scaled, momentum"] - each.foreseen["re-scaled"] for each in tried)
    least_lead = min(tried, key=_lead)
    claims = [
        Claim(
            says="The preconditioned gradient as it is makes h worse unless damping is strong: at a "
            "hundredth of its best γ it does",
            holds=weak.gains["raw"] < 0,
            told=f"{weak.gains['raw']:.3g} at γ = {weak.gamma:.3g}; the best is "
            f"{best['raw'].gains['raw']:.3f} at γ = {best['raw'].gamma:.3g}",
        ),
        Claim(
            says="Re-scaled, it lowers h at much smaller γ than as it is",
            holds=least["re-scaled"] <= least["raw"] / 3,
            told=f"from γ = {least['re-scaled']:.3g} on, as it is from {least['raw']:.3g} on",
        ),
        Claim(
            says="Re-scaled, it makes h worse at no γ that is tried",
            holds=worst["re-scaled"].gains["re-scaled"] >= -TOLERANCE,
            told=f"the least gain is {worst['re-scaled'].gains['re-scaled']:.3g}, at γ = "
            f"{worst['re-scaled'].gamma:.3g}",
        ),
        Claim(
            says="The best re-scaled step lowers h by more than the best one as it is",
            holds=best["re-scaled"].gains["re-scaled"] > best["raw"].gains["raw"],
            told=f"{best['re-scaled'].gains['re-scaled']:.3f} at γ = {best['re-scaled'].gamma:.3g}, "
            f"{best['raw'].gains['raw']:.3f} at γ = {best['raw'].gamma:.3g}",
        ),
        Claim(
            says="With momentum the quadratic model foresees at least as much at every γ",
            holds=foreseen >= -TOLERANCE,
            told=f"the least lead is {foreseen:.2g}",
        ),
        Claim(
            says="And so much it is: with momentum h falls at least as far at every γ",
            holds=_lead(least_lead) >= -TOLERANCE,
            told=f"the least lead is {_lead(least_lead):.2g}, at γ = {least_lead.gamma:.3g}",
        ),
    ]
    rows = [[each.gamma, *(each.gains[kind] for kind in KINDS)] for each in tried]
    gammas = [each.gamma for each in tried]
    floor = -2 * max(each.gains["re-scaled, momentum"] for each in tried)

    def line(kind: str) -> Line:
        gains = [each.gains[kind] for each in tried]
        return Line(name=kind, x=gammas, y=[value if value >= floor else None for value in gains])

    return Result(
        claims=claims,
        tables=[
            Table(title="h(θ) - h(θ + δ): how far a step lowers the objective", head=["γ", *KINDS], rows=rows)
        ],
        pictures=[
            Picture(
                name="gains",
                says="How far one step lowers the objective, by the damping of its factors. Steps that "
                "make it much worse are left out.",
                panels=[Panel(x="γ", y="h(θ) - h(θ + δ)", log_x=True, lines=[line(kind) for kind in KINDS])],
            )
        ],
        remarks=[
            (
                f"At this point K-FAC itself has λ = {standing.damping:.3g} and γ = {standing.gamma:.3g}. "
                "All steps are by the gradient of all cases, and so is the matrix of the model."
            )
        ],
    )


def _lead(tried: Tried) -> float:
    return tried.gains["re-scaled, momentum"] - tried.gains["re-scaled"]


def _rank(gain: float) -> float:
    return gain if math.isfinite(gain) else -math.inf


def _loss(standing: Standing, network: Network) -> Callable[[Any], Tensor]:
    return lambda params: Bernoulli().loss(network(params), standing.cases)


def _matrices(standing: Standing, tensors: Mapping[str, Tensor]) -> Matrices:
    return {name: block.matrix(tensors) for name, block in standing.blocks.items()}


def _tensors(standing: Standing, matrices: Matrices) -> dict[str, Tensor]:
    like = dict(standing.model.named_parameters())
    tensors = {name: torch.zeros_like(each, requires_grad=False) for name, each in like.items()}
    for name, matrix in matrices.items():
        standing.blocks[name].put(matrix, tensors)
    return tensors


EXPERIMENT: Final = Experiment(
    name="kfac-damping",
    title="K-FAC: damping and re-scaling",
    rows=(217,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), section 6.6, figure 6.6",
    asks="K-FAC damps the factors of its matrix by γ, multiplies the preconditioned gradient Δ by what "
    "minimises a quadratic model with the exact Fisher matrix, and adds a part of its last step. What "
    "does each do for one step?",
    reported="""On the autoencoder of MNIST at update 500 of block-tridiagonal K-FAC, as a figure:

- Δ as it is gives no improvement of the objective at all unless γ is very large.
- Re-scaled, much smaller γ can be afforded, and the step improves the objective by much more.
- With momentum the improvement is larger still, over the whole range.""",
    here={
        "small": "An autoencoder 64-50-25-10-25-50-64 of tanh units with a linear code on 1,500 digits, "
        "at update 60 of block-tridiagonal K-FAC (λ from 10, batches that grow from 250 to all cases by "
        "update 200), in float64.",
        "full": "The published autoencoder 784-1000-500-250-30 of MNIST at update 500, with the published "
        "settings: λ from 150, batches that grow from 1,000 to all cases.",
    },
    run=run,
)
