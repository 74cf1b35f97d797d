import pytest
import torch

from optimizers.curvature.products import gauss_newton_product
from tests import dense
from worker.models.one_unit import OneUnitAutoencoder

WEIGHT, BIAS = -3.0, 2.0
INPUTS = torch.linspace(0, 1, 7, dtype=torch.float64)


def a_model():
    return OneUnitAutoencoder(WEIGHT, BIAS).double()


@pytest.mark.row(26)
def test_the_output_is_the_weighted_logistic_unit_less_the_bias():
    expected = WEIGHT / (1 + torch.exp(-WEIGHT * INPUTS - BIAS)) - BIAS

    torch.testing.assert_close(a_model()(INPUTS), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.row(26)
def test_its_metric_for_squared_errors_is_twice_the_mean_outer_product_of_two_slopes():
    def loss(outputs):
        return (outputs - INPUTS).square().mean()

    unit = torch.sigmoid(WEIGHT * INPUTS + BIAS)
    slopes = torch.stack([unit + WEIGHT * unit * (1 - unit) * INPUTS, WEIGHT * unit * (1 - unit) - 1])
    metric = dense.matrix_of(gauss_newton_product(a_model(), loss, INPUTS), 2)

    torch.testing.assert_close(metric, 2 * slopes @ slopes.T / len(INPUTS), rtol=1e-12, atol=1e-14)
