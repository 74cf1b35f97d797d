"""Which parameters form a block, and which calls of layers count."""

import copy
import gc
import pickle
import weakref

import pytest
import torch
from torch import nn
from torch.nn.functional import linear
from torch.nn.utils import parametrizations, prune

from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.forms import Affine, Lookup, Whole
from optimizers.curvature.statistics import explained, measure
from optimizers.errors import UnsupportedModelError


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def normal(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def params_of(model, **options):
    return {name: block.params for name, block in find_blocks(model, **options).items()}


def diagonals_of(model):
    return {name for name, block in find_blocks(model).items() if isinstance(block.form, Whole)}


class Net(nn.Module):
    """Layers by name, and a forward given as a function of them."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.run = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, inputs):
        return self.run(self, inputs)


def a_transformer():
    return Net(
        lambda net, tokens: net.out(net.encoder(net.table(tokens)).mean(dim=1)),
        table=nn.Embedding(6, 4),
        encoder=nn.TransformerEncoderLayer(4, 2, 5, batch_first=True),
        out=nn.Linear(4, 3),
    )


MODELS = {
    "dense": lambda: nn.Sequential(nn.Linear(4, 3), nn.PReLU(), nn.Linear(3, 2)),
    "convolutional": lambda: nn.Sequential(
        nn.Conv2d(2, 4, 3, groups=2), nn.BatchNorm2d(4), nn.Conv2d(4, 1, 1)
    ),
    "transformer": a_transformer,
    "recurrent": lambda: nn.LSTM(4, 3, num_layers=2, proj_size=2),
    "of other layers": lambda: nn.Sequential(nn.ConvTranspose1d(2, 3, 2), nn.Bilinear(2, 3, 4), nn.PReLU()),
    "attention with biases of its own": lambda: nn.MultiheadAttention(4, 2, add_bias_kv=True),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_in_a_block(name):
    model = MODELS[name]()

    assert {one for params in params_of(model).values() for one in params} == set(
        dict(model.named_parameters())
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_way_to_matrices_and_back_loses_nothing(name):
    model = MODELS[name]()
    there = {name: normal(*parameter.shape) for name, parameter in model.named_parameters()}
    back = {name: torch.zeros_like(tensor) for name, tensor in there.items()}
    for block in find_blocks(model).values():
        block.put(block.matrix(there), back)

    torch.testing.assert_close(back, there, rtol=0, atol=0)


def test_weight_and_bias_are_one_block_named_after_the_weight():
    assert params_of(MODELS["dense"]()) == {
        "0.weight": ("0.weight", "0.bias"),
        "1.weight": ("1.weight",),
        "2.weight": ("2.weight", "2.bias"),
    }


def test_attention_has_a_block_for_each_projection():
    blocks = find_blocks(nn.MultiheadAttention(4, 2))

    assert list(blocks) == ["query", "key", "value", "out_proj"]
    matrix = blocks["key"].matrix(
        {"in_proj_weight": torch.arange(48).reshape(12, 4), "in_proj_bias": torch.arange(12)}
    )
    assert matrix[0].tolist() == [16, 17, 18, 19, 4]


def test_what_no_rule_knows_has_a_diagonal_block_for_each_parameter():
    assert diagonals_of(MODELS["of other layers"]()) == {
        "0.weight",
        "0.bias",
        "1.weight",
        "1.bias",
        "2.weight",
    }


@pytest.mark.parametrize(
    "layer",
    [
        parametrizations.weight_norm(nn.Linear(4, 3)),
        prune.l1_unstructured(nn.Linear(4, 3), "weight", amount=0.5),
        nn.modules.linear.NonDynamicallyQuantizableLinear(4, 3),
        nn.Embedding(4, 3, scale_grad_by_freq=True),
    ],
    ids=["weight norm", "pruning", "subclass", "scaled gradient"],
)
def test_a_layer_that_computes_something_else_has_diagonal_blocks(layer):
    weights = {name for name, _ in layer.named_parameters() if "weight" in name}

    assert weights <= diagonals_of(layer)


def test_sparse_gradients_are_refused():
    with pytest.raises(UnsupportedModelError, match=r"'0' has sparse gradients.*sparse=False"):
        find_blocks(nn.Sequential(nn.Embedding(4, 3, sparse=True)))


@pytest.mark.parametrize(
    ("frozen", "left"), [("bias", ("weight",)), ("weight", ("bias",))], ids=["bias", "weight"]
)
def test_a_layer_of_which_one_part_is_frozen_has_a_block_of_the_other(frozen, left):
    layer = nn.Linear(4, 3)
    getattr(layer, frozen).requires_grad_(False)
    (block,) = find_blocks(layer).values()

    assert block.params == left
    assert isinstance(block.form, Affine)
    assert block.matrix(dict(layer.named_parameters())).shape == (3, 4 if frozen == "bias" else 1)


def test_only_what_is_to_be_trained_is_in_a_block():
    model = MODELS["dense"]()

    assert params_of(model, trained=list(model[2].parameters())) == {"2.weight": ("2.weight", "2.bias")}


def test_layers_that_share_all_parameters_share_a_block():
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight, second.bias = first.weight, first.bias
    blocks = find_blocks(nn.Sequential(first, nn.Tanh(), second))

    assert [block.parts for block in blocks.values()] == [(("0", "weight"), ("2", "weight"))]


def test_layers_that_share_a_weight_in_two_roles_have_a_diagonal_block():
    table, decoder = nn.Embedding(5, 3), nn.Linear(3, 5)
    decoder.weight = table.weight

    assert diagonals_of(nn.Sequential(table, decoder)) == {"0.weight", "1.bias"}


def test_layers_that_share_a_weight_but_no_bias_have_diagonal_blocks():
    first, second = nn.Linear(3, 3), nn.Linear(3, 3)
    second.weight = first.weight

    assert diagonals_of(nn.Sequential(first, second)) == {"0.weight", "0.bias", "1.bias"}


def test_blocks_know_a_copy_of_the_model_and_survive_pickling(a_network, a_batch):
    model = a_network(4, 3, 2)
    blocks = pickle.loads(pickle.dumps(find_blocks(model)))  # noqa: S301 - our own bytes
    twin = copy.deepcopy(model)
    with recording(twin, blocks) as uses:
        twin(a_batch(5, 4, 2)[0])

    assert list(uses.calls) == ["0.weight", "2.weight"]


def uses_of(model, *passes):
    with recording(model, find_blocks(model)) as uses:
        outputs = [model(inputs) for inputs in passes]
    return uses, outputs[-1] if outputs else None


def test_a_pass_without_gradients_is_not_recorded(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    with torch.no_grad():
        uses, _ = uses_of(model, inputs)

    assert uses.calls == {}


def test_a_pass_after_the_recording_is_not_recorded(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    uses, _ = uses_of(model)
    model(inputs)

    assert uses.calls == {}


def test_nothing_is_left_in_the_model(a_batch):
    del a_batch
    model = a_transformer()
    before = {name: dict(module.__dict__) for name, module in model.named_modules()}
    hooks = [len(module._forward_hooks) for module in model.modules()]
    uses_of(model, torch.tensor([[1, 2], [3, 4]]))

    assert [len(module._forward_hooks) for module in model.modules()] == hooks
    assert {name: module.__dict__.keys() for name, module in model.named_modules()} == {
        name: own.keys() for name, own in before.items()
    }


def test_a_forward_that_a_user_gave_a_layer_is_given_back():
    layer = nn.GRU(4, 3)
    layer.forward = own = lambda inputs: (inputs, None)
    uses_of(layer)

    assert layer.forward is own


def test_a_record_holds_no_model_back(a_network, a_batch):
    gc.disable()
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    held = weakref.ref(model[0])
    uses, outputs = uses_of(model, inputs)
    del uses, outputs, model
    gc.enable()

    assert held() is None


def factors_of(model, inputs, **options):
    uses, outputs = uses_of(model, inputs)
    return measure(uses, outputs, [torch.ones_like(outputs)], **options).factors


def test_of_two_passes_the_one_that_the_outputs_come_from_counts(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    once = factors_of(model, inputs)
    uses, outputs = uses_of(model, 2 * inputs, inputs)
    twice = measure(uses, outputs, [torch.ones_like(outputs)]).factors

    torch.testing.assert_close(twice["0.weight"].inputs.values, once["0.weight"].inputs.values)
    torch.testing.assert_close(twice["0.weight"].outputs.values, once["0.weight"].outputs.values)


def test_an_activation_in_place_changes_no_factor(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2, activation=nn.ReLU), a_batch(5, 4, 2)
    apart = factors_of(model, inputs)
    model[1].inplace = True
    in_place = factors_of(model, inputs)

    torch.testing.assert_close(in_place["0.weight"].outputs.values, apart["0.weight"].outputs.values)


def test_an_unused_layer_has_no_factors():
    model = Net(
        lambda net, inputs: net.used(inputs), used=nn.Linear(4, 3), idle=nn.Linear(4, 3), scale=nn.PReLU()
    )

    assert list(factors_of(model, normal(5, 4))) == ["used.weight"]


def test_a_compiled_model_is_recorded(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    plain = factors_of(model, inputs)
    compiled = torch.compile(model, backend="eager")
    compiled(inputs)
    seen = factors_of(compiled, inputs)

    torch.testing.assert_close(seen["_orig_mod.0.weight"].outputs.values, plain["0.weight"].outputs.values)


def test_a_weight_that_is_also_used_without_its_layer_falls_to_a_diagonal_block():
    model = Net(
        lambda net, inputs: linear(net.out(net.first(inputs)).tanh(), net.out.weight),
        first=nn.Linear(4, 3),
        out=nn.Linear(3, 3),
    ).double()
    uses, outputs = uses_of(model, normal(5, 4).double())
    blocks = explained(uses, outputs)

    assert blocks["first.weight"].form == uses.blocks["first.weight"].form
    assert {name: block.form for name, block in blocks.items() if name != "first.weight"} == {
        "out.weight": Whole(name="out.weight"),
        "out.bias": Whole(name="out.bias"),
    }


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["transformer", "convolutional"])
def test_the_layers_of_a_model_explain_its_gradients_in_any_precision(name, dtype):
    model = MODELS[name]().to(dtype)
    inputs = torch.randint(6, (5, 3)) if name == "transformer" else normal(5, 2, 4, 4).to(dtype)
    uses, outputs = uses_of(model, inputs)

    assert explained(uses, outputs) == uses.blocks


def test_a_batch_that_is_not_finite_says_nothing_of_blocks(a_network, a_batch):
    model, (inputs, _) = a_network(4, 3, 2), a_batch(5, 4, 2)
    uses, outputs = uses_of(model, torch.nan * inputs)

    assert explained(uses, outputs) == uses.blocks


@pytest.mark.parametrize(
    ("layer", "inputs"),
    [
        (nn.Linear(4, 3), normal(4)),
        (nn.Conv2d(2, 4, 3, groups=2), normal(2, 4, 4)),
        (nn.LayerNorm(4), normal(4)),
        (nn.Embedding(5, 3), torch.tensor(2)),
        (nn.LSTM(4, 3), normal(5, 4)),
        (nn.GRU(4, 3), (normal(5, 4), normal(1, 3))),
        (nn.GRUCell(4, 3), normal(4)),
        (nn.LSTMCell(4, 3), (normal(4), (normal(3), normal(3)))),
        (nn.MultiheadAttention(4, 2), normal(5, 4)),
    ],
    ids=["linear", "convolution", "norm", "lookup", "LSTM", "GRU", "GRU cell", "LSTM cell", "attention"],
)
def test_layers_are_seen_on_one_case_without_the_dimension_of_the_batch(layer, inputs):
    def outputs_of(net, inputs):
        if isinstance(net.layer, nn.MultiheadAttention):
            return net.layer(inputs, inputs, inputs)[0]
        outputs = net.layer(*inputs) if isinstance(inputs, tuple) else net.layer(inputs)
        return outputs if isinstance(outputs, torch.Tensor) else outputs[0]

    for parameter in layer.parameters():
        nn.init.normal_(parameter)
    model = Net(outputs_of, layer=layer)
    alone = model(inputs)
    uses, outputs = uses_of(model, inputs)

    torch.testing.assert_close(outputs, alone)
    assert explained(uses, outputs) == uses.blocks


def test_matrices_are_in_single_precision_at_least():
    model = MODELS["convolutional"]().bfloat16()
    parameters = dict(model.named_parameters())

    assert {block.matrix(parameters).dtype for block in find_blocks(model).values()} == {torch.float32}


def test_packed_sequences_fall_to_diagonal_blocks():
    model = Net(lambda net, packed: net.cells(packed)[0].data, cells=nn.GRU(4, 3))
    packed = nn.utils.rnn.pack_sequence([normal(3, 4), normal(2, 4)])
    uses, outputs = uses_of(model, packed)

    assert all(isinstance(block.form, Whole) for block in explained(uses, outputs).values())


def test_a_table_is_a_block_of_its_own_form():
    assert isinstance(find_blocks(nn.Embedding(5, 3))["weight"].form, Lookup)
