"""Two parameters that must change together: what a diagonal of the curvature can do."""

import math
from collections.abc import Iterable
from itertools import islice
from typing import Final

import torch
from torch import Tensor

from experiments.experiment import Claim, Experiment, Line, Panel, Picture, Result, Size, Table
from experiments.small_cases.quadratic import HALF_SQUARES, height, visited
from optimizers import DiagonalNewton, GaussNewton
from optimizers.damping.tikhonov import scale_sensitive

RATIOS: Final = {"small": (3.0, 15.0, 50.0), "full": (3.0, 15.0, 50.0, 150.0, 500.0, 10_000.0)}
SHOWN: Final = 15.0
REDUCTION: Final = 1e-6
DAMPINGS: Final = (0.01, 0.1, 1.0, 10.0)
ALONG_U = torch.tensor([-1.0, 1.0], dtype=torch.float64)
ALONG_V = torch.tensor([1.0, 1.0], dtype=torch.float64)
START = torch.tensor([-1.2, 0.8], dtype=torch.float64)  # mostly along the floor of the valley


def coupled(a: float) -> Tensor:
    """Return B = u uᵀ + a v vᵀ."""
    return ALONG_U.outer(ALONG_U) + a * ALONG_V.outer(ALONG_V)


def diagonal_points(a: float) -> Iterable[Tensor]:
    return visited(
        lambda model: DiagonalNewton(
            model, HALF_SQUARES, lr=1.0, damping=0.0, exponent=1.0, source="gauss_newton", decay=0.0
        ),
        coupled(a),
        START,
    )


def newton_points(a: float) -> Iterable[Tensor]:
    return visited(lambda model: GaussNewton(model, HALF_SQUARES, damping=0.0), coupled(a), START)


def steps_needed(points: Iterable[Tensor]) -> int:
    """Return after how many steps the distance to the minimum is a millionth of the first."""
    return next(
        number
        for number, point in enumerate(points)
        if float(point.norm()) <= REDUCTION * float(START.norm())
    )


def radius(a: float) -> float:
    """Return the spectral radius of I - B / (a + 1), what a diagonal step leaves of the distance."""
    values = torch.linalg.eigvalsh(coupled(a))
    return float((1 - values / (a + 1)).abs().max())


def left_along_u(a: float, damping: float) -> float:
    """Return which part of Newton's step along u is left when B is damped by λ times its diagonal."""
    matrix = scale_sensitive(coupled(a), damping, coupled(a).diag())
    return float(torch.linalg.solve(matrix, coupled(a) @ ALONG_U) @ ALONG_U / (ALONG_U @ ALONG_U))


def run(size: Size) -> Result:
    ratios = RATIOS[size]
    diagonal = [steps_needed(diagonal_points(a)) for a in ratios]
    newton = [steps_needed(newton_points(a)) for a in ratios]
    radii = [radius(a) for a in ratios]
    foreseen = [math.ceil(math.log(1 / REDUCTION) / -math.log((a - 1) / (a + 1))) for a in ratios]
    worst = max(abs(found - (a - 1) / (a + 1)) for a, found in zip(ratios, radii, strict=True))
    shrunk = {(a, damping): left_along_u(a, damping) for a in ratios for damping in DAMPINGS}
    off = max(abs(found - 2 / (2 + damping * (a + 1))) for (a, damping), found in shrunk.items())
    return Result(
        claims=[
            Claim(
                says="A step by the diagonal leaves (a - 1)/(a + 1) of the distance.",
                holds=worst < 1e-12,
                told=f"the spectral radius differs from it by {worst:.1e} at most",
            ),
            Claim(
                says="So the diagonal method takes about 6.9 a steps to a millionth of the distance.",
                holds=all(abs(found - steps) <= 1 for found, steps in zip(diagonal, foreseen, strict=True))
                and abs(diagonal[-1] / (6.9 * ratios[-1]) - 1) < 0.01,
                told=", ".join(f"{n} at a = {a:g}" for a, n in zip(ratios, diagonal, strict=True)),
            ),
            Claim(
                says="Newton's step with all of the curvature arrives at once.",
                holds=max(newton) == 1,
                told=f"{max(newton)} step at every a",
            ),
            Claim(
                says="Damped by λ times the diagonal, a step along u, where the curvature is 2 whatever a, "
                "shrinks to 2/(2 + λ(a + 1)) of itself.",
                holds=off < 1e-12,
                told=f"{shrunk[ratios[-1], 0.01]:.3f} is left at λ = 0.01 and a = {ratios[-1]:g}; "
                f"the formula is off by {off:.1e} at most",
            ),
        ],
        tables=[
            Table(
                title="Steps to a millionth of the distance",
                head=["a", "by the diagonal", "as foreseen", "Newton", "left of a step along u at λ = 0.01"],
                rows=[
                    [f"{a:g}", found, expected, least, shrunk[a, 0.01]]
                    for a, found, expected, least in zip(ratios, diagonal, foreseen, newton, strict=True)
                ],
            )
        ],
        pictures=[_picture()],
        seeds="none, nothing is drawn",
    )


def _picture() -> Picture:
    axis = [-1.5 + 0.1 * place for place in range(31)]
    surface = [
        [math.log10(1e-2 + height(coupled(SHOWN), torch.tensor([x, y], dtype=torch.float64))) for x in axis]
        for y in axis
    ]
    paths = {
        "by the diagonal, 30 steps": list(islice(diagonal_points(SHOWN), 31)),
        "Newton, 1 step": list(islice(newton_points(SHOWN), 2)),
    }
    return Picture(
        name="valley",
        says="The valley at a = 15, contours of the logarithm of the height. The diagonal knows how steep "
        "the walls are and creeps along the floor; Newton's step goes to the minimum.",
        panels=[
            Panel(
                x="first parameter",
                y="second parameter",
                surface=surface,
                surface_x=axis,
                surface_y=axis,
                lines=[
                    Line(name=name, x=[float(p[0]) for p in path], y=[float(p[1]) for p in path])
                    for name, path in paths.items()
                ],
            )
        ],
    )


EXPERIMENT: Final = Experiment(
    name="coupled-parameters",
    title="Two parameters that must change together",
    rows=(203,),
    source='James Martens, "Second-order optimization for neural networks" (University of Toronto, 2016), '
    "sections 3.3.2 and 4.6.3, figures 3.1 and 4.2",
    asks="In a narrow valley that lies across the axes, each parameter alone is steep, and both together are "
    "not. How much does a method lose that knows the curvature of each parameter alone, and how much does "
    "damping in units of that diagonal hold back?",
    reported="With B = u uᵀ + a v vᵀ, u = (-1, 1), v = (1, 1), both diagonal entries are a + 1 (a = 15 in "
    "the figure, 10⁴ in the text): a diagonal method must be as careful along u as along v. In figures "
    "alone, without numbers; those of the claims follow from the matrix.",
    here={
        "small": "The same quadratic as a linear network, a of 3, 15 and 50, by `DiagonalNewton` with the "
        "exact diagonal and by `GaussNewton`, both undamped; float64.",
        "full": "As the small one, a up to 10⁴.",
    },
    run=run,
)
