"""Deep autoencoders by Hessian-free optimization, non-linear conjugate gradients and gradient descent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from optimizers import Bernoulli, HessianFree, NonlinearConjugateGradients, Objective, squared_error
from worker.datasets import load
from worker.models.autoencoder import autoencoder
from worker.models.named import NETWORKS
from worker.tasks.autoencoder import LOSSES, squared_distance
from worker.training.pretraining import pretrain
from worker.training.streams import Streams

SEED: Final = 0
POINTS: Final = 25  # of a curve
PRODUCT: Final = 2.0  # gradients that a product with the curvature costs
BATCH: Final = 50  # of gradient descent
RATES: Final = (0.03, 0.1, 0.3)
MOMENTUM: Final = 0.9


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is reconstructed, and how long Hessian-free optimization may take for it."""

    dataset: str
    network: str  # of those with a name, or "small_curves"
    loss: str
    cases: int | None  # the first so many; None: all
    of_every: int  # of so many cases one is in the curvature
    updates: int
    cg_steps: int
    damping: float
    pretraining: int  # epochs of each layer
    l2: float = 0.0


PROBLEMS: Final[Mapping[Size, Mapping[str, Problem]]] = {
    "small": {
        "CURVES": Problem(
            dataset="curves_14",
            network="small_curves",
            loss="cross_entropy",
            cases=1000,
            of_every=1,
            updates=40,
            cg_steps=50,
            damping=10.0,
            pretraining=20,
        )
    },
    "full": {
        "CURVES": Problem(
            dataset="curves",
            network="curves_autoencoder",
            loss="cross_entropy",
            cases=None,
            of_every=4,
            updates=300,
            cg_steps=250,
            damping=45.0,
            pretraining=50,
        ),
        "MNIST": Problem(
            dataset="mnist",
            network="mnist_autoencoder",
            loss="cross_entropy",
            cases=None,
            of_every=8,
            updates=200,
            cg_steps=250,
            damping=45.0,
            pretraining=50,
        ),
        "MNIST*": Problem(
            dataset="mnist",
            network="mnist_autoencoder",
            loss="cross_entropy",
            cases=None,
            of_every=8,
            updates=200,
            cg_steps=250,
            damping=45.0,
            pretraining=50,
            l2=1e-4,
        ),
        "FACES": Problem(
            dataset="faces",
            network="faces_autoencoder",
            loss="squared",
            cases=None,
            of_every=20,
            updates=150,
            cg_steps=250,
            damping=45.0,
            pretraining=50,
        ),
        "FACES*": Problem(
            dataset="faces",
            network="faces_autoencoder",
            loss="squared",
            cases=None,
            of_every=20,
            updates=150,
            cg_steps=250,
            damping=45.0,
            pretraining=50,
            l2=1e-2,
        ),
    },
}
OBJECTIVES: Final[Mapping[str, Objective]] = {
    "cross_entropy": Bernoulli(),
    "squared": squared_error(half=True),
}
SMALL_ENCODER: Final = (196, 100, 50, 25, 6)


class Counted:
    """An objective that counts what is asked of it, in gradients of the whole batch."""

    def __init__(self, objective: Objective, of_every: int) -> None:
        self._objective, self._of_every = objective, of_every
        self.gradients = 0.0

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        self.gradients += 1  # a height alone costs less: that favours the others
        return self._objective.loss(outputs, targets)

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        return self._objective.sample(outputs, generator)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        self.gradients += PRODUCT / self._of_every
        return self._objective.curvature(outputs, vectors)

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        return self._objective.factor(outputs, vectors)


