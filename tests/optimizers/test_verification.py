import pytest
import torch
from torch import nn

from optimizers import CrossEntropy, Gaussian
from optimizers.errors import UnsoundError
from optimizers.verification import verify_derivatives, verify_objective

OUTPUTS = torch.randn(3, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


class Wrong:
    """A sound objective with some of its methods replaced."""

    def __init__(self, sound, **replaced):
        for name in ("loss", "sample", "curvature", "factor"):
            setattr(self, name, replaced.get(name, getattr(sound, name)))


NORMAL, CLASSES = Gaussian(variance=0.5), CrossEntropy()


@pytest.mark.row(51)
@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        (Wrong(NORMAL, loss=lambda z, y: NORMAL.loss(z, y) / z.shape[1]), "about 16 times as much"),
        (
            Wrong(NORMAL, loss=lambda z, y: NORMAL.loss(z, y) * len(z)),
            "not the mean of the losses of its cases",
        ),
        (Wrong(NORMAL, curvature=lambda z, u: -NORMAL.curvature(z, u)), "about -1 times as much"),
        (Wrong(NORMAL, curvature=Gaussian(variance=1.0).curvature), r"about 0\.5 times as much"),
        (Wrong(NORMAL, factor=NORMAL.curvature), "factor is no factor of curvature"),
        (Wrong(NORMAL, sample=Gaussian(variance=2.0).sample), r"about 0\.2\d* times as much"),
        (Wrong(NORMAL, sample=lambda z, stream: z + 1 + 0 * NORMAL.sample(z, stream)), "not 0 on average"),
        (Wrong(CLASSES, sample=lambda z, _: z.argmax(dim=1)), "not 0 on average"),
        (Wrong(CLASSES, curvature=lambda z, u: z.softmax(dim=1) * u), "times as much"),
        (Wrong(CLASSES, factor=lambda z, v: z.softmax(dim=1).sqrt() * v), "factor is no factor of curvature"),
    ],
)
def test_what_is_wrong_with_an_objective_is_said(objective, sentence):
    with pytest.raises(UnsoundError, match=sentence):
        verify_objective(objective, OUTPUTS)


class Slope(torch.autograd.Function):
    """s -> s², with a derivative in each direction that may be planted wrong."""

    generate_vmap_rule = True

    @staticmethod
    def forward(inputs, forward_sign, backward_sign):
        del forward_sign, backward_sign
        return inputs**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        del output
        ctx.save_for_backward(inputs[0])
        ctx.save_for_forward(inputs[0])
        ctx.signs = inputs[1:]

    @staticmethod
    def backward(ctx, rows):
        return ctx.signs[1] * 2 * ctx.saved_tensors[0] * rows, None, None

    @staticmethod
    def jvp(ctx, tangents, *_):
        return ctx.signs[0] * 2 * ctx.saved_tensors[0] * tangents


class Square(nn.Module):
    def __init__(self, forward_sign, backward_sign):
        super().__init__()
        self.signs = forward_sign, backward_sign

    def forward(self, inputs):
        return Slope.apply(inputs, *self.signs)


def a_squaring_network(*signs):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 3), Square(*signs), nn.Linear(3, 2)).double()


@pytest.mark.row(51)
@pytest.mark.parametrize(
    ("signs", "sentence"), [((-1, 1), "J v is not the derivative"), ((1, -1), "Jᵀ is not the transpose")]
)
def test_a_wrong_sign_in_a_derivative_of_ones_own_is_found(signs, sentence):
    with pytest.raises(UnsoundError, match=sentence):
        verify_derivatives(a_squaring_network(*signs), OUTPUTS)


@pytest.mark.row(52)
def test_right_derivatives_of_ones_own_are_passed():
    verify_derivatives(a_squaring_network(1, 1), OUTPUTS)


def test_single_precision_is_refused():
    with pytest.raises(ValueError, match="float64"):
        verify_objective(NORMAL, OUTPUTS.float())
