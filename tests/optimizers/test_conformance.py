"""What a training relies on, checked for every optimizer alike.

A new optimizer joins by one line in OPTIMIZERS. What one of them cannot do is a row of the table in
docs/reference/optimizers/conformance.md: then it must refuse, with an error that says so.
"""

import contextlib
import copy
import gc
import io
import itertools
import math
import pickle
import re
import warnings
import weakref
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import Optimizer

import optimizers
from optimizers import (
    ACP,
    EKFAC,
    KFAC,
    PRONG,
    SGDQN,
    TONGA,
    VSGD,
    AdaptiveNaturalGradient,
    Almeida,
    CentredGradientDescent,
    CovarianceNaturalGradient,
    CrossEntropy,
    DiagonalNewton,
    FullAdaGrad,
    GaussNewton,
    HessianFree,
    KrylovSubspaceDescent,
    LeCunRate,
    LocalCriterion,
    MatrixMomentum,
    NaturalGradient,
    NaturalNewton,
    Newton,
    NonlinearConjugateGradients,
    OnlineLBFGS,
    OnlineNaturalGradient,
    OnlineNewtonStep,
    SilvaAlmeida,
    StochasticMetaDescent,
    TruncatedNaturalGradient,
    TrustRegion,
    UnitwiseGaussNewton,
    UpdatedBackpropagation,
)
from optimizers.errors import OptimizerError


class MostLikely:
    """Cross-entropy which "samples" the most likely class, so that chance has no part."""

    def __init__(self):
        known = CrossEntropy()
        self.loss, self.curvature, self.factor = known.loss, known.curvature, known.factor

    def sample(self, outputs, generator):
        del generator
        return outputs.argmax(dim=1)


def made(optimizer, /, **usual):
    return lambda model, objective=None, **settings: optimizer(
        model, objective or CrossEntropy(), **{**usual, **settings}
    )


OPTIMIZERS = {
    "ACP": made(ACP, lr=0.02, alpha="largest_slope", ridge=0.3, ridge_on="all", refresh_every=3),
    "AdaptiveNaturalGradient": made(AdaptiveNaturalGradient, lr=0.1, damping=1.0, decay=0.7),
    "Almeida": made(Almeida, lr=0.2, meta_lr=0.1, momentum=0.3),
    "CentredGradientDescent": made(CentredGradientDescent, lr=0.02, consistent_bias=True, decay=0.5),
    "CovarianceNaturalGradient": made(CovarianceNaturalGradient, lr=0.2, damping=1.0),
    "DiagonalNewton": made(DiagonalNewton, lr=0.05, damping=0.1, source="gauss_newton"),
    "FullAdaGrad": made(FullAdaGrad, lr=0.05),
    "GaussNewton": made(GaussNewton, lr=0.2, damping=1.0),
    "HessianFree": made(HessianFree, damping=1.0, cg_steps=10),
    "EKFAC": made(EKFAC, lr=0.05, damping=1.0, refresh_every=3),
    "KFAC": made(KFAC, lr=0.05, damping=1.0, refresh_every=3),
    "KFAC, adaptive": made(KFAC, damping=1.0, refresh_every=3),
    "KrylovSubspaceDescent": made(KrylovSubspaceDescent, dimensions=2, searches=30),
    "LeCunRate": made(LeCunRate, lr=0.3),
    "LocalCriterion": made(LocalCriterion, lr=0.02, ridge=0.3),
    "MatrixMomentum": made(MatrixMomentum, lr=0.01, velocity_lr=0.5),
    "NaturalGradient": made(NaturalGradient, lr=0.2, damping=1.0, kind="sampled"),
    "NaturalNewton": made(NaturalNewton, lr=0.2, damping=1.0, directions="hessian", cases=6, refresh_every=2),
    "NaturalNewton, diagonal": made(NaturalNewton, lr=0.2, damping=1.0, cases=6, refresh_every=2),
    "Newton": made(Newton, lr=0.2, damping=1.0),
    "NonlinearConjugateGradients": made(NonlinearConjugateGradients, lr=0.5),
    "OnlineLBFGS": made(OnlineLBFGS, lr=0.2, damping=0.5),
    "OnlineNaturalGradient": made(
        OnlineNaturalGradient, lr=0.05, rank_of_inputs=3, rank_of_gradients=2, refresh_every=2
    ),
    "OnlineNewtonStep": made(OnlineNewtonStep, lr=0.3, damping=1.0),
    "PRONG": made(PRONG, lr=0.02, ridge=0.3, momentum=0.5, refresh_every=3),
    "TONGA": made(TONGA, lr=0.3, damping=1.0, rank=3, compress_every=9),
    "SGDQN": made(SGDQN, lr=0.5, skip=2),
    "SilvaAlmeida": made(SilvaAlmeida, lr=0.05, increase=1.05),
    "StochasticMetaDescent": made(StochasticMetaDescent, lr=0.5),
    "TruncatedNaturalGradient": made(
        TruncatedNaturalGradient, lr=0.5, damping=1.0, adapts=True, iterations=10
    ),
    "TrustRegion": made(TrustRegion, radius=0.5, cg_steps=10),
    "UnitwiseGaussNewton": made(UnitwiseGaussNewton, lr=0.05),
    "VSGD": made(VSGD, lr=0.5, source="gauss_newton"),
    "UpdatedBackpropagation": made(UpdatedBackpropagation, lr=0.02),
}
CHECKS = {}
PAGE = (Path(__file__).parents[2] / "docs/reference/optimizers/conformance.md").read_text()


