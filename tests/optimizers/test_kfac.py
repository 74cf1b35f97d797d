import copy
import gc
import io
import math
import re
import weakref
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.parametrizations import weight_norm
from torch.nn.utils.prune import l1_unstructured

from optimizers import KFAC, CrossEntropy
from optimizers.curvature.blocks import find_blocks, recording
from optimizers.curvature.network import constant_statistics
from optimizers.curvature.statistics import measure, slopes_at
from optimizers.errors import NotHeardError, SingularFactorError, UnsupportedModelError


def a_generator(seed=0):
    return torch.Generator().manual_seed(seed)


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def matrix_of(layer):
    return torch.cat([layer.weight, layer.bias[:, None]], dim=1).detach()


def inverses(optimizer):
    kept = optimizer.state_dict()["inverse"]["kept"]
    return [of_block[side] for of_block in kept.values() for side in ("inputs", "outputs")]


def same(ours, theirs):
    return all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


def slopes(model, inputs, targets):
    """ā and g by layer, one row per example; a summed loss leaves each g its own, without 1/n."""
    row, kept = inputs, []
    for module in model:
        before, row = row, module(row)
        if isinstance(module, nn.Linear):
            row.retain_grad()
            ones = torch.ones(len(inputs), 1, dtype=torch.float64)
            kept.append((torch.cat([before, ones], dim=1).detach(), row))
    loss = cross_entropy(row, targets, reduction="sum")
    loss.backward()
    model.zero_grad()
    return loss.item(), [(before, after.grad) for before, after in kept]


def test_a_step_is_minus_lr_times_the_dense_damped_solve(a_network, a_batch, most_likely):
    model, (inputs, targets) = a_network(4, 4, 4), a_batch(6, 4, 4)
    before = [matrix_of(layer) for layer in model[::2]]
    loss, of_data = slopes(model, inputs, targets)
    _, of_model = slopes(model, inputs, model(inputs).argmax(dim=1))  # what most_likely samples
    eye = torch.eye(5, dtype=torch.float64)
    expected, gradients = [], []
    for (a, g), (_, g_data) in zip(of_model, of_data, strict=True):
        of_inputs = sum(row.outer(row) for row in a) / 6
        of_outputs = sum(row.outer(row) for row in g) / 6
        pi = ((of_inputs.trace() / 5) / (of_outputs.trace() / 4)).sqrt()
        dense = torch.kron(of_inputs + pi * 0.2 * eye, of_outputs + 0.2 / pi * eye[:4, :4])
        gradients.append(g_data.T @ a / 6)
        expected.append(-0.7 * torch.linalg.solve(dense, gradients[-1].T.reshape(-1)).reshape(5, 4).T)

    step = KFAC(model, most_likely, lr=0.7, damping=0.04).step(inputs, targets)

    for layer, start, move in zip(model[::2], before, expected, strict=True):
        assert (matrix_of(layer) - start - move).norm() <= 1e-8 * move.norm()
    assert step.damping == 0.04
    assert step.loss == pytest.approx(loss / 6)
    assert step.gradient_norm == pytest.approx(torch.stack(gradients).norm().item())
    assert step.update_norm == pytest.approx(torch.stack(expected).norm().item())


