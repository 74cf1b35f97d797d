"""The optimizers of our library. What each can be told, and what of it is worth a search, it declares itself.

A config has one name for one idea: what two of them call alike but mean otherwise, or otherwise but mean
alike, has its name of the config here.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

from torch import nn

from optimizers import (
    ACP,
    EKFAC,
    KFAC,
    PRONG,
    SGDQN,
    TONGA,
    VSGD,
    AdaptiveNaturalGradient,
    Almeida,
    CentredGradientDescent,
    CovarianceNaturalGradient,
    DiagonalNewton,
    FullAdaGrad,
    GaussNewton,
    HessianFree,
    Hyperparameter,
    KrylovSubspaceDescent,
    LeCunRate,
    LocalCriterion,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    NonlinearConjugateGradients,
    OnlineLBFGS,
    OnlineNaturalGradient,
    OnlineNewtonStep,
    SilvaAlmeida,
    StochasticMetaDescent,
    TruncatedNaturalGradient,
    TrustRegion,
    UnitwiseGaussNewton,
    UpdatedBackpropagation,
)
from thiessen.space import Boolean, Categorical, Dimension, Float, Int
from worker.config import Setting
from worker.training.driven import Driven, Optimizer, Own, Surroundings
from worker.training.first_order import DECAY, DECREASE, INCREASE, LR, MOMENTUM, PAIRS, SEARCHES

LARGEST_SLOPE: Final = 0.0  # of `alpha`, which is above 0 where it is told


class Kind(Protocol):
    """A class of optimizers."""

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]: ...

    def __call__(self, *model_and_objective: Any, **settings: Any) -> Any: ...


SETTINGS: Final[Mapping[str, Setting]] = {  # defaults are each optimizer's own
    "lr": LR,
    "momentum": MOMENTUM,
    "weight_decay": DECAY,
    "increase": INCREASE,
    "decrease": DECREASE,
    "meta_lr": Setting(default=0.01, meaning="The rate at which learning rates are learned.", low=0),
    "rate_memory": Setting(
        default=0.99, meaning="How far back rates are blamed for where the weights are.", low=0, high=1
    ),
    "least_curvature": Setting(
        default=0.01, meaning="The least curvature that is believed; the most is 100 times it.", above=0
    ),
    "skip": Setting(
        default=16, meaning="Updates until a move is examined for its curvature.", low=1, high=10**6
    ),
    "secant_rule": Setting(
        default="2010", meaning="Whether rates are means of inverse curvatures, or inverse sums, which fall."
    ),
    "caution": Setting(
        default=10.0, meaning="How many times too noisy the first gradient is taken to be.", low=1, high=1e9
    ),
    "velocity_lr": Setting(
        default=0.1, meaning="The rate at which the velocity becomes Newton's step.", above=0
    ),
    "curvature": Setting(default="gauss_newton", meaning="Which curvature it goes by."),
    "directions": Setting(default="diagonal", meaning="Which curvature gives the directions of the cases."),
    "damping": Setting(default=0.1, meaning="Tikhonov strength of the curvature.", above=0),
    "inverse": Setting(
        default="block_diagonal",
        meaning="Whether the curvature joins no layers, or each with the next one.",
    ),
    "found_momentum": Setting(
        default=True, meaning="Without `lr`: whether a part of the last step, as large as helps, is added."
    ),
    "memory": Setting(default=0.95, meaning="Memory of the averages of statistics.", low=0, below=1),
    "refresh_every": Setting(
        default=20, meaning="Updates between two inversions of the curvature.", low=1, high=10**6
    ),
    "alpha": Setting(
        default=1.0,
        meaning="What the mean squared slope of a unit is taken to be; 0: the largest of the batch.",
        low=0,
    ),
    "ridge": Setting(default=0.1, meaning="Added to the diagonal of the inputs' covariance.", above=0),
    "relative_ridge": Setting(
        default=4.0, meaning="Added to eigenvalues of statistics, as a multiple of their mean.", above=0
    ),
    "rank_of_inputs": Setting(
        default=30, meaning="Eigenvalues that are kept of the statistics of inputs.", low=1, high=10**6
    ),
    "rank_of_gradients": Setting(
        default=80, meaning="Eigenvalues that are kept of the statistics of gradients.", low=1, high=10**6
    ),
    "ridge_on": Setting(default="weights", meaning="Whether the bias has the ridge too."),
    "consistent_bias": Setting(
        default=False, meaning="Whether the bias takes back what the weights do to the mean input."
    ),
    "second_order_activation": Setting(
        default=True, meaning="Whether the curvature of the activations counts."
    ),
    "by_layer": Setting(default=False, meaning="Whether the matrix is that of each layer alone."),
    "negative_curvature": Setting(
        default="raise",
        meaning="Where the Hessian is not positive: raise the damping, or take absolute eigenvalues.",
    ),
    "fisher": Setting(
        default="exact", meaning="How the Fisher matrix is had; `empirical` is another matrix, of the data."
    ),
    "centred": Setting(
        default=False, meaning="Whether the mean gradient is left out of the covariance."
    ),
    "rank": Setting(
        default=5, meaning="Eigenvectors that are kept of the gradients' covariance.", low=1, high=10**6
    ),
    "by_unit": Setting(default=True, meaning="Whether the covariance is that of each unit alone."),
    "exponent": Setting(
        default=0.75, meaning="The power of the curvature that divides.", above=0, high=1
    ),
    "diagonal": Setting(default="chapelle_erhan", meaning="Which diagonal of which curvature."),
    "variance": Setting(
        default=1.0, meaning="What the square of a direction's entry is taken to be beforehand.", above=0
    ),
    "dimensions": Setting(
        default=20, meaning="Directions that an update is searched in.", low=1, high=1000
    ),
    "searches": SEARCHES,
    "line_searches": Setting(default=3, meaning="Line searches in an update, at most.", low=1, high=10**4),
    "pairs": PAIRS,
    "adapts": Setting(
        default=False, meaning="Whether the damping follows how well each step was foreseen."
    ),
    "warm_start": Setting(
        default=0.95, meaning="How much of the last solution the next one begins with.", low=0, high=1
    ),
    "cg_steps": Setting(
        default=250, meaning="Steps of conjugate gradients in an update, at most.", low=1, high=10**6
    ),
    "radius": Setting(
        default=1.0, meaning="How long a step may be, in the beginning; it follows the steps.", above=0
    ),
    "curvature_from_every": Setting(
        default=1, meaning="The curvature is that of one of so many examples.", low=1, high=10**6
    ),
    "stop_if_worse_than": Setting(
        default="nothing",
        meaning="Conjugate gradients stop where the loss is by a tenth of its fall above the iterate of ten "
        "steps ago, or above the best one.",
    ),
    "structural": Setting(
        default=0.0, meaning="How much hidden activities resist a change, times the damping.", low=0
    ),
    "preconditioner": Setting(
        default="empirical_fisher", meaning="The diagonal that preconditions conjugate gradients."
    ),
    "iterations": Setting(
        default=20, meaning="Products with the curvature in an update.", low=1, high=10**6
    ),
}  # fmt: skip
NAMES: Final[Mapping[tuple[str, str], str]] = {  # of the config, where they are others
    ("l2", "float"): "weight_decay",
    ("decay", "float"): "memory",
    ("memory", "float"): "rate_memory",
    ("momentum", "boolean"): "found_momentum",
    ("kind", "categorical"): "fisher",
    ("negative", "categorical"): "negative_curvature",
    ("rule", "categorical"): "secant_rule",
    ("source", "categorical"): "diagonal",
}


def _row(
    kind: Kind, meaning: str, *, draws: bool = False, preset: Mapping[str, Mapping[str, Any]] | None = None
) -> Optimizer:
    """Return the row of a class; one that draws has a stream of its own.

    A preset changes the defaults of some settings, and where to look for them.
    """
    changes = preset or {}
    declared = [replace(each, **changes.get(each.name, {})) for each in kind.hyperparameters]
    return Optimizer(
        meaning=meaning,
        settings={_name(each): _setting(each) for each in declared},
        build=partial(_build, kind, draws=draws),
        is_first_order=False,
    )


def _build(
    kind: Kind, model: nn.Module, objective: Any, own: Own, surroundings: Surroundings, *, draws: bool
) -> Driven:
    settings = {each.name: own[_name(each)] for each in kind.hyperparameters}
    if settings.get("alpha") == LARGEST_SLOPE:
        settings["alpha"] = "largest_slope"
    if draws:
        settings["generator"] = surroundings.streams("targets", surroundings.device)
    built: Driven = kind(model, objective, **settings)
    return built


def _name(each: Hyperparameter) -> str:
    return NAMES.get((each.name, each.kind), each.name)


def _setting(each: Hyperparameter) -> Setting:
    return replace(
        SETTINGS[_name(each)],
        default=each.default,
        of=float if each.default is None else None,
        choices=each.choices,
        suggested=None if each.default is None else _dimension(each),  # what finds itself is not searched
    )


def _dimension(each: Hyperparameter) -> Dimension:
    if each.kind == "boolean":
        return Boolean()
    if each.kind == "categorical":
        return Categorical(each.choices)
    low, high = each.low, each.high
    if low is None or high is None:
        raise ValueError(f"Hyperparameter {each.name!r} is a number and tells no range to search.")
    if each.kind == "int":
        return Int(int(low), int(high), log=each.log)
    return Float(low, high, log=each.log)


SECOND_ORDER: Final[Mapping[str, Optimizer]] = {
    "kfac": _row(
        KFAC,
        "Natural gradient by Kronecker factors of the Fisher matrix. Without `lr` it finds the length of "
        "each step, and without `damping` the damping too.",
        draws=True,
    ),
    "ekfac": _row(
        EKFAC,
        "Natural gradient by Kronecker factors with the curvature along their eigenvectors.",
        draws=True,
    ),
    "acp": _row(ACP, "Amortised covariance preconditioner: the covariance of each layer's inputs, inverted."),
    "prong": _row(
        PRONG, "Projected natural gradient: each layer in coordinates in which its inputs are white."
    ),
    "centred_gradient_descent": _row(
        CentredGradientDescent, "Gradient descent that sees the inputs of each layer without their mean."
    ),
    "local_criterion": _row(
        LocalCriterion, "Moves the sums of each layer as nearly as it can along their own gradients."
    ),
    "online_natural_gradient": _row(
        OnlineNaturalGradient,
        "Gradient descent on inputs and gradients of layers that earlier batches have whitened.",
    ),
    "unitwise_gauss_newton": _row(
        UnitwiseGaussNewton,
        "Gauss-Newton by the block of each unit; perceptrons and autoencoders with few inputs.",
    ),
    "updated_backpropagation": _row(
        UpdatedBackpropagation,
        "Gradient descent in which each layer hears of the updates above it; perceptrons and autoencoders.",
    ),
    "newton": _row(Newton, "Newton's method with the whole Hessian; up to 5,000 parameters.", draws=True),
    "gauss_newton": _row(
        GaussNewton, "Gauss-Newton with the whole matrix; up to 5,000 parameters.", draws=True
    ),
    "natural_gradient": _row(
        NaturalGradient, "Natural gradient with the whole Fisher matrix; up to 5,000 parameters.", draws=True
    ),
    "hessian_free": _row(
        HessianFree,
        "Minimises a quadratic model by conjugate gradients, from products with the curvature alone.",
        draws=True,
    ),
    "stochastic_hessian_free": _row(
        HessianFree,
        "`hessian_free` for small batches: few steps of conjugate gradients, which begin with much of the "
        "last solution, so that it acts as momentum.",
        draws=True,
        preset={
            "damping": {"default": 1.0},
            "cg_steps": {"default": 30, "low": 25, "high": 50},
            "warm_start": {"default": 0.95, "low": 0.5, "high": 1.0},
        },
    ),
    "subsampled_newton_cg": _row(
        HessianFree,
        "`hessian_free` with the curvature of few of the examples whose gradient it takes, by few steps of "
        "conjugate gradients from 0 on.",
        draws=True,
        preset={
            "damping": {"default": 0.1, "low": 1e-3, "high": 10.0},
            "warm_start": {"default": 0.0},
            "cg_steps": {"default": 10, "low": 2, "high": 30},
            "preconditioner": {"default": "none"},
            "curvature_from_every": {"default": 10, "low": 2, "high": 20},
        },
    ),
    "krylov_subspace_descent": _row(
        KrylovSubspaceDescent,
        "Lowers the loss by BFGS in a space of few directions of gradient and curvature.",
    ),
    "truncated_natural_gradient": _row(
        TruncatedNaturalGradient, "Natural gradient by a few steps of conjugate gradients.", draws=True
    ),
    "covariance_natural_gradient": _row(
        CovarianceNaturalGradient,
        "Gradient descent in the metric of the covariance of the gradients of cases.",
    ),
    "tonga": _row(
        TONGA, "Gradient descent in the metric of the gradients of cases of all batches, unit by unit."
    ),
    "adaptive_natural_gradient": _row(
        AdaptiveNaturalGradient,
        "Natural gradient by a running inverse of the Fisher matrix; up to 5,000 parameters.",
        draws=True,
    ),
    "full_adagrad": _row(
        FullAdaGrad, "AdaGrad with its whole matrix, not the diagonal alone; up to 2,000 parameters."
    ),
    "online_newton_step": _row(
        OnlineNewtonStep,
        "Gradients divided by the sum of their outer products over all batches; up to 5,000 parameters.",
    ),
    "natural_newton": _row(
        NaturalNewton,
        "Newton's method that trusts less where the cases disagree; by a diagonal, or by the Hessian of up "
        "to 5,000 parameters.",
    ),
    "trust_region": _row(
        TrustRegion,
        "Minimises a quadratic model by conjugate gradients, as far as a radius that follows how well it "
        "foresees.",
    ),
    "diagonal_newton": _row(DiagonalNewton, "Gradients divided by a diagonal of the curvature.", draws=True),
    "lecun_rate": _row(
        LeCunRate, "Gradient descent at the rate that the largest curvature allows.", draws=True
    ),
    "silva_almeida": _row(
        SilvaAlmeida, "A rate for each parameter, which grows while its gradient keeps its sign."
    ),
    "almeida": _row(
        Almeida, "A rate for each parameter, learned from products of its gradients; with momentum."
    ),
    "stochastic_meta_descent": _row(
        StochasticMetaDescent,
        "A rate for each parameter, which descends on the loss by products with the curvature.",
    ),
    "sgd_qn": _row(SGDQN, "A rate for each parameter, from the curvature that its moves have met."),
    "vsgd": _row(
        VSGD, "A rate for each parameter, by the noise of its gradients and its curvature.", draws=True
    ),
    "matrix_momentum": _row(MatrixMomentum, "Momentum that becomes Newton's step where the weights rest."),
    "nonlinear_conjugate_gradients": _row(
        NonlinearConjugateGradients, "Line searches along conjugate directions; for large batches."
    ),
    "online_lbfgs": _row(
        OnlineLBFGS, "Quasi-Newton steps, with gradients that are compared on one and the same batch."
    ),
}