def check(function):
    CHECKS[function.__name__.replace("_", " ")] = function
    return function


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def same(ours, theirs):
    return all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


def assert_close(ours, theirs, rtol=1e-9, atol=1e-12):
    for our, their in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our, their, rtol=rtol, atol=atol)


def untouched(model, before):
    names = [name for name, _ in model.named_parameters()]
    return [name for name, *pair in zip(names, weights(model), before, strict=True) if torch.equal(*pair)]


def hooks(model):
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return [hook for module in model.modules() for kind in kinds for hook in getattr(module, kind)]


def train(optimizer, a_batch, seeds):
    return [optimizer.step(*a_batch(6, 4, 3, seed=seed)) for seed in seeds]


def train_usually(optimizer, model, a_batch, seeds):
    """The loop that torch's own optimizers are used in."""
    for seed in seeds:
        inputs, targets = a_batch(6, 4, 3, seed=seed)
        optimizer.zero_grad()
        CrossEntropy().loss(model(inputs), targets).backward()
        optimizer.step()


# A run goes on


@check
def a_resumed_run_is_the_same_to_the_last_bit(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, range(4))
    file = io.BytesIO()
    torch.save([model.state_dict(), optimizer.state_dict()], file)
    expected = [(step.loss, step.update_norm) for step in train(optimizer, a_batch, range(4, 9))]

    file.seek(0)
    of_model, of_optimizer = torch.load(file, weights_only=True)
    resumed = a_network(4, 5, 3, seed=5)
    resumed.load_state_dict(of_model)
    torch.manual_seed(99)
    other = make(resumed, lr=7.0)
    other.load_state_dict(of_optimizer)
    assert [(step.loss, step.update_norm) for step in train(other, a_batch, range(4, 9))] == expected
    assert same(weights(resumed), weights(model))


@check
def a_run_repeats_under_the_same_seed(make, a_network, a_batch):
    runs = []
    for _ in range(2):
        model = a_network(4, 5, 3)
        torch.manual_seed(3)
        train(make(model), a_batch, range(5))
        runs.append(weights(model))

    assert same(*runs)


@check
def a_scheduler_drives_lr(make, a_network, a_batch):
    optimizer = make(a_network(4, 5, 3))
    if "momentum" in optimizer.defaults:
        optimizer.param_groups[0]["momentum"] = 0.0
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: float(update < 1))
    (first,) = train(optimizer, a_batch, [0])
    scheduler.step()
    (second,) = train(optimizer, a_batch, [1])

    assert first.update_norm > 0
    assert second.update_norm == 0