def test_repeating_the_batch_changes_no_step(a_network, a_batch, most_likely):
    once, twice = a_network(4, 5, 3), a_network(4, 5, 3)
    inputs, targets = a_batch(6, 4, 3)

    KFAC(once, most_likely, lr=0.3, damping=1e-2).step(inputs, targets)
    KFAC(twice, most_likely, lr=0.3, damping=1e-2).step(inputs.repeat(2, 1), targets.repeat(2))

    for ours, theirs in zip(weights(twice), weights(once), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def test_curvature_comes_from_sampled_targets_and_never_from_those_of_the_data(a_network, a_batch):
    inputs, targets = a_batch(6, 4, 3)
    kept = []
    for labels, seed in [(targets, 0), ((targets + 1) % 3, 0), (targets, 1)]:
        model = a_network(4, 5, 3)
        optimizer = KFAC(model, CrossEntropy(), lr=0.3, generator=a_generator(seed))
        optimizer.step(inputs, labels)
        kept.append(inverses(optimizer))

    assert same(kept[0], kept[1])
    assert not same(kept[0], kept[2])


@pytest.mark.row(127)
def test_inverses_are_refreshed_on_every_third_update_when_asked(a_network, a_batch):
    optimizer = KFAC.simple(a_network(4, 5, 3), CrossEntropy(), refresh_every=3)
    history = []
    for seed in range(7):
        optimizer.step(*a_batch(6, 4, 3, seed=seed))
        history.append(inverses(optimizer))

    assert [same(*pair) for pair in pairwise(history)] == [True, True, False] * 2


@pytest.mark.row(127)
def test_the_simple_form_keeps_one_batchs_factors_between_refreshes(a_network, a_batch, most_likely):
    model, first, second = a_network(4, 4, 4), a_batch(6, 4, 4), a_batch(6, 4, 4, seed=2)
    optimizer = KFAC.simple(model, most_likely, lr=0.7, damping=0.04, refresh_every=5)
    optimizer.step(*first)
    kept = optimizer.state_dict()["inverse"]["kept"]["2.weight"]
    before = matrix_of(model[2])
    _, of_data = slopes(model, *second)
    (a, g) = of_data[1]
    optimizer.step(*second)

    expected = before - 0.7 * kept["outputs"] @ (g.T @ a / 6) @ kept["inputs"]
    torch.testing.assert_close(matrix_of(model[2]), expected, rtol=1e-10, atol=1e-12)


def test_the_empirical_form_takes_the_targets_of_the_data(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    _, of_data = slopes(model, inputs, targets)
    optimizer = KFAC.empirical(model, CrossEntropy(), lr=0.1)
    stream = optimizer.state_dict()["generator"]
    optimizer.step(inputs, targets)

    factors = optimizer.state_dict()["averages"]["factors"]
    torch.testing.assert_close(factors["0.weight"]["outputs"], of_data[0][1].T @ of_data[0][1] / 6)
    assert torch.equal(optimizer.state_dict()["generator"], stream)


@pytest.mark.row(141)
def test_the_form_of_heskes_damps_exact_factors_alike(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
    before, eye = matrix_of(model[0]), torch.eye(5, dtype=torch.float64)
    _, of_data = slopes(model, inputs, targets)
    chances, exact = torch.softmax(model(inputs).detach(), dim=1), 0
    for label in range(3):
        _, of_label = slopes(model, inputs, torch.full((6,), label))
        exact = exact + (of_label[0][1].T * chances[:, label]) @ of_label[0][1] / 6
    a, g = of_data[0]
    damped_a, damped_g = a.T @ a / 6 + 0.1 * eye, exact + 0.1 * eye
    expected = before - 0.5 * torch.linalg.inv(damped_g) @ (g.T @ a / 6) @ torch.linalg.inv(damped_a)

    KFAC.heskes(model, CrossEntropy(), lr=0.5, damping=0.01).step(inputs, targets)

    torch.testing.assert_close(matrix_of(model[0]), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.row(127)
@pytest.mark.row(141)
def test_the_form_of_heskes_is_the_simple_form_with_exact_factors_and_even_damping(a_network, a_batch):
    settings = {"lr": 0.2, "damping": 0.01, "refresh_every": 3}
    by_hand = {"decay": 0.0, "targets": "exact", "split": None}
    optimizers = [
        KFAC.heskes(a_network(4, 5, 3), CrossEntropy(), decay=0.0, **settings),
        KFAC(a_network(4, 5, 3), CrossEntropy(), **by_hand, **settings),
        KFAC.simple(a_network(4, 5, 3), CrossEntropy(), **settings),
    ]
    apart = [
        [optimizer.step(*a_batch(6, 4, 3, seed=seed)).update_norm for seed in range(5)]
        for optimizer in optimizers
    ]

    assert apart[0] == apart[1] != apart[2]


@pytest.mark.row(141)
def test_the_exact_factors_are_the_curvature_of_distances_between_sums(a_network, a_batch):
    """D = ½ Σ mean (s - s')ᵀ G (s - s'), s' = W' ā: its Hessian in W' is A ⊗ G, block by block."""
    model, (inputs, targets) = a_network(4, 3, 2), a_batch(6, 4, 2)
    optimizer = KFAC.heskes(model, CrossEntropy(), lr=0.0)
    optimizer.step(inputs, targets)
    factors = optimizer.state_dict()["averages"]["factors"]["0.weight"]
    activities = torch.cat([inputs, torch.ones(6, 1, dtype=torch.float64)], dim=1)
    matrix, g = matrix_of(model[0]), factors["outputs"]

    def distance(columns):
        apart = activities @ (columns.reshape(5, 3).T - matrix).T
        return (apart @ g * apart).sum() / 12

    hessian = torch.autograd.functional.hessian(distance, torch.zeros(15, dtype=torch.float64))
    torch.testing.assert_close(hessian, torch.kron(factors["inputs"], g))


def test_a_layer_without_bias_trains(a_network, a_batch):
    model, batch = a_network(4, 5, 3, bias=False), a_batch(6, 4, 3)
    optimizer = KFAC(model, CrossEntropy())
    losses = [optimizer.step(*batch).loss for _ in range(20)]

    assert losses[-1] < losses[0]


def test_an_in_place_activation_changes_no_step(a_network, a_batch, most_likely):
    tidy = a_network(4, 5, 3, activation=nn.ReLU)
    in_place = a_network(4, 5, 3, activation=lambda: nn.ReLU(inplace=True))
    for model in (tidy, in_place):
        KFAC(model, most_likely, lr=0.3).step(*a_batch(6, 4, 3))

    assert same(weights(in_place), weights(tidy))


def test_a_dead_layer_takes_no_step_and_spoils_no_other(a_network, a_batch):
    model, batch = a_network(4, 5, 3, activation=nn.ReLU), a_batch(6, 4, 3)
    nn.init.constant_(model[0].bias, -1e6)
    before = weights(model)

    step = KFAC(model, CrossEntropy()).step(*batch)

    assert 0 < step.update_norm < math.inf
    assert same(weights(model[0]), before[:2])


def test_a_resumed_run_is_bit_identical(a_network, a_batch):
    def train(optimizer, batches):
        for seed in batches:
            optimizer.step(*a_batch(6, 4, 3, seed=seed))

    model = a_network(4, 5, 3)
    optimizer = KFAC(model, CrossEntropy(), refresh_every=3)
    train(optimizer, range(4))
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    train(optimizer, range(4, 9))

    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed = a_network(4, 5, 3, seed=5)
    resumed.load_state_dict(of_model)
    other = KFAC(resumed, CrossEntropy(), lr=9.0, damping=9.0)
    other.load_state_dict(of_optimizer)
    train(other, range(4, 9))

    assert same(weights(resumed), weights(model))
    assert same(inverses(other), inverses(optimizer))


def test_the_same_torch_seed_gives_the_same_run(a_network, a_batch):
    runs = []
    for _ in range(2):
        model = a_network(4, 5, 3, seed=3)
        KFAC(model, CrossEntropy()).step(*a_batch(6, 4, 3))
        runs.append(weights(model))

    assert same(*runs)


def hooks(model):
    return [
        hook
        for module in model.modules()
        for kind in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks)
        for hook in kind
    ]


def test_no_hook_is_left_after_a_step(a_network, a_batch):
    model = a_network(4, 5, 3)
    KFAC(model, CrossEntropy()).step(*a_batch(6, 4, 3))

    assert hooks(model) == []


def test_no_hook_is_left_after_a_forward_pass_that_fails(a_network, a_batch):
    model = a_network(4, 5, 3)
    model[2].in_features, model[2].weight = 7, nn.Parameter(torch.zeros(3, 7, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        KFAC(model, CrossEntropy()).step(*a_batch(6, 4, 3))

    assert hooks(model) == []


def test_an_optimizer_dies_with_its_last_reference(a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = KFAC(model, CrossEntropy())
    optimizer.step(*a_batch(6, 4, 3))
    alive = weakref.ref(optimizer)
    gc.disable()  # so that only reference counts can free it
    try:
        del optimizer
        assert alive() is None
    finally:
        gc.enable()


def test_grad_fields_are_left_alone(a_network, a_batch):
    model = a_network(4, 5, 3)
    KFAC(model, CrossEntropy()).step(*a_batch(6, 4, 3))

    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_step_under_no_grad_is_the_same_step(a_network, a_batch, most_likely):
    plain, guarded = a_network(4, 5, 3), a_network(4, 5, 3)
    KFAC(plain, most_likely, lr=0.3).step(*a_batch(6, 4, 3))
    with torch.no_grad():
        KFAC(guarded, most_likely, lr=0.3).step(*a_batch(6, 4, 3))

    assert same(weights(guarded), weights(plain))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, inputs):
        return self.layer(self.layer(inputs))


class Uncalled(Twice):
    def forward(self, inputs):
        return inputs @ self.layer.weight + self.layer.bias


class Folded(Twice):
    def forward(self, inputs):
        return self.layer(inputs.repeat(2, 1))[: len(inputs)]


class Sequences(Twice):
    def forward(self, inputs):
        return self.layer(inputs[:, None, :])[:, 0]


class Own(Twice):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, inputs):
        return self.layer(inputs * self.scale)


class Scaled(nn.Linear):
    def forward(self, inputs):
        return 2 * super().forward(inputs)


def tied():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    model[2].weight = model[0].weight
    return model


def shared():
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.Tanh(), layer)


def convolutional():
    return nn.Sequential(
        nn.Unflatten(1, (2, 2)),
        nn.Conv1d(2, 2, 1, groups=2),
        nn.BatchNorm1d(2),
        nn.Flatten(),
        nn.Linear(4, 4),
    )


ANY_MODEL = {
    "convolutions with batch normalisation": convolutional,
    "transposed convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (2, 2)), nn.ConvTranspose1d(2, 2, 1), nn.Flatten(), nn.Linear(4, 4)
    ),
    "a subclass": lambda: nn.Sequential(Scaled(4, 4)),
    "weight norm": lambda: nn.Sequential(weight_norm(nn.Linear(4, 4))),
    "pruned": lambda: nn.Sequential(l1_unstructured(nn.Linear(4, 4), "weight", 1)),
    "a parameter of its own": Own,
    "called twice": Twice,
    "used without a call": Uncalled,
    "another number of rows": Folded,
    "sequences": Sequences,
    "a layer in two places": shared,
    "tied weights": tied,
}


@pytest.mark.parametrize("lr", [None, 0.1])
@pytest.mark.parametrize("inverse", ["block_diagonal", "block_tridiagonal"])
@pytest.mark.parametrize("name", ANY_MODEL)
@pytest.mark.filterwarnings("ignore:Not one single layer follows")
def test_any_model_trains_whole(name, inverse, lr, a_batch):
    torch.manual_seed(0)
    model, batch = ANY_MODEL[name]().double(), a_batch(20, 4, 4)
    optimizer = KFAC(model, CrossEntropy(), lr=lr, inverse=inverse)
    losses = [optimizer.step(*batch).loss for _ in range(9)]
    before = weights(model)
    losses += [optimizer.step(*batch).loss]

    assert losses[-1] < losses[0]
    assert not any(torch.equal(*pair) for pair in zip(weights(model), before, strict=True))


def test_a_step_is_what_the_factors_of_each_block_make_of_its_gradient_in_training(a_batch, most_likely):
    """Factors hold the statistics of batch normalisation constant; the gradient does not."""
    torch.manual_seed(0)
    model, (inputs, targets) = convolutional().double(), a_batch(20, 4, 4)
    twin = copy.deepcopy(model)
    blocks, before = find_blocks(twin), dict(twin.named_parameters())
    with constant_statistics(twin), recording(twin, blocks) as uses:
        outputs = twin(inputs)
    slopes = slopes_at("sampled", most_likely, outputs.detach(), targets, a_generator())
    factors = measure(uses, outputs, slopes).factors
    found = torch.autograd.grad(cross_entropy(twin(inputs), targets), list(before.values()))
    gradients = dict(zip(before, found, strict=True))

    KFAC(model, most_likely, lr=0.7, damping=0.04).step(inputs, targets)

    for name, block in blocks.items():
        solved = factors[name].damped(0.2).inverse(name).times(block.matrix(gradients))
        expected = block.matrix(before) - 0.7 * solved
        after = block.matrix(dict(model.named_parameters()))
        torch.testing.assert_close(after, expected, rtol=1e-9, atol=1e-11)
    assert torch.equal(model[2].running_mean, twin[2].running_mean)


def test_a_weight_that_is_used_without_a_call_of_its_layer_has_a_diagonal(a_batch):
    optimizer = KFAC(Uncalled().double(), CrossEntropy(), lr=0.1)
    optimizer.step(*a_batch(6, 4, 4))
    factors = optimizer.state_dict()["averages"]["factors"]

    assert {name: factors[name]["diagonal"] for name in factors} == {
        "layer.weight": (False, True),
        "layer.bias": (False, True),
    }


class Resting(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.rested = nn.Linear(4, 3), nn.Linear(4, 3)
        self.open = True

    def forward(self, inputs):
        return self.used(inputs) + (self.rested(inputs) if self.open else 0)


@pytest.mark.parametrize("settings", [{}, {"lr": 0.1}, {"lr": 0.1, "l2": 0.1}])
def test_a_layer_that_is_not_used_rests_and_keeps_its_factors(a_batch, settings):
    model, batch = Resting().double(), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), inverse="block_tridiagonal", **settings)
    optimizer.step(*batch)
    before, kept = weights(model), optimizer.state_dict()["averages"]["factors"]["rested.weight"]
    model.open = False
    step = optimizer.step(*batch)

    assert step.update_norm > 0
    assert same(weights(model.rested), before[2:])
    assert not torch.equal(model.used.weight, before[0])
    assert torch.equal(
        optimizer.state_dict()["averages"]["factors"]["rested.weight"]["inputs"], kept["inputs"]
    )


@pytest.mark.parametrize("settings", [{}, {"lr": 0.1}, {"lr": 0.1, "decay": 0.0}])
def test_a_bias_may_be_frozen_and_unfrozen(a_network, a_batch, settings):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), **settings)
    optimizer.step(*batch)
    for trains in (False, True):
        model[0].bias.requires_grad_(trains)
        before = weights(model)
        optimizer.step(*batch)
        moved = [not torch.equal(*pair) for pair in zip(weights(model), before, strict=True)]
        assert moved == [True, trains, True, True]


