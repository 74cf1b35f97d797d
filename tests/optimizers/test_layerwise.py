"""What all optimizers that train a model layer by layer promise alike."""

import copy
import gc
import inspect
import io
import itertools
import math
import pickle
import weakref

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


def updated(model, **settings):
    return UpdatedBackpropagation(model, CrossEntropy(), **{"lr": 0.1, **settings})


LAYERWISE = [centred, local, acp, prong]
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


@of_all
def test_a_resumed_run_is_bit_identical(make, a_network, a_batch):
    model = a_network(4, 5, 3).float()
    optimizer = make(model)

    def go_on(optimizer, seeds):
        steps = []
        for seed in seeds:
            inputs, targets = a_batch(6, 4, 3, seed=seed)
            steps.append(optimizer.step(inputs.float(), targets))
        return [(step.loss, step.update_norm, step.ages) for step in steps]

    go_on(optimizer, range(4))
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    expected = go_on(optimizer, range(4, 9))

    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed = a_network(4, 5, 3, seed=5).float()
    resumed.load_state_dict(of_model)
    other = make(resumed, lr=7.0)
    other.load_state_dict(of_optimizer)
    assert go_on(other, range(4, 9)) == expected
    assert same(weights(resumed), weights(model))


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


@of_all
def test_a_scheduler_drives_lr(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = make(model, **({"momentum": 0.0} if make is prong else {}))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1.0 if update < 1 else 0.0)
    (first,) = train(optimizer, a_batch, [0])
    scheduler.step()
    (second,) = train(optimizer, a_batch, [1])

    assert first.update_norm > 0
    assert second.update_norm == 0


@of_all
def test_an_in_place_activation_changes_no_step(make, a_network, a_batch):
    models = [a_network(4, 5, 3, activation=lambda way=way: nn.ReLU(inplace=way)) for way in (True, False)]
    for model in models:
        train(make(model), a_batch, range(2))

    assert same(weights(models[0]), weights(models[1]))


@of_all
def test_a_frozen_layer_stays_and_trains_when_it_is_unfrozen(make, a_network, a_batch):
    model = a_network(4, 5, 5, 3)
    model[2].requires_grad_(False)
    optimizer, before = make(model), weights(model)
    train(optimizer, a_batch, range(2))
    frozen = untouched(model, before)
    model[2].requires_grad_(True)
    train(optimizer, a_batch, [2])

    assert frozen == ["2.weight", "2.bias"]
    assert untouched(model, before) == []


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


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(1, 3, 2, stride=2, padding=1, dilation=1)
        self.norm = nn.BatchNorm2d(3)
        self.grouped = nn.Conv2d(3, 3, 1, groups=3, padding="same")
        self.head = nn.Linear(12, 3)

    def forward(self, inputs):
        sums = self.convolution(inputs.reshape(-1, 1, 2, 2))
        return self.head(torch.relu(self.grouped(self.norm(sums))).flatten(1))


class Attentive(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 3)

    def forward(self, inputs):
        row = self.embedding((inputs.abs() * 3).long() % 5)
        row = self.norm(row + self.attention(row, row, row, need_weights=False)[0])
        return self.head(row).mean(dim=1)  # one row per position


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(1, 4, batch_first=True)
        self.head = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.head(self.cells(inputs[:, :, None])[0][:, -1])


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 4), nn.Linear(4, 4)
        self.down.weight = self.up.weight
        self.head = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.head(torch.tanh(self.down(torch.tanh(self.up(inputs)))))


@of_layers
@pytest.mark.parametrize("kind", [Convolutional, Attentive, Recurrent, Tied])
def test_every_parameter_of_any_architecture_trains(make, a_batch, kind):
    torch.manual_seed(0)
    model = kind().double()
    optimizer, before = make(model, lr=0.01), weights(model)
    first, *_, last = train(optimizer, a_batch, [0] * 10)

    assert untouched(model, before) == []
    assert last.loss < first.loss


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


@of_all
@pytest.mark.parametrize("updates_before", [0, 3])
def test_a_batch_with_nan_changes_nothing_and_training_goes_on(make, a_network, a_batch, updates_before):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, range(updates_before))
    twin = copy.deepcopy(model), copy.deepcopy(optimizer.state_dict())
    inputs, targets = a_batch(6, 4, 3)
    inputs[2, 1] = math.nan

    step = optimizer.step(inputs, targets)

    assert math.isnan(step.loss)
    assert step.update_norm == 0
    other = make(twin[0])
    other.load_state_dict(twin[1])
    for one in (optimizer, other):
        train(one, a_batch, range(3, 6))
    assert same(weights(model), weights(twin[0]))


@of_layers
def test_a_skipped_batch_leaves_running_statistics_alone(make, a_batch):
    model = Convolutional().double()
    optimizer = make(model)
    inputs, targets = a_batch(6, 4, 3)
    optimizer.step(inputs, targets)
    before = [buffer.clone() for buffer in model.buffers()]
    optimizer.step(inputs * math.nan, targets)

    assert same(model.buffers(), before)


@pytest.mark.parametrize("make", [acp, prong])
def test_statistics_with_nan_change_nothing(make, a_network, a_batch):
    model, (inputs, targets) = a_network(4, 3), a_batch(6, 4, 3)
    optimizer, before = make(model), weights(model)
    step = optimizer.step(inputs, targets, statistics=inputs * math.nan)

    assert step.update_norm == 0
    assert same(weights(model), before)
    assert optimizer.state_dict()["layers"] == {}


