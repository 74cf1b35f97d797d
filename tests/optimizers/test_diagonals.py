import itertools

import pytest
import torch
from torch import nn

from optimizers import Bernoulli, CrossEntropy, squared_error
from optimizers.curvature import diagonals
from optimizers.curvature.dense import (
    gauss_newton,
    gradients_by_case,
    hessian,
    jacobian,
    output_curvature,
    second_moment,
)
from optimizers.curvature.network import Network
from optimizers.curvature.vectors import flat, flat_rows
from optimizers.errors import UnsupportedModelError
from optimizers.objectives import Gaussian

EXACT = {"rtol": 1e-10, "atol": 1e-14}


def a_convolution():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 2), nn.Sigmoid(), nn.Flatten(), nn.Linear(6, 3)
    ).double()


def dense_gauss_newton(network, objective):
    return gauss_newton(jacobian(network), output_curvature(objective, network(network.params)))


@pytest.fixture(params=["dense", "convolution"])
def network(request, a_network, a_batch):
    model = a_network(4, 3, 3) if request.param == "dense" else a_convolution()
    return Network(model, a_batch(5, 4, 3)[0])


@pytest.mark.row(93)
def test_the_empirical_fisher_diagonal_is_that_of_the_matrix_written_out(network, a_batch):
    targets = a_batch(5, 4, 3)[1]
    truth = second_moment(gradients_by_case(network, CrossEntropy(), targets)).diag()

    torch.testing.assert_close(
        flat(diagonals.empirical_fisher(network, CrossEntropy(), targets)), truth, **EXACT
    )


@pytest.mark.parametrize("at_once", [1, 60])  # numbers: one case, or two
def test_how_many_gradients_are_in_memory_changes_no_diagonal(a_batch, monkeypatch, at_once):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.5), nn.Tanh(), nn.Linear(3, 3)).double()
    (inputs, targets), torch_state = a_batch(5, 4, 3), torch.get_rng_state()
    whole = flat(diagonals.empirical_fisher(Network(model, inputs), CrossEntropy(), targets))
    torch.set_rng_state(torch_state)
    monkeypatch.setattr(diagonals, "AT_ONCE", at_once)

    parts = flat(diagonals.empirical_fisher(Network(model, inputs), CrossEntropy(), targets))

    torch.testing.assert_close(parts, whole, **EXACT)


@pytest.mark.row(93)
def test_of_a_linear_layer_it_takes_two_squares_and_no_gradient_of_a_case():
    stream = torch.Generator().manual_seed(0)
    gradients, inputs = (torch.randn(5, size, generator=stream, dtype=torch.float64) for size in (3, 4))
    of_cases = gradients[:, :, None] * inputs[:, None, :]

    torch.testing.assert_close(diagonals.of_linear_layer(gradients, inputs), of_cases.square().mean(dim=0))


@pytest.mark.row(95)
@pytest.mark.parametrize("objective", [CrossEntropy(), Bernoulli(), Gaussian(variance=0.3)])
def test_the_exact_diagonal_of_gauss_newton_takes_one_backward_pass_for_each_output(network, objective):
    truth = dense_gauss_newton(network, objective).diag()

    torch.testing.assert_close(flat(diagonals.gauss_newton(network, objective)), truth, **EXACT)


def all_signs(cases, outputs):
    """Every choice of signs of one case's outputs, the same for each case: cases do not mix."""
    for signs in itertools.product([-1.0, 1.0], repeat=outputs):
        yield torch.tensor(signs, dtype=torch.float64).expand(cases, outputs)


@pytest.mark.row(235)
@pytest.mark.row(94)
def test_chapelle_and_erhans_estimate_is_exact_on_average_over_all_signs(network):
    estimates = [flat(diagonals.chapelle_erhan(network, CrossEntropy(), v)) for v in all_signs(5, 3)]
    truth = dense_gauss_newton(network, CrossEntropy()).diag()

    torch.testing.assert_close(torch.stack(estimates).mean(dim=0), truth, **EXACT)


@pytest.mark.row(94)
def test_signs_vary_less_than_normal_draws(network):
    stream, draws = torch.Generator().manual_seed(0), 200
    outputs = network(network.params)
    normal = [torch.randn(outputs.shape, generator=stream, dtype=torch.float64) for _ in range(draws)]
    signs = [diagonals.random_signs(outputs, stream) for _ in range(draws)]

    def spread(all_draws):
        rows = [flat(diagonals.chapelle_erhan(network, CrossEntropy(), v)) for v in all_draws]
        return torch.stack(rows).var(dim=0).sum()

    assert spread(signs) < spread(normal)
    assert set(torch.cat(signs).unique().tolist()) == {-1.0, 1.0}


