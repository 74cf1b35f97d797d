"""Train a recurrent network on sequences whose beginning decides what is to be said at their end."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Generator, Tensor

from optimizers import Bernoulli, CrossEntropy, Gaussian, Objective
from thiessen.space import Config
from worker.config import setting
from worker.datasets import Part
from worker.datasets.sequences import PROBLEMS, Sequences
from worker.models.recurrent import recurrent
from worker.tasks.network import NetworkSettings, schema_of, settings, spaces_of, trained
from worker.tasks.task import Context, Task
from worker.training.initialisation import INITIALISATIONS
from worker.training.optimizers import OPTIMIZERS
from worker.training.streams import Streams

OF_STEP: Final[Mapping[str, Objective]] = {
    "categorical": CrossEntropy(),
    "binary": Bernoulli(),
    "squared": Gaussian(),
}
JUDGED: Final = {"validation": 1, "test": 2}  # the seeds of what every trial is judged by


@dataclass(frozen=True, kw_only=True)
class Sequence(NetworkSettings):
    """What a config may set, and what holds where it does not."""

    optimizer: str = setting(
        "adam",  # gradient descent at its usual rate explodes here
        "What updates the weights.",
        choices=("adam", *(name for name in OPTIMIZERS if name != "adam")),
    )
    problem: str = setting("addition", "What is to be learned.", choices=tuple(PROBLEMS))
    steps: int = setting(30, "Length of the sequences, or of the lag in memorisation.", low=3, high=10_000)
    examples: int = setting(1000, "Sequences to train on.", low=1, high=10**7)
    judged: int = setting(500, "Sequences to choose by, and as many to test with.", low=1, high=10**7)
    hidden: int = setting(50, "Units of a hidden layer.", low=1, high=10_000)
    initialisation: str = setting(
        "sparse_recurrent", "The rule that the weights start from.", choices=tuple(INITIALISATIONS)
    )
    init_alpha: float = setting(
        0.0,
        "Of the rules balanced, glorot, he: the variance of the first weights, as a multiple. 0: its own.",
        low=0,
        high=1e6,
    )


@dataclass(frozen=True)
class Masked:
    """The objective of the steps that count: the sum over them, and the mean over the sequences."""

    of_step: Objective
    mask: Tensor  # (step,)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return it as a scalar that can be differentiated."""
        said, wanted = outputs[:, self.mask], targets[:, self.mask]
        return self.of_step.loss(_rows(said), _rows(wanted)) * said.shape[1]

    def sample(self, outputs: Tensor, generator: Generator) -> Tensor:
        """Return targets drawn from the model's own prediction, of steps that do not count too."""
        return _steps(self.of_step.sample(_rows(outputs), generator), outputs)

    def curvature(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        """Return that of each step, and 0 for those that do not count."""
        return self.mask[:, None] * _steps(self.of_step.curvature(_rows(outputs), _rows(vectors)), outputs)

    def factor(self, outputs: Tensor, vectors: Tensor) -> Tensor:
        """Return that of each step, and 0 for those that do not count."""
        return self.mask[:, None] * _steps(self.of_step.factor(_rows(outputs), _rows(vectors)), outputs)


def _rows(steps: Tensor) -> Tensor:
    return steps.flatten(0, 1)


def _steps(rows: Tensor, like: Tensor) -> Tensor:
    return rows.reshape(*like.shape[:2], *rows.shape[1:])


def train(config: Config, context: Context) -> float:
    """Train a recurrent network; return what the trial is judged by. Raises ValueError, Diverged, Pruned."""
    chosen = settings(Sequence, config)
    problem, streams = PROBLEMS[chosen.problem](chosen.steps), Streams(context.seed)
    drawn = problem.draw(chosen.examples, streams("sequences"))
    parts = {"train": Part(drawn.inputs, drawn.targets)}
    for name, seed in JUDGED.items():
        judged = problem.draw(chosen.judged, torch.Generator().manual_seed(seed))
        parts[name] = Part(judged.inputs, judged.targets)
    model = recurrent(
        [problem.channels, *[chosen.hidden] * chosen.depth, problem.outputs],
        streams("weights"),
        activation=chosen.activation,
        initialise=chosen.initialise(),
    )

    def missed(outputs: Tensor, targets: Tensor) -> Tensor:
        judged = drawn.judged.to(outputs.device)
        return problem.wrong(outputs, Sequences(outputs, targets, judged, judged))

    objective = Masked(OF_STEP[problem.loss], drawn.mask.to(context.device))
    return trained(chosen, model, objective, missed, parts, context)


TASK: Final = Task(
    "sequence",
    train,
    description="Train a recurrent network on problems with long time lags.",
    schema=schema_of(Sequence),
    spaces=spaces_of(Sequence),
)
