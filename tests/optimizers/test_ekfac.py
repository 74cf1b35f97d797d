import copy
import io
import math
import warnings

import pytest
import torch
from torch import nn

from optimizers import EKFAC, KFAC, CrossEntropy
from optimizers.curvature.blocks import find_blocks
from optimizers.curvature.eigenbasis import Eigenbasis
from optimizers.curvature.factor import Factor, Factors
from optimizers.curvature.forms import Rows
from optimizers.curvature.statistics import Statistics, summed
from optimizers.errors import NotConvergedError


def a_stream(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=a_stream(seed), dtype=torch.float64)


def theta(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def of_rows(inputs, slopes):
    """Of cases at one position each."""
    outputs = slopes[:, None] / math.sqrt(len(slopes))
    return Rows(inputs=inputs[:, None], outputs=outputs, width=inputs.shape[-1])


@pytest.fixture(name="rows")
def _rows():
    """ā and g of 12 cases that depend on each other, so that no Kronecker product is their curvature."""
    inputs = normal(12, 4, seed=1)
    return {"layer": of_rows(inputs, normal(12, 3, seed=2) * inputs[:, :1] ** 2)}


@pytest.fixture(name="factors")
def _factors(rows):
    return summed([rows])


def block(rows):
    """The second moment of the gradients of cases, by columns."""
    h, g = rows["layer"].lines()
    cases = [math.sqrt(12) * slope.outer(row) for slope, row in zip(g, h, strict=True)]
    vectors = torch.stack([case.T.reshape(-1) for case in cases])
    return vectors.T @ vectors / 12


def kfac_of(statistics):
    """A ⊗ G."""
    factors = statistics.factors["layer"]
    return torch.kron(factors.inputs.values, factors.outputs.values)


def written_out(eigenbasis):
    """U diag(s) Uᵀ, from its products."""
    units = torch.eye(12, dtype=torch.float64)
    columns = [
        eigenbasis.solve({"layer": unit.reshape(4, 3).T}, 1e-3)["layer"].T.reshape(-1) for unit in units
    ]
    return torch.linalg.inv(torch.stack(columns, dim=1)) - 1e-3 * units


@pytest.fixture(name="corrected")
def _corrected(rows, factors):
    eigenbasis = Eigenbasis().refreshed(factors)
    eigenbasis.note([rows], decay=0.0)
    return eigenbasis


def test_before_any_measurement_it_is_the_matrix_of_kfac(factors):
    torch.testing.assert_close(
        written_out(Eigenbasis().refreshed(factors)),
        kfac_of(factors),
        rtol=1e-8,
        atol=1e-10,
    )


def test_the_corrected_matrix_has_the_diagonal_of_the_true_block_in_that_basis(rows, factors, corrected):
    _, of_inputs = torch.linalg.eigh(factors.factors["layer"].inputs.values)
    _, of_outputs = torch.linalg.eigh(factors.factors["layer"].outputs.values)
    basis = torch.kron(of_inputs, of_outputs)
    diagonal = (basis.T @ block(rows) @ basis).diag()

    torch.testing.assert_close(written_out(corrected), (basis * diagonal) @ basis.T, rtol=1e-8, atol=1e-10)


def test_the_corrected_matrix_is_nearer_to_the_true_block_than_that_of_kfac(rows, factors, corrected):
    truth = block(rows)
    ours = (written_out(corrected) - truth).norm()
    theirs = (kfac_of(factors) - truth).norm()

    assert ours < 0.95 * theirs


def test_measurements_are_averaged_by_decay(rows, factors, corrected):
    eigenbasis = Eigenbasis().refreshed(factors)
    start = eigenbasis.moments["layer"]
    eigenbasis.note([rows], decay=0.7)

    expected = 0.7 * start + 0.3 * corrected.moments["layer"]
    torch.testing.assert_close(eigenbasis.moments["layer"], expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("curved", [0, 1, 2, 12])
def test_a_solve_is_the_dense_one_whether_few_directions_are_curved_or_all(factors, curved, dtype):
    """Of 12 directions; of the others s is lost in rounding beside damping."""
    s = torch.full((12,), 1e-18, dtype=torch.float64)
    s[:curved] = torch.arange(1.0, curved + 1)
    truth, ours = (Eigenbasis().refreshed(at(factors, precise)) for precise in (torch.float64, dtype))
    gradient, matrix = normal(3, 4, seed=5), torch.diag(s.reshape(3, 4).T.reshape(-1) + 0.1)
    basis = torch.kron(
        *(truth.state_dict()["bases"]["kept"]["layer"][side] for side in ("inputs", "outputs"))
    )
    expected = basis @ torch.linalg.solve(matrix, basis.T @ gradient.T.reshape(-1))

    ours.moments["layer"] = s.reshape(3, 4).to(dtype)
    solved = ours.solve({"layer": gradient.to(dtype)}, 0.1)["layer"].double()
    within = 1e-10 if dtype == torch.float64 else 1e-4
    assert (solved.T.reshape(-1) - expected).norm() <= within * expected.norm()


def test_a_direction_whose_curvature_is_lost_beside_damping_takes_no_product(factors):
    eigenbasis, gradient = Eigenbasis().refreshed(factors), normal(3, 4, seed=5)
    eigenbasis.moments["layer"] = torch.full((3, 4), 1e-18, dtype=torch.float64)

    assert torch.equal(eigenbasis.solve({"layer": gradient}, 0.1)["layer"], gradient / 0.1)


def at(statistics, dtype):
    """Those of the one layer, in a precision."""
    factors = statistics.factors["layer"]
    sides = (Factor(values=side.values.to(dtype)) for side in (factors.inputs, factors.outputs))
    return Statistics(factors={"layer": Factors(*sides)}, crosses={})


@pytest.mark.row(165)
def test_a_gradient_turned_by_few_rows_is_what_it_is_otherwise():
    inputs, slopes = normal(3, 20, seed=1), normal(3, 30, seed=2)
    many = {"layer": of_rows(normal(99, 20, seed=3), normal(99, 30, seed=4))}
    basis, gradients = Eigenbasis().refreshed(summed([many])), {"layer": slopes.T @ inputs}
    few = Rows(inputs=inputs[:, None], outputs=slopes[:, None], width=20)
    ours = basis.solve(gradients, 0.1, {"layer": few})["layer"]
    theirs = basis.solve(gradients, 0.1)["layer"]

    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)
    assert not torch.equal(ours, theirs)  # by another way


def in_basis(kept, case):
    turned = case if kept["inputs"] is None else case @ kept["inputs"]
    return turned if kept["outputs"] is None else kept["outputs"].mT @ turned


@pytest.mark.parametrize("at_once", [1, 2**24])
def test_values_of_layers_with_positions_and_groups_are_mean_squares_of_whole_cases(
    a_batch, most_likely, monkeypatch, at_once
):
    torch.manual_seed(0)
    modules = [nn.Unflatten(1, (2, 5)), nn.Conv1d(2, 3, 2), nn.Tanh(), nn.Conv1d(3, 6, 2, groups=3)]
    model, (inputs, targets) = nn.Sequential(*modules, nn.Flatten()).double(), a_batch(7, 10, 3)
    monkeypatch.setattr("optimizers.curvature.eigenbasis.AT_ONCE", at_once)
    blocks, params = find_blocks(model), dict(model.named_parameters())
    cases = []
    for row in inputs:  # targets are the most likely ones
        outputs = model(row[None])
        loss = most_likely.loss(outputs, outputs.argmax(dim=1))
        cases.append(dict(zip(params, torch.autograd.grad(loss, list(params.values())), strict=True)))
    optimizer = EKFAC(model, most_likely, decay=0.0)
    optimizer.step(inputs, targets)

    state = optimizer.state_dict()["eigenbasis"]
    for name, block in blocks.items():
        kept = state["bases"]["kept"][name]
        squares = torch.stack([in_basis(kept, block.matrix(case)).square() for case in cases])
        torch.testing.assert_close(state["moments"][name], squares.mean(dim=0), rtol=1e-9, atol=1e-15)


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.scale, self.head = nn.Embedding(6, 4), nn.Parameter(torch.ones(4)), nn.Linear(4, 3)

    def forward(self, inputs):
        return self.head(torch.tanh(self.table(inputs.abs().long() % 6).mean(dim=1) * self.scale))


def test_a_diagonal_factor_is_its_own_basis(a_batch):
    torch.manual_seed(0)
    model, (inputs, targets) = Tokens().double(), a_batch(30, 4, 3)
    optimizer = EKFAC(model, CrossEntropy())
    losses = [optimizer.step(3 * inputs, targets).loss for _ in range(30)]
    kept = optimizer.state_dict()["eigenbasis"]["bases"]["kept"]

    assert losses[-1] < losses[0]
    assert {name: (of["inputs"] is None, of["outputs"] is None) for name, of in kept.items()} == {
        "table.weight": (True, False),
        "scale": (False, True),
        "head.weight": (False, False),
    }


@pytest.mark.parametrize("l2", [0.0, 0.03])
def test_a_step_is_minus_lr_times_the_dense_solve(a_network, a_batch, l2):
    (inputs, targets), model = a_batch(9, 4, 3), a_network(4, 3)
    optimizer = EKFAC(model, CrossEntropy(), lr=0.4, damping=0.2, l2=l2, generator=a_stream())
    before = torch.cat([model[0].weight, model[0].bias[:, None]], dim=1).detach()
    found = torch.autograd.grad(CrossEntropy().loss(model(inputs), targets), list(model.parameters()))
    gradient = torch.cat([found[0], found[1][:, None]], dim=1) + l2 * before

    optimizer.step(inputs, targets)

    state = optimizer.state_dict()["eigenbasis"]
    kept, moments = state["bases"]["kept"]["0.weight"], state["moments"]["0.weight"]
    basis = torch.kron(kept["inputs"], kept["outputs"])
    dense = (basis * moments.T.reshape(-1)) @ basis.T + (0.2 + l2) * torch.eye(15, dtype=torch.float64)
    expected = before - 0.4 * torch.linalg.solve(dense, gradient.T.reshape(-1)).reshape(5, 3).T
    after = torch.cat([model[0].weight, model[0].bias[:, None]], dim=1).detach()
    torch.testing.assert_close(after, expected, rtol=1e-8, atol=1e-10)


def failing(kinds):
    """torch's decomposition, which gives up in these precisions."""
    real = torch.linalg.eigh

    def eigh(matrix):
        if matrix.dtype in kinds:
            raise torch.linalg.LinAlgError("did not converge")
        return real(matrix)

    return eigh


def test_a_decomposition_that_fails_in_single_precision_is_made_in_double(a_network, a_batch, monkeypatch):
    model, (inputs, targets) = a_network(4, 5, 3).float(), a_batch(9, 4, 3)
    monkeypatch.setattr(torch.linalg, "eigh", failing({torch.float32}))
    step = EKFAC(model, CrossEntropy()).step(inputs.float(), targets)

    assert 0 < step.update_norm < math.inf


def test_without_any_decomposition_the_last_basis_is_kept_and_training_goes_on(
    a_network, a_batch, monkeypatch
):
    model, batch = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = EKFAC(model, CrossEntropy(), refresh_every=5)
    for _ in range(5):
        optimizer.step(*batch)
    kept = optimizer.state_dict()["eigenbasis"]["bases"]["kept"]["2.weight"]["inputs"]
    monkeypatch.setattr(torch.linalg, "eigh", failing({torch.float32, torch.float64}))
    with pytest.warns(RuntimeWarning, match=r"last inverse of '[02]\.weight' is kept"):
        step = optimizer.step(*batch)

    assert step.update_norm > 0
    assert torch.equal(optimizer.state_dict()["eigenbasis"]["bases"]["kept"]["2.weight"]["inputs"], kept)


def test_without_a_last_basis_the_layer_is_named_and_nothing_moves(a_network, a_batch, monkeypatch):
    model = a_network(4, 5, 3)
    before = theta(model)
    monkeypatch.setattr(torch.linalg, "eigh", failing({torch.float64}))
    with pytest.raises(NotConvergedError, match=r"'0\.weight, inputs' did not converge"):
        EKFAC(model, CrossEntropy()).step(*a_batch(9, 4, 3))

    assert torch.equal(theta(model), before)


def test_a_resumed_run_is_bit_identical(a_network, a_batch):
    batch, model, resumed = a_batch(9, 4, 3), a_network(4, 5, 3), a_network(4, 5, 3, seed=5)
    optimizer = EKFAC(model, CrossEntropy(), refresh_every=4)
    for _ in range(6):
        optimizer.step(*batch)
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed.load_state_dict(of_model)
    other = EKFAC(resumed, CrossEntropy(), lr=9.0)
    other.load_state_dict(of_optimizer)
    for _ in range(6):
        optimizer.step(*batch)
        other.step(*batch)

    assert torch.equal(theta(resumed), theta(model))


def test_a_copy_trains_its_own_model_alike(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = EKFAC(model, CrossEntropy())
    optimizer.step(*batch)
    other, before = copy.deepcopy(optimizer), theta(model)
    losses = [other.step(*batch).loss for _ in range(3)]

    assert torch.equal(theta(model), before)
    assert [optimizer.step(*batch).loss for _ in range(3)] == losses


def test_a_model_in_another_precision_goes_on(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = EKFAC(model, CrossEntropy())
    optimizer.step(inputs, targets)
    model.float()

    assert 0 < optimizer.step(inputs.float(), targets).update_norm < math.inf


def test_a_batch_with_nan_changes_nothing_and_training_goes_on(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
    optimizer = EKFAC(model, CrossEntropy())
    optimizer.step(inputs, targets)
    before, moments = theta(model), optimizer.state_dict()["eigenbasis"]["moments"]["0.weight"]
    spoilt = inputs.clone()
    spoilt[2, 1] = math.nan

    assert optimizer.step(spoilt, targets).update_norm == 0
    assert torch.equal(theta(model), before)
    assert torch.equal(optimizer.state_dict()["eigenbasis"]["moments"]["0.weight"], moments)
    assert optimizer.step(inputs, targets).update_norm > 0


def test_it_learns_at_least_as_far_as_kfac_with_steps_of_the_same_length(a_network, a_batch):
    losses = []
    for kind in (EKFAC, KFAC):
        model, batch = a_network(4, 8, 3), a_batch(60, 4, 3)
        optimizer = kind(model, CrossEntropy(), lr=0.1, damping=0.01, generator=a_stream())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            losses.append([optimizer.step(*batch).loss for _ in range(40)][-1])

    assert losses[0] < 0.6
    assert losses[0] < 1.1 * losses[1]


@pytest.mark.parametrize("wrong", [{"lr": -1.0}, {"damping": 0.0}, {"decay": 1.0}, {"refresh_every": 0}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EKFAC(a_network(4, 3), CrossEntropy(), **wrong)
