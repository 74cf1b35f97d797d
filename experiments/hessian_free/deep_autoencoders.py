"""Deep autoencoders by Hessian-free optimization, non-linear conjugate gradients and gradient descent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from optimizers import HessianFree, NonlinearConjugateGradients, Objective
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
            cases=500,
            of_every=1,
            updates=30,
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
        self.objective = Counted(judged.objective(), problem.of_every)
        self._distance = partial(squared_distance, judged.predicted)
        self.model = _network(problem, streams("weights")).to(device)
        if arm.is_pretrained:
            pretrain(
                self.model,
                self.inputs,
                streams("pretraining"),
                loss=judged.objective().loss,
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
    objective, stream = LOSSES[arm.problem.loss].objective(), Streams(SEED)("batches")
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
            f"RAND + SGD, lr {lr:g}": Arm(problem=problem, method="SGD", lr=lr, budget=budget)
            for lr in RATES
        },
    }
    return found | dict(zip(others, spread(course, others.values()), strict=True))