def copies_go_on_alike_and_apart(make, a_network, a_batch, copied):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, range(2))
    other_model, other = copied((model, optimizer))
    train(optimizer, a_batch, range(2, 6))
    first = weights(model)
    train(other, a_batch, range(2, 6))

    assert same(weights(other_model), first)
    assert same(weights(model), first)


@check
def a_deep_copy_of_model_and_optimizer_goes_on_alike_and_apart(make, a_network, a_batch):
    copies_go_on_alike_and_apart(make, a_network, a_batch, copy.deepcopy)


@check
def model_and_optimizer_can_be_pickled_together(make, a_network, a_batch):
    copies_go_on_alike_and_apart(make, a_network, a_batch, lambda pair: pickle.loads(pickle.dumps(pair)))  # noqa: S301


@check
def one_batch_with_nan_changes_nothing_and_training_goes_on(make, a_network, a_batch):
    runs = []
    for spoilt in (False, True):
        model = a_network(4, 5, 3)
        optimizer = make(model, objective=MostLikely())
        train(optimizer, a_batch, range(3))
        if spoilt:
            inputs, targets = a_batch(6, 4, 3)
            inputs[2, 1] = math.nan
            step = optimizer.step(inputs, targets)
            assert math.isnan(step.loss)
            assert step.update_norm == 0
        train(optimizer, a_batch, range(3, 6))
        runs.append(weights(model))

    assert same(*runs)


@check
def a_skipped_batch_leaves_running_statistics_alone(make, a_network, a_batch):
    del a_network
    model = Convolutional().double()
    optimizer, (inputs, targets) = make(model), a_batch(6, 4, 3)
    optimizer.step(inputs, targets)
    before = [buffer.clone() for buffer in model.buffers()]
    optimizer.step(inputs * math.nan, targets)

    assert same(model.buffers(), before)


@check
def an_optimizer_dies_with_its_last_reference(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, [0])
    alive = weakref.ref(optimizer)
    gc.disable()  # so that only reference counts can free it
    try:
        del optimizer
        assert alive() is None
    finally:
        gc.enable()


# What the model may be


@check
def an_in_place_activation_changes_no_step(make, a_network, a_batch):
    models = [a_network(4, 5, 3, activation=lambda way=way: nn.ReLU(inplace=way)) for way in (True, False)]
    for model in models:
        torch.manual_seed(0)
        train(make(model), a_batch, range(2))

    assert same(*map(weights, models))


@check
def a_frozen_layer_stays_and_trains_when_it_is_unfrozen(make, a_network, a_batch):
    model = a_network(4, 5, 5, 3)
    model[2].requires_grad_(False)
    optimizer, before = make(model), weights(model)
    train(optimizer, a_batch, range(2))
    frozen = untouched(model, before)
    model[2].requires_grad_(True)
    train(optimizer, a_batch, [2])

    assert frozen == ["2.weight", "2.bias"]
    assert untouched(model, before) == []


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.rested = nn.Linear(4, 3), nn.Linear(4, 3)
        self.open = False

    def forward(self, inputs):
        return self.used(inputs) + (self.rested(inputs) if self.open else 0)


