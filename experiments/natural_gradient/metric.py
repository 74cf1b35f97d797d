"""What the metric is: Gauss-Newton's matrix where outputs match, and a mean over any cases."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Cell, Claim, Experiment, Result, Size, Table
from optimizers import Bernoulli, CrossEntropy, NaturalGradient, Objective, squared_error
from optimizers.curvature.dense import (
    gauss_newton,
    gradients_by_case,
    jacobian,
    output_hessian,
    second_moment,
)
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat
from worker.datasets import Part, load
from worker.models.perceptron import perceptron

INPUTS, UNITS, OUTPUTS, CASES = 5, 4, 3, 20
CLASSES: Final = (3, 8)  # the digits A and B
CASES_OF_EACH: Final = 40
HIDDEN: Final = 5
SMALL: Final = 1e-8  # damping, where the exact ratio is looked for

Possible = Sequence[tuple[Tensor, Tensor]]  # targets of all cases, after the probability of each


def of_classes(outputs: Tensor) -> Possible:
    """Return each class for all cases, with its predicted probability for each of them."""
    chances = torch.softmax(outputs, dim=1)
    return [(chances[:, k], torch.full((len(outputs),), k)) for k in range(outputs.shape[1])]


def of_yes_or_no(outputs: Tensor) -> Possible:
    """Return each pattern of zeros and ones, with its predicted probability for each case."""
    chances, count = torch.sigmoid(outputs), outputs.shape[1]
    patterns = torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=outputs.dtype)] * count)
    return [
        (torch.where(pattern > 0, chances, 1 - chances).prod(dim=1), pattern.expand_as(outputs))
        for pattern in patterns
    ]


def of_numbers(outputs: Tensor) -> Possible:
    """Return points with the mean and the covariance of the normal prediction, of variance ½.

    Gradients are linear in the targets, so that these points give the exact mean of their products.
    """
    count = outputs.shape[1]
    away = math.sqrt(count / 2) * torch.eye(count, dtype=outputs.dtype)
    chance = torch.full((len(outputs),), 1 / (2 * count), dtype=outputs.dtype)
    return [(chance, outputs + sign * row) for row in away for sign in (-1, 1)]


LINKS: Final[Mapping[str, tuple[Objective, Callable[[Tensor], Possible]]]] = {
    "linear": (squared_error(), of_numbers),
    "logistic": (Bernoulli(), of_yes_or_no),
    "softmax": (CrossEntropy(), of_classes),
}


def run(size: Size) -> Result:
    del size  # the original is a proof
    apart = {name: differences(name) for name in LINKS}
    exact, digits = disjoint_ratios(), digit_ratios()
    return Result(
        claims=[*_identity_claims(apart), *_balance_claims(exact, digits)],
        tables=[
            Table(
                title="Largest difference of an entry from the Fisher matrix, of its largest entry",
                head=["output", "Gauss-Newton", "empirical Fisher"],
                rows=[[name, *pair] for name, pair in apart.items()],
            ),
            Table(
                title="How far the metric with A doubled moves, of how far the balanced one does",
                head=["what moves", "ratio"],
                rows=[*_rows(exact), *_rows(digits)],
            ),
        ],
        seeds="0 (weights, inputs), 1 (targets), 2 (weights of the digits' network)",
        remarks=[
            (
                "The empirical Fisher matrix, of the data's targets, is in the first table to show that the "
                "identity is none of all matrices of this kind."
            )
        ],
    )


def differences(name: str) -> tuple[float, float]:
    """Return how far Gauss-Newton and the empirical Fisher are from the Fisher matrix by its definition."""
    objective, possible = LINKS[name]
    stream = Generator().manual_seed(0)
    model = perceptron([INPUTS, UNITS, OUTPUTS], stream).double()
    network = Network(model, torch.randn(CASES, INPUTS, generator=stream, dtype=torch.float64))
    outputs = network(network.params)
    targets = objective.sample(torch.zeros_like(outputs), Generator().manual_seed(1))
    fisher = by_definition(network, objective, possible(outputs))
    matrices = (
        gauss_newton(jacobian(network), output_hessian(objective, outputs, targets)),
        second_moment(gradients_by_case(network, objective, targets)),
    )
    first, second = (((each - fisher).abs().max() / fisher.abs().max()).item() for each in matrices)
    return first, second


def by_definition(network: Network, objective: Objective, possible: Possible) -> Tensor:
    """Return the mean product of gradients over the targets that the network itself predicts."""
    parts = []
    for chance, targets in possible:
        rows = gradients_by_case(network, objective, targets) * chance.sqrt()[:, None]
        parts.append(second_moment(rows))
    return torch.stack(parts).sum(dim=0)


def disjoint_ratios() -> dict[str, float]:
    """Return the ratios where class A has inputs of its own, so that the matrix falls into two blocks.

    With A doubled, it is 2/3 of the cases in place of 1/2: its block grows by 4/3, that of B shrinks to 2/3.
    """
    stream = Generator().manual_seed(0)
    count = 2 * INPUTS
    inputs = torch.zeros(2 * CASES, count, dtype=torch.float64)
    inputs[:CASES, :INPUTS] = torch.randn(CASES, INPUTS, generator=stream, dtype=torch.float64)
    inputs[CASES:, INPUTS:] = torch.randn(CASES, INPUTS, generator=stream, dtype=torch.float64)
    targets = torch.arange(2).repeat_interleave(CASES)
    model = nn.utils.skip_init(nn.Linear, count, 2, bias=False).double()
    nn.init.normal_(model.weight, std=0.3, generator=stream)
    part = Part(inputs, targets)
    balanced, doubled = (moved(model, part, metric, SMALL) for metric in metrics(inputs, CASES))
    own, other = slice(None, INPUTS), slice(INPUTS, None)
    return {
        "weights of A's inputs": _ratio(doubled[:, own], balanced[:, own]),
        "weights of B's inputs": _ratio(doubled[:, other], balanced[:, other]),
    }


def digit_ratios() -> dict[str, float]:
    """Return the ratios for two digits, whose inputs and weights are shared: of how the outputs move."""
    data = load("digits")
    wanted = [torch.nonzero(data.train.targets == each)[:CASES_OF_EACH, 0] for each in CLASSES]
    inputs = data.train.inputs[torch.cat(wanted)].double()
    part = Part(inputs, torch.arange(2).repeat_interleave(CASES_OF_EACH))
    model = perceptron([inputs.shape[1], HIDDEN, 2], Generator().manual_seed(2)).double()
    outputs = []
    for metric in metrics(inputs, CASES_OF_EACH):
        after = copy.deepcopy(model)
        NaturalGradient(after, CrossEntropy(), lr=0.1, damping=1e-3).step(
            part.inputs, part.targets, statistics=metric
        )
        with torch.no_grad():
            outputs.append(torch.softmax(after(inputs), dim=1) - torch.softmax(model(inputs), dim=1))
    balanced, doubled = outputs
    a, b = slice(None, CASES_OF_EACH), slice(CASES_OF_EACH, None)
    return {
        f"predictions of the digit {CLASSES[0]} (A)": _ratio(doubled[a], balanced[a]),
        f"predictions of the digit {CLASSES[1]} (B)": _ratio(doubled[b], balanced[b]),
    }


def metrics(inputs: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the inputs, and the inputs with those of A, which come first, twice."""
    return inputs, torch.cat([inputs[:count], inputs])


