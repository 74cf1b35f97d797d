"""Truth here is dense and slow: Jacobians of single cases by torch.func.jacrev, one matrix at a time."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, jacrev, jvp
from torch.func import hessian as second_derivative
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, dropout, mse_loss
from torch.nn.utils.parametrizations import weight_norm

from optimizers import Bernoulli, CrossEntropy, Gaussian, squared_error
from optimizers.curvature.network import Network
from optimizers.curvature.products import (
    Jacobian,
    empirical_fisher,
    fisher,
    fisher_inner,
    gauss_newton,
    gauss_newton_product,
    hessian,
    hessian_product,
    output_gradients,
    pull_by_case,
)
from optimizers.curvature.vectors import flat, flat_rows, shaped
from tests import dense

EXACT = 1e-10
CLASSES = 3


class Cube(torch.autograd.Function):
    """An element-wise node of a user: s -> s³, with derivatives of its own."""

    generate_vmap_rule = True

    @staticmethod
    def forward(inputs):
        return inputs**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        del output
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, rows):
        (inputs,) = ctx.saved_tensors
        return 3 * inputs**2 * rows

    @staticmethod
    def jvp(ctx, tangents):
        (inputs,) = ctx.saved_tensors
        return 3 * inputs**2 * tangents


class Cubic(nn.Module):
    def forward(self, inputs):
        return Cube.apply(inputs)


def a_dense_network():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, CLASSES))


def a_convolution():
    return nn.Sequential(
        nn.Unflatten(1, (1, 4)), nn.Conv1d(1, 2, 2), nn.Sigmoid(), nn.Flatten(), nn.Linear(6, CLASSES)
    )


def a_cubic_network():
    return nn.Sequential(nn.Linear(4, 5), Cubic(), nn.Linear(5, CLASSES))


def a_tied_network():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, CLASSES))
    model[2].weight = model[0].weight
    return model


class Recurrent(nn.Module):
    """Reads the four inputs one after the other."""

    def __init__(self):
        super().__init__()
        self.memory, self.last = nn.LSTM(1, 2, batch_first=True), nn.Linear(2, CLASSES)

    def forward(self, inputs):
        return self.last(self.memory(inputs[:, :, None])[0][:, -1])


MODELS = [a_dense_network, a_convolution, a_cubic_network, a_tied_network, Recurrent]


def made(build, seed=0):
    torch.manual_seed(seed)
    return build().double()


def data(cases=5, seed=1):
    stream = torch.Generator().manual_seed(seed)
    inputs = torch.randn(cases, 4, generator=stream, dtype=torch.float64)
    return inputs, torch.randint(CLASSES, (cases,), generator=stream)


def a_vector(params, seed=2):
    size = sum(tensor.numel() for tensor in params.values())
    return torch.randn(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def params_of(model):
    return {name: tensor.detach() for name, tensor in model.named_parameters()}


def jacobians(model, inputs):
    """J of every case, by torch's own reverse mode on one case after the other."""
    params = params_of(model)

    def of_case(row):
        tree = jacrev(lambda p: functional_call(model, p, (row[None],))[0])(params)
        return torch.cat([tensor.flatten(start_dim=1) for tensor in tree.values()], dim=1)

    return [of_case(row) for row in inputs]


def cross_entropy_of(targets):
    return lambda outputs: CrossEntropy().loss(outputs, targets)


def close(ours, truth, within=EXACT):
    return (ours - truth).norm() <= within * truth.norm()


@pytest.mark.row(48)
@pytest.mark.parametrize("how", [{}, {"recorded": True}, {"rows_at_once": 2}])
@pytest.mark.parametrize("build", MODELS)
def test_pushing_and_pulling_are_the_dense_jacobian_and_its_transpose(build, how):
    model, (inputs, _) = made(build), data()
    network, dense = Network(model, inputs), jacobians(model, inputs)
    jacobian, vector = Jacobian(network, **how), a_vector(params_of(model))
    rows = torch.randn(5, CLASSES, generator=torch.Generator().manual_seed(3), dtype=torch.float64)

    assert close(jacobian.push(vector), torch.stack([j @ vector for j in dense]))
    assert close(flat(jacobian.pull(rows)), sum(j.T @ u for j, u in zip(dense, rows, strict=True)) / 5)
    assert torch.equal(jacobian.outputs, model(inputs)) or close(jacobian.outputs, model(inputs))


