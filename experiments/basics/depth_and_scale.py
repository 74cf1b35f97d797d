"""How signals and gradients grow or shrink with depth, and what the scale of the first weights decides."""

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Final

import torch
from torch import Generator, Tensor

from experiments.experiment import Cell, Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.spread import spread
from thiessen.space import Scalar
from thiessen.trial import Diverged
from worker.models.perceptron import perceptron
from worker.tasks.alone import Alone
from worker.tasks.classifier import train as train_classifier
from worker.training.initialisation import balanced
from worker.training.statistics import Signal, signals

Config = Mapping[str, Scalar]

SCALES: Final = (0.5, 1.0, 2.0)  # times √(4 / (n_in + n_out))
LAYERS: Final = 20
WIDTH: Final = 100
SEEDS: Final = 5  # of the networks whose signals are measured
RATES: Final = (0.01, 0.03, 0.1, 0.3)
DEPTHS: Final = (1, 8)  # hidden layers of the networks that are trained
SIZES: Final[Mapping[Size, Config]] = {
    "small": {"dataset": "digits", "hidden": 32, "updates": 300, "batch_size": 64},
    "full": {"dataset": "mnist", "hidden": 225, "updates": 30_000, "batch_size": 100},
}


def run(size: Size) -> Result:
    grown = {scale: growth(scale) for scale in SCALES}
    losses = trained(size)
    return Result(
        claims=[*_growth_claims(grown), *_training_claims(losses)],
        tables=[
            Table(
                title=f"Signal and gradient in {LAYERS} rectifier layers of {WIDTH} units",
                head=["scale", "last signal / first", "first gradient / last", "factor of a layer"],
                rows=[_grown(scale, of) for scale, of in grown.items()],
                note="Root mean squares of sums and of gradients by them; geometric means over "
                f"{SEEDS} networks.",
            ),
            Table(
                title="Training loss at the end, with the best of four rates for each",
                head=["scale", *(f"{depth} hidden layers" for depth in DEPTHS)],
                rows=[
                    [f"{scale:g}", *(min(losses[scale, depth].values()) for depth in DEPTHS)]
                    for scale in SCALES
                ],
            ),
        ],
        pictures=[_picture(grown)],
        seeds=f"0 to {SEEDS - 1} (signals), 0 (trainings)",
    )


def growth(scale: float, layers: int = LAYERS) -> list[list[Signal]]:
    """Return the signals of each layer, the first layer first, of several networks."""
    return [_signals(scale, layers, seed) for seed in range(SEEDS)]


def _signals(scale: float, layers: int, seed: int) -> list[Signal]:
    model = perceptron(
        [WIDTH] * (layers + 1),
        Generator().manual_seed(seed),
        activation="relu",
        initialise=balanced(alpha=4 * scale**2),
    ).double()
    stream = Generator().manual_seed(1000 + seed)
    inputs = torch.randn(100, WIDTH, generator=stream, dtype=torch.float64)
    slopes = torch.randn(100, WIDTH, generator=stream, dtype=torch.float64)

    def loss(outputs: Tensor) -> Tensor:
        return (slopes * outputs).sum()

    return [*signals(model, loss, inputs).values()]


def forward(found: Sequence[Sequence[Signal]]) -> float:
    """Return by what the signal grows from the first layer to the last."""
    return _geometric([of[-1].forward / of[0].forward for of in found])


def backward(found: Sequence[Sequence[Signal]]) -> float:
    """Return by what the gradient grows from the last layer to the first."""
    return _geometric([of[0].backward / of[-1].backward for of in found])


def _geometric(values: Sequence[float]) -> float:
    return torch.tensor(values, dtype=torch.float64).log().mean().exp().item()


def trained(size: Size) -> dict[tuple[float, int], dict[float, float]]:
    """Return by scale and depth the training loss at the end, for each rate."""
    keys = [(scale, depth) for scale in SCALES for depth in DEPTHS]
    configs: list[Config] = [
        {
            **SIZES[size],
            "depth": depth,
            "activation": "relu",
            "initialisation": "balanced",
            "init_alpha": 4 * scale**2,
            "optimizer": "sgd",
            "lr": rate,
            "criterion": "final_train",
            "hold_back": False,
        }
        for scale, depth in keys
        for rate in RATES
    ]
    losses = iter(spread(final_loss, configs))
    return {key: {rate: next(losses) for rate in RATES} for key in keys}


def final_loss(config: Config) -> float:
    """Train a classifier; return its criterion, infinite where it diverged."""
    try:
        loss = train_classifier(dict(config), Alone())
    except Diverged:
        return inf
    return loss if isfinite(loss) else inf


