"""How near the Kronecker-factored matrices come to the Fisher matrix, and their inverses to its own."""

import itertools
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from experiments.experiment import Cell, Claim, Experiment, Panel, Picture, Result, Size, Table
from optimizers import KFAC, CrossEntropy
from optimizers.curvature.block_diagonal import BlockDiagonal
from optimizers.curvature.block_tridiagonal import BlockTridiagonal
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.products import output_gradients
from optimizers.curvature.statistics import Statistics, rows_of, summed
from worker.datasets import Part, load
from worker.models.perceptron import perceptron
from worker.training.initialisation import initialisation
from worker.training.streams import Streams

PARTLY: Final = 0.05  # of the cases are classified wrongly: a network that is partly trained
AT_ONCE: Final = 60  # updates until then, at most
GAMMA: Final = 0.02  # a weaker damping than K-FAC's own
PIXELS: Final = 46  # of a picture of a matrix, at most
BRIGHTEST: Final = 0.98  # the quantile of the entries from which on all are as bright


@dataclass(frozen=True, kw_only=True)
class Setup:
    """A classifier, how long it is trained in the end, and how many cases the matrices are means over."""

    dataset: str
    sizes: tuple[int, ...]
    updates: int
    cases: int


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(dataset="digits", sizes=(64, 12, 12, 12, 12, 10), updates=120, cases=1500),
    "full": Setup(dataset="mnist_16", sizes=(256, 20, 20, 20, 20, 20, 10), updates=22, cases=5000),
}


@dataclass(frozen=True, kw_only=True)
class State:
    """A network on its way, and K-FAC's damping of factors there."""

    updates: int
    wrong: float  # part of the training cases
    gamma: float
    model: nn.Module


@dataclass(frozen=True, kw_only=True)
class Moments:
    """What cases and targets, drawn from the model, say of the layers in the middle."""

    names: Sequence[str]
    weights: Tensor  # of each case with each target, 1 in all
    activities: Mapping[str, Tensor]  # a row for each
    slopes: Mapping[str, Tensor]
    statistics: Statistics  # the factors of all pairs of layers


def run(size: Size) -> Result:
    setup = SETUPS[size]
    part = load(setup.dataset, validation=False).train
    inputs = part.inputs[: setup.cases].double()
    partly, late = on_the_way(setup, part)
    seen, later = moments(partly.model, inputs), moments(late.model, inputs)
    matrices = written_out(seen, partly.gamma)
    exact, undamped = fisher(seen), factored(seen.statistics, seen.names, None)
    error, bound = (exact - undamped).abs().sum().item(), cumulants(seen)
    return Result(
        claims=[*_of_inverses(matrices, seen), *_of_errors(exact, undamped, error, bound)],
        tables=[
            _distances(((partly, seen), (late, later))),
            _blocks(
                "Mean sizes of the entries in the blocks of F̃, those on the diagonal being 1",
                matrices["F̃"],
                seen,
            ),
            _blocks("The same of its inverse", matrices["F̃⁻¹"], seen),
        ],
        pictures=_pictures(exact, undamped, matrices),
        remarks=[
            (
                f"The claims are judged after {partly.updates} updates, when {partly.wrong:.1%} of the "
                "training cases are classified wrongly, with the damping that K-FAC had then, "
                f"γ = {partly.gamma:.3g}. Once nothing is classified wrongly F itself vanishes and any "
                "damping outweighs it: all distances shrink, as the first table shows for "
                f"{late.updates} updates, and mean little."
            )
        ],
    )


