"""Truth here is dense and built from Jacobians of single examples: no batch, no hook, no 1/n."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, jacrev

from optimizers import CrossEntropy
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.forms import Rows
from optimizers.curvature.statistics import exact_slopes, factors_of, measure, sampled_slopes

CLASSES = 3
EXACT = {"rtol": 1e-10, "atol": 1e-14}  # a few hundred float64 operations


def vec(matrix):
    return matrix.T.reshape(-1)  # stacks columns: vec(G V A) = (A ⊗ G) vec(V) for symmetric A


def output_fisher(outputs):
    predicted = outputs.softmax(dim=0)
    return predicted.diag() - predicted.outer(predicted)


def jacobian_of_preactivation(model, example, layer):
    def outputs(offset):
        row = example
        for number, module in enumerate(model):
            row = module(row) + offset if str(number) == layer else module(row)
        return row

    return jacrev(outputs)(torch.zeros(model[int(layer)].out_features, dtype=torch.float64))


def true_output_factor(model, inputs, layer):
    terms = []
    for example in inputs:
        jacobian = jacobian_of_preactivation(model, example, layer)
        terms.append(jacobian.T @ output_fisher(model(example)) @ jacobian)
    return sum(terms) / len(terms)


def true_input_factor(model, inputs, layer):
    activations = model[: int(layer)](inputs)
    rows = [torch.cat([row, torch.ones(1, dtype=torch.float64)]) for row in activations]
    return sum(row.outer(row) for row in rows) / len(rows)


def true_fisher_block(model, inputs, layer):
    names = [f"{layer}.weight", f"{layer}.bias"]
    parameters = {name: model.get_parameter(name).detach() for name in names}
    terms = []
    for example in inputs:
        jacobians = jacrev(lambda own, row=example: functional_call(model, own, row))(parameters)
        matrices = torch.cat([jacobians[names[0]], jacobians[names[1]][:, :, None]], dim=2)
        jacobian = torch.stack([vec(matrix) for matrix in matrices])
        terms.append(jacobian.T @ output_fisher(model(example)) @ jacobian)
    return sum(terms) / len(terms)


def factors(model, inputs):
    """A and G by layer, from one recorded forward pass and one backward pass per class."""
    with recording(model, find_blocks(model)) as uses:
        outputs = model(inputs)
    slopes = exact_slopes(CrossEntropy(), outputs.detach(), torch.Generator())
    found = measure(uses, outputs, slopes).factors
    return {name.removesuffix(".weight"): each for name, each in found.items()}


def written_out(pair):
    return torch.kron(pair.inputs.values, pair.outputs.values)


@pytest.mark.parametrize("activation", [nn.Identity, nn.Tanh])
def test_both_factors_equal_their_jacobian_built_truth(a_network, a_batch, activation):
    model, (inputs, _) = a_network(4, 5, 3, CLASSES, activation=activation), a_batch(6, 4, CLASSES)

    for layer, pair in factors(model, inputs).items():
        torch.testing.assert_close(pair.inputs.values, true_input_factor(model, inputs, layer), **EXACT)
        torch.testing.assert_close(pair.outputs.values, true_output_factor(model, inputs, layer), **EXACT)


@pytest.mark.parametrize("repeats", [1, 5])
@pytest.mark.parametrize("activation", [nn.Identity, nn.Tanh])
def test_on_one_distinct_input_the_product_is_the_exact_fisher_block(a_network, a_batch, activation, repeats):
    # With ā the same for every example, E[āāᵀ ⊗ ggᵀ] = āāᵀ ⊗ E[ggᵀ] holds without approximation.
    model, (inputs, _) = a_network(4, 5, 3, CLASSES, activation=activation), a_batch(1, 4, CLASSES)

    for layer, pair in factors(model, inputs.repeat(repeats, 1)).items():
        torch.testing.assert_close(written_out(pair), true_fisher_block(model, inputs, layer), **EXACT)


@pytest.mark.parametrize("activation", [nn.Identity, nn.Tanh])
def test_where_the_prediction_is_constant_the_last_block_is_exact_for_any_inputs(
    a_network, a_batch, activation
):
    # Zero output weights leave p(y | x) the same for all x, so that g is independent of ā.
    model, (inputs, _) = a_network(4, 5, CLASSES, activation=activation), a_batch(7, 4, CLASSES)
    nn.init.zeros_(model[-1].weight)

    pair = factors(model, inputs)["2"]
    torch.testing.assert_close(written_out(pair), true_fisher_block(model, inputs, "2"), **EXACT)


def test_the_sampled_factor_is_within_four_standard_errors_of_the_exact_one(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, CLASSES), a_batch(4, 4, CLASSES)
    draws = 5000
    with recording(model, find_blocks(model)) as uses:
        outputs = model(inputs.repeat_interleave(draws, dim=0))
    slopes = sampled_slopes(CrossEntropy(), outputs.detach(), torch.Generator().manual_seed(0))
    sampled = measure(uses, outputs, slopes, retain_graph=True).factors

    for name, [use] in uses.calls.items():
        (rows,) = torch.autograd.grad(outputs, use.edge, slopes[0], retain_graph=True)
        gradients = rows.reshape(len(inputs), draws, -1)
        squares = gradients[:, :, :, None] * gradients[:, :, None, :]
        standard_error = (squares.var(dim=1).mean(dim=0) / len(rows)).sqrt()
        truth = true_output_factor(model, inputs, name.removesuffix(".weight"))
        assert ((sampled[name].outputs.values - truth).abs() < 4 * standard_error).all()


@pytest.mark.row(136)
def test_the_damped_product_over_all_layers_is_the_dense_block_diagonal_solve(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3, CLASSES), a_batch(6, 4, CLASSES)
    CrossEntropy().loss(model(inputs), targets).backward()
    pairs = [pair.damped(1e-2) for pair in factors(model, inputs).values()]
    gradients = [torch.cat([m.weight.grad, m.bias.grad[:, None]], dim=1) for m in model[::2]]

    ours = [
        pair.inverse("of a layer").times(gradient) for gradient, pair in zip(gradients, pairs, strict=True)
    ]

    dense = torch.block_diag(*[written_out(pair) for pair in pairs])
    truth = torch.linalg.solve(dense, torch.cat([vec(gradient) for gradient in gradients]))
    assert (torch.cat([vec(step) for step in ours]) - truth).norm() <= 1e-8 * truth.norm()


@settings(deadline=None, max_examples=50)
@given(
    inputs=st.integers(1, 6),
    outputs=st.integers(1, 6),
    examples=st.integers(1, 10),
    gamma=st.floats(1e-2, 1e2),
    seed=st.integers(0, 10_000),
)
def test_a_damped_solve_equals_the_dense_kronecker_solve(inputs, outputs, examples, gamma, seed):
    torch.manual_seed(seed)
    rows = Rows(
        inputs=torch.randn(examples, 1, inputs, dtype=torch.float64),
        outputs=torch.randn(examples, 1, outputs, dtype=torch.float64),
        width=inputs,
    )
    gradient = torch.randn(outputs, inputs, dtype=torch.float64)

    pair = factors_of(rows).damped(gamma)
    ours = vec(pair.inverse("of a layer").times(gradient))

    truth = torch.linalg.solve(written_out(pair), vec(gradient))
    assert (ours - truth).norm() <= 1e-8 * truth.norm()


@settings(deadline=None, max_examples=20)
@given(examples=st.integers(1, 8), copies=st.integers(2, 4), seed=st.integers(0, 10_000))
def test_repeating_the_batch_changes_neither_factor(examples, copies, seed):
    torch.manual_seed(seed)
    model, inputs = nn.Sequential(nn.Linear(3, 2)).double(), torch.randn(examples, 3, dtype=torch.float64)
    once, often = factors(model, inputs)["0"], factors(model, inputs.repeat(copies, 1))["0"]

    torch.testing.assert_close(often.inputs.values, once.inputs.values, **EXACT)
    torch.testing.assert_close(often.outputs.values, once.outputs.values, **EXACT)


def test_a_layer_without_bias_has_no_homogeneous_coordinate():
    model = nn.Sequential(nn.Linear(2, 2, bias=False))
    found = factors(model, torch.tensor([[1.0, 2.0], [3.0, 4.0]]))["0"]

    torch.testing.assert_close(found.inputs.values, torch.tensor([[5.0, 7.0], [7.0, 10.0]]))