def test_a_model_in_bfloat16_has_factors_in_float32(a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3).bfloat16(), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy())
    losses = [optimizer.step(inputs.bfloat16(), targets).loss for _ in range(20)]

    assert losses[-1] < losses[0]
    assert {matrix.dtype for matrix in inverses(optimizer)} == {torch.float32}
    assert model[0].weight.dtype == torch.bfloat16


def test_gradients_that_are_not_dense_are_refused():
    with pytest.raises(UnsupportedModelError, match="has sparse gradients"):
        KFAC(nn.Sequential(nn.Embedding(5, 4, sparse=True), nn.Linear(4, 3)), CrossEntropy())


def loop(optimizer, model, inputs, targets, *, closed):
    def closure():
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), targets)
        loss.backward()
        return loss

    if closed:
        return optimizer.step(closure)
    closure()
    return optimizer.step()


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(
    "name", ["convolutions with batch normalisation", "tied weights", "a parameter of its own"]
)
def test_any_model_trains_in_the_usual_loop(name, closed, a_batch):
    torch.manual_seed(0)
    model, batch = ANY_MODEL[name]().double(), a_batch(20, 4, 4)
    before, optimizer = weights(model), KFAC(model, CrossEntropy())
    losses = []
    for _ in range(11):
        losses.append(cross_entropy(model(batch[0]), batch[1]).item())
        loop(optimizer, model, *batch, closed=closed)

    assert losses[-1] < losses[0]
    assert not any(torch.equal(*pair) for pair in zip(weights(model), before, strict=True))


