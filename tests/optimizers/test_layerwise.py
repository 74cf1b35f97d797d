"""What all optimizers that train a model layer by layer promise alike."""

import copy
import inspect
import math

import pytest
import torch
from torch import nn
from torch.nn.functional import unfold
from torch.nn.utils.parametrizations import weight_norm
from torch.nn.utils.prune import l1_unstructured

from optimizers import (
    ACP,
    PRONG,
    CentredGradientDescent,
    CrossEntropy,
    LocalCriterion,
    OnlineNaturalGradient,
    UpdatedBackpropagation,
)
from optimizers.errors import UnsupportedModelError


def centred(model, **settings):
    return CentredGradientDescent(
        model, CrossEntropy(), **{"lr": 0.1, "consistent_bias": True, "decay": 0.5, **settings}
    )


def local(model, **settings):
    return LocalCriterion(model, CrossEntropy(), **{"lr": 0.1, "ridge": 0.3, **settings})


def acp(model, **settings):
    kinds = {"alpha": "largest_slope", "ridge": 0.3, "ridge_on": "all", "refresh_every": 3}
    return ACP(model, CrossEntropy(), **{"lr": 0.05, **kinds, **settings})


def prong(model, **settings):
    kinds = {"ridge": 0.3, "momentum": 0.5, "refresh_every": 3}
    return PRONG(model, CrossEntropy(), **{"lr": 0.1, **kinds, **settings})


def online(model, **settings):
    kinds = {"rank_of_inputs": 3, "rank_of_gradients": 2, "refresh_every": 2}
    return OnlineNaturalGradient(model, CrossEntropy(), **{"lr": 0.1, **kinds, **settings})


def updated(model, **settings):
    return UpdatedBackpropagation(model, CrossEntropy(), **{"lr": 0.1, **settings})


LAYERWISE = [centred, local, acp, prong, online]
of_layers = pytest.mark.parametrize("make", LAYERWISE)
of_all = pytest.mark.parametrize("make", [*LAYERWISE, updated])


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def same(ours, theirs):
    return all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


def train(optimizer, a_batch, seeds, examples=6):
    return [optimizer.step(*a_batch(examples, 4, 3, seed=seed)) for seed in seeds]


def untouched(model, before):
    names = [name for name, _ in model.named_parameters()]
    return [name for name, *pair in zip(names, weights(model), before, strict=True) if torch.equal(*pair)]


@of_layers
def test_a_saved_state_is_no_window_into_the_run(make, a_network, a_batch):
    optimizer = make(a_network(4, 5, 3))
    train(optimizer, a_batch, range(2))
    saved = optimizer.state_dict()
    copied = copy.deepcopy(saved)
    other = make(a_network(4, 5, 3))
    other.load_state_dict(saved)
    train(other, a_batch, range(9))
    train(optimizer, a_batch, range(9))

    for name, kept in saved["layers"].items():
        assert all(torch.equal(kept[key], copied["layers"][name][key]) for key in kept)


@of_layers
def test_the_state_of_another_model_is_refused(make, a_network, a_batch):
    saved = make(a_network(4, 5, 5, 3))
    train(saved, a_batch, [0])
    state = saved.state_dict()
    state["layers"]["4"] = {}
    state["param_groups"] = make(a_network(4, 5, 3)).state_dict()["param_groups"]
    with pytest.raises(UnsupportedModelError, match="'4' is in the saved state"):
        make(a_network(4, 5, 3)).load_state_dict(state)


@of_layers
@pytest.mark.parametrize("frozen", ["weight", "bias"])
def test_half_a_layer_can_be_frozen(make, a_network, a_batch, frozen):
    model = a_network(4, 5, 3)
    getattr(model[0], frozen).requires_grad_(False)
    optimizer, before = make(model), weights(model)
    train(optimizer, a_batch, range(2))
    assert untouched(model, before) == [f"0.{frozen}"]

    getattr(model[0], frozen).requires_grad_(True)
    train(optimizer, a_batch, [2])
    assert untouched(model, before) == []


