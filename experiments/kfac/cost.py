"""How many operations an update of K-FAC takes, counted, beside the published formula."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Generator, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from experiments.experiment import Cell, Claim, Experiment, Result, Size, Table
from experiments.spread import spread
from optimizers import KFAC, CrossEntropy
from optimizers.kfac import InverseName

STATISTICS_EVERY, MODEL_EVERY, ADAPT_EVERY, SEARCH_EVERY, REFRESH_EVERY = (
    8,
    4,
    5,
    20,
    20,
)  # 1/τ₁, 1/τ₂, T₁, T₂, T₃
WITHIN: Final = 0.05
DECOMPOSITIONS: Final = ("cholesky", "eigh", "svd")  # as torch calls what takes d³ and is no product


@dataclass(frozen=True, kw_only=True)
class Case:
    """Updates of one form of K-FAC on a network of equal layers."""

    inverse: InverseName
    momentum: bool
    layers: int
    width: int
    cases: int
    updates: int


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Operations of all updates after the first twenty, per update."""

    products: float  # multiplications in products of matrices
    decompositions: float


class _Decompositions(TorchDispatchMode):
    """Counts what torch decomposes: matrices, those of a stack one by one."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # of torch
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(name in func.__name__ for name in DECOMPOSITIONS) and "inverse" not in func.__name__:
            self.count += args[0].numel() // args[0].shape[-1] ** 2
        return func(*args, **(kwargs or {}))


def run(size: Size) -> Result:
    width, cases, updates = (8, 800, 20) if size == "small" else (256, 8192, 100)
    forms = [
        (inverse, momentum)
        for inverse in ("block_diagonal", "block_tridiagonal")
        for momentum in (True, False)
    ]
    counts = spread(
        counted,
        [
            Case(
                inverse=inverse,  # type: ignore[arg-type]  # one of its two names
                momentum=momentum,
                layers=layers,
                width=width,
                cases=number * cases,
                updates=updates,
            )
            for inverse, momentum in forms
            for layers in (2, 4)
            for number in (1, 2)
        ],
    )
    found = {
        form: per_layer(counts[4 * number : 4 * number + 4], width, cases)
        for number, form in enumerate(forms)
    }
    return judged(found)


def counted(case: Case) -> Counted:
    """Count the operations of updates by the batch, with the published shares of cases."""
    stream = Generator().manual_seed(0)
    modules: list[nn.Module] = []
    for _ in range(case.layers):
        layer = nn.Linear(case.width, case.width, bias=False)
        layer.weight.data = torch.randn(case.width, case.width, generator=stream) / case.width**0.5
        modules += [layer, nn.Tanh()]
    model = nn.Sequential(*modules[:-1]).double()
    inputs = torch.randn(case.cases, case.width, generator=stream, dtype=torch.float64)
    targets = torch.randint(case.width, (case.cases,), generator=stream)
    optimizer = KFAC(
        model,
        CrossEntropy(),
        damping=1.0,
        inverse=case.inverse,
        momentum=case.momentum,
        statistics_from_every=STATISTICS_EVERY,
        model_from_every=MODEL_EVERY,
        refresh_every=REFRESH_EVERY,
        generator=stream,
    )
    for _ in range(SEARCH_EVERY):  # of which the first ones invert each time, and learn how layers are used
        optimizer.step(inputs, targets)
    decompositions = _Decompositions()
    with FlopCounterMode(display=False) as products, decompositions:
        for _ in range(case.updates):
            optimizer.step(inputs, targets)
    return Counted(
        products=products.get_total_flops() / 2 / case.updates,
        decompositions=decompositions.count / case.updates,
    )


@dataclass(frozen=True, kw_only=True)
class PerLayer:
    """What a further layer takes in an update."""

    by_cases: float  # products of a layer with the batch, L d² m
    by_width: float  # products of two matrices of a layer, L d³
    decompositions: float


def per_layer(counts: Sequence[Counted], width: int, cases: int) -> PerLayer:
    """Return it by differences: of four layers and two, of twice the cases and once."""
    few, many = ((counts[2 + more].products - counts[more].products) / 2 for more in (0, 1))
    by_cases = (many - few) / (width**2 * cases)
    return PerLayer(
        by_cases=by_cases,
        by_width=(few - by_cases * width**2 * cases) / width**3,
        decompositions=(counts[2].decompositions - counts[0].decompositions) / 2,
    )


def published(*, momentum: bool) -> float:
    """Return the passes and averages of an update, all as products of a layer with the batch."""
    model = 2 * (1 + momentum) * (1 + 2 / SEARCH_EVERY) / MODEL_EVERY
    passes = 2 + 1 / STATISTICS_EVERY + model + 1 / ADAPT_EVERY
    return passes + 1 + 2 / STATISTICS_EVERY


def more(*, momentum: bool, tridiagonal: bool) -> Mapping[str, float]:
    """Return what this implementation does that the formula has not, or otherwise."""
    directions = (1 + 2 / SEARCH_EVERY) * 1 + momentum  # Δ for each γ that is tried, and δ₀ once
    counted_there = 2 * (1 + momentum) * (1 + 2 / SEARCH_EVERY)
    return {
        "another pass forward for the statistics": 1 / STATISTICS_EVERY,
        "the cases of the model: three products for each direction, in place of two": (
            3 * directions - counted_there
        )
        / MODEL_EVERY,
        "a pass forward of the cases of the model, with the step": 1 / MODEL_EVERY,
        "averages of pairs of layers": 2 / STATISTICS_EVERY if tridiagonal else 0.0,
    }


def judged(found: Mapping[tuple[str, bool], PerLayer]) -> Result:
    """Return what is to be said of the counts."""
    rows: list[list[Cell]] = []
    ratios, explained = [], []
    for (inverse, momentum), each in found.items():
        formula = published(momentum=momentum)
        extras = sum(more(momentum=momentum, tridiagonal=inverse != "block_diagonal").values())
        ratios.append(each.by_cases / formula)
        explained.append(each.by_cases / (formula + extras))
        name = f"{inverse.replace('_', '-')}, {'with' if momentum else 'no'} momentum"
        rows.append([name, formula, formula + extras, each.by_cases, each.by_width, each.decompositions])
    inversions = 2 * (1 + 2 / SEARCH_EVERY * REFRESH_EVERY / SEARCH_EVERY) / REFRESH_EVERY
    by_momentum = {
        inverse: found[inverse, True].by_cases - found[inverse, False].by_cases for inverse, _ in found
    }
    foreseen = published(momentum=True) - published(momentum=False)
    claims = [
        Claim(
            says="The operations that grow with the cases are those of the formula, within 5 %",
            holds=all(abs(ratio - 1) <= WITHIN for ratio in ratios),
            told=", ".join(f"{ratio:.3f} times" for ratio in ratios),
        ),
        Claim(
            says="They are, within 5 %, with what is done here beside it: a second pass for the "
            "statistics, one that tries each step, three products for a direction of the model in place "
            "of two",
            holds=all(abs(ratio - 1) <= WITHIN for ratio in explained),
            told=", ".join(f"{ratio:.3f} times" for ratio in explained),
        ),
        Claim(
            says="Momentum costs no more than the formula has for it",
            holds=max(by_momentum.values()) <= foreseen * (1 + 1 / 2),
            told=f"{max(by_momentum.values()):.3f}, {foreseen:.3f} published",
        ),
    ]
    return Result(
        claims=claims,
        tables=[
            Table(
                title="For each layer and update",
                head=[
                    "form",
                    "Ld²m: formula",
                    "with what is more here",
                    "counted",
                    "Ld³: counted products",
                    "decompositions",
                ],
                rows=rows,
                note=f"Two factors are inverted for each layer, in the formula {inversions:.3f} times an "
                "update.",
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="kfac-cost",
    title="K-FAC: what an update costs",
    rows=(220,),
    source="J. Martens, *Second-order Optimization for Neural Networks* (thesis, University of Toronto, "
    "2016), section 6.8",
    asks="The thesis counts the operations of an update: passes through the network and averages of outer "
    "products for the cases, inversions and products of factors for the width of layers. Does this "
    "implementation take as many?",
    reported="""For L layers of d units and m cases, with τ₁ = 1/8, τ₂ = 1/4, T₁ = 5, T₂ = T₃ = 20:

- (3.425 C₁ + 1.25 C₂) Ld²m for passes and averages, with momentum; gradient descent takes (2 C₁ + C₂) Ld²m;
- 0.055 C₃ Ld³ for inversions (block-diagonal), 0.055 C₄ Ld³ for decompositions (block-tridiagonal);
- 1.1 C₅ Ld² min(d, m) or 1.1 C₆ Ld³ for products with them.

The constants C are not told.""",
    here={
        "small": "Networks of two and of four layers of 8 units on 800 and on 1,600 cases. The products "
        "of matrices of 20 updates, a whole period of everything, are counted after the first 20; "
        "differences between the networks and between the numbers of cases tell what belongs to a layer, "
        "to its cases and to its width. A pass of a layer and an average of outer products both count as "
        "one product of d²m multiplications.",
        "full": "The same with 256 units, 8,192 and 16,384 cases, over 100 updates.",
    },
    run=run,
)