@pytest.mark.parametrize("settings", [{}, {"lr": 0.1}])
def test_a_layer_whose_gradient_is_a_left_over_zero_rests(a_batch, settings):
    model, (inputs, targets) = Resting().double(), a_batch(20, 4, 3)
    model.open = False
    optimizer, before = KFAC(model, CrossEntropy(), **settings), weights(model)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    cross_entropy(model(inputs), targets).backward()
    step = optimizer.step()

    assert step.update_norm > 0
    assert same(weights(model.rested), before[2:])


def test_a_step_without_a_backward_pass_is_refused(a_network, a_batch):
    model = a_network(4, 3)
    optimizer = KFAC(model, CrossEntropy())
    model(a_batch(6, 4, 3)[0])
    with pytest.raises(NotHeardError, match="no forward pass with a backward pass"):
        optimizer.step()


def test_with_a_closure_damping_follows_the_loss_as_it_does_with_batches(a_network, a_batch, most_likely):
    runs = []
    most_likely.curvature, most_likely.factor = CrossEntropy().curvature, CrossEntropy().factor
    for closed in (False, True):
        model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
        optimizer = KFAC(model, most_likely)
        steps = [
            loop(optimizer, model, *batch, closed=True) if closed else optimizer.step(*batch)
            for _ in range(11)
        ]
        runs.append([step.damping for step in steps])

    assert runs[1] == pytest.approx(runs[0], rel=1e-6)
    assert len(set(runs[0])) > 1


