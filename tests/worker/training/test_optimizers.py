import copy

import pytest
import torch
from torch import nn

from optimizers import ACP, PRONG, CrossEntropy
from worker.models.perceptron import perceptron
from worker.training.driven import Surroundings
from worker.training.optimizers import OPTIMIZERS
from worker.training.second_order import SECOND_ORDER
from worker.training.streams import Streams

INPUTS = torch.randn(24, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
TARGETS = torch.randint(3, (24,), generator=torch.Generator().manual_seed(2))
BY_TORCH = {
    "sgd": lambda p: torch.optim.SGD(p, 0.05, weight_decay=0.01),
    "momentum": lambda p: torch.optim.SGD(p, 0.05, momentum=0.8, weight_decay=0.01),
    "nesterov": lambda p: torch.optim.SGD(p, 0.05, momentum=0.8, weight_decay=0.01, nesterov=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 0.05, 0.95, 1e-6, weight_decay=0.01, momentum=0.8),
    "rprop": lambda p: torch.optim.Rprop(p, 0.05, (0.6, 1.3)),
    "adam": lambda p: torch.optim.Adam(p, 0.05, (0.85, 0.99), 1e-6, weight_decay=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, 0.05, (0.85, 0.99), 1e-6, weight_decay=0.01),
}
TOLD = {
    "lr": 0.05,
    "momentum": 0.8,
    "weight_decay": 0.01,
    "smoothing": 0.95,
    "increase": 1.3,
    "decrease": 0.6,
    "epsilon": 1e-6,
    "beta1": 0.85,
    "beta2": 0.99,
}


def a_model(*hidden):
    model = perceptron([5, *(hidden or (7,)), 3], torch.Generator().manual_seed(3))
    return model.double()


def built(name, model, updates=100, **told):
    row = OPTIMIZERS[name]
    own = {setting: each.default for setting, each in row.settings.items()}
    own |= {setting: value for setting, value in told.items() if setting in own}
    surroundings = Surroundings(streams=Streams(4), updates=updates, device=torch.device("cpu"))
    return row.build(model, CrossEntropy(), own, surroundings)


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def after(optimizer, model, updates):
    for _ in range(updates):
        step = optimizer.step(INPUTS, TARGETS)
    return step.loss, weights(model)


@pytest.mark.parametrize("name", BY_TORCH)
def test_a_step_is_that_of_torch(name):
    model, same = a_model(), a_model()
    optimizer = BY_TORCH[name](same.parameters())
    for _ in range(5):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(same(INPUTS), TARGETS)
        loss.backward()
        optimizer.step()

    said, moved = after(built(name, model, **TOLD), model, 5)

    assert torch.equal(moved, weights(same))
    assert said == pytest.approx(loss.item(), rel=1e-12)


@pytest.mark.parametrize("name", BY_TORCH)
def test_a_batch_in_chunks_moves_the_weights_as_the_whole_does(name):
    whole, parts = a_model(), a_model()

    loss, moved = after(built(name, whole), whole, 3)
    same_loss, same = after(built(name, parts, chunk=7), parts, 3)

    assert torch.allclose(moved, same, rtol=0, atol=1e-12)
    assert same_loss == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("chunk", [0, 7])
def test_lbfgs_is_that_of_torch_with_as_many_passes_as_it_wants(chunk):
    model, same = a_model(), a_model()
    optimizer = torch.optim.LBFGS(
        same.parameters(), 0.5, max_iter=4, history_size=3, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(same(INPUTS), TARGETS)
        loss.backward()
        return loss

    first, *_ = [optimizer.step(closure).item() for _ in range(3)]
    ours = built("lbfgs", model, lr=0.5, searches=4, pairs=3, chunk=chunk)

    assert ours.step(INPUTS, TARGETS).loss == pytest.approx(first, rel=1e-12)
    assert torch.allclose(after(ours, model, 2)[1], weights(same), rtol=0, atol=1e-9)


def test_gradients_are_cut_before_they_move_the_weights():
    model = a_model()
    before = weights(model)

    _, moved = after(built("sgd", model, lr=1.0, clip=0.01), model, 1)

    assert (moved - before).norm().item() == pytest.approx(0.01, rel=1e-5)


def test_the_elements_of_gradients_can_be_cut_instead():
    model = a_model()
    before = weights(model)

    _, moved = after(built("sgd", model, lr=1.0, clip=0.01, clip_by="element"), model, 1)

    assert (moved - before).abs().max().item() == pytest.approx(0.01)


@pytest.mark.parametrize("name", [*OPTIMIZERS, "rising"])
def test_an_optimizer_goes_on_from_its_state_as_if_nothing_had_been(name):
    told = {"momentum_schedule": "rising"} if name == "rising" else {}
    before = 245 if name == "rising" else 10  # the momentum rises after 250
    name = "nesterov" if name == "rising" else name
    model, resumed = a_model(), a_model()
    optimizer, other = built(name, model, **told), built(name, resumed, **told)
    after(optimizer, model, before)
    resumed.load_state_dict(model.state_dict())
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))

    assert torch.equal(after(optimizer, model, 13)[1], after(other, resumed, 13)[1])