def on_the_way(setup: Setup, part: Part) -> tuple[State, State]:
    """Return the network when it is partly trained, by updates on all cases, and when that ends."""
    streams = Streams(0)
    model = perceptron(
        setup.sizes, streams("weights"), activation="tanh", initialise=initialisation("glorot")
    ).double()
    optimizer = KFAC(model, CrossEntropy(), generator=streams("targets"))
    partly, update, wrong, gamma = None, 0, 1.0, 0.0
    for update in range(1, setup.updates + 1):
        optimizer.step(part.inputs.double(), part.targets)
        wrong, gamma = _wrong(model, part), float(optimizer.state_dict()["gamma"])
        if partly is None and (wrong <= PARTLY or update == AT_ONCE):
            partly = State(updates=update, wrong=wrong, gamma=gamma, model=deepcopy(model))
    late = State(updates=update, wrong=wrong, gamma=gamma, model=model)
    return partly or late, late


def moments(model: nn.Module, inputs: Tensor) -> Moments:
    """Return what is seen of all layers but the first, exactly: for every case with every class."""
    objective, blocks = CrossEntropy(), find_blocks(model)
    names = list(blocks)[1:]
    with torch.no_grad():
        chances = model(inputs).softmax(dim=1)
    rows = []
    for label in range(chances.shape[1]):
        with recording(model, blocks) as uses:
            outputs = model(inputs)
        targets = torch.full((len(inputs),), label)
        slopes = output_gradients(objective, outputs.detach(), targets) * chances[:, label, None].sqrt()
        rows.append({name: each for name, each in rows_of(uses, outputs, slopes).items() if name in names})
    weights = chances.T.reshape(-1) / len(inputs)
    lines = [{name: found for name, each in of_label.items() if (found := each.lines())} for of_label in rows]
    return Moments(
        names=names,
        weights=weights,
        activities={name: torch.cat([each[name][0] for each in lines]) for name in names},
        slopes={
            name: torch.cat([each[name][1] for each in lines]) / weights.sqrt()[:, None] for name in names
        },
        statistics=summed(rows, pairs=list(itertools.combinations(names, 2))),
    )


def fisher(seen: Moments) -> Tensor:
    """Return F of these layers, each as [W b] by columns."""
    rows = [
        torch.einsum("ni,nj->nij", seen.activities[name], seen.slopes[name]).flatten(1) for name in seen.names
    ]
    joined = torch.cat(rows, dim=1) * seen.weights.sqrt()[:, None]
    return joined.T @ joined


def factored(statistics: Statistics, names: Sequence[str], gamma: float | None) -> Tensor:
    """Return F̃; with γ the factors of its diagonal blocks are damped."""
    lines = []
    for i in names:
        line = []
        for j in names:
            if i == j:
                both = statistics.factors[i] if gamma is None else statistics.factors[i].damped(gamma)
            else:
                both = statistics.crosses[(i, j) if (i, j) in statistics.crosses else (j, i)]
            block = torch.kron(both.inputs.values, both.outputs.values)
            line.append(block if i == j or (i, j) in statistics.crosses else block.T)
        lines.append(torch.cat(line, dim=1))
    return torch.cat(lines)


def written_out(seen: Moments, gamma: float) -> dict[str, Tensor]:
    """Return F̃, its approximations and all inverses, damped."""
    adjacent = list(itertools.pairwise(seen.names))
    statistics = seen.statistics.of(seen.names, adjacent)
    inverses = {
        "F̌⁻¹": _products(BlockDiagonal().refreshed(statistics, gamma), statistics),
        "F̂⁻¹": _products(BlockTridiagonal().refreshed(statistics, gamma), statistics),
    }
    whole = factored(seen.statistics, seen.names, gamma)
    return {
        "F̃": whole,
        "F̃⁻¹": torch.linalg.inv(whole),
        **inverses,
        **{name.removesuffix("⁻¹"): torch.linalg.inv(matrix) for name, matrix in inverses.items()},
    }


