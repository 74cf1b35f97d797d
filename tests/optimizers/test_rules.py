"""What each rule tells of its layer is the gradient of every case: Σ g hᵀ of the case's rows."""

import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import optimizers
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.forms import Affine, Piece
from optimizers.errors import UnsoundError
from optimizers.rules import RULES, Rule
from optimizers.verification import verify_rule

EXACT = {"dtype": torch.float64}


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), **EXACT)


def drawn(layer):
    """The layer with parameters of reasonable size: biases and scales are not left at 0 and 1."""
    stream = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=stream, **EXACT))
    return layer


LAYERS = {
    "linear": (nn.Linear(4, 3, **EXACT), normal(5, 4)),
    "linear without bias, at positions": (nn.Linear(4, 3, bias=False, **EXACT), normal(5, 2, 3, 4)),
    "one-dimensional convolution": (nn.Conv1d(2, 3, 3, **EXACT), normal(3, 2, 6)),
    "two-dimensional convolution": (nn.Conv2d(2, 3, (3, 2), **EXACT), normal(3, 2, 4, 5)),
    "three-dimensional convolution": (nn.Conv3d(2, 3, 2, bias=False, **EXACT), normal(2, 2, 3, 4, 3)),
    "lookup": (nn.Embedding(7, 3, **EXACT), torch.tensor([[1, 5, 2], [3, 1, 1]])),
    "lookup of one token": (nn.Embedding(7, 3, **EXACT), torch.tensor([1, 5, 1])),
    "lookup with padding": (nn.Embedding(7, 3, padding_idx=2, **EXACT), torch.tensor([[1, 2], [3, 2]])),
    "batch norm": (nn.BatchNorm1d(4, **EXACT), normal(5, 4)),
    "batch norm of sequences": (nn.BatchNorm1d(4, **EXACT), normal(5, 4, 3)),
    "batch norm in eval mode": (nn.BatchNorm2d(4, **EXACT).eval(), normal(5, 4, 2, 2)),
    "batch norm without running statistics": (
        nn.BatchNorm1d(4, track_running_stats=False, **EXACT).eval(),
        normal(5, 4),
    ),
    "batch norm of volumes": (nn.BatchNorm3d(2, **EXACT), normal(3, 2, 2, 2, 2)),
    "group norm": (nn.GroupNorm(2, 4, **EXACT), normal(5, 4, 3)),
    "layer norm": (nn.LayerNorm((3, 4), **EXACT), normal(5, 2, 3, 4)),
    "layer norm without bias": (nn.LayerNorm(4, bias=False, **EXACT), normal(5, 4)),
    "root mean square norm": (nn.RMSNorm(4, **EXACT), normal(5, 2, 4)),
    "recurrent": (nn.RNN(4, 3, batch_first=True, **EXACT), normal(3, 5, 4)),
    "recurrent with ReLU": (nn.RNN(4, 3, nonlinearity="relu", batch_first=True, **EXACT), normal(3, 5, 4)),
    "LSTM": (nn.LSTM(4, 3, batch_first=True, **EXACT), normal(3, 5, 4)),
    "LSTM with projection": (nn.LSTM(4, 3, proj_size=2, batch_first=True, **EXACT), normal(3, 5, 4)),
    "GRU": (nn.GRU(4, 3, batch_first=True, **EXACT), normal(3, 5, 4)),
    "LSTM in both directions, deep, with dropout": (
        nn.LSTM(4, 3, num_layers=2, bidirectional=True, dropout=0.5, batch_first=True, **EXACT),
        normal(3, 5, 4),
    ),
    "GRU without bias, from given states": (
        nn.GRU(4, 3, num_layers=2, bias=False, batch_first=True, **EXACT),
        normal(3, 5, 4),
        normal(2, 3, 3),
    ),
    "LSTM from given states": (
        nn.LSTM(4, 3, batch_first=True, **EXACT),
        normal(3, 5, 4),
        (normal(1, 3, 3), normal(1, 3, 3, seed=1)),
    ),
    "recurrent cell": (nn.RNNCell(4, 3, **EXACT), normal(3, 4)),
    "LSTM cell": (nn.LSTMCell(4, 3, **EXACT), normal(3, 4), (normal(3, 3), normal(3, 3, seed=1))),
    "GRU cell": (nn.GRUCell(4, 3, **EXACT), normal(3, 4), normal(3, 3)),
    "attention": (nn.MultiheadAttention(4, 2, batch_first=True, **EXACT), *[normal(3, 5, 4)] * 3),
    "attention across": (
        nn.MultiheadAttention(4, 2, dropout=0.3, kdim=3, vdim=5, batch_first=True, **EXACT),
        normal(3, 5, 4),
        normal(3, 2, 3),
        normal(3, 2, 5),
    ),
    "attention without bias": (
        nn.MultiheadAttention(4, 2, bias=False, batch_first=True, **EXACT),
        *[normal(3, 5, 4)] * 3,
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_the_rows_of_a_layer_make_the_gradient_of_each_case(name):
    layer, *inputs = LAYERS[name]

    verify_rule(drawn(layer), RULES[type(layer)], *inputs)


@st.composite
def convolutions(draw):
    groups, dims = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    sizes = [draw(st.integers(1, 3)) for _ in range(dims)]
    dilations = [draw(st.integers(1, 2)) for _ in range(dims)]
    margins = st.tuples(*[st.integers(0, 2)] * dims)
    padding = draw(st.one_of(st.sampled_from(["same", "valid"]), margins))
    layer = (nn.Conv1d, nn.Conv2d)[dims - 1](
        groups * draw(st.integers(1, 2)),
        groups * draw(st.integers(1, 2)),
        sizes,
        stride=1 if padding == "same" else [draw(st.integers(1, 3)) for _ in range(dims)],
        padding=padding,
        dilation=dilations,
        groups=groups,
        bias=draw(st.booleans()),
        padding_mode=draw(st.sampled_from(["zeros", "reflect", "replicate", "circular"])),
        **EXACT,
    )
    return layer, normal(2, layer.in_channels, *[draw(st.integers(5, 7)) for _ in range(dims)])


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@settings(max_examples=60, deadline=None)
@given(convolutions())
def test_convolutions_of_any_stride_padding_dilation_and_groups_are_known(convolution):
    layer, images = convolution

    verify_rule(drawn(layer), RULES[type(layer)], images)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("shape", [(5, 3, 4), (5, 4)], ids=["time first", "one sequence"])
def test_a_recurrent_layer_runs_alike_step_by_step_in_other_layouts(kind, shape):
    layer, inputs = drawn(kind(4, 3, num_layers=2, bidirectional=True, **EXACT)), normal(*shape)
    outputs, last = layer(inputs)

    with recording(layer, find_blocks(layer)):
        again, end = layer(inputs)

    torch.testing.assert_close(again, outputs)
    torch.testing.assert_close(end, last)


@pytest.mark.parametrize(
    "options",
    [
        {"attn_mask": torch.ones(5, 5).triu(1).bool(), "need_weights": False},
        {"attn_mask": nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)},
        {"key_padding_mask": torch.tensor([[False, False, True, True, True]] * 3)},
        {"average_attn_weights": False},
    ],
    ids=["causal", "added mask", "padded keys", "weights of each head"],
)
@pytest.mark.parametrize("kind", [{}, {"add_bias_kv": True}, {"add_zero_attn": True}], ids=str)
def test_attention_returns_what_torch_returns_with_any_options(kind, options):
    layer, inputs = drawn(nn.MultiheadAttention(4, 2, **kind, **EXACT)), normal(5, 3, 4)
    outputs, weights = layer(inputs, inputs, inputs, **options)

    with recording(layer, find_blocks(layer)):
        again, seen = layer(inputs, inputs, inputs, **options)

    torch.testing.assert_close(again, outputs)
    torch.testing.assert_close(seen, weights)


class Tilted(nn.Module):
    """A layer of a user: s = 2 W h, with a bias."""

    def __init__(self):
        super().__init__()
        self.tilt = nn.Parameter(torch.randn(3, 4, **EXACT))
        self.shift = nn.Parameter(torch.randn(3, **EXACT))

    def forward(self, inputs):
        return 2 * inputs @ self.tilt.T + self.shift


def doubled(layer, inputs, gradients):
    del layer
    return inputs[:, None], 2 * gradients[:, None]


def plainly(layer, inputs, gradients):
    del layer
    return inputs[:, None], gradients[:, None]


def crossed(layer, inputs, gradients):
    del layer
    return inputs[:, None], 2 * gradients[:, None].flip(0)


def narrow(layer, inputs, gradients):
    del layer
    return inputs[:, None, :2], gradients[:, None]


def rule(places, *, bias=None):
    return Rule(forms=lambda _: {"tilt": Affine(weight=Piece("tilt"), bias=bias, places=places)})


def other_forward(layer, affine, inputs):
    return affine("tilt", inputs) + layer.shift


class Crooked:
    """The form of both parameters, whose way back is not the way there."""

    def __init__(self):
        self.straight = Affine(weight=Piece("tilt"), bias=Piece("shift"), places=plainly)

    def __getattr__(self, name):
        return getattr(self.straight, name)

    def only(self, names):
        return self if set(names) >= {"tilt", "shift"} else None

    def put(self, matrix, tensors):
        self.straight.put(2 * matrix, tensors)


def untold(layer, affine, inputs):
    del affine
    return Tilted.forward(layer, inputs)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            rule(plainly),
            r"Σ g hᵀ of block 'tilt' is not the gradient of case 0, but about 0\.5 times as much",
        ),
        (rule(crossed), "is not the gradient of case 0"),
        (rule(narrow), r"g hᵀ of block 'tilt' is \(3, 2\), V is \(3, 4\)"),
        (rule(doubled), "parameter 'shift' is in none of its forms"),
        (rule(doubled, bias=Piece("shift")), "but about"),
        (
            Rule(forms=rule(doubled).forms, forward=other_forward),
            "its forward does not return what the layer returns",
        ),
        (Rule(forms=lambda _: {"tilt": Crooked()}), "put does not undo matrix, of block 'tilt'"),
        (Rule(forms=rule(doubled).forms, forward=untold), "no use of block 'tilt' was told"),
    ],
    ids=[
        "a factor",
        "cases mixed",
        "width",
        "left out",
        "bias doubled",
        "other forward",
        "crooked",
        "untold",
    ],
)
def test_what_is_wrong_with_a_rule_is_said(wrong, sentence):
    torch.manual_seed(0)

    with pytest.raises(UnsoundError, match=sentence):
        verify_rule(Tilted(), wrong, normal(3, 4))


