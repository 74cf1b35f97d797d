import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from worker.training.clipping import clipping


def parameters(scale=1.0, seed=0):
    stream = torch.Generator().manual_seed(seed)
    made = [nn.Parameter(torch.zeros(shape, dtype=torch.float64)) for shape in [(3, 2), (4,)]]
    for parameter in made:
        parameter.grad = scale * torch.randn(parameter.shape, generator=stream, dtype=torch.float64)
    return made


def flat(made):
    return torch.cat([parameter.grad.reshape(-1) for parameter in made])


@pytest.mark.row(70)
@given(limit=st.floats(1e-3, 1e3), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 1000))
def test_a_clipped_gradient_keeps_its_direction_and_is_no_longer_than_the_limit(limit, scale, seed):
    made = parameters(scale, seed)
    before = flat(made)
    clipping("norm", limit=limit)(made)
    after = flat(made)

    assert after.norm() <= limit * (1 + 1e-12)
    torch.testing.assert_close(after / after.norm(), before / before.norm(), rtol=1e-12, atol=1e-14)
    shortened = min(1.0, limit / before.norm().item())
    assert after.norm().item() == pytest.approx(shortened * before.norm().item(), rel=1e-3)


@pytest.mark.row(70)
@pytest.mark.parametrize("name", ["norm", "element"])
def test_a_gradient_below_the_limit_is_left_alone(name):
    made = parameters()
    before = flat(made)
    clipping(name, limit=100.0)(made)

    assert flat(made).equal(before)


@pytest.mark.row(70)
def test_elements_are_cut_one_by_one():
    made = parameters()
    before = flat(made)
    clipping("element", limit=0.5)(made)

    assert flat(made).equal(before.clamp(-0.5, 0.5))
    assert before.abs().max() > 0.5


@pytest.mark.parametrize(
    ("name", "limit", "said"), [("length", 1.0, "'element', 'norm'"), ("norm", 0.0, "limit is 0")]
)
def test_a_wrong_clipping_is_named(name, limit, said):
    with pytest.raises(ValueError, match=said):
        clipping(name, limit=limit)