@pytest.mark.row(49)
@pytest.mark.parametrize("build", MODELS)
def test_the_fisher_product_is_the_mean_of_the_dense_blocks_of_cases(build):
    model, (inputs, _) = made(build), data()
    vector, outputs = a_vector(params_of(model)), model(inputs).detach()
    blocks = [row.softmax(0).diag() - row.softmax(0).outer(row.softmax(0)) for row in outputs]
    truth = sum(j.T @ b @ j for j, b in zip(jacobians(model, inputs), blocks, strict=True)) / 5 @ vector

    assert close(fisher(Jacobian(Network(model, inputs)), CrossEntropy(), vector), truth, within=1e-12)


@pytest.mark.row(171)
@pytest.mark.parametrize("objective", [squared_error(), Gaussian(variance=0.3), Bernoulli(), CrossEntropy()])
def test_gauss_newton_by_the_loss_is_fisher_by_the_prediction_where_outputs_are_natural_parameters(objective):
    model, (inputs, _) = made(a_dense_network), data()
    jacobian = Jacobian(Network(model, inputs))
    targets = objective.sample(jacobian.outputs, torch.Generator().manual_seed(0))
    vector = a_vector(params_of(model))

    ours = gauss_newton(jacobian, lambda z: objective.loss(z, targets), vector)
    assert close(ours, fisher(jacobian, objective, vector), within=1e-12)


@pytest.mark.row(48)
@pytest.mark.parametrize("build", MODELS)
def test_the_hessian_product_is_the_dense_second_derivative(build):
    model, (inputs, targets) = made(build), data()
    params, vector = params_of(model), a_vector(params_of(model))

    def loss(theta):
        return CrossEntropy().loss(functional_call(model, shaped(theta, params), (inputs,)), targets)

    truth = second_derivative(loss)(flat(params)) @ vector
    assert close(hessian(Network(model, inputs), cross_entropy_of(targets))(vector), truth)


@pytest.mark.row(48)
def test_the_hessian_product_is_what_differences_of_gradients_give():
    model, (inputs, targets) = made(a_dense_network), data()
    params, vector = params_of(model), a_vector(params_of(model))

    def gradient(theta):
        weights = {name: tensor.requires_grad_() for name, tensor in shaped(theta, params).items()}
        loss = CrossEntropy().loss(functional_call(model, weights, (inputs,)), targets)
        return torch.cat([part.reshape(-1) for part in torch.autograd.grad(loss, list(weights.values()))])

    theta = flat(params)
    differences = (gradient(theta + 1e-5 * vector) - gradient(theta - 1e-5 * vector)) / 2e-5
    ours = hessian(Network(model, inputs), cross_entropy_of(targets))(vector)
    assert close(ours, differences, within=1e-6)


def gradients_of_cases(model, inputs, targets):
    rows = []
    for case, target in zip(inputs, targets, strict=True):
        loss = CrossEntropy().loss(model(case[None]), target[None])
        parts = torch.autograd.grad(loss, list(model.parameters()))
        rows.append(torch.cat([part.reshape(-1) for part in parts]))
    return torch.stack(rows)


@pytest.mark.parametrize("build", MODELS)
def test_the_empirical_fisher_product_is_the_mean_square_of_the_gradients_of_cases(build):
    model, (inputs, targets) = made(build), data()
    vector, rows = a_vector(params_of(model)), gradients_of_cases(model, inputs, targets)

    ours = empirical_fisher(Jacobian(Network(model, inputs)), CrossEntropy(), targets, vector)
    assert close(ours, rows.T @ rows @ vector / 5)


@pytest.mark.parametrize("build", MODELS)
def test_pulling_by_case_gives_each_case_its_own_gradient(build):
    model, (inputs, targets) = made(build), data()
    network = Network(model, inputs)
    slopes = output_gradients(CrossEntropy(), model(inputs).detach(), targets)

    assert close(flat_rows(pull_by_case(network, slopes)), gradients_of_cases(model, inputs, targets))


@pytest.mark.row(111)
def test_the_fisher_product_of_sampled_targets_is_within_four_standard_errors_of_the_exact_one():
    model, (inputs, _) = made(a_dense_network), data()
    jacobian, vector = Jacobian(Network(model, inputs)), a_vector(params_of(model))
    stream, draws = torch.Generator().manual_seed(0), 400
    sampled = torch.stack(
        [
            empirical_fisher(
                jacobian, CrossEntropy(), CrossEntropy().sample(jacobian.outputs, stream), vector
            )
            for _ in range(draws)
        ]
    )

    error = sampled.mean(dim=0) - fisher(jacobian, CrossEntropy(), vector)
    assert (error.abs() <= 4 * sampled.std(dim=0) / draws**0.5 + 1e-12).all()