def cumulants(seen: Moments) -> float:
    """Return the sum over all entries of the sizes of the cumulants that an entry's error is made of."""
    w, total = seen.weights, 0.0
    for i, j in itertools.product(seen.names, repeat=2):
        a, b, g, h = seen.activities[i], seen.activities[j], seen.slopes[i], seen.slopes[j]
        means = [w @ each for each in (a, b)]
        a, b, g, h = (each - w @ each for each in (a, b, g, h))

        def of_pair(u: Tensor, v: Tensor) -> Tensor:
            return (u * w[:, None]).T @ v

        left = torch.einsum("ni,nk->nik", a, g).flatten(1) * w[:, None]
        right = torch.einsum("nj,nm->njm", b, h).flatten(1)
        fourth = (left.T @ right).reshape(a.shape[1], g.shape[1], b.shape[1], h.shape[1])
        fourth -= torch.einsum("ij,km->ikjm", of_pair(a, b), of_pair(g, h))
        fourth -= torch.einsum("ik,jm->ikjm", of_pair(a, g), of_pair(b, h))
        fourth -= torch.einsum("im,jk->ikjm", of_pair(a, h), of_pair(b, g))
        for mean, other in ((means[0], b), (means[1], a)):
            third = torch.einsum("nj,nkm->jkm", other, torch.einsum("n,nk,nm->nkm", w, g, h))
            total += mean.abs().sum().item() * third.abs().sum().item()
        total += fourth.abs().sum().item()
    return total


def _products(inverse: BlockDiagonal | BlockTridiagonal, statistics: Statistics) -> Tensor:
    """Return an inverse by its products with all unit vectors."""
    shapes = {
        name: (len(each.outputs.values), len(each.inputs.values)) for name, each in statistics.factors.items()
    }
    sizes = [rows * columns for rows, columns in shapes.values()]
    columns = []
    for unit in torch.eye(sum(sizes), dtype=torch.float64):
        gradients = {
            name: piece.reshape(inputs, outputs).T
            for piece, (name, (outputs, inputs)) in zip(unit.split(sizes), shapes.items(), strict=True)
        }
        solved = inverse.solve(gradients)
        columns.append(torch.cat([solved[name].T.reshape(-1) for name in shapes]))
    return torch.stack(columns, dim=1)


def _of_inverses(matrices: Mapping[str, Tensor], seen: Moments) -> list[Claim]:
    away = {name: _apart(matrices[name], matrices["F̃"]) for name in ("F̌", "F̂")}
    inverse = {name: _apart(matrices[name], matrices["F̃⁻¹"]) for name in ("F̌⁻¹", "F̂⁻¹")}
    within = _within(matrices, seen)
    off = {name: _beside(_means(matrices[name], seen)) for name in ("F̃", "F̃⁻¹")}
    next_to, beyond = (_typical(_means(matrices["F̃⁻¹"], seen), far=far) for far in (False, True))
    return [
        Claim(
            says="The inverse of F̃ is nearly block-diagonal, though F̃ is not: beside the diagonal its "
            "blocks are less than half as large, as parts of the diagonal ones",
            holds=off["F̃⁻¹"] < off["F̃"] / 2,
            told=f"at most {off['F̃⁻¹']:.3f} in the inverse, {off['F̃']:.3f} in F̃",
        ),
        Claim(
            says="The inverse is nearly block-tridiagonal: beyond the blocks next to the diagonal ones "
            "there is less than half of what is in them",
            holds=beyond < next_to / 2,
            told=f"on average {next_to:.3f} next to the diagonal, {beyond:.3f} beyond",
        ),
        Claim(
            says="F̌ equals F̃ on the diagonal blocks, and F̂ on those next to them too",
            holds=max(within.values()) < 1e-9,
            told=", ".join(f"{name}: {value:.1e}" for name, value in within.items()),
        ),
        Claim(
            says="F̂ is a better approximation of F̃ than F̌",
            holds=away["F̂"] < away["F̌"],
            told=f"‖F̂ - F̃‖ / ‖F̃‖ = {away['F̂']:.3f}, ‖F̌ - F̃‖ / ‖F̃‖ = {away['F̌']:.3f}",
        ),
        Claim(
            says="So it is of the inverses, of which the block-diagonal one too is a fair approximation",
            holds=inverse["F̂⁻¹"] < inverse["F̌⁻¹"] < away["F̌"],
            told=f"{inverse['F̂⁻¹']:.3f} and {inverse['F̌⁻¹']:.3f}",
        ),
    ]