@check
def an_unused_layer_rests_until_it_is_used(make, a_network, a_batch):
    del a_network
    torch.manual_seed(0)
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
        self.convolution = nn.Conv2d(1, 3, 2, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(3)
        self.grouped = nn.Conv2d(3, 3, 1, groups=3)
        self.head = nn.Linear(12, 3)

    def forward(self, inputs):
        sums = self.convolution(inputs.reshape(-1, 1, 2, 2))
        return self.head(torch.tanh(self.grouped(self.norm(sums))).flatten(1))


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
    def __init__(self, cells):
        super().__init__()
        self.cells = cells(1, 4, batch_first=True)
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


def every_parameter_trains(make, a_batch, kind):
    torch.manual_seed(0)
    model = kind().double()
    optimizer, before = make(model), weights(model)
    first, *_, last = train(optimizer, a_batch, [0] * 10)

    assert untouched(model, before) == []
    assert last.loss < first.loss


@check
def convolutions_with_batch_normalisation_train(make, a_network, a_batch):
    del a_network
    every_parameter_trains(make, a_batch, Convolutional)


@check
def attention_with_embedding_and_layer_normalisation_trains(make, a_network, a_batch):
    del a_network
    every_parameter_trains(make, a_batch, Attentive)


@check
def an_lstm_trains(make, a_network, a_batch):
    del a_network
    every_parameter_trains(make, a_batch, lambda: Recurrent(nn.LSTM))


@check
def a_gru_trains(make, a_network, a_batch):
    del a_network
    every_parameter_trains(make, a_batch, lambda: Recurrent(nn.GRU))


@check
def tied_weights_train(make, a_network, a_batch):
    del a_network
    every_parameter_trains(make, a_batch, Tied)


@check
def outputs_at_several_positions_of_a_case_train(make, a_network, a_batch):
    model, (inputs, targets) = a_network(2, 5, 3), a_batch(12, 2, 3)
    optimizer, before = make(model), weights(model)
    inputs, targets = inputs.reshape(6, 2, 2), targets.reshape(6, 2)
    expected = (
        nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), reduction="sum") / 6
    )
    first, *_, last = [optimizer.step(inputs, targets) for _ in range(10)]

    assert first.loss == pytest.approx(expected.item(), rel=1e-12)
    assert untouched(model, before) == []
    assert last.loss < first.loss


@check
def outputs_flattened_over_positions_train(make, a_network, a_batch):
    inputs, targets = a_batch(12, 2, 3)
    model = nn.Sequential(nn.Flatten(0, 1), *a_network(2, 5, 3))
    optimizer = make(model)
    first, *_, last = [optimizer.step(inputs.reshape(6, 2, 2), targets) for _ in range(10)]

    assert last.loss < first.loss


@check
def groups_have_settings_of_their_own(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    before = weights(model)
    optimizer = make(model, params=[{"params": model[0].parameters()}])
    optimizer.add_param_group({"params": model[2].parameters(), "lr": 0.0})
    train(optimizer, a_batch, [0])

    assert untouched(model, before) == ["2.weight", "2.bias"]


# Numbers


@check
def float32_takes_nearly_the_steps_of_float64(make, a_network, a_batch):
    models = [a_network(4, 5, 3), a_network(4, 5, 3).float()]
    for model in models:
        optimizer = make(model, objective=MostLikely())
        for seed in range(3):
            inputs, targets = a_batch(6, 4, 3, seed=seed)
            optimizer.step(inputs.to(model[0].weight.dtype), targets)

    assert_close([w.double() for w in weights(models[1])], weights(models[0]), rtol=1e-3, atol=1e-4)


@check
def a_model_in_bfloat16_trains(make, a_network, a_batch):
    model, (inputs, targets) = a_network(4, 5, 3).bfloat16(), a_batch(20, 4, 3)
    optimizer = make(model, lr=0.1)
    losses = [optimizer.step(inputs.bfloat16(), targets).loss for _ in range(20)]

    assert losses[-1] < losses[0]


@check
def a_step_under_autocast_is_nearly_the_same(make, a_network, a_batch):
    inputs, targets = a_batch(20, 4, 3)
    moves = []
    for coarse in (False, True):
        model = a_network(4, 5, 3).float()
        before, optimizer = weights(model), make(model, objective=MostLikely())
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=coarse):
            optimizer.step(inputs.float(), targets)
        moves.append([after - start for after, start in zip(weights(model), before, strict=True)])

    for fine, rough in zip(*moves, strict=True):
        assert (rough - fine).norm() < 0.1 * fine.norm()


@check
def a_model_may_move_and_change_its_precision(make, a_network, a_batch):
    model = a_network(4, 5, 3).float()
    optimizer = make(model)
    inputs, targets = a_batch(6, 4, 3)
    optimizer.step(inputs.float(), targets)
    model.double()
    before = weights(model)
    optimizer.step(inputs, targets)

    assert untouched(model, before) == []


