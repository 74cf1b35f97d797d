"""One step of three matrices in two parametrisations of the same model."""

from collections.abc import Callable, Mapping
from typing import Final

import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import parametrize

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from optimizers import Bernoulli, GaussNewton, NaturalGradient, Newton
from optimizers.whole import Whole

LRS: Final = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)
SEEDS: Final = {"small": 5, "full": 200}
CASES: Final = 20
INPUTS: Final = 3
AFFINE: Final = "affine"

Rule = Callable[[nn.Module, float], Whole]
RULES: Final[Mapping[str, Rule]] = {
    "natural gradient": lambda model, lr: NaturalGradient(model, Bernoulli(), lr=lr, damping=0.0),
    "Gauss-Newton": lambda model, lr: GaussNewton(model, Bernoulli(), lr=lr, damping=0.0),
    "empirical Fisher": lambda model, lr: NaturalGradient(
        model, Bernoulli(), lr=lr, damping=0.0, kind="empirical"
    ),
    "Newton": lambda model, lr: Newton(model, Bernoulli(), lr=lr, damping=0.0, negative="absolute"),
}


class Exponential(nn.Module):
    """w = exp γ: positive weights without a constraint."""

    def forward(self, gamma: Tensor) -> Tensor:
        return gamma.exp()

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight.log()


class Affine(nn.Module):
    """w = A γ + 1, with a random A."""

    matrix: Tensor

    def __init__(self, seed: int) -> None:
        super().__init__()
        stream = Generator().manual_seed(seed)
        matrix = torch.randn(INPUTS, INPUTS, generator=stream, dtype=torch.float64)
        self.register_buffer("matrix", matrix + 2 * torch.eye(INPUTS, dtype=torch.float64))

    def forward(self, gamma: Tensor) -> Tensor:
        return gamma @ self.matrix.T + 1.0

    def right_inverse(self, weight: Tensor) -> Tensor:
        solved: Tensor = torch.linalg.solve(self.matrix, (weight - 1.0).T)
        return solved.T


def model_of(seed: int, change: str) -> nn.Linear:
    """Return a logistic unit with positive weights, written as they are or as a function of others."""
    stream = Generator().manual_seed(seed)
    model = nn.Linear(INPUTS, 1, bias=False).double()
    with torch.no_grad():
        model.weight.copy_(torch.rand(1, INPUTS, generator=stream, dtype=torch.float64) + 0.5)
    if change == "exponential":
        parametrize.register_parametrization(model, "weight", Exponential())
    elif change == AFFINE:
        parametrize.register_parametrization(model, "weight", Affine(seed + 1000))
    return model


def gap(rule: Rule, seed: int, change: str, lr: float) -> float:
    """Return how far apart the weights are after one update in either parametrisation, over the update."""
    stream = Generator().manual_seed(seed + 2000)
    inputs = torch.randn(CASES, INPUTS, generator=stream, dtype=torch.float64)
    targets = torch.rand(CASES, 1, generator=stream, dtype=torch.float64).round()
    before, moved = _weight(model_of(seed, "none")), []
    for written in ("none", change):
        model = model_of(seed, written)
        rule(model, lr).step(inputs, targets)
        moved.append(_weight(model))
    return float((moved[1] - moved[0]).norm() / (moved[0] - before).norm())


def _weight(model: nn.Linear) -> Tensor:
    return model.weight.detach().clone()


def median(rule: Rule, change: str, lr: float, seeds: int) -> float:
    return float(torch.tensor([gap(rule, seed, change, lr) for seed in range(seeds)]).median())


def run(size: Size) -> Result:
    seeds = SEEDS[size]
    gaps = {name: [median(rule, "exponential", lr, seeds) for lr in LRS] for name, rule in RULES.items()}
    affine = {name: median(rule, AFFINE, LRS[0], seeds) for name, rule in RULES.items()}
    orders = {name: _order(found) for name, found in gaps.items()}
    invariant = [name for name in RULES if not name.startswith("Newton")]
    return Result(
        claims=[
            Claim(
                says="Under an affine change of parameters steps with F, G and the empirical Fisher matrix "
                "agree exactly.",
                holds=all(affine[name] < 1e-9 for name in invariant),
                told=f"relative gap at most {max(affine[name] for name in invariant):.0e} at lr = {LRS[0]:g}",
            ),
            Claim(
                says="Under a smooth one they agree but for the square of the step: the gap is O(lr²).",
                holds=all(abs(orders[name] - 2) < 0.1 for name in invariant),
                told="the gap goes as lr to the power "
                + ", ".join(f"{orders[name]:.2f} ({name})" for name in invariant),
            ),
            Claim(
                says="Steps with the Hessian do not: what they differ by is of the order of the step.",
                holds=abs(orders["Newton"] - 1) < 0.1,
                told=f"the gap goes as lr to the power {orders['Newton']:.2f}; as a "
                f"share of the step it stays at {gaps['Newton'][-1]:.2f}",
            ),
        ],
        tables=[
            Table(
                title="Gap between the two, over the step",
                head=["matrix", *(f"lr = {lr:g}" for lr in LRS), f"affine, lr = {LRS[0]:g}"],
                rows=[[name, *gaps[name], affine[name]] for name in RULES],
                note=f"Medians of {seeds} random problems. Over the step, O(lr²) is a gap that falls with "
                "lr.",
            )
        ],
        pictures=[
            Picture(
                name="gap",
                says="How far apart one update leaves the weights, w themselves or w = exp γ, over its "
                "length.",
                panels=[
                    Panel(
                        x="lr",
                        y="gap over the step",
                        log_x=True,
                        log_y=True,
                        lines=[Line(name=name, x=LRS, y=found) for name, found in gaps.items()],
                    )
                ],
            )
        ],
        seeds=f"0 to {seeds - 1}",
    )


def _order(gaps: list[float]) -> float:
    """Return the power of lr that the gap itself goes as, between the two smallest rates."""
    ratio, rates = torch.tensor(gaps[-2:]).log(), torch.tensor(LRS[-2:]).log()
    return 1 + float((ratio[0] - ratio[1]) / (rates[0] - rates[1]))


EXPERIMENT: Final = Experiment(
    name="reparametrisation",
    title="Steps that do not know how the model is written",
    rows=(205,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 5.8",
    asks="A natural gradient of infinitesimal length does not depend on the parametrisation. What of steps "
    "that are not infinitesimal, and which matrices have the property?",
    reported="With a matrix that changes as B → JᵀBJ updates are the same under affine changes and, under "
    "smooth ones, up to an error that is of the order of the square of the step. Fisher, Gauss-Newton and "
    "the empirical Fisher matrix change like that; the Hessian does only under affine changes. Said as "
    "theorems, without numbers.",
    here={
        "small": "A logistic unit with three positive weights w and 20 random cases, written as w, as exp γ "
        "or as A γ + 1; one undamped update of `NaturalGradient`, `GaussNewton` and `Newton` from the same "
        "w; five problems; float64. Where the Hessian is not positive the absolute values of its eigenvalues "
        "are taken.",
        "full": "The same with 200 problems.",
    },
    run=run,
)