@pytest.mark.row(50)
def test_inner_products_under_fisher_take_no_backward_pass_and_equal_those_with_the_product(monkeypatch):
    model, (inputs, _) = made(a_dense_network), data()
    jacobian = Jacobian(Network(model, inputs))
    u, v = (a_vector(params_of(model), seed) for seed in (2, 3))
    images = [fisher(jacobian, CrossEntropy(), vector) for vector in (u, v)]
    truth = torch.stack([torch.stack([w @ image for image in images]) for w in (u, v)])

    monkeypatch.setattr(jacobian, "pull", None)
    assert close(fisher_inner(jacobian, CrossEntropy(), u, v), truth)


@pytest.mark.row(52)
def test_a_node_with_derivatives_of_its_own_gets_both_products():
    model, (inputs, _) = made(a_cubic_network), data()
    plain = nn.Sequential(model[0], nn.Identity(), model[2])
    plain[1].forward = lambda rows: rows**3
    vector = a_vector(params_of(model))

    ours, truth = (Jacobian(Network(m, inputs), recorded=True) for m in (model, plain))
    assert close(ours.push(vector), truth.push(vector), within=1e-14)
    assert close(flat(ours.pull(ours.outputs)), flat(truth.pull(truth.outputs)), within=1e-14)


def products(network, targets, vector, **how):
    jacobian = Jacobian(network, **how)
    return [
        fisher(jacobian, CrossEntropy(), vector),
        gauss_newton(jacobian, cross_entropy_of(targets), vector),
        empirical_fisher(jacobian, CrossEntropy(), targets, vector),
    ]