def _of_errors(exact: Tensor, undamped: Tensor, error: float, bound: float) -> list[Claim]:
    sizes = (exact.abs().flatten(), undamped.abs().flatten())
    alike = torch.corrcoef(torch.stack(sizes))[0, 1].item()
    return [
        Claim(
            says="F̃ has the coarse structure of F",
            holds=alike > 0.5,
            told=f"the sizes of their entries correlate by {alike:.3f}; ‖F - F̃‖ / ‖F‖ = "
            f"{_apart(undamped, exact):.3f}",
        ),
        Claim(
            says="The whole error is within the bound by cumulants, and of its order",
            holds=bound / 10 < error <= bound,
            told=f"{error:,.1f} of {bound:,.1f}",
        ),
    ]


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).norm() / other.norm())


def _sizes(seen: Moments) -> list[int]:
    return [seen.activities[name].shape[1] * seen.slopes[name].shape[1] for name in seen.names]


def _means(matrix: Tensor, seen: Moments) -> Tensor:
    """Return the mean size of the entries of each block, where those on the diagonal have 1."""
    sizes = _sizes(seen)
    means = torch.stack(
        [
            torch.stack([block.abs().mean() for block in line.split(sizes, dim=1)])
            for line in matrix.split(sizes)
        ]
    )
    roots = means.diagonal().sqrt()
    return means / roots.outer(roots)


def _beside(means: Tensor) -> float:
    """Return the largest one off the diagonal."""
    return (means - torch.diag(means.diagonal())).max().item()


def _typical(means: Tensor, *, far: bool) -> float:
    """Return the mean of those next to the diagonal, or of those beyond."""
    places = itertools.combinations(range(len(means)), 2)
    chosen = [means[i, j].item() for i, j in places if (j - i > 1) == far]
    return sum(chosen) / len(chosen)


def _within(matrices: Mapping[str, Tensor], seen: Moments) -> dict[str, float]:
    """Return how far each approximation is from F̃ where it is to be equal, beside the size of F̃."""
    sizes, found = _sizes(seen), {}
    whole = [line.split(sizes, dim=1) for line in matrices["F̃"].split(sizes)]
    for name, away in (("F̌", 0), ("F̂", 1)):
        blocks = [line.split(sizes, dim=1) for line in matrices[name].split(sizes)]
        found[name] = max(
            _apart(blocks[i][j], whole[i][j])
            for i, j in itertools.product(range(len(sizes)), repeat=2)
            if abs(i - j) <= away
        )
    return found


def _wrong(model: nn.Module, part: Part) -> float:
    with torch.no_grad():
        return float((model(part.inputs.double()).argmax(dim=1) != part.targets).double().mean())


def _distances(states: Sequence[tuple[State, Moments]]) -> Table:
    rows: list[list[Cell]] = []
    for state, seen in states:
        for gamma in (state.gamma, GAMMA):
            matrices = written_out(seen, gamma)
            away = [_apart(matrices[name], matrices["F̃"]) for name in ("F̌", "F̂")]
            away += [_apart(matrices[name], matrices["F̃⁻¹"]) for name in ("F̌⁻¹", "F̂⁻¹")]
            rows.append([state.updates, state.wrong, gamma, *away])
    return Table(
        title="Distances from F̃ and from its inverse, beside their sizes (Frobenius norms)",
        head=["updates", "wrong", "γ", "F̌", "F̂", "F̌⁻¹", "F̂⁻¹"],
        rows=rows,
    )


