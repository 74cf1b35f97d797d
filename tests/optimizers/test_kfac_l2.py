"""K-FAC's L2 term: part of what is minimised, of its gradient and of damping, and never of the factors."""

import pytest
import torch

from optimizers import KFAC, CrossEntropy


def an_optimizer(model, **settings):
    return KFAC(model, CrossEntropy(), generator=torch.Generator().manual_seed(0), **settings)


def theta(model):
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])


def matrix_of(layer):
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach().clone()


@pytest.mark.row(43)
def test_no_factor_knows_of_it(a_network, a_batch):
    kept = []
    for l2 in (0.0, 0.5):
        optimizer = an_optimizer(a_network(4, 5, 3), lr=0.0, damping=0.3, l2=l2)
        optimizer.step(*a_batch(9, 4, 3))
        kept.append(optimizer.state_dict()["averages"]["factors"])

    for name, factors in kept[0].items():
        assert all(torch.equal(factors[side], kept[1][name][side]) for side in ("inputs", "outputs"))


@pytest.mark.row(43)
@pytest.mark.row(165)
@pytest.mark.parametrize("cases", [2, 40])
def test_the_step_is_of_the_gradient_with_it_however_few_rows_a_batch_has(a_network, a_batch, cases):
    model, (inputs, targets) = a_network(12, 11, 10), a_batch(cases, 12, 10)
    layers, before = [model[0], model[2]], [matrix_of(model[0]), matrix_of(model[2])]
    loss = CrossEntropy().loss(model(inputs), targets)
    found = torch.autograd.grad(loss, [p for layer in layers for p in (layer.weight, layer.bias)])
    optimizer = an_optimizer(model, lr=0.3, damping=0.3, l2=0.1)
    optimizer.step(inputs, targets)
    kept = optimizer.state_dict()["inverse"]["kept"]

    for place, (layer, start) in enumerate(zip(layers, before, strict=True)):
        inverse = kept[f"{2 * place}.weight"]
        gradient = torch.cat([found[2 * place], found[2 * place + 1][:, None]], dim=1) + 0.1 * start
        expected = -0.3 * inverse["outputs"] @ gradient @ inverse["inputs"]
        torch.testing.assert_close(matrix_of(layer) - start, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.row(160)
def test_the_damping_of_the_factors_begins_at_the_root_of_both(a_network, a_batch):
    step = an_optimizer(a_network(4, 5, 3), damping=8.5, l2=0.5).step(*a_batch(9, 4, 3))

    assert step.factor_damping == pytest.approx(3.0)


@pytest.mark.row(43)
@pytest.mark.row(162)
def test_the_loss_that_comes_is_compared_with_what_was_foreseen_with_the_term_in_both(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer, l2 = an_optimizer(model, damping=0.5, l2=0.3), 0.3
    for _ in range(4):
        optimizer.step(*batch)

    def minimised():
        return (
            CrossEntropy().loss(model(batch[0]), batch[1]).item()
            + l2 / 2 * theta(model).square().sum().item()
        )

    before = minimised()
    step = optimizer.step(*batch)

    assert step.reduction_ratio == pytest.approx((minimised() - before) / step.model_change, rel=1e-8)


@pytest.mark.row(161)
def test_a_factor_damping_that_began_with_a_given_damping_does_not_follow_it(a_network, a_batch):
    optimizer, batch = an_optimizer(a_network(4, 5, 3), damping=2.0, refresh_every=7), a_batch(20, 4, 3)
    steps = [optimizer.step(*batch) for _ in range(19)]

    assert len({step.damping for step in steps}) == 4  # it changed after the 5th, the 10th and the 15th
    assert {step.factor_damping for step in steps} == {2.0**0.5}
