import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from optimizers import ACP, PRONG, CrossEntropy
from optimizers.errors import SingularFactorError
from optimizers.prong import whitening

CLOSE = {"rtol": 1e-8, "atol": 1e-10}


class Whitened(nn.Module):
    """A layer that does train V and d, with refreshes as the paper writes them."""

    def __init__(self, layer):
        super().__init__()
        self.v, self.d = (
            nn.Parameter(layer.weight.detach().clone()),
            nn.Parameter(layer.bias.detach().clone()),
        )
        self.u = self.u_inverse = torch.eye(layer.in_features, dtype=torch.float64)
        self.mean = torch.zeros(layer.in_features, dtype=torch.float64)
        self.momenta = [torch.zeros_like(self.v), torch.zeros_like(self.d)]

    def forward(self, h):
        self.h = h.detach()
        return (h - self.mean) @ self.u.T @ self.v.T + self.d

    def refresh(self, ridge):
        with torch.no_grad():
            mean = self.h.mean(dim=0)
            covariance = (self.h - mean).T @ (self.h - mean) / len(self.h)
            values, vectors = torch.linalg.eigh(
                covariance + ridge * torch.eye(len(mean), dtype=torch.float64)
            )
            u_inverse = vectors @ values.sqrt().diag() @ vectors.T
            u = vectors @ values.rsqrt().diag() @ vectors.T
            weight, bias = self.v @ self.u, self.d - self.v @ self.u @ self.mean
            m_v, m_d = self.momenta
            self.momenta = [m_v @ self.u @ u_inverse, m_d + m_v @ self.u @ (mean - self.mean)]
            self.v.copy_(weight @ u_inverse)
            self.d.copy_(bias + weight @ mean)
            self.u, self.mean = u, mean

    def move(self, lr, momentum, gradients):
        with torch.no_grad():
            self.momenta = [momentum * m - lr * g for m, g in zip(self.momenta, gradients, strict=True)]
            self.v += self.momenta[0]
            self.d += self.momenta[1]


@pytest.mark.row(126)
@pytest.mark.parametrize("momentum", [0.0, 0.8])
def test_it_takes_the_steps_of_a_network_that_is_trained_in_white_coordinates(a_network, a_batch, momentum):
    model, start = a_network(4, 5, 3), a_network(4, 5, 3)
    white = nn.Sequential(Whitened(start[0]), nn.Tanh(), Whitened(start[2]))
    optimizer = PRONG(model, CrossEntropy(), lr=0.1, ridge=0.01, momentum=momentum, refresh_every=3)
    for update in range(8):
        inputs, targets = a_batch(12, 4, 3, seed=update)
        if update % 3 == 0:
            white(inputs)
            white[0].refresh(0.01)
            white[2].refresh(0.01)
        gradients = torch.autograd.grad(cross_entropy(white(inputs), targets), list(white.parameters()))
        white[0].move(0.1, momentum, gradients[:2])
        white[2].move(0.1, momentum, gradients[2:])

        optimizer.step(inputs, targets)

    inputs, _ = a_batch(12, 4, 3)
    torch.testing.assert_close(model(inputs), white(inputs), **CLOSE)


@pytest.mark.parametrize(("momentum", "kept"), [(0.0, 0), (0.8, 4)])
def test_it_keeps_a_momentum_for_each_parameter_and_none_without(a_network, a_batch, momentum, kept):
    optimizer = PRONG(a_network(4, 5, 3), CrossEntropy(), momentum=momentum)
    optimizer.step(*a_batch(6, 4, 3))

    assert len(optimizer.state_dict()["state"]) == kept


@pytest.mark.row(126)
def test_a_refresh_changes_no_output(a_network, a_batch):
    layer, (inputs, _) = a_network(4, 3)[0], a_batch(12, 4, 3)
    before = layer(inputs)
    for seed in range(3):
        white, inverse_root = whitening(2 + a_batch(12, 4, 3, seed=seed)[0], ridge=0.01)
        v, d = white.enter(layer.weight, layer.bias, inverse_root)
        torch.testing.assert_close(white.activities(inputs) @ v.T + d, before, rtol=0, atol=1e-10)

        weight, bias = white.leave(v, d)
        torch.testing.assert_close(weight, layer.weight, rtol=0, atol=1e-10)
        torch.testing.assert_close(bias, layer.bias, rtol=0, atol=1e-10)


@pytest.mark.row(126)
def test_after_a_refresh_without_ridge_the_activities_have_mean_zero_and_the_identity_as_covariance(a_batch):
    rows = 2 + a_batch(12, 4, 3)[0]
    white, _ = whitening(rows, ridge=0.0)
    both = torch.cat([white.activities(rows), torch.ones(12, 1, dtype=torch.float64)], dim=1)

    torch.testing.assert_close(both.T @ both / 12, torch.eye(5, dtype=torch.float64), rtol=0, atol=1e-10)


@pytest.mark.row(126)
def test_the_step_after_a_refresh_is_that_of_acp_with_alpha_one(a_network, a_batch):
    ours, theirs, batch = a_network(4, 5, 3), a_network(4, 5, 3), a_batch(12, 4, 3)
    PRONG(ours, CrossEntropy(), lr=0.3, ridge=0.05).step(*batch)
    ACP(theirs, CrossEntropy(), lr=0.3, alpha=1.0, ridge=0.05).step(*batch)

    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, **CLOSE)


def test_an_affine_map_of_the_inputs_that_the_layer_undoes_changes_no_output_after_training(
    a_network, a_batch
):
    torch.manual_seed(0)
    twist, shift = torch.randn(4, 4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    plain, mapped = a_network(4, 5, 3), a_network(4, 5, 3)
    with torch.no_grad():
        mapped[0].weight.copy_(plain[0].weight @ torch.linalg.inv(twist))
        mapped[0].bias.copy_(plain[0].bias - mapped[0].weight @ shift)
    one, other = (PRONG(m, CrossEntropy(), lr=0.1, ridge=0.0, momentum=0.5) for m in (plain, mapped))
    for seed in range(5):
        inputs, targets = a_batch(12, 4, 3, seed=seed)
        one.step(inputs, targets)
        other.step(inputs @ twist.T + shift, targets)

    inputs, _ = a_batch(12, 4, 3)
    torch.testing.assert_close(mapped(inputs @ twist.T + shift), plain(inputs), **CLOSE)


def test_inputs_without_variance_and_without_ridge_are_refused_by_name(a_network, a_batch):
    inputs, targets = a_batch(6, 4, 3)
    with pytest.raises(SingularFactorError, match="layer '0'"):
        PRONG(a_network(4, 5, 3), CrossEntropy(), ridge=0.0).step(torch.ones_like(inputs), targets)


def test_a_layer_without_bias_is_whitened_around_zero(a_network, a_batch, layer_rows, moves_of):
    model, (inputs, targets) = a_network(4, 3, bias=False), a_batch(12, 4, 3)
    ((h, g),) = layer_rows(model, inputs, targets)
    optimizer = PRONG(model, CrossEntropy(), lr=0.3, ridge=0.0)
    (weight,) = moves_of(model, lambda: optimizer.step(inputs, targets))

    truth = -0.3 * (g.T @ h / 12) @ torch.linalg.inv(h.T @ h / 12)
    torch.testing.assert_close(weight, truth, **CLOSE)


@pytest.mark.parametrize("wrong", [{"momentum": 1.0}, {"ridge": -1.0}, {"refresh_every": 0}, {"lr": -1.0}])
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PRONG(a_network(4, 3), CrossEntropy(), **wrong)
