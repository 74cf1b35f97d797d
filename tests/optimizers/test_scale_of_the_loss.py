"""Squared error comes whole and half. Which one it is scales lr and damping, and no optimizer knows of it."""

import pytest
import torch

from optimizers import (
    ACP,
    EKFAC,
    KFAC,
    SGDQN,
    TONGA,
    VSGD,
    AdaptiveNaturalGradient,
    Almeida,
    CovarianceNaturalGradient,
    DiagonalNewton,
    FullAdaGrad,
    GaussNewton,
    LeCunRate,
    LocalCriterion,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    OnlineNaturalGradient,
    OnlineNewtonStep,
    SilvaAlmeida,
    StochasticMetaDescent,
    UnitwiseGaussNewton,
    squared_error,
)


def kfac(model, objective, **settings):
    return KFAC(model, objective, generator=torch.Generator().manual_seed(0), **settings)


def sampled(model, objective, **settings):
    stream = torch.Generator().manual_seed(0)
    return NaturalGradient(model, objective, kind="sampled", generator=stream, **settings)


def adaptive(model, objective, **settings):
    stream = torch.Generator().manual_seed(0)
    return AdaptiveNaturalGradient(model, objective, generator=stream, **settings)


# What an optimizer has to be told for the half, and for the whole, to take the same steps.
SETTINGS = {
    "Newton": (Newton, {"damping": 3.0}, {"damping": 6.0}),
    "GaussNewton": (GaussNewton, {"damping": 0.3}, {"damping": 0.6}),
    "NaturalGradient": (NaturalGradient, {"damping": 0.3}, {"damping": 0.6}),
    "NaturalGradient, sampled": (sampled, {"damping": 0.3}, {"damping": 0.6}),
    "KFAC": (kfac, {"lr": 0.1, "damping": 0.3}, {"lr": 0.1, "damping": 0.6}),
    "KFAC, adaptive": (kfac, {"damping": 0.3}, {"damping": 0.6}),
    "KFAC, tridiagonal": (
        kfac,
        {"damping": 0.3, "inverse": "block_tridiagonal"},
        {"damping": 0.6, "inverse": "block_tridiagonal"},
    ),
    "KFAC, with an L2 term": (kfac, {"damping": 0.3, "l2": 0.01}, {"damping": 0.6, "l2": 0.02}),
    "EKFAC": (EKFAC, {"lr": 0.1, "damping": 0.3}, {"lr": 0.1, "damping": 0.6}),
    "DiagonalNewton": (
        DiagonalNewton,
        {"lr": 0.1, "damping": 0.3, "exponent": 0.75, "source": "gauss_newton"},
        {"lr": 0.1 / 2**0.25, "damping": 0.6, "exponent": 0.75, "source": "gauss_newton"},
    ),
    "CovarianceNaturalGradient": (
        CovarianceNaturalGradient,
        {"lr": 0.5, "damping": 0.3},
        {"lr": 1.0, "damping": 1.2},  # its matrix is of squares of gradients
    ),
    "AdaptiveNaturalGradient": (adaptive, {"damping": 0.3}, {"damping": 0.6}),
    "FullAdaGrad": (FullAdaGrad, {"damping": 0.1}, {"damping": 0.4}),
    "OnlineNewtonStep": (OnlineNewtonStep, {"lr": 0.5, "damping": 0.3}, {"lr": 1.0, "damping": 1.2}),
    "NaturalNewton": (NaturalNewton, {"damping": 0.3}, {"damping": 0.6}),
    "TONGA": (TONGA, {"lr": 0.5, "damping": 0.3}, {"lr": 1.0, "damping": 1.2}),
    "UnitwiseGaussNewton": (UnitwiseGaussNewton, {"damping": 0.3}, {"damping": 0.6}),
    "LeCunRate": (LeCunRate, {}, {}),
    "LocalCriterion": (LocalCriterion, {"lr": 0.1}, {"lr": 0.05}),
    "ACP": (ACP, {"alpha": 1.0, "ridge": 0.1}, {"alpha": 2.0, "ridge": 0.2}),
    "SilvaAlmeida": (SilvaAlmeida, {"lr": 0.1}, {"lr": 0.05}),
    "Almeida": (Almeida, {"lr": 0.1, "momentum": 0.5}, {"lr": 0.05, "momentum": 0.5}),
    "StochasticMetaDescent": (
        StochasticMetaDescent,
        {"lr": 0.1, "meta_lr": 0.2},
        {"lr": 0.05, "meta_lr": 0.1},
    ),
    "SGDQN": (SGDQN, {"least_curvature": 0.1, "skip": 2}, {"least_curvature": 0.2, "skip": 2}),
    "VSGD": (VSGD, {"source": "gauss_newton"}, {"source": "gauss_newton"}),
    "MatrixMomentum": (MatrixMomentum, {"velocity_lr": 0.2}, {"velocity_lr": 0.1}),
    "OnlineNaturalGradient": (OnlineNaturalGradient, {"lr": 0.1}, {"lr": 0.05}),
}


@pytest.mark.row(35)
@pytest.mark.parametrize("name", SETTINGS)
def test_whole_and_half_squared_error_take_the_same_steps_by_settings_that_differ_by_two(name, a_network):
    make, *told = SETTINGS[name]
    stream = torch.Generator().manual_seed(1)
    batches = [
        (torch.randn(9, 4, generator=stream).double(), torch.randn(9, 3, generator=stream).double())
        for _ in range(6)
    ]
    models = []
    for half, settings in zip((True, False), told, strict=True):
        torch.manual_seed(0)
        model = a_network(4, 5, 3)
        optimizer = make(model, squared_error(half=half), **settings)
        for batch in batches:
            optimizer.step(*batch)
        models.append(model)

    start = a_network(4, 5, 3)
    for ours, theirs, before in zip(*(model.parameters() for model in (*models, start)), strict=True):
        assert not torch.equal(ours, before)
        torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9)