@check
def no_gradient_is_no_update(make, a_network, a_batch):
    model = a_network(4, 3)
    nn.init.zeros_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    inputs, _ = a_batch(3, 4, 3)
    # Each class once, on one and the same input: predictions of a third are right.
    step = make(model).step(inputs[:1].repeat(3, 1), torch.arange(3))

    assert step.update_norm <= 1e-12


@check
def the_same_cases_twice_or_in_another_order_are_the_same_step(make, a_network, a_batch):
    for arrange in (lambda t: t.repeat(2, *[1] * (t.dim() - 1)), lambda t: t.flip(0)):
        models = [a_network(4, 5, 3) for _ in range(2)]
        batch = a_batch(6, 4, 3)
        for model, given in zip(models, (batch, tuple(map(arrange, batch))), strict=True):
            torch.manual_seed(0)
            make(model, objective=MostLikely()).step(*given)
        assert_close(*map(weights, models))


@check
def the_loss_after_a_step_is_that_of_the_batch_where_it_is_told(make, a_network, a_batch):
    for share in (0.5, 30.0):
        model, (inputs, targets) = a_network(4, 5, 3), a_batch(9, 4, 3)
        optimizer = make(model)
        for group in optimizer.param_groups:
            group["lr"] *= share
        for _ in range(10):
            step = optimizer.step(inputs, targets)
            if step.loss_after is not None:
                after = CrossEntropy().loss(model(inputs), targets).item()
                assert step.loss_after == pytest.approx(after, rel=1e-9)


@check
def the_loss_of_a_convex_problem_decreases(make, a_network, a_batch):
    optimizer = make(a_network(4, 3))
    losses = [optimizer.step(*a_batch(20, 4, 3)).loss for _ in range(50)]

    assert losses[-1] < losses[0]
    assert all(after < before + 1e-14 for before, after in itertools.pairwise(losses))  # it may have arrived


# What it tells


@check
def its_repr_tells_every_hyperparameter_and_so_does_that_of_a_copy(make, a_network, a_batch):
    del a_batch
    optimizer = make(a_network(4, 5, 3), lr=0.0625)
    told = dict(re.findall(r"^    (\w+): (.*)$", repr(optimizer), re.MULTILINE))

    assert {each.name for each in optimizer.hyperparameters} | {"lr"} <= told.keys()
    assert told["lr"] == "0.0625"
    assert repr(optimizer).count("Parameter Group") == 1
    assert repr(copy.deepcopy(optimizer)) == repr(optimizer)


# What it is given


@check
def a_loss_that_is_no_objective_is_refused_with_the_one_to_take(make, a_network, a_batch):
    del a_batch
    wrong = {
        nn.CrossEntropyLoss(): "torch CrossEntropyLoss. Take CrossEntropy()",
        nn.functional.mse_loss: "function mse_loss. Take squared_error()",
        nn.BCEWithLogitsLoss: "class BCEWithLogitsLoss itself. Take Bernoulli()",
        "cross_entropy": "text 'cross_entropy'. Take CrossEntropy()",
        CrossEntropy: "class CrossEntropy itself. Take CrossEntropy()",
        nn.HuberLoss(): "torch HuberLoss. Take CrossEntropy(), Bernoulli(), Gaussian() or squared_error()",
    }
    for given, said in wrong.items():
        with pytest.raises(TypeError, match=re.escape(said)):
            make(a_network(4, 5, 3), objective=given)


@check
def an_objective_that_lacks_a_method_is_refused_with_its_name(make, a_network, a_batch):
    del a_batch
    lacking = MostLikely()
    del lacking.loss
    with pytest.raises(TypeError, match=r"MostLikely to have loss\(outputs, targets\)[,.]"):
        make(a_network(4, 5, 3), objective=lacking)


@check
def parameters_in_place_of_the_model_are_refused(make, a_network, a_batch):
    del a_batch
    for given in (a_network(4, 3).parameters(), [{"params": a_network(4, 3).parameters()}]):
        with pytest.raises(TypeError, match=r"The first argument of \w+ is the model"):
            make(given)