@of_layers
def test_a_layer_with_a_frozen_bias_moves_as_one_without(make, a_network, a_batch):
    frozen, without = a_network(4, 3), a_network(4, 3, bias=False)
    frozen[0].bias.data.zero_()
    frozen[0].bias.requires_grad_(False)
    without[0].weight.data.copy_(frozen[0].weight)
    for model in (frozen, without):
        train(make(model), a_batch, range(3))

    assert torch.equal(frozen[0].weight, without[0].weight)


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.rested = nn.Linear(4, 3), nn.Linear(4, 3)
        self.open = False

    def forward(self, inputs):
        aside = self.rested(inputs)
        return self.used(inputs) + (aside if self.open else 0)


@of_layers
def test_a_layer_that_the_loss_does_not_depend_on_rests_until_it_does(make, a_batch):
    model = Branching().double()
    optimizer, before = make(model), weights(model)
    train(optimizer, a_batch, range(2))
    rested = untouched(model, before)
    model.open = True
    train(optimizer, a_batch, [2])

    assert rested == ["rested.weight", "rested.bias"]
    assert untouched(model, before) == []


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 4), nn.Linear(4, 4)
        self.down.weight = self.up.weight
        self.head = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.head(torch.tanh(self.down(torch.tanh(self.up(inputs)))))


class Scaled(nn.Linear):
    def forward(self, inputs):
        return 2 * super().forward(inputs)


class Uncalled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs):
        return inputs @ self.layer.weight.T + self.layer.bias


class Pictures(nn.Module):
    def __init__(self, convolution):
        super().__init__()
        self.convolution = convolution

    def forward(self, inputs):
        pictures = inputs.reshape(-1, 1, 2, 2).repeat(1, 3, 1, 1)
        return torch.tanh(self.convolution(pictures)).sum(dim=(2, 3))


@of_layers
@pytest.mark.parametrize(
    "kind",
    [
        lambda: Scaled(4, 3),
        Uncalled,
        lambda: weight_norm(nn.Linear(4, 3)),
        lambda: l1_unstructured(nn.Linear(4, 3), "weight", 2),
        lambda: l1_unstructured(nn.Linear(4, 3), "bias", 1),
        lambda: Pictures(nn.Conv2d(3, 3, 1, groups=3)),
        lambda: Pictures(nn.Conv2d(3, 3, 3, padding="same")),
        lambda: Pictures(nn.Conv2d(3, 3, 2, padding=1, padding_mode="circular")),
    ],
)
def test_what_computes_something_else_moves_along_the_plain_gradient(make, a_batch, moves_of, kind):
    torch.manual_seed(0)
    model, batch = kind().double(), a_batch(6, 4, 3)
    gradients = torch.autograd.grad(CrossEntropy().loss(model(batch[0]), batch[1]), list(model.parameters()))
    optimizer = make(model, lr=0.05)

    moves = moves_of(model, lambda: optimizer.step(*batch))

    for move, gradient in zip(moves, gradients, strict=True):
        torch.testing.assert_close(move, -0.05 * gradient, rtol=1e-9, atol=1e-12)


@of_layers
def test_layers_that_share_a_weight_move_along_the_plain_gradient(make, a_batch, moves_of):
    torch.manual_seed(0)
    model, batch = Tied().double(), a_batch(6, 4, 3)
    plain = [model.up.weight, model.up.bias, model.down.bias]
    gradients = torch.autograd.grad(CrossEntropy().loss(model(batch[0]), batch[1]), plain)
    optimizer = make(model, lr=0.05)
    moves = dict(
        zip(
            (n for n, _ in model.named_parameters()),
            moves_of(model, lambda: optimizer.step(*batch)),
            strict=True,
        )
    )

    for name, gradient in zip(["up.weight", "up.bias", "down.bias"], gradients, strict=True):
        torch.testing.assert_close(moves[name], -0.05 * gradient, rtol=1e-9, atol=1e-12)


