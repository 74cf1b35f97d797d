"""Second-order optimizers for PyTorch, driven by one call per batch.

    optimizer = KFAC(model, CrossEntropy())
    for inputs, targets in batches:
        step = optimizer.step(inputs, targets)    # forward, backward, curvature, update
        print(step.loss)

The mathematics is in functions of tensors (`curvature`, `damping`, `solvers`); an optimizer only keeps
what lives from one step to the next. The *objective* knows the loss and how the model's own predictions
are sampled, so that the true Fisher matrix is never confused with the empirical one.
"""

from optimizers.acp import ACP
from optimizers.adaptive_natural_gradient import AdaptiveNaturalGradient
from optimizers.almeida import Almeida
from optimizers.centred_gradient_descent import CentredGradientDescent
from optimizers.centred_linear import CentredLinear
from optimizers.covariance_natural_gradient import CovarianceNaturalGradient
from optimizers.dense import GaussNewton, NaturalGradient, Newton
from optimizers.diagonal_newton import DiagonalNewton
from optimizers.ekfac import EKFAC
from optimizers.full_adagrad import FullAdaGrad
from optimizers.hessian_free import HessianFree
from optimizers.hyperparameter import Hyperparameter
from optimizers.kfac import KFAC
from optimizers.krylov_subspace_descent import KrylovSubspaceDescent
from optimizers.lecun_rate import LeCunRate
from optimizers.local_criterion import LocalCriterion
from optimizers.matrix_momentum import MatrixMomentum
from optimizers.mean_only_batch_norm import MeanOnlyBatchNorm
from optimizers.natural_newton import NaturalNewton
from optimizers.nonlinear_conjugate_gradients import NonlinearConjugateGradients
from optimizers.objectives import Bernoulli, CrossEntropy, Gaussian, Objective, squared_error
from optimizers.online_lbfgs import OnlineLBFGS
from optimizers.online_natural_gradient import OnlineNaturalGradient
from optimizers.online_newton_step import OnlineNewtonStep
from optimizers.prong import PRONG
from optimizers.rules import register
from optimizers.sgd_qn import SGDQN
from optimizers.silva_almeida import SilvaAlmeida
from optimizers.step import Step
from optimizers.stochastic_meta_descent import StochasticMetaDescent
from optimizers.tonga import TONGA
from optimizers.transformed_layer import TransformedLayer
from optimizers.truncated_natural_gradient import TruncatedNaturalGradient
from optimizers.trust_region import TrustRegion
from optimizers.unitwise_gauss_newton import UnitwiseGaussNewton
from optimizers.updated_backpropagation import UpdatedBackpropagation
from optimizers.version import __version__
from optimizers.vsgd import VSGD

__all__ = [
    "ACP",
    "EKFAC",
    "KFAC",
    "PRONG",
    "SGDQN",
    "TONGA",
    "VSGD",
    "AdaptiveNaturalGradient",
    "Almeida",
    "Bernoulli",
    "CentredGradientDescent",
    "CentredLinear",
    "CovarianceNaturalGradient",
    "CrossEntropy",
    "DiagonalNewton",
    "FullAdaGrad",
    "GaussNewton",
    "Gaussian",
    "HessianFree",
    "Hyperparameter",
    "KrylovSubspaceDescent",
    "LeCunRate",
    "LocalCriterion",
    "MatrixMomentum",
    "MeanOnlyBatchNorm",
    "NaturalGradient",
    "NaturalNewton",
    "Newton",
    "NonlinearConjugateGradients",
    "Objective",
    "OnlineLBFGS",
    "OnlineNaturalGradient",
    "OnlineNewtonStep",
    "SilvaAlmeida",
    "Step",
    "StochasticMetaDescent",
    "TransformedLayer",
    "TruncatedNaturalGradient",
    "TrustRegion",
    "UnitwiseGaussNewton",
    "UpdatedBackpropagation",
    "__version__",
    "register",
    "squared_error",
]
