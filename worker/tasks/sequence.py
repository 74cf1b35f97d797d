"""Train a recurrent network on sequences whose beginning decides what is to be said at their end."""

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from thiessen.space import Config
from worker.config import setting
from worker.datasets import Part
from worker.datasets.sequences import PROBLEMS, Problem, Sequences
from worker.models.recurrent import recurrent
from worker.tasks.network import FIRST_ORDER, NetworkSettings, schema_of, settings, spaces_of, trained
from worker.tasks.task import Context, Task
from worker.training.initialisation import INITIALISATIONS
from worker.training.streams import Streams

JUDGED: Final = {"validation": 1, "test": 2}  # the seeds of what every trial is judged by


@dataclass(frozen=True, kw_only=True)
class Sequence(NetworkSettings):
    """What a config may set, and what holds where it does not."""

    optimizer: str = setting(
        "adam",  # gradient descent at its usual rate explodes here
        "What updates the weights; those of first order, as the layers are recurrent.",
        choices=("adam", *(name for name in FIRST_ORDER if name != "adam")),
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
    """The loss over the steps that count: their sum, and the mean over the sequences."""

    problem: Problem
    mask: Tensor

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Return it as a scalar that can be differentiated."""
        said, wanted = outputs[:, self.mask], targets[:, self.mask]
        if self.problem.loss == "categorical":
            total = cross_entropy(said.flatten(0, 1), wanted.flatten(), reduction="sum")
        elif self.problem.loss == "binary":
            total = binary_cross_entropy_with_logits(said, wanted, reduction="sum")
        else:
            total = 0.5 * (said - wanted).square().sum()
        return total / len(outputs)


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

    objective = Masked(problem, drawn.mask.to(context.device))
    return trained(chosen, model, objective, missed, parts, context)


TASK: Final = Task(
    "sequence",
    train,
    description="Train a recurrent network on problems with long time lags.",
    schema=schema_of(Sequence),
    spaces=spaces_of(Sequence),
)