def moved(model: nn.Linear, part: Part, metric: Tensor, damping: float) -> Tensor:
    """Return what a natural step in this metric adds to the weights."""
    after = copy.deepcopy(model)
    NaturalGradient(after, CrossEntropy(), lr=1.0, damping=damping).step(
        part.inputs, part.targets, statistics=metric
    )
    return (after.weight - model.weight).detach()


def _ratio(first: Tensor, second: Tensor) -> float:
    return float(first.norm() / second.norm())


def needs_no_targets() -> bool:
    """Return whether a metric is the same bit by bit whatever targets its cases have."""
    stream = Generator().manual_seed(0)
    model = perceptron([INPUTS, UNITS, OUTPUTS], stream).double()
    inputs = torch.randn(CASES, INPUTS, generator=stream, dtype=torch.float64)
    matrices = []
    for seed in (1, 2):
        targets = torch.randint(OUTPUTS, (CASES,), generator=Generator().manual_seed(seed))
        network = Network(model, inputs)
        blocks = output_hessian(CrossEntropy(), network(network.params), targets)
        matrices.append(flat({"": gauss_newton(jacobian(network), blocks)}))
    return torch.equal(*matrices)


def _identity_claims(apart: Mapping[str, tuple[float, float]]) -> list[Claim]:
    return [
        Claim(
            says="For linear, logistic and softmax outputs with their losses, Gauss-Newton is the Fisher "
            "matrix.",
            holds=all(first < 1e-10 for first, _ in apart.values()),
            told=", ".join(f"{name} {first:.1g}" for name, (first, _) in apart.items()),
        ),
        Claim(
            says="It needs no targets.",
            holds=needs_no_targets(),
            told="with two sets of targets Gauss-Newton's matrix is the same bit by bit (softmax)",
        ),
    ]


def _balance_claims(exact: Mapping[str, float], digits: Mapping[str, float]) -> list[Claim]:
    (_, own), (_, other) = exact.items()
    return [
        Claim(
            says="With twice as many cases of class A in the metric, steps along directions of A are "
            "shorter.",
            holds=own < 1,
            told=f"times {own:.6f}; where A and B share no inputs it is 3/4 exactly",
        ),
        Claim(
            says="That is at the expense of B: steps along its directions are longer.",
            holds=other > 1,
            told=f"times {other:.6f}; 3/2 exactly",
        ),
        Claim(
            says="So it is with two classes that share all inputs and weights.",
            holds=next(iter(digits.values())) < 1,
            told=", ".join(f"{name}: times {ratio:.4f}" for name, ratio in digits.items()),
        ),
    ]


def _rows(ratios: Mapping[str, float]) -> list[list[Cell]]:
    return [[name, ratio] for name, ratio in ratios.items()]


EXPERIMENT: Final = Experiment(
    name="metric",
    title="What the metric is, and what it is taken over",
    rows=[202],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), sections 3, 7 "
    "and 8.2",
    asks="Is the metric of the natural gradient the matrix that Hessian-free optimization goes by? What "
    "becomes of a step when the metric sees one class more often than another?",
    reported="For linear outputs with squared error, logistic outputs and softmax outputs with their "
    "cross-entropies, the extended Gauss-Newton approximation is the metric of the natural gradient, by "
    "proof. If the cases of the metric contain twice as many of class A as of B, steps are shorter along "
    "directions that affect A, at the expense of B (said without an experiment).",
    here={
        "small": f"A network {INPUTS}-{UNITS}-{OUTPUTS}, double precision: the Fisher matrix by its "
        "definition, the mean over all targets that the network holds possible, against Gauss-Newton's with "
        "the Hessian of the loss by automatic differentiation. Then natural steps for two classes in "
        "balanced and unbalanced metrics: linear, with inputs of their own; and two digits in one network "
        "with five hidden units.",
        "full": "The same as at the small size: the original is a proof.",
    },
    run=run,
)