def test_a_rising_momentum_moves_otherwise_than_a_constant_one():
    model, same = a_model(), a_model()

    rising = after(built("nesterov", model, momentum_schedule="rising"), model, 5)[1]

    assert not torch.equal(rising, after(built("nesterov", same), same, 5)[1])


def test_a_rising_momentum_needs_to_know_how_many_updates_come():
    with pytest.raises(ValueError, match=r"'momentum_schedule'.*`updates`"):
        built("nesterov", a_model(), updates=None, momentum_schedule="rising")


def test_without_momentum_nesterov_is_gradient_descent():
    model, same = a_model(), a_model()

    moved = after(built("nesterov", model, momentum=0.0), model, 3)[1]

    assert torch.equal(moved, after(built("sgd", same), same, 3)[1])


def test_the_targets_that_kfac_samples_come_from_the_seed():
    model, same = a_model(), a_model()

    assert torch.equal(after(built("kfac", model), model, 3)[1], after(built("kfac", same), same, 3)[1])


def test_a_setting_has_the_same_meaning_and_limits_for_every_optimizer():
    rules = {}
    for row in OPTIMIZERS.values():
        for name, each in row.settings.items():
            rules.setdefault(name, set()).add((each.kind, each.limits, each.meaning))

    assert [name for name, found in rules.items() if len(found) > 1] == []


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_worth_a_search_by_default(name):
    settings = OPTIMIZERS[name].settings.values()

    assert any(each.suggested is not None for each in settings)
    assert all(each.refusal(each.default) is None for each in settings if each.default is not None)


OTHER = {  # than the default; what has no effect alone comes with what gives it one
    ("centred_gradient_descent", "memory"): {"memory": 0.5, "consistent_bias": True},
    ("silva_almeida", "increase"): {"increase": 1.1},
    ("nonlinear_conjugate_gradients", "line_searches"): {"line_searches": 2},
    ("sgd_qn", "secant_rule"): {"secant_rule": "2009", "skip": 2},
    ("stochastic_meta_descent", "meta_lr"): {"meta_lr": 0.1},
    ("newton", "negative_curvature"): {"negative_curvature": "absolute", "damping": 1e-4, "lr": 0.1},
    ("subsampled_newton_cg", "stop_if_worse_than"): {"stop_if_worse_than": "best", "damping": 1e-4},
}
SETTINGS = [(name, setting) for name, row in SECOND_ORDER.items() for setting in row.settings]


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_whatever_an_optimizer_of_ours_can_be_told_changes_its_steps(name, setting):
    told = OTHER.get((name, setting)) or {setting: another(OPTIMIZERS[name].settings[setting])}
    beside = {key: value for key, value in told.items() if key != setting}
    model, same = a_model(6, 6), a_model(6, 6)

    moved = after(built(name, model, **told), model, 8)[1]

    assert not torch.equal(moved, after(built(name, same, **beside), same, 8)[1])


def another(setting):
    """Return a value that is not its default."""
    if setting.default is None:
        return 0.2
    if setting.kind == "boolean":
        return not setting.default
    if setting.choices:
        return next(choice for choice in setting.choices if choice != setting.default)
    return 3 if setting.kind == "integer" else setting.default / 2 + 0.01


def test_the_slope_of_units_can_be_the_largest_of_the_batch():
    model, same = a_model(), a_model()
    by_hand = ACP(same, CrossEntropy(), alpha="largest_slope")

    assert torch.equal(after(built("acp", model, alpha=0.0), model, 3)[1], after(by_hand, same, 3)[1])


def test_an_optimizer_that_is_told_nothing_has_the_defaults_of_the_library():
    model, same = a_model(), a_model()
    by_hand = PRONG(same, CrossEntropy())

    assert torch.equal(after(built("prong", model), model, 3)[1], after(by_hand, same, 3)[1])


def test_without_a_rate_kfac_finds_its_steps():
    finding, told = built("kfac", a_model()), built("kfac", a_model(), lr=0.2)

    assert finding.step(INPUTS, TARGETS).scale is not None
    assert told.step(INPUTS, TARGETS).scale is None