class Held(nn.Module):
    """Has all that answers differently in each pass: batch normalisation, and dropout as a layer."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, CLASSES)
        self.drop = nn.Dropout(0.5)

    def forward(self, inputs):
        return self.last(self.drop(torch.tanh(self.norm(self.first(inputs)))))


@pytest.mark.row(53)
@settings(deadline=None, max_examples=15)
@given(cases=st.integers(1, 9), at_once=st.integers(1, 10), seed=st.integers(0, 1000))
def test_products_of_a_batch_in_chunks_are_those_of_the_whole(cases, at_once, seed):
    model, (inputs, targets) = made(Held, seed), data(cases + 1, seed)
    network, vector = Network(model, inputs), a_vector(params_of(model))

    for ours, truth in zip(
        products(network, targets, vector, rows_at_once=at_once),
        products(network, targets, vector),
        strict=True,
    ):
        assert close(ours, truth, within=1e-12)


@pytest.mark.row(53)
def test_products_of_a_batch_with_every_case_twice_are_the_same():
    model, (inputs, targets) = made(a_dense_network), data()
    vector = a_vector(params_of(model))
    once = products(Network(model, inputs), targets, vector)
    twice = products(Network(model, inputs.repeat(2, 1)), targets.repeat(2), vector)

    assert all(close(*pair, within=1e-12) for pair in zip(twice, once, strict=True))


def test_a_dictionary_of_tensors_gives_the_same_product_as_its_flat_vector():
    model, (inputs, targets) = made(a_dense_network), data()
    network, params = Network(model, inputs), params_of(model)
    vector = a_vector(params)
    named = products(network, targets, shaped(vector, params))

    for ours, truth in zip(named, products(network, targets, vector), strict=True):
        assert ours.keys() == params.keys()
        assert torch.equal(flat(ours), truth)


def test_a_flat_vector_of_another_length_is_refused():
    model, (inputs, _) = made(a_dense_network), data()
    with pytest.raises(ValueError, match="has 43 entries here"):
        Jacobian(Network(model, inputs)).push(torch.ones(42, dtype=torch.float64))


def test_a_frozen_parameter_is_a_constant():
    model, (inputs, _) = made(a_dense_network), data()
    model[0].weight.requires_grad_(False)
    rest = torch.cat([j[:, 20:] for j in jacobians(model, inputs)])  # without the first weight

    vector = a_vector({"": torch.zeros(rest.shape[1])})
    assert close(Jacobian(Network(model, inputs)).push(vector).reshape(-1), rest @ vector)


@pytest.mark.parametrize("how", [{}, {"recorded": True}, {"rows_at_once": 2}])
def test_a_parameter_that_no_output_depends_on_has_no_part_in_a_product(how):
    model, (inputs, _) = made(a_dense_network), data()
    plain, vector = params_of(model), a_vector(params_of(model))
    model.register_parameter("idle", nn.Parameter(torch.ones(3, dtype=torch.float64)))
    network = Network(model, inputs)
    with_more = {"idle": torch.ones(3, dtype=torch.float64), **shaped(vector, plain)}
    ours, truth = Jacobian(network, **how), Jacobian(Network(made(a_dense_network), inputs))

    assert close(ours.push(with_more), truth.push(vector))
    pulled = ours.pull(truth.outputs)
    assert not pulled.pop("idle").any()
    assert close(flat(pulled), flat(truth.pull(truth.outputs)))


@pytest.mark.row(65)
def test_batch_normalisation_is_held_at_the_statistics_of_the_batch_and_no_buffer_changes():
    model, (inputs, _) = made(Held), data(8)
    model.drop.p = 0.0
    hidden = model.first(inputs).detach()
    frozen = made(Held)
    frozen.load_state_dict(model.state_dict())
    frozen.norm.running_mean, frozen.norm.running_var = hidden.mean(dim=0), hidden.var(dim=0, correction=0)
    frozen.eval()  # normalises by these, case by case
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    vector = a_vector(params_of(model))

    ours, truth = (Jacobian(Network(m, inputs)) for m in (model, frozen))
    assert close(ours.outputs, truth.outputs)
    assert close(ours.push(vector), truth.push(vector))
    assert close(flat(ours.pull(ours.outputs)), flat(truth.pull(ours.outputs)))
    assert all(torch.equal(before[name], buffer) for name, buffer in model.named_buffers())


def test_a_trained_pass_is_that_of_training_and_its_buffers_are_the_models_once_they_are_kept():
    model, (inputs, _) = made(Held), data(8)
    model.drop.p = 0.0
    network, twin = Network(model, inputs), made(Held)
    twin.drop.p = 0.0
    params = {name: tensor.clone().requires_grad_() for name, tensor in network.params.items()}
    outputs, truth = network.trained(params), twin(inputs)

    ours = torch.autograd.grad(outputs.square().sum(), list(params.values()))
    theirs = torch.autograd.grad(truth.square().sum(), list(twin.parameters()))
    assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))
    assert torch.equal(model.norm.running_mean, torch.zeros(6, dtype=torch.float64))

    network.keep_buffers()
    assert all(torch.equal(*pair) for pair in zip(model.buffers(), twin.buffers(), strict=True))


class Counting(nn.Module):
    """Keeps a tally in a buffer, as a layer of a user may."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, CLASSES)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, inputs):
        self.calls += 1
        return self.layer(inputs)


def test_no_pass_of_products_changes_a_buffer_of_a_layer_of_ones_own():
    model, (inputs, targets) = made(Counting), data()
    products(Network(model, inputs), targets, a_vector(params_of(model)))

    assert model.calls == 0


