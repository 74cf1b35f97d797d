"""How much a network depends on which cases it saw at which time of its training."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

import torch
from torch import Tensor

from experiments.device import device_for
from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from optimizers import CrossEntropy, TruncatedNaturalGradient
from worker.datasets.deformed import HELD_OUT_SEED, STREAM_SEED, DigitStream
from worker.models.perceptron import perceptron
from worker.training.driven import Driven, Surroundings
from worker.training.optimizers import OPTIMIZERS
from worker.training.streams import Streams

SEGMENTS: Final = 10
RUNS: Final = 5  # each with another sample of one segment
OTHER_SEED: Final = 1000  # of the streams that a segment is sampled anew from
GRADIENT, NATURAL = "MSGD", "natural gradient"


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The sizes of all trainings, and the rates with which both methods come to the same error."""

    hidden: int
    batch_size: int
    segment: int  # cases
    held_out: int
    gradient_lr: float
    natural_lr: float
    damping: float
    iterations: int


@dataclass(frozen=True, kw_only=True)
class Training:
    """A training in which one segment is another sample."""

    setup: Setup
    method: str
    segment: int
    run: int
    size: Size


SETUPS: Final[Mapping[Size, Setup]] = {
    "small": Setup(
        hidden=50,
        batch_size=64,
        segment=512,
        held_out=2_000,
        gradient_lr=0.2,
        natural_lr=0.2,
        damping=1.0,
        iterations=20,
    ),
    "full": Setup(
        hidden=500,
        batch_size=512,
        segment=3192 * 512,
        held_out=100_000,
        gradient_lr=0.1,
        natural_lr=0.2,
        damping=3.0,
        iterations=20,
    ),
}


def run(size: Size) -> Result:
    setup = SETUPS[size]
    variances, errors = measured(setup, size)
    return Result(
        claims=claims(variances, errors),
        tables=[
            Table(
                title="Variance of the outputs, by the segment that was sampled anew, times 10⁴",
                head=["segment", *variances],
                rows=_rows(variances),
            )
        ],
        pictures=[_curves(variances)],
        seeds=f"{STREAM_SEED} (cases), {OTHER_SEED} and following (segments anew), 0 (weights)",
        remarks=[
            (
                "The original trains on 3,000 times as many cases. So short a training has hardly left its "
                "first phase: that early cases weigh more is not to be expected of it, and the shape of the "
                "curves is told as it is."
            )
            if size == "small"
            else "",
            (
                "An output is the predicted probability of a class; its variance is over five trainings, "
                "and the mean is over all classes and held-out cases."
            ),
        ],
    )