@check
def inputs_that_are_not_one_tensor_are_refused_with_what_they_are(make, a_network, a_batch):
    optimizer, (inputs, targets) = make(a_network(4, 5, 3)), a_batch(6, 4, 3)
    wrong = {
        r"inputs as one tensor; it got a tuple of 2 \(Tensor\). Join": ((inputs, inputs), targets),
        r"inputs as one tensor; it got a dict of 1 \(Tensor\). Join": ({"one": inputs}, targets),
        r"inputs as one tensor; it got a numpy ndarray. Convert": (inputs.numpy(), targets),
        r"targets as one tensor; it got a list of 6 \(int\). Convert": (inputs, targets.tolist()),
    }
    for said, given in wrong.items():
        with pytest.raises(TypeError, match=said):
            optimizer.step(*given)


@check
def nothing_to_train_is_refused_until_there_is_something(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    before, optimizer = weights(model), make(model)
    model.requires_grad_(False)
    for _ in range(2):
        with pytest.raises(ValueError, match="nothing to train: all its parameters are frozen"):
            train(optimizer, a_batch, [0])
    model.requires_grad_(True)
    train(optimizer, a_batch, [0])

    assert untouched(model, before) == []


@check
def a_batch_without_cases_is_refused_and_changes_nothing(make, a_network, a_batch):
    runs = []
    for is_told in (False, True):
        model, (inputs, targets) = a_network(4, 5, 3), a_batch(6, 4, 3)
        torch.manual_seed(0)
        optimizer = make(model)
        train(optimizer, a_batch, [0])
        if is_told:
            with pytest.raises(ValueError, match="a batch without cases"):
                optimizer.step(inputs[:0], targets[:0])
        train(optimizer, a_batch, [1, 2])
        runs.append(weights(model))

    assert same(*runs)


@check
def labels_out_of_range_are_refused_with_the_label(make, a_network, a_batch):
    inputs, targets = a_batch(6, 4, 3)
    with pytest.raises(ValueError, match="numbered 0 to 2, but 1 of the targets are others, as 3 is"):
        make(a_network(4, 5, 3)).step(inputs, torch.cat([targets[:5], torch.tensor([3])]))


@check
def inputs_of_another_precision_are_refused_with_both(make, a_network, a_batch):
    inputs, targets = a_batch(6, 4, 3)
    with pytest.raises(ValueError, match=r"are in torch.float32, the model in torch.float64. .*\.to\("):
        make(a_network(4, 5, 3)).step(inputs.float(), targets)
    with pytest.raises(
        ValueError, match=r"are in torch.int64, the model in torch.float64. Give it inputs.to\("
    ):
        make(a_network(4, 5, 3)).step(inputs.long(), targets)


# What else happens to the model


@check
def forward_passes_outside_a_step_change_nothing(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(2)]
    for model, looks in zip(models, (False, True), strict=True):
        torch.manual_seed(0)
        optimizer = make(model)
        for seed in range(4):
            if looks:
                with torch.no_grad():
                    model(a_batch(9, 4, 3, seed=99)[0])
                model(a_batch(9, 4, 3, seed=98)[0])
            train(optimizer, a_batch, [seed])

    assert same(*map(weights, models))


@check
def a_step_under_no_grad_is_the_same_step(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(2)]
    for model, guarded in zip(models, (False, True), strict=True):
        torch.manual_seed(0)
        optimizer = make(model)
        with torch.no_grad() if guarded else contextlib.nullcontext():
            train(optimizer, a_batch, [0])

    assert same(*map(weights, models))


@check
def a_step_leaves_no_hook_and_no_gradient(make, a_network, a_batch):
    model = a_network(4, 5, 3)
    optimizer = make(model)
    train(optimizer, a_batch, range(2))

    assert hooks(model) == []
    assert all(parameter.grad is None for parameter in model.parameters())


@check
def two_optimizers_on_one_model_do_not_disturb_each_other(make, a_network, a_batch):
    alone, shared = a_network(4, 5, 3), a_network(4, 5, 3)
    torch.manual_seed(0)
    single = make(alone)
    torch.manual_seed(0)
    one, other = make(shared), make(shared, lr=0.0)
    if "momentum" in other.defaults:
        other.param_groups[0]["momentum"] = 0.0
    for seed in range(4):
        train(single, a_batch, [seed])
        train(other, a_batch, [seed])
        train(one, a_batch, [seed])

    assert same(weights(shared), weights(alone))


@contextlib.contextmanager
def compiling():
    """Without a warning of the compiler's, which it hides itself as long as warnings are no errors."""
    torch.compiler.reset()  # what was compiled for a model without hooks would be taken for one that has them
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor that is not a leaf")
        yield


@check
def a_compiled_model_takes_the_same_steps(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(3)]
    models[2].compile(backend="eager")
    given = [models[0], torch.compile(models[1], backend="eager"), models[2]]
    for model in given:
        torch.manual_seed(0)
        with compiling():
            train(make(model), a_batch, range(4))

    assert_close(*map(weights, models[:2]))
    assert_close(*map(weights, models[1:]))


# The usual loop: loss.backward(), then step()


def runs_in_both_ways(make, a_network, a_batch, usually):
    """The weights after some steps on batches, and after as many that `usually` takes."""
    given, used = a_network(4, 5, 3), a_network(4, 5, 3)
    one, other = make(given, objective=MostLikely()), make(used, objective=MostLikely())
    for seed in range(4):
        train(one, a_batch, [seed])
        usually(other, used, *a_batch(6, 4, 3, seed=seed))
    return weights(used), weights(given)


@check
def the_usual_loop_takes_the_same_steps(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        optimizer.zero_grad()
        CrossEntropy().loss(model(inputs), targets).backward()
        optimizer.step()

    assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def a_closure_takes_the_same_steps(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        def closure():
            optimizer.zero_grad()
            loss = CrossEntropy().loss(model(inputs), targets)
            loss.backward()
            return loss

        step = optimizer.step(closure)
        assert step.loss > 0

    assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def accumulated_gradients_take_the_step_of_the_whole_batch(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        model.zero_grad(set_to_none=False)
        for rows in (slice(0, 2), slice(2, 6)):
            part = len(inputs[rows]) / len(inputs)
            (part * CrossEntropy().loss(model(inputs[rows]), targets[rows])).backward()
        optimizer.step()

    assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def a_forward_pass_without_its_backward_pass_counts_nothing(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        model.zero_grad()
        with torch.no_grad():
            model(inputs + 1)
        thrown_away = model(inputs - 1)
        loss = CrossEntropy().loss(model(inputs), targets)
        torch.autograd.grad(model(inputs + 2).sum(), list(model.parameters()))
        loss.backward()
        optimizer.step()
        del thrown_away

    assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def gradients_that_are_thrown_away_count_nothing(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        for clear in (lambda: optimizer.zero_grad(set_to_none=False), optimizer.zero_grad, model.zero_grad):
            CrossEntropy().loss(model(inputs + 1), targets).backward()
            clear()
        CrossEntropy().loss(model(inputs), targets).backward()
        optimizer.step()
        optimizer.zero_grad()

    assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def a_gradient_scaler_under_autocast_takes_nearly_the_same_steps(make, a_network, a_batch):
    models = [a_network(4, 5, 3).float() for _ in range(2)]
    one, other = (make(model, objective=MostLikely()) for model in models)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for seed in range(4):
        inputs, targets = a_batch(20, 4, 3, seed=seed)
        one.step(inputs.float(), targets)
        other.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = CrossEntropy().loss(models[1](inputs.float()), targets)
        scaler.scale(loss).backward()
        scaler.step(other)
        scaler.update()

    start = weights(a_network(4, 5, 3).float())
    moves = [[a - b for a, b in zip(weights(model), start, strict=True)] for model in models]
    for fine, rough in zip(*moves, strict=True):
        assert (rough - fine).norm() < 0.1 * fine.norm()


@check
def a_compiled_model_takes_the_same_steps_in_the_usual_loop(make, a_network, a_batch):
    def usually(optimizer, model, inputs, targets):
        model.zero_grad()
        CrossEntropy().loss(torch.compile(model, backend="eager")(inputs), targets).backward()
        optimizer.step()

    with compiling():
        assert_close(*runs_in_both_ways(make, a_network, a_batch, usually))


@check
def two_optimizers_take_turns_in_the_usual_loop(make, a_network, a_batch):
    alone, shared = a_network(4, 5, 3), a_network(4, 5, 3)
    single, one = (make(model, objective=MostLikely()) for model in (alone, shared))
    other = make(shared, lr=0.0)
    if "momentum" in other.defaults:
        other.param_groups[0]["momentum"] = 0.0
    for seed in range(4):
        train_usually(single, alone, a_batch, [seed])
        train(other, a_batch, [seed + 9])
        train_usually(one, shared, a_batch, [seed])

    assert same(weights(shared), weights(alone))


@check
def an_optimizer_that_takes_batches_does_not_disturb_one_that_listens(make, a_network, a_batch):
    alone, shared = a_network(4, 5, 3), a_network(4, 5, 3)
    single, one = (
        CentredGradientDescent(alone, CrossEntropy()),
        CentredGradientDescent(shared, CrossEntropy()),
    )
    other = make(shared, lr=0.0)
    if "momentum" in other.defaults:
        other.param_groups[0]["momentum"] = 0.0
    for seed in range(2):
        train_usually(single, alone, a_batch, [seed])
        train(other, a_batch, [seed + 9])
        train_usually(one, shared, a_batch, [seed])

    assert same(weights(shared), weights(alone))


@check
def hooks_are_gone_after_close_with_and_del(make, a_network, a_batch):
    models = [a_network(4, 5, 3) for _ in range(3)]
    one, other = make(models[0]), make(models[1])
    train_usually(one, models[0], a_batch, [0])
    one.close()
    with other:
        train_usually(other, models[1], a_batch, [0])
    last = make(models[2])
    train_usually(last, models[2], a_batch, [0])
    alive = weakref.ref(last)
    gc.disable()
    try:
        del last
        assert alive() is None
    finally:
        gc.enable()

    assert [hooks(model) for model in models] == [[], [], []]


@check
def copies_go_on_apart_in_the_usual_loop(make, a_network, a_batch):
    for copied in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):  # noqa: S301
        model = a_network(4, 5, 3)
        optimizer = make(model)
        train_usually(optimizer, model, a_batch, range(2))
        other_model, other = copied((model, optimizer))
        train_usually(optimizer, model, a_batch, range(2, 6))
        first = weights(model)
        train_usually(other, other_model, a_batch, range(2, 6))

        assert same(weights(other_model), first)
        assert same(weights(model), first)


# The table of exceptions


@dataclass(frozen=True, kw_only=True)
class Exemption:
    names: list[str]
    checks: list[str]
    says: str


def exemptions():
    rows = re.findall(r"^\| (`.*`) \| ([^|]*) \| \"([^|]*)\" \|", PAGE, re.MULTILINE)
    return [
        Exemption(names=re.findall(r"`([\w, ]+?)`", names), checks=checks.split("; "), says=says)
        for names, checks, says in rows
    ]


SAYS = {(name, of): row.says for row in exemptions() for name in row.names for of in row.checks}


@pytest.mark.row(236)
@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("of", CHECKS)
def test_an_optimizer_holds_what_is_checked_or_says_why_not(name, of, a_network, a_batch):
    says = SAYS.get((name, of))
    refused = (OptimizerError, TypeError, ValueError)
    with pytest.raises(refused, match=re.escape(says)) if says else contextlib.nullcontext():
        CHECKS[of](OPTIMIZERS[name], a_network, a_batch)


def test_every_optimizer_is_checked():
    ours = {
        name
        for name in optimizers.__all__
        if isinstance(kind := getattr(optimizers, name), type) and issubclass(kind, Optimizer)
    }

    assert ours == {name.partition(",")[0] for name in OPTIMIZERS}


def test_the_page_lists_every_check_and_no_exception_of_something_else():
    listed = re.findall(r"^- (.*)$", PAGE, re.MULTILINE)

    assert listed == list(CHECKS)
    assert {name for name, _ in SAYS} <= OPTIMIZERS.keys()
    assert {of for _, of in SAYS} <= CHECKS.keys()