def _growth_claims(grown: Mapping[float, Sequence[Sequence[Signal]]]) -> list[Claim]:
    steps = LAYERS - 1
    ratios = {
        scale: (forward(grown[scale]) / forward(grown[1.0])) ** (1 / steps) for scale in SCALES if scale != 1
    }
    backs = {
        scale: (backward(grown[scale]) / backward(grown[1.0])) ** (1 / steps)
        for scale in SCALES
        if scale != 1
    }
    one = forward(grown[1.0]), backward(grown[1.0])
    return [
        Claim(
            says="With other scales the signal grows or shrinks exponentially: by the scale in each layer.",
            holds=all(abs(ratio / scale - 1) < 1e-9 for scale, ratio in ratios.items()),
            told=", ".join(f"scale {scale:g}: {ratio:.6f} a layer" for scale, ratio in ratios.items())
            + ", against scale 1",
        ),
        Claim(
            says="So does the gradient on its way back.",
            holds=all(abs(ratio / scale - 1) < 1e-9 for scale, ratio in backs.items()),
            told=", ".join(f"scale {scale:g}: {ratio:.6f} a layer" for scale, ratio in backs.items()),
        ),
        Claim(
            says="Weights of deviation √(4 / (n_in + n_out)) keep signal and gradient at their size.",
            holds=all(1 / 3 < each < 3 for each in one),
            told=f"over {steps} layers the signal is multiplied by {one[0]:.2f}, the gradient by "
            f"{one[1]:.2f}; with half the scale by {forward(grown[0.5]):.1g}, with twice by "
            f"{forward(grown[2.0]):.1g}",
        ),
    ]


def _training_claims(losses: Mapping[tuple[float, int], Mapping[float, float]]) -> list[Claim]:
    deep = {scale: min(losses[scale, DEPTHS[-1]].values()) for scale in SCALES}
    flat = {scale: min(losses[scale, DEPTHS[0]].values()) for scale in SCALES}
    return [
        Claim(
            says="The scale of the first weights is important: a deep network is trained best from scale 1.",
            holds=min(deep, key=deep.__getitem__) == 1.0,
            told=f"{DEPTHS[-1]} hidden layers: "
            + ", ".join(f"scale {scale:g} {loss:.3g}" for scale, loss in deep.items())
            + f"; {DEPTHS[0]} hidden layer: "
            + ", ".join(f"scale {scale:g} {loss:.3g}" for scale, loss in flat.items()),
        )
    ]


def _grown(scale: float, of: Sequence[Sequence[Signal]]) -> list[Cell]:
    return [f"{scale:g}", forward(of), backward(of), forward(of) ** (1 / (LAYERS - 1))]


def _picture(grown: Mapping[float, Sequence[Sequence[Signal]]]) -> Picture:
    numbers = list(range(1, LAYERS + 1))

    def lines(of: str) -> list[Line]:
        return [
            Line(
                name=f"scale {scale:g}",
                x=numbers,
                y=[_geometric([getattr(layers[at], of) for layers in found]) for at in range(LAYERS)],
            )
            for scale, found in grown.items()
        ]

    return Picture(
        name="signals",
        says="The root mean square of sums, and of gradients by them, layer by layer.",
        panels=[
            Panel(title="forward", x="layer", y="signal", log_y=True, lines=lines("forward")),
            Panel(title="backward", x="layer", y="gradient", log_y=True, lines=lines("backward")),
        ],
    )


EXPERIMENT: Final = Experiment(
    name="depth-and-scale",
    title="Growth with depth, and the scale of the first weights",
    rows=[224],
    source="O. Winther, *Optimising feed-forward neural networks* (lectures, Deep learning summer camp, "
    "Technical University of Denmark, 2016), parts 2 and 3",
    asks="Given which rectifiers are on, a network is a product of matrices. Do signals and gradients "
    "grow or shrink exponentially with depth, and does the right scale of the first weights prevent it?",
    reported="Exponential growth or decay of the signal forward and of the gradient backward; hence the "
    "scale of the first weights is important. Weights of deviation √(4 / (n_in + n_out)) strike a balance "
    "between √(2 / n_in), which retains the variance forward, and √(2 / n_out), which retains it backward. "
    "There are no numbers.",
    here={
        "small": "Twenty rectifier layers of 100 units at half, once and twice that scale, in double "
        "precision; then digits networks of one and eight hidden layers of 32 units, 300 updates of "
        "gradient descent from each scale, each with the best of the rates 0.01, 0.03, 0.1, 0.3.",
        "full": "The same signals; the trainings on MNIST with 225 units and 30,000 updates of 100 cases.",
    },
    run=run,
)