def measured(setup: Setup, size: Size) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return by method the variance for each segment, and the mean error on the held-out cases."""
    methods = (GRADIENT, NATURAL)
    cases = [
        Training(setup=setup, method=method, segment=segment, run=number, size=size)
        for method in methods
        for segment in range(SEGMENTS)
        for number in range(RUNS)
    ]
    outputs = iter(spread(predictions, cases))
    targets = DigitStream(HELD_OUT_SEED).cases(0, setup.held_out).targets
    variances: dict[str, list[float]] = {}
    errors: dict[str, float] = {}
    for method in methods:
        found = [torch.stack([next(outputs) for _ in range(RUNS)]) for _ in range(SEGMENTS)]
        variances[method] = [each.var(dim=0).mean().item() for each in found]
        wrong = torch.cat(found).argmax(dim=2) != targets
        errors[method] = wrong.double().mean().item()
    return variances, errors


def predictions(training: Training) -> Tensor:
    """Train on the stream, one of its segments another sample; return the probabilities of held-out cases."""
    setup, device = training.setup, device_for(training.size)
    streams = Streams(0)
    model = perceptron([64, setup.hidden, 10], streams("weights")).to(device)
    optimizer = _optimizer(training, model, streams)
    for start in range(0, 2 * SEGMENTS * setup.segment, setup.batch_size):
        anew = start // setup.segment == training.segment
        seed = OTHER_SEED + RUNS * training.segment + training.run if anew else STREAM_SEED
        batch = DigitStream(seed).cases(start, setup.batch_size)
        optimizer.step(batch.inputs.to(device), batch.targets.to(device))
    held_out = DigitStream(HELD_OUT_SEED).cases(0, setup.held_out)
    with torch.no_grad():
        return torch.softmax(model(held_out.inputs.to(device)), dim=1).double().cpu()


def _optimizer(training: Training, model: torch.nn.Module, streams: Streams) -> Driven:
    setup, objective = training.setup, CrossEntropy()
    if training.method == NATURAL:
        return TruncatedNaturalGradient(
            model, objective, lr=setup.natural_lr, damping=setup.damping, iterations=setup.iterations
        )
    row = OPTIMIZERS["sgd"]
    own = {name: setting.default for name, setting in row.settings.items()} | {"lr": setup.gradient_lr}
    surroundings = Surroundings(streams=streams, updates=None, device=torch.device("cpu"))
    return row.build(model, objective, own, surroundings)


def claims(variances: Mapping[str, Sequence[float]], errors: Mapping[str, float]) -> list[Claim]:
    """Judge what the original says of its figure."""
    gradient, natural = variances[GRADIENT], variances[NATURAL]
    half = SEGMENTS // 2
    early = {name: mean(values[:half]) / mean(values[half:]) for name, values in variances.items()}
    return [
        Claim(
            says="Both methods come to the same error, so that their variances can be compared.",
            holds=abs(errors[GRADIENT] - errors[NATURAL]) < 0.01,
            told=", ".join(f"{name} {100 * value:.2f} %" for name, value in errors.items()),
        ),
        Claim(
            says="Early segments have more influence than later ones, with both methods.",
            holds=min(early.values()) > 1,
            told="; ".join(
                f"{name}: variance of the first half of the segments {ratio:.2f} times that of the second"
                for name, ratio in early.items()
            ),
        ),
        Claim(
            says="Natural gradient has less variance overall.",
            holds=mean(natural) < mean(gradient),
            told=f"mean {mean(natural):.3g}, MSGD {mean(gradient):.3g}",
        ),
        Claim(
            says="Its variance for the first segment is no more than that of MSGD for the last.",
            holds=natural[0] <= gradient[-1],
            told=f"{natural[0]:.3g} and {gradient[-1]:.3g}",
        ),
    ]


def _rows(variances: Mapping[str, Sequence[float]]) -> list[list[Cell]]:
    return [
        [number, *(1e4 * values[number - 1] for values in variances.values())]
        for number in range(1, SEGMENTS + 1)
    ]


def _curves(variances: Mapping[str, Sequence[float]]) -> Picture:
    return Picture(
        name="variances",
        says="Variance of the outputs after the whole training, against the segment that was sampled anew.",
        panels=[
            Panel(
                x="segment",
                y="variance",
                log_y=True,
                lines=[
                    Line(
                        name=name,
                        x=range(1, SEGMENTS + 1),
                        y=[value if value > 0 else math.nan for value in of],
                    )
                    for name, of in variances.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="order-of-data",
    title="Robustness to the order of the data",
    rows=[201],
    source="R. Pascanu and Y. Bengio, *Revisiting Natural Gradient for Deep Networks* (2014), section 6, "
    "section 8.8 and figure 3",
    asks="A network is trained once over a long stream. How much does it depend on which cases came early, "
    "and does it depend on them less when it is trained by the natural gradient?",
    reported="An MLP with 500 hidden units on 32.7 million deformed characters (NISTP), batches of 512; "
    "natural gradient with rate 0.2, damping 3 and the metric of the same batch; MSGD with rate 0.1. The "
    "first half of the stream is cut into ten segments; each is sampled anew five times while the other nine "
    "stay. The figure shows the variance of the outputs on 100,000 held-out cases. Early segments have more "
    "influence with both methods; natural gradient has less variance overall, for early segments about that "
    "of MSGD for the last. Both come to 49.8 % validation error.",
    here={
        "small": "An endless stream of shifted and noisy digits, 64-50-10, batches of 64: 10 segments of 512 "
        "cases, then as many cases again, 50 trainings by each method. Rates and damping are such that both "
        "come to the same error: 0.2 for MSGD, 0.2 and λ = 1 for the natural gradient.",
        "full": "The same stream (NISTP is not public) with the published sizes: 500 hidden units, batches "
        "of 512, ten segments of 1.6 million cases, 32.7 million in all; the published rates and damping.",
    },
    run=run,
)