def test_without_a_closure_damping_that_was_told_stays(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(20, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), damping=2.0)
    steps = [loop(optimizer, model, *batch, closed=False) for _ in range(11)]

    assert [step.damping for step in steps] == [2.0] * 11
    assert all(step.loss_after is None for step in steps)


def test_a_closure_that_is_asked_for_the_loss_elsewhere_leaves_gradients_and_buffers(a_batch):
    torch.manual_seed(0)
    model, (inputs, targets) = convolutional().double(), a_batch(20, 4, 4)
    optimizer = KFAC(model, CrossEntropy())
    loop(optimizer, model, inputs, targets, closed=True)

    assert model[2].num_batches_tracked == 1


def test_the_targets_of_the_data_need_the_batch(a_network, a_batch):
    model, batch = a_network(4, 3), a_batch(6, 4, 3)
    optimizer = KFAC.empirical(model, CrossEntropy())
    with pytest.raises(TypeError, match=r"not known in the usual loop\. Give step the batch"):
        loop(optimizer, model, *batch, closed=False)


def test_a_model_of_more_than_one_tensor_is_refused_in_the_usual_loop():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, inputs, others):
            return self.layer(inputs + others)

    model = Two()
    optimizer = KFAC(model, CrossEntropy())
    model(torch.ones(2, 4), torch.ones(2, 4)).sum().backward()
    with pytest.raises(NotHeardError, match="on one tensor alone"):
        optimizer.step()