class Patches(nn.Module):
    """The convolution, as a linear layer of patches which is used once for each position."""

    def __init__(self, convolution):
        super().__init__()
        self.layer = nn.Linear(8, 3).double()
        self.layer.weight.data.copy_(convolution.weight.flatten(1))
        self.layer.bias.data.copy_(convolution.bias)

    def forward(self, images):
        return self.layer(unfold(images, 2, (1, 2), 1, (2, 1)).mT).square().sum(dim=1)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(2, 3, 2, stride=(2, 1), padding=1, dilation=(1, 2)).double()

    def forward(self, images):
        return self.layer(images).square().sum(dim=(2, 3))


@of_layers
def test_a_convolution_moves_as_the_linear_layer_of_its_patches(make, a_batch):
    torch.manual_seed(0)
    images, (_, targets) = torch.randn(6, 2, 4, 5, dtype=torch.float64), a_batch(6, 4, 3)
    convolution = Images()
    patches = Patches(convolution.layer)
    for model in (convolution, patches):
        optimizer = make(model, lr=0.01)
        for _ in range(4):
            optimizer.step(images, targets)

    ours = convolution.layer.weight.flatten(1)
    torch.testing.assert_close(ours, patches.layer.weight, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(convolution.layer.bias, patches.layer.bias, rtol=1e-9, atol=1e-12)


class OneByOne(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3).double()

    def forward(self, inputs):
        return torch.tanh(self.layer(inputs[:, :2])) - torch.tanh(self.layer(inputs[:, 2:]))


class AtOnce(OneByOne):
    def forward(self, inputs):
        both = torch.tanh(self.layer(inputs.reshape(-1, 2, 2)))
        return both[:, 0] - both[:, 1]


@of_layers
def test_a_layer_that_is_called_twice_moves_as_one_that_has_the_rows_of_both(make, a_batch):
    one, both = OneByOne(), AtOnce()
    both.load_state_dict(one.state_dict())
    for model in (one, both):
        train(make(model), a_batch, range(4))

    for ours, theirs in zip(one.parameters(), both.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


class Discarding(OneByOne):
    def forward(self, inputs):
        self.layer(inputs[:, 2:])
        return torch.tanh(self.layer(inputs[:, :2]))


@of_layers
def test_a_call_whose_result_is_thrown_away_has_no_part_in_the_statistics(make, a_batch):
    model, plain = Discarding(), nn.Sequential(nn.Linear(2, 3).double(), nn.Tanh())
    plain[0].load_state_dict(model.layer.state_dict())
    one, other = make(model), make(plain)
    for seed in range(3):
        inputs, targets = a_batch(6, 4, 3, seed=seed)
        one.step(inputs, targets)
        other.step(inputs[:, :2], targets)

    assert same(weights(model), weights(plain))


@of_all
def test_an_update_that_would_overflow_changes_nothing(make, a_network, a_batch):
    model = a_network(4, 3)
    before = weights(model)
    inputs, targets = a_batch(6, 4, 3)
    step = make(model, lr=1e308).step(1e4 * inputs, targets)

    assert step.update_norm == 0
    assert same(weights(model), before)


@pytest.mark.parametrize("make", [acp, prong])
def test_statistics_with_nan_change_nothing(make, a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    optimizer, before = make(model), weights(model)
    step = optimizer.step(inputs, targets, statistics=inputs * math.nan)

    assert step.update_norm == 0
    assert same(weights(model), before)
    assert optimizer.state_dict()["layers"] == {}


@of_all
def test_what_it_tells_of_a_step_is_so(make, a_network, a_batch, moves_of):
    model, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    loss = CrossEntropy().loss(model(inputs), targets)
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    optimizer, steps = make(model), []
    moves = moves_of(model, lambda: steps.append(optimizer.step(inputs, targets)))

    assert steps[0].loss == pytest.approx(loss.item())
    assert steps[0].gradient_norm == pytest.approx(math.hypot(*(g.norm().item() for g in gradients)))
    assert steps[0].update_norm == pytest.approx(math.hypot(*(move.norm().item() for move in moves)))
    assert steps[0].damping == optimizer.param_groups[0].get("ridge", 0.0)


@pytest.mark.parametrize("make", [acp, prong])
def test_a_step_tells_how_many_updates_ago_a_layer_was_estimated(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    model[0].requires_grad_(False)
    optimizer = make(model)
    steps = train(optimizer, a_batch, range(2))
    model[0].requires_grad_(True)
    steps += train(optimizer, a_batch, range(2))

    assert [dict(step.ages) for step in steps] == [{"2": 0}, {"2": 1}, {"2": 2, "0": 0}, {"2": 0, "0": 0}]


def hooks(model):
    return [
        hook
        for module in model.modules()
        for kind in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
        for hook in kind
    ]


@of_layers
def test_no_hook_is_left_after_a_forward_pass_that_fails(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        make(model).step(*a_batch(6, 7, 3))

    assert hooks(model) == []


@of_layers
def test_a_group_has_settings_of_its_own_and_what_is_in_none_stays(make, a_network, a_batch, moves_of):
    whole, parts = a_network(4, 5, 5, 3), a_network(4, 5, 5, 3)
    groups = [{"params": parts[0].parameters()}, {"params": parts[2].parameters(), "lr": 0.02}]
    one, other = make(whole, lr=0.1), make(parts, lr=0.1, params=groups)
    batch = a_batch(6, 4, 3)
    ours, theirs = moves_of(parts, lambda: other.step(*batch)), moves_of(whole, lambda: one.step(*batch))

    torch.testing.assert_close(ours[:2], theirs[:2])
    torch.testing.assert_close(ours[2:4], [0.2 * move for move in theirs[2:4]])
    assert not any(move.any() for move in ours[4:])


@of_layers
def test_a_group_that_parts_a_layer_or_is_of_another_model_or_out_of_range_is_refused(make, a_network):
    model, other = a_network(4, 5, 3), a_network(4, 3)
    optimizer = make(model, params=[model[0].weight])
    for group, sentence in [
        ({"params": [model[0].bias]}, "layer '0' are in two groups"),
        ({"params": other.parameters()}, "none of the model's"),
        ({"params": model[2].parameters(), "lr": -1.0}, "lr must be"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            optimizer.add_param_group(group)

    assert len(optimizer.param_groups) == 1


@of_layers
def test_a_model_in_bfloat16_trains_with_statistics_that_are_finer(make, a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3).bfloat16(), a_batch(20, 4, 3)
    optimizer = make(model)
    losses = [optimizer.step(inputs.bfloat16(), targets).loss for _ in range(20)]

    assert losses[-1] < losses[0]
    kept = [t for layer in optimizer.state_dict()["layers"].values() for t in layer.values()]
    assert all(tensor.dtype == torch.float32 for tensor in kept)


@pytest.mark.parametrize(
    "kind",
    [CentredGradientDescent, LocalCriterion, ACP, PRONG, OnlineNaturalGradient, UpdatedBackpropagation],
)
def test_a_declared_hyperparameter_has_the_default_of_the_constructor_and_bounds_that_it_takes(
    kind, a_network
):
    arguments = inspect.signature(kind).parameters
    for declared in kind.hyperparameters:
        assert arguments[declared.name].default == declared.default
        bounds = [True, False] if declared.kind == "boolean" else [declared.low, declared.high]
        for value in declared.choices or bounds:
            kind(a_network(4, 3), CrossEntropy(), **{declared.name: value})


@of_all
def test_a_negative_lr_is_refused(make, a_network):
    with pytest.raises(ValueError, match="lr must be"):
        make(a_network(4, 3), lr=-1.0)


@pytest.mark.parametrize("wrong", [{"decay": 1.0}, {"decay": -0.1}])
def test_a_decay_out_of_range_is_refused(a_network, wrong):
    with pytest.raises(ValueError, match="decay"):
        centred(a_network(4, 3), **wrong)


def test_a_negative_ridge_is_refused(a_network):
    with pytest.raises(ValueError, match="ridge"):
        local(a_network(4, 3), ridge=-1.0)
