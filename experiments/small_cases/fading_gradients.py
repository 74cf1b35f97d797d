"""How much of an early input is left in the gradient at the end of a sequence."""

import math
from typing import Final

import torch
from torch import Generator, Tensor, nn

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from worker.models.recurrent import Recurrent, recurrent
from worker.training.initialisation import orthogonal

LENGTHS: Final = {"small": (10, 20, 40, 60, 80, 100), "full": (10, 25, 50, 100, 150, 200, 300, 400)}
UNITS: Final = {"small": 30, "full": 100}
RADII: Final = (0.9, 1.0, 1.1)
SEED: Final = 0


def network(units: int, radius: float, *, activation: str, kind: str) -> Recurrent:
    """Return a network whose memory has this spectral radius: all of its eigenvalues, or the largest."""
    stream = Generator().manual_seed(SEED)
    model = recurrent([1, units, 1], stream, activation=activation).double()
    orthogonal()(model, stream)  # once more, as exactly as float64 can say it
    memory = _memory(model)
    with torch.no_grad():
        if kind == "gaussian":
            memory.weight.normal_(generator=stream)
            memory.weight.div_(torch.linalg.eigvals(memory.weight).abs().max())
        memory.weight.mul_(radius)
    return model


def left(model: Recurrent, length: int) -> float:
    """Return the norm of the derivative of the last output in the first hidden state."""
    inputs = torch.randn(1, length, 1, generator=Generator().manual_seed(SEED + 1), dtype=torch.float64)
    states: list[Tensor] = []
    seen = model.get_submodule("layers.0.activation").register_forward_hook(
        lambda *given: states.append(given[2])
    )
    outputs = model(inputs)
    seen.remove()
    (slope,) = torch.autograd.grad(outputs[0, -1, 0], states[0])
    return float(slope.norm())


def growth(lengths: tuple[int, ...], norms: list[float]) -> float:
    """Return the factor for each further step, over the longer half of the lengths."""
    half = len(lengths) // 2
    return math.exp(math.log(norms[-1] / norms[half]) / (lengths[-1] - lengths[half]))


def run(size: Size) -> Result:
    lengths, units = LENGTHS[size], UNITS[size]
    kinds = {
        "one linear unit": (1, "identity", "orthogonal"),
        "orthogonal, linear": (units, "identity", "orthogonal"),
        "Gaussian, linear": (units, "identity", "gaussian"),
        "orthogonal, tanh": (units, "tanh", "orthogonal"),
    }
    norms = {
        (name, radius): [
            left(network(count, radius, activation=activation, kind=kind), length) for length in lengths
        ]
        for name, (count, activation, kind) in kinds.items()
        for radius in RADII
    }
    rates = {key: growth(lengths, found) for key, found in norms.items()}
    exact = max(
        abs(rates[name, r] / r - 1) for name in ("one linear unit", "orthogonal, linear") for r in RADII
    )
    rough = max(abs(rates["Gaussian, linear", r] / r - 1) for r in RADII)
    bent = [rates["orthogonal, tanh", r] for r in RADII]
    spread = norms["one linear unit", 1.1][-1] / norms["one linear unit", 0.9][-1]
    return Result(
        claims=[
            Claim(
                says="In a linear network what is left of the first state goes as the power of the "
                "spectral radius: it vanishes below 1 and explodes above.",
                holds=exact < 1e-9 and rough < 0.05,
                told=f"the factor for each step is the radius within {exact:.0e} where all eigenvalues have "
                f"that size, within {rough:.1%} where the largest has",
            ),
            Claim(
                says="Radii that differ little are ages apart over a long sequence.",
                holds=spread > 1e6,
                told=f"after {lengths[-1]} steps 1.1 leaves {spread:.1e} times what 0.9 leaves",
            ),
            Claim(
                says="Units that saturate make it vanish sooner.",
                holds=all(found < r for found, r in zip(bent, RADII, strict=True)),
                told="tanh: " + ", ".join(f"{f:.3f} at {r:g}" for f, r in zip(bent, RADII, strict=True)),
            ),
        ],
        tables=[
            Table(
                title=f"Factor for each further step, {units} units",
                head=["memory", *(f"radius {radius:g}" for radius in RADII)],
                rows=[[name, *(rates[name, radius] for radius in RADII)] for name in kinds],
            )
        ],
        pictures=[
            Picture(
                name="left",
                says="The derivative of the last output in the first state, by the length of the sequence, "
                "at three spectral radii.",
                panels=[
                    Panel(
                        title=name,
                        x="steps",
                        y="norm of the derivative",
                        log_y=True,
                        lines=[
                            Line(name=f"radius {radius:g}", x=lengths, y=norms[name, radius])
                            for radius in RADII
                        ],
                    )
                    for name in kinds
                ],
            )
        ],
        seeds=f"{SEED}",
    )


def _memory(model: Recurrent) -> nn.Linear:
    memory: nn.Linear = model.get_submodule("layers.0.from_before")  # type: ignore[assignment]
    return memory


EXPERIMENT: Final = Experiment(
    name="fading-gradients",
    title="What is left of an early input",
    rows=(203,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "section 3.1.1",
    asks="Why are long lags hard for gradient descent? The derivative of what is said last in what was seen "
    "first is a product of as many matrices as there are steps between.",
    reported="With a scalar linear memory, the effect of a state on one T steps later is that of a to the "
    "power T: gradients vanish or explode exponentially in the length. Said in words, without numbers.",
    here={
        "small": "Recurrent networks of one and of 30 units, linear and tanh, whose memory is orthogonal "
        "times a radius or Gaussian with that spectral radius; up to 100 steps, float64. Before each "
        "sequence the state is 0, inputs are Gaussian.",
        "full": "The same with 100 units and up to 400 steps.",
    },
    run=run,
)