def test_a_step_with_half_a_batch_is_refused(a_network):
    with pytest.raises(TypeError, match=r"takes a batch, step\(inputs, targets\)"):
        KFAC(a_network(4, 3), CrossEntropy()).step(torch.ones(2, 4))


@pytest.mark.parametrize(
    "wrong", [{"lr": -1.0}, {"lr": math.nan}, {"damping": 0.0}, {"damping": math.inf}, {"refresh_every": 0}]
)
def test_a_setting_out_of_range_is_refused_by_name(a_network, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KFAC(a_network(4, 3), CrossEntropy(), **wrong)


@pytest.mark.parametrize("updates_before", [0, 2])
def test_a_batch_with_nan_changes_nothing_and_training_goes_on(a_network, a_batch, updates_before):
    model = a_network(4, 5, 3)
    optimizer = KFAC(model, CrossEntropy(), refresh_every=2)
    for _ in range(updates_before):
        optimizer.step(*a_batch(6, 4, 3))
    before, stream = weights(model), optimizer.state_dict()["generator"]
    kept = inverses(optimizer)
    inputs, targets = a_batch(6, 4, 3)
    inputs[2, 1] = math.nan

    step = optimizer.step(inputs, targets)

    assert math.isnan(step.loss)
    assert step.update_norm == 0
    assert same(weights(model), before)
    assert same(inverses(optimizer), kept)
    assert torch.equal(optimizer.state_dict()["generator"], stream)
    assert optimizer.state_dict()["updates"] == updates_before
    assert optimizer.step(*a_batch(6, 4, 3)).update_norm > 0


class SteepAtZero(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3, bias=False)

    def forward(self, inputs):
        return self.layer(inputs).abs().sqrt()  # finite at 0, its slope is not


def test_a_finite_loss_with_an_infinite_gradient_is_skipped():
    model = SteepAtZero()
    before = weights(model)
    step = KFAC(model, CrossEntropy()).step(torch.zeros(5, 4), torch.zeros(5, dtype=torch.long))

    assert math.isfinite(step.loss)
    assert not math.isfinite(step.gradient_norm)
    assert step.update_norm == 0
    assert same(weights(model), before)


def test_a_scheduler_drives_lr(a_network, a_batch):
    model, batch = a_network(4, 5, 3), a_batch(6, 4, 3)
    optimizer = KFAC(model, CrossEntropy(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1.0 if update < 1 else 0.0)

    first = optimizer.step(*batch)
    scheduler.step()
    second = optimizer.step(*batch)

    assert first.update_norm > 0
    assert second.update_norm == 0


def test_a_factor_without_an_inverse_is_an_error_naming_the_layer(a_network, a_batch):
    inputs, targets = a_batch(2, 4, 3)
    optimizer = KFAC(a_network(4, 3), CrossEntropy(), damping=1e-60)
    with pytest.raises(
        SingularFactorError, match=r"layer '0\.weight' has no finite inverse at damping 1e-60"
    ):
        optimizer.step(inputs, targets)


class Pairing:
    """Cross-entropy that notes the targets it is given for each number of rows."""

    def __init__(self):
        known, self.seen = CrossEntropy(), {}
        self.sample, self.curvature, self.factor = known.sample, known.curvature, known.factor

    def loss(self, outputs, targets):
        self.seen[len(outputs)] = targets.tolist()
        return CrossEntropy().loss(outputs, targets)


@pytest.mark.parametrize("targets", ["sampled", "data"])
def test_of_some_cases_with_several_rows_each_outputs_and_targets_belong_together(a_network, targets):
    model, objective = nn.Sequential(nn.Flatten(0, 1), *a_network(2, 5, 3)), Pairing()
    inputs = torch.arange(16, dtype=torch.float64).cos().reshape(4, 2, 2)
    optimizer = KFAC(model, objective, targets=targets, statistics_from_every=2, model_from_every=2)
    optimizer.step(inputs, torch.tensor([0, 1, 2, 0, 1, 2, 2, 1]))

    assert objective.seen == {8: [0, 1, 2, 0, 1, 2, 2, 1], 4: [0, 1, 1, 2]}


def test_of_some_cases_with_unlike_numbers_of_rows_nothing_is_guessed(a_network, a_batch):
    inputs, _ = a_batch(4, 2, 3)
    model = nn.Sequential(a_network(2, 3), nn.Flatten(0, 1), nn.Unflatten(0, (-1, 2)))
    optimizer = KFAC(model, CrossEntropy(), lr=0.1, targets="data", statistics_from_every=2)
    with pytest.raises(ValueError, match="6 targets cannot be told apart by 4 cases"):
        optimizer.step(inputs, torch.zeros(6).long())


def test_an_objective_that_only_samples_is_told_all_that_it_lacks(a_network):
    class Sampling:
        sample = CrossEntropy().sample

    said = "to have loss(outputs, targets), curvature(outputs, vectors), factor(outputs, vectors)."
    with pytest.raises(TypeError, match=re.escape(said)):
        KFAC(a_network(4, 3), Sampling())


def test_its_repr_tells_what_it_finds_by_itself(a_network, a_batch):
    optimizer = KFAC(a_network(4, 3), CrossEntropy(), inverse="block_tridiagonal")
    before = repr(optimizer)
    step = optimizer.step(*a_batch(6, 4, 3))

    assert "    inverse: block_tridiagonal\n" in before
    assert "    damping: found on the first batch\n" in before
    assert "    lr: 1.0 times what each step finds\n" in before
    assert f"    damping: {step.damping}\n" in repr(optimizer)


@pytest.mark.parametrize("setting", ["lr", "damping", "l2", "decay"])
def test_a_number_that_is_a_text_is_refused_by_name(setting):
    with pytest.raises(TypeError, match=f"{setting} is a number, got the text '0.1'. Take float"):
        KFAC(nn.Linear(3, 2), CrossEntropy(), **{setting: "0.1"})


def test_the_state_of_another_optimizer_is_refused_and_changes_nothing():
    model = nn.Linear(3, 2)
    optimizer = KFAC(model, CrossEntropy(), lr=0.3, damping=0.1)
    foreign = torch.optim.SGD(model.parameters(), lr=7.0).state_dict()

    with pytest.raises(ValueError, match=r"no state of KFAC: it has no averages, .*another optimizer's"):
        optimizer.load_state_dict(foreign)

    assert optimizer.param_groups[0]["lr"] == 0.3


def test_a_model_that_is_copied_for_each_batch_is_refused():
    with pytest.raises(UnsupportedModelError, match="wrapped in DataParallel, whose copies are not heard"):
        KFAC(nn.DataParallel(nn.Linear(3, 2)), CrossEntropy())