@pytest.mark.row(96)
def test_curvature_propagation_estimates_all_of_gauss_newton_without_bias(network):
    estimates = [
        second_moment(flat_rows(diagonals.curvature_propagation(network, CrossEntropy(), v)))
        for v in all_signs(5, 3)
    ]
    truth = dense_gauss_newton(network, CrossEntropy())

    torch.testing.assert_close(torch.stack(estimates).mean(dim=0), truth, rtol=1e-10, atol=1e-13)


@pytest.mark.row(96)
def test_the_diagonal_of_curvature_propagation_is_chapelle_and_erhans_estimate(network):
    signs = diagonals.random_signs(network(network.params), torch.Generator().manual_seed(0))
    rows = flat_rows(diagonals.curvature_propagation(network, CrossEntropy(), signs))

    ours = flat(diagonals.chapelle_erhan(network, CrossEntropy(), signs))
    torch.testing.assert_close(second_moment(rows).diag(), ours, **EXACT)


@pytest.mark.row(91)
@pytest.mark.parametrize("of", ["gn", "hessian"])
@pytest.mark.parametrize("objective", [squared_error(), Bernoulli()])
def test_the_recursion_is_exact_for_one_layer_under_diagonal_curvature(a_network, a_batch, of, objective):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    targets = objective.sample(model(inputs).detach(), torch.Generator().manual_seed(0))
    truth = hessian(Network(model, inputs), objective, targets).diag()

    ours = diagonals.becker_lecun(model, objective, inputs, targets, of=of)
    torch.testing.assert_close(flat(ours), truth, **EXACT)


@pytest.mark.row(91)
@pytest.mark.parametrize(("of", "dense"), [("gn", "gauss-newton"), ("hessian", "hessian")])
@pytest.mark.parametrize("activation", [nn.Tanh, nn.Sigmoid, nn.ReLU])
def test_the_recursion_is_exact_through_a_chain_of_single_units(a_network, activation, of, dense):
    # One unit in each layer leaves no off-diagonal curvature to drop.
    model = a_network(1, 1, 1, 1, activation=activation)
    inputs = torch.randn(5, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    network, targets = Network(model, inputs), torch.zeros(5, 1, dtype=torch.float64)
    objective = squared_error()
    matrices = {
        "gauss-newton": dense_gauss_newton(network, objective),
        "hessian": hessian(network, objective, targets),
    }

    ours = diagonals.becker_lecun(model, objective, inputs, targets, of=of)
    torch.testing.assert_close(flat(ours), matrices[dense].diag(), **EXACT)


@pytest.mark.row(92)
def test_the_gauss_newton_flavour_is_never_negative_where_the_hessian_one_is(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    flavours = {
        of: flat(diagonals.becker_lecun(model, CrossEntropy(), inputs, targets, of=of))
        for of in ("gn", "hessian")
    }

    assert flavours["gn"].min() >= 0 > flavours["hessian"].min()


def test_a_layer_that_the_recursion_does_not_know_is_refused():
    with pytest.raises(UnsupportedModelError, match="'0' is a Unflatten"):
        diagonals.becker_lecun(
            a_convolution(),
            CrossEntropy(),
            torch.zeros(5, 4).double(),
            torch.zeros(5, dtype=torch.long),
            of="gn",
        )


def test_an_activation_that_stands_in_two_places_acts_in_both(a_batch):
    torch.manual_seed(0)
    one = nn.Tanh()
    shared = nn.Sequential(nn.Linear(4, 5), one, nn.Linear(5, 5), one, nn.Linear(5, 3)).double()
    apart = nn.Sequential(*(nn.Tanh() if part is one else part for part in shared))
    batch = a_batch(6, 4, 3)

    ours, truth = (diagonals.becker_lecun(m, CrossEntropy(), *batch, of="hessian") for m in (shared, apart))
    assert torch.equal(flat(ours), flat(truth))


def test_a_layer_that_stands_in_two_places_is_refused(a_batch):
    layer = nn.Linear(4, 4)
    with pytest.raises(UnsupportedModelError, match="'2' shares a parameter with a layer before it"):
        diagonals.becker_lecun(
            nn.Sequential(layer, nn.Tanh(), layer).double(), CrossEntropy(), *a_batch(6, 4, 3), of="gn"
        )


@pytest.mark.parametrize("of", ["gn", "hessian"])
def test_an_activation_in_place_changes_no_diagonal(a_network, a_batch, of):
    batch, found = a_batch(6, 4, 3), []
    for in_place in (False, True):
        model = a_network(4, 5, 3, activation=lambda way=in_place: nn.ELU(inplace=way))
        found.append(flat(diagonals.becker_lecun(model, CrossEntropy(), *batch, of=of)))

    torch.testing.assert_close(*found, **EXACT)