def test_a_rule_is_verified_in_double_precision_alone():
    with pytest.raises(ValueError, match="float64"):
        verify_rule(nn.Linear(4, 3), RULES[nn.Linear], torch.randn(2, 4))


def test_verifying_a_rule_leaves_the_layer_alone():
    layer = nn.BatchNorm1d(4, **EXACT)

    verify_rule(layer, RULES[nn.BatchNorm1d], normal(5, 4))

    assert layer.num_batches_tracked == 0


def test_a_registered_type_of_layer_gets_its_own_block(monkeypatch):
    before = find_blocks(Tilted())
    monkeypatch.setitem(RULES, Tilted, None)  # so that the test leaves nothing behind
    optimizers.register(Tilted, rule(doubled))
    after = find_blocks(Tilted())

    assert not isinstance(before["tilt"].form, Affine)
    assert isinstance(after["tilt"].form, Affine)


def test_only_types_of_layers_are_registered():
    with pytest.raises(TypeError, match="Give it the class, not a layer made of it"):
        optimizers.register(nn.Linear(2, 2), RULES[nn.Linear])


@pytest.mark.parametrize("kind", RULES)
def test_the_rules_of_torchs_layers_can_be_pickled(kind):
    assert pickle.loads(pickle.dumps(RULES[kind])) == RULES[kind]  # noqa: S301 - our own bytes
