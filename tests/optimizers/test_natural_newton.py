import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from optimizers import CrossEntropy, NaturalNewton, Newton, squared_error
from optimizers.curvature import dense
from optimizers.curvature.network import Network
from optimizers.damping.tikhonov import tikhonov
from optimizers.errors import NotPositiveDefiniteError, TooLargeError

CURVATURES = ["diagonal", "hessian"]


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def move(model, optimizer, *batch):
    before = theta(model)
    optimizer.step(*batch)
    return theta(model) - before


def inverse_of(curvature, model, inputs, targets, damping):
    network = Network(model, inputs)
    if curvature == "diagonal":
        blocks = dense.output_curvature(CrossEntropy(), network(network.params))
        diagonal = dense.gauss_newton(dense.jacobian(network), blocks).diag()
        return torch.diag(1 / (diagonal + damping))
    hessian = dense.hessian(network, CrossEntropy(), targets)
    values, vectors = torch.linalg.eigh(hessian)
    return torch.linalg.inv(tikhonov(vectors @ values.abs().diag() @ vectors.T, damping))


def posterior_mean(directions, n, variance):
    covariance = dense.covariance(directions)
    return torch.linalg.solve(tikhonov(covariance / (n * variance), 1.0), directions.mean(dim=0))


@pytest.mark.row(119)
@pytest.mark.parametrize("curvature", CURVATURES)
@pytest.mark.parametrize("cases", [None, 3])
def test_a_step_is_the_solve_with_the_covariance_written_out(a_network, a_batch, curvature, cases):
    model, batch = a_network(4, 5, 3), a_batch(8, 4, 3)
    inverse = inverse_of(curvature, model, *batch, 0.3)
    rows = dense.gradients_by_case(Network(model, batch[0]), CrossEntropy(), batch[1]) @ inverse
    truth = -0.5 * posterior_mean(rows, cases or 8, 0.02)
    told = {"directions": curvature, "cases": cases, "damping": 0.3, "variance": 0.02}

    found = move(model, NaturalNewton(model, CrossEntropy(), lr=0.5, **told), *batch)

    torch.testing.assert_close(found, truth, rtol=1e-8, atol=1e-10)
    assert (found + 0.5 * rows.mean(dim=0)).norm() > 0.1 * found.norm()


@pytest.mark.row(119)
@pytest.mark.parametrize("agree", [True, False])
def test_where_cases_agree_and_for_a_boundless_variance_it_is_newtons_step(a_network, a_batch, agree):
    inputs, targets = a_batch(1 if agree else 8, 4, 3)
    batch = (inputs.repeat(4, 1), targets.repeat(4)) if agree else (inputs, targets)
    ours, theirs = a_network(4, 5, 3), a_network(4, 5, 3)
    told = {"lr": 0.5, "damping": 0.3}
    variance = 1e-3 if agree else 1e14

    found = move(
        ours,
        NaturalNewton(ours, CrossEntropy(), directions="hessian", variance=variance, **told),
        *batch,
    )

    truth = move(theirs, Newton(theirs, CrossEntropy(), negative="absolute", **told), *batch)
    torch.testing.assert_close(found, truth, rtol=1e-8, atol=1e-10)


@pytest.mark.row(119)
@pytest.mark.parametrize("curvature", CURVATURES)
def test_where_the_curvature_is_one_it_is_what_to_expect_of_the_mean_gradient(curvature):
    stream = torch.Generator().manual_seed(0)
    inputs = torch.tensor([[1.0], [-1.0]], dtype=torch.float64).repeat(5, 1)
    targets = torch.randn(10, 3, generator=stream, dtype=torch.float64)
    model = nn.Linear(1, 3, bias=False).double()
    gradients = (model.weight.detach().T * inputs - targets) * inputs  # of ½ ‖θ x - z‖²
    optimizer = NaturalNewton(
        model, squared_error(half=True), lr=1.0, damping=0.0, variance=0.2, directions=curvature
    )

    torch.testing.assert_close(
        move(model, optimizer, inputs, targets), -posterior_mean(gradients, 10, 0.2), rtol=1e-9, atol=1e-11
    )


@pytest.mark.row(119)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cases=st.integers(1, 9), exponent=st.floats(-4, 4))
def test_it_is_never_longer_than_the_mean_direction(a_network, a_batch, seed, cases, exponent):
    batch = a_batch(cases, 4, 3, seed=seed)
    lengths = []
    for variance in (10.0**exponent, 1e14):
        model = a_network(4, 5, 3)
        optimizer = NaturalNewton(model, CrossEntropy(), lr=1.0, variance=variance)
        lengths.append(optimizer.step(*batch).update_norm)

    assert lengths[0] <= lengths[1] * (1 + 1e-9)


@pytest.mark.parametrize("curvature", CURVATURES)
def test_curvature_is_that_of_every_so_manieth_batch(a_network, a_batch, curvature):
    model = a_network(4, 5, 3)
    optimizer = NaturalNewton(
        model, CrossEntropy(), lr=0.5, damping=0.3, directions=curvature, refresh_every=2
    )
    inverse = None
    for seed in range(4):
        batch = a_batch(8, 4, 3, seed=seed)
        if seed % 2 == 0:
            inverse = inverse_of(curvature, model, *batch, 0.3)
        rows = dense.gradients_by_case(Network(model, batch[0]), CrossEntropy(), batch[1]) @ inverse
        truth = -0.5 * posterior_mean(rows, 8, 1.0)
        torch.testing.assert_close(move(model, optimizer, *batch), truth, rtol=1e-8, atol=1e-10)


def test_curvature_is_taken_anew_where_other_parameters_are_trained(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = NaturalNewton(model, CrossEntropy(), refresh_every=50)
    for is_trained in (True, False, True):
        model[0].requires_grad_(is_trained)
        optimizer.step(*a_batch(6, 4, 3))
        assert optimizer.state_dict()["inverse"].shape == (43 if is_trained else 18,)


def test_without_damping_a_parameter_without_curvature_is_refused(a_batch):
    inputs, targets = a_batch(6, 4, 3)
    inputs[:, 1] = 0.0
    optimizer = NaturalNewton(nn.Linear(4, 3).double(), CrossEntropy(), damping=0.0)

    with pytest.raises(NotPositiveDefiniteError, match="Add damping"):
        optimizer.step(inputs, targets)


def test_a_model_too_large_for_its_hessian_is_refused_with_what_to_do_and_a_diagonal_is_not(a_network):
    with pytest.raises(TooLargeError, match=r"NaturalNewton .* limit is 42. Train a smaller model, or"):
        NaturalNewton(a_network(4, 5, 3), CrossEntropy(), directions="hessian", limit=42)
    NaturalNewton(a_network(4, 5, 3), CrossEntropy(), limit=42)


@pytest.mark.parametrize(
    "wrong",
    [{"directions": "fisher"}, {"refresh_every": 0}, {"cases": 0}, {"variance": 0.0}, {"damping": -1.0}],
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        NaturalNewton(a_network(4, 3), CrossEntropy(), **wrong)