class Functional(nn.Module):
    """Calls dropout as a function, so that no layer of it is known."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, CLASSES)

    def forward(self, inputs):
        return self.last(dropout(torch.tanh(self.first(inputs)), 0.5, self.training))


@pytest.mark.row(46)
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("build", [Held, Functional])
def test_dropout_keeps_one_mask_in_all_passes_and_leaves_the_global_stream_alone(build, recorded):
    model, (inputs, _) = made(build), data(8)
    network, vector = Network(model, inputs), a_vector(params_of(model))
    stream = torch.random.get_rng_state()
    jacobian = Jacobian(network, recorded=recorded)
    first, again = jacobian.push(vector), jacobian.push(vector)
    theta = flat(network.params)
    ahead, behind = (network(shaped(theta + step * vector, network.params)) for step in (1e-6, -1e-6))

    assert torch.equal(first, again)
    assert close(first, (ahead - behind) / 2e-6, within=1e-6)  # of the same network, mask and all
    assert torch.equal(torch.random.get_rng_state(), stream)


def test_another_network_of_the_same_model_draws_other_masks():
    model, (inputs, _) = made(Held), data(8)
    first = Jacobian(Network(model, inputs)).outputs

    assert not torch.equal(Jacobian(Network(model, inputs)).outputs, first)


def test_a_model_computes_as_before_once_its_network_is_done():
    model, (inputs, _) = made(Held), data(8)
    Jacobian(Network(model, inputs))

    assert all("forward" not in module.__dict__ for module in model.modules())


LOSSES = {
    "softmax": lambda outputs: cross_entropy(outputs, torch.tensor([0, 1, 2, 2, 1])),
    "logistic": lambda outputs: binary_cross_entropy_with_logits(outputs, torch.full_like(outputs, 0.3)),
    "squared": lambda outputs: mse_loss(outputs, torch.ones_like(outputs)),
}
CLOSE = {"rtol": 1e-10, "atol": 1e-13}


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_hessian_products_are_those_of_the_dense_hessian(a_network, a_batch, loss):
    model, (inputs, _) = a_network(4, 3, 3), a_batch(5, 4, 3)

    truth = dense.hessian_of(model, loss, inputs)
    ours = dense.matrix_of(hessian_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, **CLOSE)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_gauss_newton_products_are_those_of_the_dense_matrix(a_network, a_batch, loss):
    model, (inputs, _) = a_network(4, 3, 3), a_batch(5, 4, 3)

    truth = dense.gauss_newton_of(model, loss, inputs)
    ours = dense.matrix_of(gauss_newton_product(model, loss, inputs), len(truth))
    torch.testing.assert_close(ours, truth, **CLOSE)


def test_of_a_linear_model_both_products_are_the_same(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    vector = torch.randn(15, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

    of_hessian = hessian_product(model, LOSSES["softmax"], inputs)(vector)
    torch.testing.assert_close(
        gauss_newton_product(model, LOSSES["softmax"], inputs)(vector), of_hessian, **CLOSE
    )


def test_a_product_works_where_gradients_are_switched_off(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3), a_batch(5, 4, 3)
    vector = torch.ones(15, dtype=torch.float64)

    with torch.no_grad():
        without = gauss_newton_product(model, LOSSES["squared"], inputs)(vector)
    assert without.equal(gauss_newton_product(model, LOSSES["squared"], inputs)(vector))


def test_a_parameter_that_does_nothing_has_no_curvature(a_batch):
    model = nn.Linear(4, 3).double()
    model.idle = nn.Parameter(torch.ones(2, dtype=torch.float64))
    inputs, _ = a_batch(5, 4, 3)
    idle = torch.cat([torch.full((p.numel(),), float(p is model.idle)) for p in model.parameters()]).double()

    assert not hessian_product(model, LOSSES["squared"], inputs)(idle).any()
    assert not gauss_newton_product(model, LOSSES["squared"], inputs)(idle).any()


def test_where_torch_has_no_forward_derivative_the_product_is_that_with_the_same_matrix(a_batch):
    torch.manual_seed(0)
    model, (inputs, _) = weight_norm(nn.Linear(4, 3)).double(), a_batch(5, 4, 3)
    jacobian = Jacobian(Network(model, inputs))
    vector = {name: torch.randn_like(tensor) for name, tensor in jacobian.network.params.items()}
    with pytest.raises(NotImplementedError, match="forward AD with _weight_norm"):
        jvp(jacobian.network, (jacobian.network.params,), (vector,))

    params = jacobian.network.params
    ahead, behind = (
        jacobian.network({name: params[name] + way * vector[name] for name in params}).detach()
        for way in (1e-5, -1e-5)
    )
    torch.testing.assert_close(jacobian.push(vector), (ahead - behind) / 2e-5, rtol=1e-7, atol=1e-9)


def in_two_places():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.Tanh(), layer)


def with_one_weight():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    return model


@pytest.mark.parametrize("make", [in_two_places, with_one_weight])
def test_a_network_takes_other_weights_in_all_their_places_and_leaves_the_model_its_own(make, a_batch):
    torch.manual_seed(0)
    model, (inputs, _) = make().double(), a_batch(5, 4, 3)
    own, network = [*model.parameters()], Network(model, inputs)
    outputs = network({name: 2 * tensor for name, tensor in network.params.items()})

    assert all(one is other for one, other in zip(model.parameters(), own, strict=True))
    with torch.no_grad():
        for parameter in own:
            parameter.mul_(2)
    torch.testing.assert_close(outputs, model(inputs))
