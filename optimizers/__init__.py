"""Second-order optimizers for PyTorch, driven by one call per batch.

    optimizer = KFAC(model, CrossEntropy(), lr=0.3, damping=0.1)
    for inputs, targets in batches:
        step = optimizer.step(inputs, targets)    # forward, backward, curvature, update
        print(step.loss)

The mathematics is in functions of tensors (`curvature`, `damping`, `solvers`); an optimizer only keeps
what lives from one step to the next. The *objective* knows the loss and how the model's own predictions
are sampled, so that the true Fisher matrix is never confused with the empirical one.
"""

from optimizers.dense import GaussNewton, NaturalGradient, Newton
from optimizers.hyperparameter import Hyperparameter
from optimizers.kfac import KFAC
from optimizers.mean_only_batch_norm import MeanOnlyBatchNorm
from optimizers.objectives import Bernoulli, CrossEntropy, Gaussian, Objective, squared_error
from optimizers.step import Step

__all__ = [
    "KFAC",
    "Bernoulli",
    "CrossEntropy",
    "GaussNewton",
    "Gaussian",
    "Hyperparameter",
    "MeanOnlyBatchNorm",
    "NaturalGradient",
    "Newton",
    "Objective",
    "Step",
    "squared_error",
]