def _blocks(title: str, matrix: Tensor, seen: Moments) -> Table:
    means = _means(matrix, seen)
    names = [f"layer {number}" for number in range(2, 2 + len(means))]
    rows = [[name, *line.tolist()] for name, line in zip(names, means, strict=True)]
    return Table(title=title, head=["", *names], rows=rows)


def _pictures(exact: Tensor, undamped: Tensor, matrices: Mapping[str, Tensor]) -> list[Picture]:
    top = (
        exact.abs().flatten().quantile(BRIGHTEST).item()
        if exact.numel() < 2**24
        else exact.abs().max().item()
    )
    return [
        Picture(
            name="fisher",
            says="Sizes of the entries of the exact matrix, of the factored one, and of their difference, "
            "over the layers in the middle; what is brighter than the brightest is cut.",
            panels=[
                _panel("|F|", exact, top),
                _panel("|F̃|", undamped, top),
                _panel("|F - F̃|", exact - undamped, top),
            ],
            columns=3,
        ),
        Picture(
            name="inverses",
            says="Sizes of the entries of the damped F̃ and of its approximations above, of their "
            "inverses below.",
            panels=[
                *_row(matrices, ("F̃", "F̌", "F̂")),
                *_row(matrices, ("F̃⁻¹", "F̌⁻¹", "F̂⁻¹")),
            ],
            columns=3,
        ),
    ]


def _row(matrices: Mapping[str, Tensor], names: Sequence[str]) -> list[Panel]:
    top = matrices[names[0]].abs().flatten().quantile(BRIGHTEST).item()
    return [_panel(f"|{name}|", matrices[name], top) for name in names]


def _panel(title: str, matrix: Tensor, top: float) -> Panel:
    """Return a picture of the sizes, each pixel the mean of as many entries as it takes."""
    step = math.ceil(len(matrix) / PIXELS)
    pooled = nn.functional.avg_pool2d(matrix.abs().clamp(max=top)[None], step, ceil_mode=True)[0]
    surface: Any = [[float(f"{value:.2g}") for value in line] for line in pooled.tolist()]
    return Panel(title=title, x="parameters", y="parameters", surface=surface, is_filled=True)


EXPERIMENT: Final = Experiment(
    name="kfac-approximation",
    title="K-FAC: how good the approximation is",
    rows=(216,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), sections 6.3 and 6.4, figures 6.1, 6.2, 6.4, 6.5",
    asks="K-FAC takes the expectation of a Kronecker product for the product of expectations (F̃), and "
    "then either leaves out all but the diagonal blocks (F̌) or takes the inverse to be block-tridiagonal "
    "(F̂). How far is each from the exact Fisher matrix F of a small deep classifier, block by block?",
    reported="""For a 256-20-20-20-20-20-10 network of tanh units on digits of 16 x 16 pixels, after 7
  updates on all
cases (5 % error; 0 % after 22), over the four layers in the middle:

- F̃ has the coarse structure of F. The whole error, the sum of |F - F̃|, is 2894.4; the sum of the sizes of the
  cumulants, which bounds it, is 4134.6.
- The inverse of F̃ is nearly block-tridiagonal, while F̃ is not.
- F̂ comes near F̃ outside the blocks too in which it is equal by construction; F̌ does not.
- Of the inverses, the block-diagonal one is a reasonably good approximation and the block-tridiagonal one a
  significantly better one, even on the diagonal blocks.""",
    here={
        "small": "64-12-12-12-12-10 on 1,500 digits of 8 x 8 pixels, trained by K-FAC on all cases in "
        "float64 until at most 5 % of them are classified wrongly, and on to 120 updates. F, all factors "
        "and cumulants are exact: every case counts with every class, by its predicted probability. "
        "Layers 2 to 5.",
        "full": "The published network on the 60,000 cases of MNIST at 16 x 16 pixels, until at most 5 % "
        "are wrong, and on to 22 updates; the matrices are those of 5,000 cases. Layers 2 to 6.",
    },
    run=run,
)