@dataclass(frozen=True, kw_only=True)
class Course:
    """Mean squared distance of reconstructions on train and test, by the gradients spent."""

    gradients: list[float]
    train: list[float]
    test: list[float]

    @property
    def end(self) -> tuple[float, float]:
        return self.train[-1], self.test[-1]


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A method on a problem. Its budget is in gradients of the whole training set."""

    problem: Problem
    method: str  # "HF", "HF without preconditioner", "NCG" or "SGD"
    is_pretrained: bool = False
    lr: float = 1.0
    budget: float = 0.0  # HF takes its number of updates, and what it costs is that of the others


class Training:
    """An autoencoder, its data, and the course so far."""

    def __init__(self, arm: Arm) -> None:
        problem, streams = arm.problem, Streams(SEED)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        data = load(problem.dataset, validation=False)
        self.inputs = data.train.inputs[: problem.cases].to(device)
        self._test = data.test.inputs.to(device)
        judged = LOSSES[problem.loss]
        self.objective = Counted(OBJECTIVES[problem.loss], problem.of_every)
        self._distance = partial(squared_distance, judged.predicted)
        self.model = _network(problem, streams("weights")).to(device)
        if arm.is_pretrained:
            pretrain(
                self.model,
                self.inputs,
                streams("pretraining"),
                loss=OBJECTIVES[problem.loss].loss,
                epochs=problem.pretraining,
            )
            self.objective.gradients += 2 * problem.pretraining  # all layers together cost about two networks
        self._course = Course(gradients=[], train=[], test=[])
        self.measure()

    @torch.no_grad()
    def measure(self) -> None:
        self._course.gradients.append(self.objective.gradients)
        for found, inputs in ((self._course.train, self.inputs), (self._course.test, self._test)):
            found.append(float(self._distance(self.model(inputs), inputs).mean()))

    @property
    def course(self) -> Course:
        return self._course


def course(arm: Arm) -> Course:
    """Train by one method and return its course."""
    training = Training(arm)
    if arm.method == "SGD":
        _descend(training, arm)
    elif arm.method == "NCG":
        _search(training, arm)
    else:
        _hessian_free(training, arm)
    return training.course


def _hessian_free(training: Training, arm: Arm) -> None:
    problem = arm.problem
    optimizer = HessianFree(
        training.model,
        training.objective,
        damping=problem.damping,
        cg_steps=problem.cg_steps,
        l2=problem.l2,
        curvature_from_every=problem.of_every,
        preconditioner="none" if "without" in arm.method else "empirical_fisher",
    )
    for _ in range(problem.updates):
        optimizer.step(training.inputs, training.inputs)
        training.objective.gradients += 0.0 if "without" in arm.method else PRODUCT  # of every case
        training.measure()


def _search(training: Training, arm: Arm) -> None:
    optimizer = NonlinearConjugateGradients(
        training.model, training.objective, line_searches=20, l2=arm.problem.l2
    )
    while training.objective.gradients < arm.budget:
        optimizer.step(training.inputs, training.inputs)
        training.measure()


def _descend(training: Training, arm: Arm) -> None:
    objective, stream = OBJECTIVES[arm.problem.loss], Streams(SEED)("batches")
    optimizer = torch.optim.SGD(
        training.model.parameters(), lr=arm.lr, momentum=MOMENTUM, nesterov=True, weight_decay=arm.problem.l2
    )
    cases = len(training.inputs)
    for epoch in range(1, int(arm.budget) + 1):
        for rows in torch.randperm(cases, generator=stream).split(BATCH):
            batch = training.inputs[rows.to(training.inputs.device)]
            optimizer.zero_grad()
            objective.loss(training.model(batch), batch).backward()
            optimizer.step()
        training.objective.gradients += 1
        if epoch % max(1, int(arm.budget) // POINTS) == 0 or epoch == int(arm.budget):
            training.measure()


def _network(problem: Problem, stream: Generator) -> nn.Sequential:
    if problem.network == "small_curves":
        return autoencoder(SMALL_ENCODER, stream)
    model: nn.Sequential = NETWORKS[problem.network].build(generator=stream)  # type: ignore[assignment]
    return model


def trained(problem: Problem) -> dict[str, Course]:
    """Return the course of each arm. What HF from random weights costs is what all others may."""
    first = {
        "RAND + HF": Arm(problem=problem, method="HF"),
        "PT + HF": Arm(problem=problem, method="HF", is_pretrained=True),
        "RAND + HF without preconditioner": Arm(problem=problem, method="HF without preconditioner"),
    }
    found = dict(zip(first, spread(course, first.values()), strict=True))
    budget = found["RAND + HF"].gradients[-1]
    others = {
        "PT + NCG": Arm(problem=problem, method="NCG", is_pretrained=True, budget=budget),
        "RAND + NCG": Arm(problem=problem, method="NCG", budget=budget),
        **{
            f"RAND + SGD, lr {lr:g}": Arm(problem=problem, method="SGD", lr=lr, budget=budget) for lr in RATES
        },
    }
    return found | dict(zip(others, spread(course, others.values()), strict=True))


def run(size: Size) -> Result:
    return result({name: trained(problem) for name, problem in PROBLEMS[size].items()})


def result(found: Mapping[str, Mapping[str, Course]]) -> Result:
    """Return what is said of the courses of all problems."""
    ends = {name: {arm: each.end for arm, each in arms.items()} for name, arms in found.items()}
    lower = [name for name, arms in ends.items() if arms["RAND + HF"][0] < arms["RAND + NCG"][0]]
    plain = "RAND + HF without preconditioner"
    helped = [name for name, arms in ends.items() if arms["RAND + HF"][0] < arms[plain][0]]
    held_out = [(arm, each) for arms in ends.values() for arm, each in arms.items() if "HF" in arm]
    first = next(iter(ends.values()))
    descent = {name: min(arms[arm][0] for arm in arms if "SGD" in arm) for name, arms in ends.items()}
    below = [name for name in ends if ends[name]["RAND + HF"][0] < descent[name]]
    pretrained = [name for name, arms in ends.items() if arms["RAND + HF"][0] < arms["PT + NCG"][0]]
    return Result(
        claims=[
            _claim(
                "From random weights Hessian-free optimization reaches a lower training error than "
                "non-linear conjugate gradients at the same cost.",
                lower,
                ends,
                "RAND + NCG",
            ),
            _claim(
                "It does so against pretraining and non-linear conjugate gradients too.",
                pretrained,
                ends,
                "PT + NCG",
            ),
            Claim(
                says="It reaches a lower training error than gradient descent with momentum, the best of "
                "three rates, at the same cost.",
                holds=len(below) == len(ends),
                told=", ".join(
                    f"{name} {ends[name]['RAND + HF'][0]:.3f} against {descent[name]:.3f}" for name in ends
                ),
            ),
            _claim("The preconditioner helps, in as many updates.", helped, ends, plain),
            Claim(
                says="The better it fits, the more it overfits: its error on test cases is higher.",
                holds=all(test > train for _, (train, test) in held_out),
                told=f"{first['RAND + HF'][0]:.3f} on train, {first['RAND + HF'][1]:.3f} on test",
            ),
        ],
        tables=[
            Table(
                title=f"{name}: mean squared error of a reconstruction",
                head=["method", "train", "test", "gradients spent"],
                rows=[[arm, *each.end, round(each.gradients[-1])] for arm, each in arms.items()],
                note="A product with the curvature counts as two gradients, a loss as one, an epoch of "
                "gradient descent as one. HF takes a number of updates, the others what RAND + HF has spent.",
            )
            for name, arms in found.items()
        ],
        pictures=[
            Picture(
                name=re.sub(r"[^a-z]", "", name.lower().replace("*", "l")),
                says=f"{name}: squared error on train and test, by gradients spent.",
                panels=[
                    Panel(
                        title=part,
                        x="gradients",
                        y="squared error",
                        log_y=True,
                        lines=[
                            Line(name=arm, x=each.gradients, y=getattr(each, part))
                            for arm, each in arms.items()
                            if "SGD" not in arm or each.end[0] == descent[name]
                        ],
                    )
                    for part in ("train", "test")
                ],
            )
            for name, arms in found.items()
        ],
        seeds=f"{SEED}",
    )


def _claim(
    says: str, where: list[str], ends: Mapping[str, Mapping[str, tuple[float, float]]], other: str
) -> Claim:
    return Claim(
        says=says,
        holds=len(where) == len(ends),
        told=", ".join(
            f"{name} {arms['RAND + HF'][0]:.3f} against {arms[other][0]:.3f}" for name, arms in ends.items()
        ),
    )


REPORTED: Final = """Squared error on train and test, of the same settings for all problems, an hour to
18 hours on a GPU. PT is pretraining layer by layer, NCG non-linear conjugate gradients, * an L2 term of 10⁻⁴
(MNIST) or 10⁻² (FACES).