@of_all
def test_no_gradient_and_no_momentum_is_no_update(make, a_batch):
    model = nn.Sequential(nn.Linear(4, 3)).double()
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    inputs, _ = a_batch(3, 4, 3)
    # Each class once, on one and the same input: predictions of a third are right.
    step = make(model).step(inputs[:1].repeat(3, 1), torch.arange(3))

    assert step.update_norm <= 1e-12
    assert step.gradient_norm <= 1e-12


@of_all
@pytest.mark.parametrize("arrange", [lambda t: t.repeat(2, *[1] * (t.dim() - 1)), lambda t: t.flip(0)])
def test_repeating_or_shuffling_the_cases_changes_no_step(make, a_network, a_batch, arrange):
    models = [a_network(4, 5, 3) for _ in range(2)]
    batch = a_batch(6, 4, 3)
    make(models[0]).step(*batch)
    make(models[1]).step(*map(arrange, batch))

    for ours, theirs in zip(*map(weights, models), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)


@of_all
def test_the_loss_of_a_convex_problem_decreases(make, a_network, a_batch):
    losses = [step.loss for step in train(make(a_network(4, 3), lr=0.02), a_batch, [0] * 50, examples=20)]

    assert all(after < before for before, after in itertools.pairwise(losses))


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


@of_all
def test_a_forward_pass_outside_a_step_changes_nothing(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(2)]
    for model, looks in zip(models, (False, True), strict=True):
        optimizer = make(model)
        for seed in range(4):
            if looks:
                with torch.no_grad():
                    model(a_batch(9, 4, 3, seed=99)[0])
                model(a_batch(9, 4, 3, seed=98)[0])
            train(optimizer, a_batch, [seed])

    assert same(*map(weights, models))


@of_all
def test_a_step_under_no_grad_is_the_same_step(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(2)]
    train(make(models[0]), a_batch, [0])
    with torch.no_grad():
        train(make(models[1]), a_batch, [0])

    assert same(*map(weights, models))


def hooks(model):
    return [
        hook
        for module in model.modules()
        for kind in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
        for hook in kind
    ]


@of_all
def test_no_hook_and_no_gradient_is_left_after_a_step(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    train(make(model), a_batch, range(2))

    assert hooks(model) == []
    assert all(parameter.grad is None for parameter in model.parameters())


@of_layers
def test_no_hook_is_left_after_a_forward_pass_that_fails(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        make(model).step(*a_batch(6, 7, 3))

    assert hooks(model) == []


@of_all
def test_an_optimizer_dies_with_its_last_reference(make, a_network, a_batch):
    optimizer = make(a_network(4, 5, 3))
    train(optimizer, a_batch, [0])
    alive = weakref.ref(optimizer)
    gc.disable()  # so that only reference counts can free it
    try:
        del optimizer
        assert alive() is None
    finally:
        gc.enable()


@of_all
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])  # noqa: S301
def test_a_copy_of_model_and_optimizer_goes_on_alike_and_apart(make, a_network, a_batch, copied):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, range(2))
    other_model, other = copied((model, optimizer))
    train(optimizer, a_batch, range(2, 6))
    first = weights(model)
    train(other, a_batch, range(2, 6))

    assert same(weights(other_model), first)
    assert same(weights(model), first)


@of_all
def test_two_optimizers_on_one_model_do_not_disturb_each_other(make, a_network, a_batch):
    alone, shared = a_network(4, 5, 3), a_network(4, 5, 3)
    one, other = make(shared), make(shared, lr=0.0, **({"momentum": 0.0} if make is prong else {}))
    single = make(alone)
    for seed in range(4):
        train(single, a_batch, [seed])
        train(other, a_batch, [seed])
        train(one, a_batch, [seed])

    assert same(weights(shared), weights(alone))


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
def test_a_model_may_change_its_precision_after_construction(make, a_network, a_batch):
    model = a_network(4, 5, 3).float()
    optimizer = make(model)
    inputs, targets = a_batch(6, 4, 3)
    optimizer.step(inputs.float(), targets)
    model.double()
    before = weights(model)
    optimizer.step(inputs, targets)

    assert untouched(model, before) == []


@of_layers
def test_a_model_in_bfloat16_trains_with_statistics_that_are_finer(make, a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3).bfloat16(), a_batch(20, 4, 3)
    optimizer = make(model)
    losses = [optimizer.step(inputs.bfloat16(), targets).loss for _ in range(20)]

    assert losses[-1] < losses[0]
    kept = [t for layer in optimizer.state_dict()["layers"].values() for t in layer.values()]
    assert all(tensor.dtype == torch.float32 for tensor in kept)


@pytest.mark.parametrize("kind", [CentredGradientDescent, LocalCriterion, ACP, PRONG, UpdatedBackpropagation])
def test_a_declared_hyperparameter_has_the_default_of_the_constructor_and_bounds_that_it_takes(
    kind, a_network
):
    arguments = inspect.signature(kind).parameters
    for declared in kind.hyperparameters:
        assert arguments[declared.name].default == declared.default
        bounds = [True, False] if declared.kind == "boolean" else [declared.low, declared.high]
        for value in declared.choices or bounds:
            kind(a_network(4, 3), CrossEntropy(), **{declared.name: value})


@of_layers
def test_under_autocast_the_step_is_nearly_the_same(make, a_network, a_batch, moves_of):
    inputs, targets = a_batch(20, 4, 3)
    moves = []
    for coarse in (False, True):
        model = a_network(4, 5, 3).float()
        optimizer = make(model)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=coarse):
            moves.append(moves_of(model, lambda o=optimizer: o.step(inputs.float(), targets)))

    for fine, rough in zip(*moves, strict=True):
        assert rough.dtype == torch.float32
        assert (rough - fine).norm() < 0.1 * fine.norm()


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
