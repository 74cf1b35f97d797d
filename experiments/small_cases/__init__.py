"""Quadratics and models of a few parameters, on which what is said of curvature can be seen."""

from typing import Final

from experiments.experiment import Experiment
from experiments.small_cases import (
    coupled_parameters,
    empirical_fisher,
    fading_gradients,
    heavy_ball,
    meta_descent,
    noisy_quadratic,
    reparametrisation,
    straight_steps,
)

ALL: Final[tuple[Experiment, ...]] = (
    coupled_parameters.EXPERIMENT,
    fading_gradients.EXPERIMENT,
    heavy_ball.EXPERIMENT,
    meta_descent.EXPERIMENT,
    empirical_fisher.EXPERIMENT,
    noisy_quadratic.EXPERIMENT,
    reparametrisation.EXPERIMENT,
    straight_steps.EXPERIMENT,
)