| | PT + NCG | RAND + HF | PT + HF |
| --- | --- | --- | --- |
| CURVES | 0.74, 0.82 | 0.11, 0.20 | 0.10, 0.21 |
| MNIST | 2.31, 2.72 | 1.64, 2.78 | 1.63, 2.46 |
| MNIST* | 2.07, 2.61 | 1.75, 2.55 | 1.60, 2.28 |
| FACES | -, 124 | 55.4, 139 | -, - |
| FACES* | -, - | 60.6, 122 | -, - |"""

EXPERIMENT: Final = Experiment(
    name="deep-autoencoders",
    title="Deep autoencoders by Hessian-free optimization",
    rows=(206,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 4.12, tables 4.2 and 4.3, figure 4.5, after Martens (2010); the problems are those of Hinton "
    "and Salakhutdinov (2006)",
    asks="Can deep autoencoders be trained from random weights, without pretraining, if the optimizer knows "
    "the curvature?",
    reported=REPORTED,
    here={
        "small": "CURVES of 14 x 14 pixels as the library draws them (the original images are not "
        "published), 1,000 to train on and 1,000 to test with, autoencoder 196-100-50-25-6 and back, "
        "cross-entropy; all cases in each batch; 40 updates of `HessianFree` with up to 50 steps, λ from 10; "
        "`NonlinearConjugateGradients` and torch's SGD (momentum 0.9, batches of 50) at the cost of those; "
        "20 epochs of pretraining.",
        "full": "CURVES, MNIST and FACES with the networks of the original, all cases in the gradient and K "
        "of them in the curvature, up to 250 steps, λ from 45; MNIST and FACES with and without the L2 term. "
        "Asks for the files of MNIST and Olivetti.",
    },
    run=run,
)
